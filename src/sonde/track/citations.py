"""The citation graph of a tracked run, in tables: who cites whom, and when that was seen.

They lie beside the tables of the crawl, with numbers of their own, and are added to a run when it
is first tracked. A request is in ``sent``, and on the disk, before it leaves: whatever ends the
process or the machine, it counts as spent.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from typing import Any

from sonde.store.run import Run

TABLES = """
-- A node of the tracked graph. state: frontier (seen, not visited), visited, gone (404, 410),
-- moved (to the node in moved), dropped (why says it), list (a feed or a sitemap).
CREATE TABLE IF NOT EXISTS tracked (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    why TEXT NOT NULL DEFAULT '',
    title TEXT NOT NULL DEFAULT '',
    found REAL NOT NULL,          -- when it was first seen
    visits INTEGER NOT NULL DEFAULT 0,
    last REAL,                    -- when it was last visited
    links INTEGER NOT NULL DEFAULT 0,    -- distinct links seen on it
    fresh INTEGER NOT NULL DEFAULT 0,    -- links new at the last visit
    elapsed REAL NOT NULL DEFAULT 0,     -- between the last two visits; of a list: until it is due
    score REAL NOT NULL DEFAULT 0,       -- link score at the last visit
    intervals INTEGER NOT NULL DEFAULT 0,
    changes INTEGER NOT NULL DEFAULT 0,  -- intervals that ended with a new link
    watched REAL NOT NULL DEFAULT 0,     -- the sum of intervals
    etag TEXT,
    modified TEXT,
    digest BLOB,
    warc TEXT,                    -- where the page as last fetched is kept
    misses INTEGER NOT NULL DEFAULT 0,   -- failures in a row
    retry REAL,                   -- it is left alone until then
    dated REAL,                   -- the latest date that a list gave it
    announced INTEGER NOT NULL DEFAULT 0,  -- a list says that it changed since it was visited
    moved INTEGER
);
CREATE INDEX IF NOT EXISTS tracked_retry ON tracked (retry) WHERE retry IS NOT NULL;
CREATE INDEX IF NOT EXISTS tracked_announced ON tracked (dated) WHERE announced;
CREATE INDEX IF NOT EXISTS tracked_lists ON tracked (id) WHERE state = 'list';

-- A link. It is there at the moment of its date, which entries of feeds have, or, without one,
-- when it was last seen. A link that a page has gained since a list dated it came at that date.
CREATE TABLE IF NOT EXISTS citations (
    source INTEGER NOT NULL,
    target INTEGER NOT NULL,
    first REAL NOT NULL,
    last REAL NOT NULL,
    dated REAL,
    PRIMARY KEY (source, target)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS citations_target ON citations (target);

-- Every visit, with the requests that were charged to it before they left.
CREATE TABLE IF NOT EXISTS sent (
    number INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    why TEXT NOT NULL,            -- expand, recrawl, announced, list
    charged REAL NOT NULL,        -- when the last of its requests was charged
    requests INTEGER NOT NULL,
    bytes INTEGER NOT NULL DEFAULT 0,
    outcome TEXT,                 -- NULL: in flight, or cut off
    status INTEGER,
    fresh INTEGER
);

CREATE TABLE IF NOT EXISTS ranked (
    node INTEGER PRIMARY KEY,
    rank INTEGER NOT NULL,
    cited INTEGER NOT NULL,       -- distinct sources within the window
    entered REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS ranking_changes (
    time REAL NOT NULL,
    change TEXT NOT NULL,         -- entered, left
    url TEXT NOT NULL,
    rank INTEGER NOT NULL,        -- where it stands now, or stood last
    cited INTEGER NOT NULL,
    why TEXT NOT NULL DEFAULT ''  -- of one that left: gone, moved
);
CREATE INDEX IF NOT EXISTS ranking_changes_time ON ranking_changes (time);
"""
"""What a run has besides once it is tracked; made when that begins, and of any version."""

OUT_OF_RANKING = "('gone', 'moved', 'list')"

RANKING = f"""
SELECT target, count(*) AS cited FROM citations JOIN tracked ON tracked.id = target
WHERE coalesce(citations.dated, citations.last) > ? AND state NOT IN {OUT_OF_RANKING}
GROUP BY target ORDER BY cited DESC, target LIMIT ?
"""
"""The most cited since a moment, ties to the node that was found first."""


@dataclass(frozen=True, slots=True)
class TrackedNode:
    """A node as it is kept; see the table."""

    id: int
    url: str
    state: str
    visits: int
    last: float | None
    links: int
    fresh: int
    elapsed: float
    score: float
    intervals: int
    changes: int
    watched: float
    etag: str | None
    modified: str | None
    digest: bytes | None
    misses: int
    dated: float | None


_NODE = ", ".join(field.name for field in fields(TrackedNode))


class Citations:
    """The writing end. All changes are made within ``change()``."""

    def __init__(self, run: Run) -> None:
        self._database = run.database
        self._journal = run.journal
        with self.change():
            for statement in TABLES.split(";\n"):
                self._database.execute(statement)

    def change(self, *, durable: bool = False) -> AbstractContextManager[None]:
        """One transaction, with what the Web's side of the run has to say. One that is durable is
        on the disk when it ends; of others a power cut may take the last: a visit without its
        outcome, which is spent."""
        return self._journal.transaction(durable=durable)

    def run(self, query: str, *values: object) -> sqlite3.Cursor:
        """Any statement."""
        return self._database.execute(query, values)

    def value(self, query: str, *values: object) -> Any:
        """The first value that a query gives, or ``None``."""
        found = self._database.execute(query, values).fetchone()
        return None if found is None else found[0]

    # -- what the tracker knows of itself --------------------------------------------------------

    def remember(self, key: str, value: object) -> None:
        """Keep something with the run."""
        self.run("INSERT OR REPLACE INTO meta VALUES (?, ?)", key, json.dumps(value))

    def recall(self, key: str) -> Any:
        """What was kept, or ``None``."""
        found = self.value("SELECT value FROM meta WHERE key = ?", key)
        return None if found is None else json.loads(found)

    # -- nodes -----------------------------------------------------------------------------------

    def node(self, number: int) -> TrackedNode:
        """A node by its number."""
        return TrackedNode(
            *self.run(f"SELECT {_NODE} FROM tracked WHERE id = ?", number).fetchone()
        )

    def nodes(self) -> Iterator[tuple[TrackedNode, int, float | None]]:
        """All nodes, each with how many links to it were seen and when it may be tried again."""
        for *row, apparent, retry in self.run(
            f"SELECT {_NODE}, (SELECT count(*) FROM citations WHERE target = id), retry"
            " FROM tracked ORDER BY id"
        ):
            yield TrackedNode(*row), apparent, retry

    def find(self, url: str) -> tuple[int, str] | None:
        """The number and the state of a URL, followed where it has moved."""
        found: tuple[int, str, int | None] | None = self.run(
            "SELECT id, state, moved FROM tracked WHERE url = ?", url
        ).fetchone()
        for _ in range(10):
            if found is None or found[2] is None:
                break
            found = self.run(
                "SELECT id, state, moved FROM tracked WHERE id = ?", found[2]
            ).fetchone()
        return None if found is None else found[:2]

    def add(self, url: str, state: str, now: float, number: int | None = None) -> int:
        """A new node."""
        added = self.run(
            "INSERT INTO tracked (id, url, state, found) VALUES (?, ?, ?, ?)",
            number,
            url,
            state,
            now,
        ).lastrowid
        assert added is not None
        return added

    def update(self, number: int, **values: object) -> None:
        """Change columns of a node."""
        columns = ", ".join(f"{name} = ?" for name in values)
        self.run(f"UPDATE tracked SET {columns} WHERE id = ?", *values.values(), number)

    def brought_back(self, now: float) -> list[TrackedNode]:
        """Nodes that were set aside until now, and are not any more."""
        found = self.run(
            f"SELECT {_NODE} FROM tracked WHERE retry <= ? ORDER BY retry, id LIMIT 1000", now
        ).fetchall()
        for row in found:
            self.update(row[0], retry=None)
        return [TrackedNode(*row) for row in found]

    def due_list(self, now: float) -> int | None:
        """The list that was due first, if one is."""
        found: int | None = self.value(
            "SELECT id FROM tracked WHERE state = 'list' AND retry IS NULL"
            " AND (last IS NULL OR last + elapsed <= ?) ORDER BY last LIMIT 1",
            now,
        )
        return found

    def announced(self) -> int | None:
        """The page that a list announced last, if one is still to be visited."""
        found: int | None = self.value(
            "SELECT id FROM tracked WHERE announced AND retry IS NULL ORDER BY dated DESC LIMIT 1"
        )
        return found

    @property
    def over(self) -> bool:
        """Whether there is nothing left to visit, now or later."""
        left = "SELECT 1 FROM tracked WHERE state IN ('frontier', 'visited', 'list') LIMIT 1"
        return self.value(left) is None

    # -- links -----------------------------------------------------------------------------------

    def see(
        self,
        source: int,
        targets: Sequence[int],
        prior: float | None,
        now: float,
        arrived: float | None = None,
    ) -> tuple[list[int], list[int]]:
        """Links that a source shows now; those never seen before, and those that were not there
        at the visit before, at `prior`. `arrived` is when the former came, where that is known."""
        before = dict(self.run("SELECT target, last FROM citations WHERE source = ?", source))
        never = [target for target in targets if target not in before]
        fresh = [target for target in targets if before.get(target, -1.0) != prior]
        if prior is None:
            fresh = list(targets)
        new = set(fresh)
        self._database.executemany(
            "INSERT INTO citations VALUES (?, ?, ?, ?, NULL) ON CONFLICT DO UPDATE SET"
            " last = excluded.last",
            [(source, target, now if arrived is None else arrived, now) for target in fresh],
        )
        self._database.executemany(
            "UPDATE citations SET last = ? WHERE source = ? AND target = ?",
            [(now, source, target) for target in targets if target not in new],
        )
        return never, fresh

    def cite(self, source: int, target: int, now: float, dated: float | None) -> bool:
        """One dated link; whether it was never seen before."""
        new = self.value("SELECT 1 FROM citations WHERE source = ? AND target = ?", source, target)
        self.run(
            "INSERT INTO citations VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
            " last = excluded.last, dated = coalesce(excluded.dated, dated)",
            source,
            target,
            now,
            now,
            dated,
        )
        return new is None

    def unchanged(self, source: int, prior: float, now: float) -> None:
        """The page is as it was: all links that it showed then are there now."""
        self.run("UPDATE citations SET last = ? WHERE source = ? AND last = ?", now, source, prior)

    def move(self, old: int, new: int) -> int:
        """What cites the old node cites the new one, and so do its own links; how many now do."""
        for one, other in (("target", "source"), ("source", "target")):
            self.run(
                f"INSERT INTO citations ({one}, {other}, first, last, dated)"
                f" SELECT ?, {other}, first, last, dated FROM citations"
                f" WHERE {one} = ? AND {other} <> ? ON CONFLICT DO UPDATE SET"
                " first = min(first, excluded.first), last = max(last, excluded.last),"
                " dated = max(dated, excluded.dated)",
                new,
                old,
                new,
            )
            self.run(f"DELETE FROM citations WHERE {one} = ?", old)
        self.update(old, state="moved", moved=new, announced=0, retry=None)
        return int(self.value("SELECT count(*) FROM citations WHERE target = ?", new))

    def forget(self, since: float) -> list[int]:
        """Nodes never visited that nothing cites since a moment go; their numbers."""
        gone = [
            number
            for (number,) in self.run(
                "SELECT id FROM tracked WHERE state IN ('frontier', 'dropped', 'gone')"
                " AND visits = 0 AND NOT announced AND NOT EXISTS (SELECT 1 FROM citations"
                " WHERE target = id AND coalesce(citations.dated, citations.last) > ?)"
                " AND id NOT IN (SELECT moved FROM tracked WHERE moved IS NOT NULL)",
                since,
            )
        ]
        one = [(number,) for number in gone]
        self._database.executemany("DELETE FROM citations WHERE target = ?", one)
        self._database.executemany("DELETE FROM tracked WHERE id = ?", one)
        return gone

    # -- what is spent ---------------------------------------------------------------------------

    def begin(self, url: str, why: str, now: float) -> int:
        """A visit is about to send its first request, which is charged."""
        number = self.run(
            "INSERT INTO sent (url, why, charged, requests) VALUES (?, ?, ?, 1)", url, why, now
        ).lastrowid
        assert number is not None
        return number

    def charge(self, visit: int, now: float) -> None:
        """One more request of a visit."""
        self.run(
            "UPDATE sent SET requests = requests + 1, charged = ? WHERE number = ?", now, visit
        )

    def settle(self, visit: int, outcome: str, status: int | None, size: int, fresh: int) -> None:
        """What became of a visit."""
        self.run(
            "UPDATE sent SET outcome = ?, status = ?, bytes = ?, fresh = ? WHERE number = ?",
            outcome,
            status,
            size,
            fresh,
            visit,
        )

    def charges(self, count: int) -> list[float]:
        """When each of the last requests was charged, the earliest first."""
        times: list[float] = []
        for charged, requests in self.run(
            "SELECT charged, requests FROM sent ORDER BY number DESC LIMIT ?", count
        ):
            times += [charged] * requests
            if len(times) >= count:
                break
        return sorted(times[:count])

    @property
    def spent(self) -> int:
        """All requests so far."""
        return int(self.value("SELECT coalesce(sum(requests), 0) FROM sent"))

    # -- the ranking -----------------------------------------------------------------------------

    def rank(self, now: float, window: float, top: int) -> tuple[list[str], list[str]]:
        """Bring the ranking up to date; the URLs that entered, and those that left."""
        ranking = {
            node: (rank, cited)
            for rank, (node, cited) in enumerate(self.run(RANKING, now - window, top), start=1)
        }
        before = {
            node: (rank, cited, entered)
            for node, rank, cited, entered in self.run("SELECT * FROM ranked")
        }
        self.run("DELETE FROM ranked")
        self._database.executemany(
            "INSERT INTO ranked VALUES (?, ?, ?, ?)",
            [
                (node, rank, cited, before[node][2] if node in before else now)
                for node, (rank, cited) in ranking.items()
            ],
        )
        came = [(node, *place) for node, place in ranking.items() if node not in before]
        went = [(node, *row[:2]) for node, row in before.items() if node not in ranking]
        return self._changed(now, "entered", came), self._changed(now, "left", went)

    def _changed(self, now: float, change: str, rows: list[tuple[int, int, int]]) -> list[str]:
        urls = []
        for node, rank, cited in rows:
            url, state = self.run("SELECT url, state FROM tracked WHERE id = ?", node).fetchone()
            why = state if state in ("gone", "moved") else ""
            self.run(
                "INSERT INTO ranking_changes VALUES (?, ?, ?, ?, ?, ?)",
                now,
                change,
                url,
                rank,
                cited,
                why,
            )
            urls.append(url)
        return urls
