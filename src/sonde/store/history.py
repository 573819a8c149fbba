"""The log of a run, read back: what was told to the explorer, in its order.

A row of a settled visit brings along what the ledger and the pages say of it, as the run keeps it
(``codec`` reads the columns). What the rows mean to an explorer is told by ``crawling.retelling``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

_ROWS = """
SELECT log.seq, log.kind, log.lease, log.node, log.data, arm, chooser, predicted, outcome, reason,
    retry, score, gain, requests, bytes, title, targets, scores, places, words
FROM log LEFT JOIN leases ON leases.number = log.lease
LEFT JOIN pages ON pages.lease = log.lease AND log.kind = 'settle'
WHERE log.seq > ? ORDER BY log.seq
"""


class LogRow(NamedTuple):
    """One row of the log, with its lease's row of the ledger, and with the page that settled it."""

    seq: int
    kind: str
    lease: int | None
    node: int | None
    data: str | None
    arm: int
    chooser: str
    predicted: float | None
    outcome: str | None
    reason: str | None
    retry: int
    score: float | None
    gain: float | None
    requests: int
    size: int
    title: str | None
    targets: bytes | None
    scores: bytes | None
    places: bytes | None
    words: bytes | None


class LeaseRow(NamedTuple):
    """A lease as it was given."""

    number: int
    node: int
    predicted: float | None
    chooser: str
    arm: int


class NodeRow(NamedTuple):
    """A node as the run knows it."""

    name: str
    group: str
    depth: int


def rows_since(database: sqlite3.Connection, seq: int) -> Iterator[LogRow]:
    """The log after a position, in order."""
    return map(LogRow._make, database.execute(_ROWS, (seq,)))


def nodes_since(database: sqlite3.Connection, number: int = 0) -> Iterator[NodeRow]:
    """The nodes from this number on, by their numbers."""
    found = database.execute(
        "SELECT url, host, depth FROM nodes WHERE number >= ? ORDER BY number", (number,)
    )
    return map(NodeRow._make, found)


def node_count(database: sqlite3.Connection) -> int:
    """How many nodes the run knows."""
    found = database.execute("SELECT coalesce(max(number), -1) + 1 FROM nodes").fetchone()
    return int(found[0])


def position_of(database: sqlite3.Connection, lease: int) -> int | None:
    """Where in the log a lease was given; ``None`` for a lease that there is not."""
    found = database.execute(
        "SELECT seq FROM log WHERE kind = 'lease' AND lease = ?", (lease,)
    ).fetchone()
    return None if found is None else int(found[0])


def open_leases(database: sqlite3.Connection) -> list[LeaseRow]:
    """The leases that are not settled, in their order."""
    found = database.execute(
        "SELECT number, node, predicted, chooser, arm FROM leases WHERE outcome IS NULL"
        " ORDER BY number"
    )
    return list(map(LeaseRow._make, found))
