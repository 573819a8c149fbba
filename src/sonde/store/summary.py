"""What came of a run: value, spend, hosts, errors, and what politeness cost.

Each function asks one question of a ``RunReader`` and gives records that print and serialise.

How well visits were ordered (see ``sonde.metrics``): they count in the order in which they were
told; with several in flight, the successor of a visit is the next one told, which may have been
asked for before.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from sonde.errors import InputError
from sonde.metrics import Merit, MeritSteps, judge
from sonde.store.reader import RunReader
from sonde.url_languages import without_translations

RANKED = 100
"""Ranks are exact up to here; a node further down is recorded as beyond."""

POINTS = 200
"""A harvest curve has at most so many points."""


@dataclass(frozen=True, slots=True)
class Totals:
    """The run in numbers. ``value`` is the objective over all visits."""

    visits: int
    failures: int
    skips: int
    interrupted: int
    in_flight: int
    requests: int
    bytes: int
    seconds: float
    value: float
    known: int
    frontier: int
    refused: int
    started: float | None
    ended: float | None


@dataclass(frozen=True, slots=True)
class BestPage:
    """A page with its score, and what had been predicted for it."""

    url: str
    title: str
    score: float
    predicted: float | None


@dataclass(frozen=True, slots=True)
class Reason:
    """What was spent on outcomes of one kind."""

    outcome: str
    reason: str
    leases: int
    requests: int
    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class HostSummary:
    """One host: what it was asked, and what that brought."""

    host: str
    requests: int
    failures: int
    bytes: int
    visits: int
    value: float
    rtt: float | None
    delay: float | None


@dataclass(frozen=True, slots=True)
class Harvest:
    """Requests spent and value brought, after so many visits."""

    visits: int
    requests: int
    value: float


@dataclass(frozen=True, slots=True)
class Ranks:
    """Where the chosen nodes stood among all: 1 is where pure priority would have gone.

    What lies above 1 is the price of waiting for a host's turn, except where a strategy picks
    lower ranks by design. Seeds and picks at random, which have no estimate, are left out.
    """

    picks: int
    first: int
    beyond: int
    mean: float | None  # over ranks up to ``RANKED``


def _unleased(run: RunReader) -> list[Reason]:
    """What counts as spent and belongs to no lease: because a power cut may have hidden it, or
    because it was asked for besides."""
    found = run.rows(
        "SELECT kind, iif(kind = 'lost', 'power cut', 'besides'), count(*),"
        " total(json_extract(data, '$.requests')), total(json_extract(data, '$.bytes'))"
        " FROM log WHERE kind IN ('lost', 'aside') GROUP BY 1 ORDER BY 1"
    )
    return [Reason(row[0], row[1], row[2], int(row[3]), int(row[4]), 0.0) for row in found]


def totals(run: RunReader) -> Totals:
    """The run in numbers."""
    unleased = _unleased(run)
    row = run.one(
        "SELECT count(*) FILTER (WHERE outcome = 'visit'),"
        " count(*) FILTER (WHERE outcome = 'failure'), count(*) FILTER (WHERE outcome = 'skip'),"
        " count(*) FILTER (WHERE outcome = 'interrupt'), count(*) FILTER (WHERE outcome IS NULL),"
        " total(requests), total(bytes), total(seconds), total(gain), min(asked),"
        " max(coalesce(settled, asked)) FROM leases"
    )
    assert row is not None
    return Totals(
        visits=row[0],
        failures=row[1],
        skips=row[2],
        interrupted=row[3],
        in_flight=row[4],
        requests=int(row[5]) + sum(each.requests for each in unleased),
        bytes=int(row[6]) + sum(each.bytes for each in unleased),
        seconds=row[7],
        value=row[8],
        known=run.count("SELECT count(*) FROM nodes"),
        frontier=run.count(f"SELECT count(*) FROM ({FRONTIER})"),
        refused=run.count("SELECT count(*) FROM refused"),
        started=row[9],
        ended=row[10],
    )


FRONTIER = (
    "SELECT nodes.number AS number, url, host, depth, parent FROM nodes LEFT JOIN"
    " (SELECT node, max(number), retry OR outcome IS 'interrupt' AS again FROM leases"
    " GROUP BY node) AS latest ON latest.node = nodes.number WHERE coalesce(again, 1)"
)
"""Nodes that may still be asked: never leased, or put back by the last lease's outcome."""


def last_budget(run: RunReader) -> dict[str, Any] | None:
    """The limits, by unit, where they were changed after the run began."""
    found = run.one("SELECT data FROM log WHERE kind = 'budget' ORDER BY seq DESC LIMIT 1")
    if found is None:
        return None
    limits: dict[str, Any] = json.loads(found[0] or "{}")
    return limits


def best_pages(run: RunReader, count: int, *, translations: bool = False) -> list[BestPage]:
    """The pages with the highest scores; of equal ones the earlier visit. Of a page in several
    languages the best one, unless translations are asked for."""
    found = run.rows(
        "SELECT url, coalesce(title, ''), score, predicted, coalesce(language, '') FROM leases"
        " JOIN nodes ON nodes.number = leases.node LEFT JOIN pages ON pages.lease = leases.number"
        " WHERE outcome = 'visit' ORDER BY score DESC, leases.number",
    )
    if not translations:
        found = without_translations(found, lambda row: (row[0], row[4]))
    return [BestPage(*row[:4]) for row in islice(found, count)]


def reasons(run: RunReader) -> list[Reason]:
    """Spend by outcome and reason, the dearest first."""
    found = run.rows(
        "SELECT coalesce(outcome, 'in flight'), coalesce(reason, ''), count(*), sum(requests),"
        " sum(bytes), sum(seconds) FROM leases GROUP BY 1, 2 ORDER BY 4 DESC, 3 DESC, 1, 2"
    )
    return [Reason(*row) for row in found] + _unleased(run)


def hosts(run: RunReader) -> list[HostSummary]:
    """The hosts that were asked, the most asked first."""
    if not run.has("hosts"):
        return []
    found = run.rows(
        "SELECT hosts.host, hosts.requests, hosts.failures, hosts.bytes, count(brought.gain),"
        " total(brought.gain), rtt, delay FROM hosts LEFT JOIN"
        " (SELECT host, gain FROM leases JOIN nodes ON nodes.number = leases.node"
        " WHERE outcome = 'visit') AS brought ON brought.host = hosts.host"
        " GROUP BY hosts.host ORDER BY hosts.requests DESC, hosts.host"
    )
    return [HostSummary(*row) for row in found]


def unreachable(run: RunReader) -> dict[str, str]:
    """Whose robots.txt could not be fetched, so that nothing of theirs was, and why."""
    if not run.has("robots"):
        return {}
    return dict(
        run.rows("SELECT origin, why FROM robots WHERE verdict = 'disallow' ORDER BY origin")
    )


@dataclass(frozen=True, slots=True)
class ListedPage:
    """What a sitemap or a feed says of a page: when it changed, in seconds since 1970, how much it
    matters, from 0 to 1, and how many bytes it has."""

    modified: float | None
    priority: float | None
    size: int | None


def listed(run: RunReader, url: str) -> ListedPage | None:
    """What the sitemaps and feeds that were read say of a URL, if anything."""
    if not run.has("listed"):
        return None
    row = run.one("SELECT modified, priority, size FROM listed WHERE url = ?", url)
    return None if row is None else ListedPage(*row)


@dataclass(frozen=True, slots=True)
class Unvisited:
    """A node that was chosen and not visited, why, and where it redirects to, if that was why."""

    url: str
    reason: str
    redirect: str | None


def unvisited(run: RunReader, most: int) -> list[Unvisited]:
    """The first nodes that were chosen and have no visit, with the last reason of each."""
    rows = run.rows(
        "SELECT nodes.url, leases.reason, max(leases.number), (SELECT url FROM refused"
        " WHERE refused.lease = leases.number AND refused.reason = leases.reason)"
        " FROM leases JOIN nodes ON nodes.number = leases.node WHERE outcome <> 'visit'"
        " AND node NOT IN (SELECT node FROM leases WHERE outcome = 'visit')"
        f" GROUP BY node ORDER BY node LIMIT {int(most)}"
    )
    return [Unvisited(url, reason or "", redirect) for url, reason, _, redirect in rows]


def refusals(run: RunReader) -> dict[str, int]:
    """How many URLs were seen and never put on the frontier, by reason."""
    return dict(run.rows("SELECT reason, count(*) FROM refused GROUP BY reason ORDER BY 2 DESC, 1"))


def harvest(run: RunReader, points: int = POINTS) -> list[Harvest]:
    """How value grew with the requests that were spent, in order of settlement."""
    every = max(1, run.count("SELECT count(outcome) FROM leases") // points)
    curve: list[Harvest] = []
    visits = requests = 0
    value = 0.0
    number = 0
    for outcome, spent, gain in run.rows(
        "SELECT outcome, requests, gain FROM log JOIN leases ON leases.number = log.lease"
        " WHERE kind IN ('settle', 'interrupt') ORDER BY seq"
    ):
        number += 1
        visits += outcome == "visit"
        requests += spent
        value += gain or 0.0
        if number % every == 0:
            curve.append(Harvest(visits, requests, value))
    if number % every:
        curve.append(Harvest(visits, requests, value))
    return curve


def ranks(run: RunReader) -> Ranks:
    """What politeness cost in rank."""
    row = run.one(
        "SELECT count(rank), count(*) FILTER (WHERE rank = 1), count(*) FILTER (WHERE rank = 0),"
        " avg(CASE WHEN rank > 0 THEN rank END) FROM leases"
        " WHERE arm >= 0 AND predicted IS NOT NULL"
    )
    assert row is not None
    return Ranks(*row)


def merit(run: RunReader, threshold: float = 0.0) -> Merit | None:
    """Harvest rate, efficiency and GPR of the run; nothing where nothing was visited."""
    try:
        return judged(run.database, threshold).steps.last
    except sqlite3.DatabaseError as error:
        raise InputError(f"{run.folder}: cannot be read: {error}") from None


_SKIPPED = """
SELECT url FROM leases JOIN nodes ON nodes.number = leases.node
WHERE outcome = 'skip' AND reason = ?
    AND leases.number = (SELECT max(number) FROM leases AS last WHERE last.node = nodes.number)
"""


def left_out(database: sqlite3.Connection, reason: str) -> list[str]:
    """The nodes that were refused or skipped for this reason, and did not become more since."""
    refused = dict(database.execute("SELECT url, 0 FROM refused WHERE reason = ?", (reason,)))
    if refused:
        for (node,) in database.execute("SELECT url FROM nodes"):
            refused.pop(node, None)
    return [*refused, *(node for (node,) in database.execute(_SKIPPED, (reason,)))]


def records(run: RunReader) -> dict[str, int]:
    """How many records visits found, by source."""
    return dict(run.rows("SELECT source, count(*) FROM records GROUP BY 1 ORDER BY 2 DESC, 1"))


def flags(run: RunReader) -> dict[str, int]:
    """How many pages were marked, by mark: needs-script, near-duplicate, cut, noindex."""
    counts: dict[str, int] = {}
    for marks, count in run.rows("SELECT flags, count(*) FROM pages WHERE flags <> '' GROUP BY 1"):
        for mark in str(marks).replace(",", " ").split():
            counts[mark] = counts.get(mark, 0) + count
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


# -- how well the visits were ordered --------------------------------------------------------------

_VISITS = """
SELECT leases.number, leases.node, score, gain, targets
FROM log JOIN leases ON leases.number = log.lease LEFT JOIN pages ON pages.lease = log.lease
WHERE log.kind = 'settle' AND outcome = 'visit' ORDER BY log.seq
"""


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """The measures after each visit; ``leases`` names the visits."""

    leases: npt.NDArray[np.int64]
    steps: MeritSteps


def judged(database: sqlite3.Connection, threshold: float = 0.0) -> JudgedRun:
    """Judge a run's visits by its log."""
    leases: list[int] = []
    scores: list[float] = []
    gains: list[float] = []
    followed: list[int] = []
    links: bytes | None = None  # of the visit before, where it may prove a backtrack
    row: tuple[Any, ...]
    for row in database.execute(_VISITS):
        lease, node, score, gain, targets = row
        if leases:
            followed.append(1 if links is None else _among(node, links))
        leases.append(lease)
        scores.append(score or 0.0)
        gains.append(gain or 0.0)
        links = None if scores[-1] > threshold else targets or b""
    if leases:
        followed.append(1)
    return JudgedRun(
        np.array(leases, dtype=np.int64),
        judge(np.array(scores), np.array(gains), np.array(followed, dtype=np.int8), threshold),
    )


def _among(node: int, links: bytes) -> int:
    return int((np.frombuffer(links, "<i4") == node).any())
