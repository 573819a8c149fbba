"""The keeper: what a source leaves with its run and finds there again, and its archive."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from sonde.crawling.retelling import visits_of
from sonde.net.exchange import Exchange
from sonde.protocols import KeptPage, Value
from sonde.records import Node, Visit
from sonde.store.log import unpack_text
from sonde.store.run import Run
from sonde.store.summary import left_out
from sonde.store.warc import WarcWriter
from sonde.store.warcreader import Archived, read_archived

_PAGES = """
SELECT url, pages.lease, final_url, status, substr(sketch, 1, ?), twin, canonical, flags,
    coalesce(told_score, score), log.data, warc
FROM log JOIN pages ON pages.lease = log.lease JOIN leases ON leases.number = log.lease
JOIN nodes ON nodes.number = pages.node
WHERE log.kind = 'settle' ORDER BY log.seq
"""
_HEAD = 128  # bytes of a sketch: the rest is read when it is needed
_RETRIED = """
SELECT url, count(*) FROM leases JOIN nodes ON nodes.number = leases.node
WHERE retry AND outcome = 'failure' GROUP BY node
"""
_LAST = "SELECT warc FROM pages WHERE warc IS NOT NULL ORDER BY lease DESC"


class RunKeeper:
    """A ``Keeper`` over a run, with the ``tables`` that the kind of source declares. The parts of a
    source are told apart from the crawl's own."""

    def __init__(self, run: Run, tables: Mapping[str, str]) -> None:
        self._run = run
        for name, columns in tables.items():
            run.declare(name, columns)
        self.write = run.journal.extend
        self.clear = run.journal.clear
        self.commit = run.journal.commit

    def recalled(self, part: str) -> bytes | None:
        row = self._run.database.execute(
            "SELECT state FROM snapshots WHERE part = ? ORDER BY log_seq DESC", (_part(part),)
        ).fetchone()
        return None if row is None else bytes(row[0])

    def keep(self, part: str, state: bytes) -> None:
        self._run.journal.snapshot(_part(part), state)

    def rows(self, table: str) -> Iterator[tuple[Value, ...]]:
        return self._run.declared(table)

    def visits(self) -> Iterator[tuple[Node, Visit]]:
        return visits_of(self._run.database)

    def pages(self) -> Iterator[KeptPage]:
        for (
            url,
            lease,
            final,
            status,
            sketch,
            twin,
            canonical,
            flags,
            score,
            data,
            warc,
        ) in self._run.database.execute(_PAGES, (_HEAD,)):
            stale = json.loads(data).get("stale") if data else None
            found = None if stale is None else (stale[0], stale[1], stale[2], stale[3])
            yield KeptPage(
                url, lease, final, status, sketch, twin, canonical, flags, score, found, warc
            )

    def text(self, lease: int) -> str | None:
        row = self._run.database.execute(
            "SELECT text FROM pages WHERE lease = ?", (lease,)
        ).fetchone()
        return None if row is None or row[0] is None else unpack_text(row[0])

    def sketch(self, lease: int) -> bytes | None:
        row = self._run.database.execute(
            "SELECT sketch FROM pages WHERE lease = ?", (lease,)
        ).fetchone()
        return None if row is None else row[0]

    def left_out(self, reason: str) -> Iterator[str]:
        return iter(left_out(self._run.database, reason))

    def retried(self) -> Iterator[tuple[str, int]]:
        return iter(self._run.database.execute(_RETRIED).fetchall())


def _part(part: str) -> str:
    return f"source:{part}"


class RunArchive:
    """The WARC files of a run, opened when they are first needed."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._writer: WarcWriter | None = None
        self.write: Callable[[Sequence[Exchange], str], str] = self._first
        """Store exchanges; the place of the last response."""

    def _first(self, hops: Sequence[Exchange], cut: str = "") -> str:
        return self._opened().write(hops, cut)

    def write_rendered(self, url: str, html: bytes) -> str:
        return self._opened().write_rendered(url, html)

    def read(self, place: str) -> Archived:
        assert self._run.pages is not None
        return read_archived(self._run.pages, place)

    def repaired(self) -> str:
        """What had to be repaired, in words, or nothing."""
        return self._opened().report

    def close(self) -> None:
        """Close the file that is open."""
        if self._writer is not None:
            self._run.journal.on_sync = lambda: None
            self._writer.close()

    def _opened(self) -> WarcWriter:
        if self._writer is None:
            assert self._run.pages is not None
            last = self._run.database.execute(_LAST).fetchone()
            self._writer = WarcWriter(self._run.pages, since=None if last is None else last[0])
            self._run.journal.on_sync = self._writer.sync
            self.write = self._writer.write
        return self._writer
