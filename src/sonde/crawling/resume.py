"""A run taken up again: its log, told to a fresh explorer.

Leases are *relet* rather than asked for, so nothing is chosen anew and nothing depends on a clock;
the dice are set to where the log left them. Model and dice are then, bit for bit, those of the
explorer that wrote the log. A long run starts from its last snapshot and is told the log since.
What was in flight counts as spent; its nodes are leased again first.
"""

from __future__ import annotations

import io
import sqlite3

import numpy as np

from sonde.budgets import Budget
from sonde.crawling.book import DROPPED, LEASED, VISITED, WAITING, Book
from sonde.explorer import Explorer
from sonde.records import Failure, Lease, Link, Spend, Visit
from sonde.store.history import Entry, Known, entries, nodes, spend_from


def replay(book: Book) -> list[Lease]:
    """Tell the log; the leases that were in flight at its end, in their order.

    Up to the last snapshot the explorer is restored rather than told, and only the book follows.
    """
    explorer = book.explorer
    database = book.run.database
    known = nodes(database)
    for node in known:
        book.know(node.url, node.host or None, node.depth)
    groups = list(book.groups())
    restored = _restore(explorer, database, known)
    open_leases: dict[int, Lease] = {}
    for entry in entries(database, known, restored):
        lease, outcome = entry.lease, entry.outcome
        if lease is not None and not explorer.driver.grouped:
            lease = Lease(lease.number, lease.node, None, lease.predicted, lease.chooser, lease.arm)
        if entry.kind == "lease":
            assert lease is not None
            assert entry.node is not None
            open_leases[lease.number] = lease
            book.last_lease = lease.number
            book.status[entry.node] = LEASED
            book.waiting[lease.group] -= 1
            book.ready_was(entry.data, groups)
        elif outcome is not None:
            assert lease is not None
            assert entry.node is not None
            del open_leases[lease.number]
            if isinstance(outcome, Visit):
                book.status[entry.node] = VISITED
            else:
                book.status[entry.node] = WAITING if outcome.retry else DROPPED
                book.waiting[lease.group] += outcome.retry
        elif entry.kind == "budget":
            explorer.driver.account.budget = Budget(**entry.data)
        if entry.seq > restored:
            retell(explorer, known, entry, lease)
    book.caught_up()
    return list(open_leases.values())


def retell(explorer: Explorer, known: list[Known], entry: Entry, lease: Lease | None) -> None:
    """Tell an explorer one entry of a log."""
    if entry.kind == "seed":
        assert entry.node is not None
        place = known[entry.node]
        explorer.add_seeds([Link(place.url, group=place.host or None)])
    elif entry.kind == "budget":
        explorer.driver.account.budget = Budget(**entry.data)
    elif entry.kind in ("time", "lost"):
        explorer.spend(spend_from(entry.data))
    elif entry.kind == "rtt":
        explorer.driver.clock(entry.data["host"], entry.data["seconds"])
    elif lease is not None:
        if entry.kind == "lease":
            explorer.driver.relet(lease, spend_from(entry.data.get("hold")))
        elif entry.kind == "extend":
            explorer.extend(lease, spend_from(entry.data))
        elif entry.outcome is not None:
            for trip in entry.data.get("rtt", ()):
                group, micros = (lease.group, trip) if isinstance(trip, int) else trip
                explorer.driver.clock(group, micros / 1e6)
            explorer.tell(lease, entry.outcome)
    if "dice" in entry.data:
        explorer.driver.dice = tuple(entry.data["dice"])


def _restore(explorer: Explorer, database: sqlite3.Connection, known: list[Known]) -> int:
    """Bring the explorer to the run's last snapshot; the position in the log where it was taken."""
    found = database.execute(
        "SELECT log_seq, state FROM snapshots WHERE part = 'explorer'"
    ).fetchone()
    if found is None:
        return 0
    with np.load(io.BytesIO(found[1]), allow_pickle=False) as arrays:
        restored = explorer.driver.restore(arrays, (node.url for node in known))
    return int(found[0]) if restored else 0


def settle_interrupted(book: Book, leases: list[Lease]) -> None:
    """What was in flight when the run was killed: it may have left, so it is spent."""
    account = book.explorer.driver.account
    for lease in leases:
        held = book.explorer.driver.held(lease)
        book.tell(lease, Failure("interrupted", retry=True, spent=held), interrupt=True)
        book.again.append(lease)
    if book.run.power_lost:
        lost = book.run.journal.reserved - account.spent.requests
        lost = int(min(lost, account.left("requests")))
        if lost > 0:
            size = int(min(lost * book.hold.bytes, account.left("bytes")))
            book.spend(Spend(requests=lost, bytes=size), "lost")
    book.journal.sent = account.spent.requests
