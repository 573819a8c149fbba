"""A run taken up again: its log, told to a fresh explorer.

Leases are *relet* rather than asked for, so nothing is chosen anew and nothing depends on a clock;
the dice are set to where the log left them. Model and dice are then, bit for bit, those of the
explorer that wrote the log. A long run starts from its last snapshot and is told the log since.
What was in flight counts as spent; its nodes are leased again first.
"""

from __future__ import annotations

import sqlite3

from sonde import snapshot
from sonde.budgets import Budget
from sonde.crawling.logbook import Logbook
from sonde.explorer import Explorer
from sonde.protocols import DROPPED, LEASED, VISITED, WAITING
from sonde.records import Failure, Lease, Link, Spend, Visit
from sonde.store.history import Entry, Known, entries, nodes, spend_from


def replay(logbook: Logbook) -> list[Lease]:
    """Tell the log; the leases that were in flight at its end, in their order.

    Up to the last snapshot the explorer is restored rather than told, and only the logbook follows.
    """
    explorer = logbook.explorer
    database = logbook.run.database
    known = nodes(database)
    for node in known:
        logbook.know(node.url, node.host or None, node.depth)
    groups = list(logbook.groups())
    restored = _restore(explorer, database, known)
    open_leases: dict[int, Lease] = {}
    for entry in entries(database, known, restored):
        lease, outcome = entry.lease, entry.outcome
        if lease is not None and not explorer.grouped:
            lease = Lease(lease.number, lease.node, None, lease.predicted, lease.chooser, lease.arm)
        if entry.kind == "lease":
            assert lease is not None
            assert entry.node is not None
            open_leases[lease.number] = lease
            logbook.last_lease = lease.number
            logbook.status[entry.node] = LEASED
            logbook.waiting[lease.group] -= 1
            logbook.ready_was(entry.data, groups)
        elif outcome is not None:
            assert lease is not None
            assert entry.node is not None
            del open_leases[lease.number]
            if isinstance(outcome, Visit):
                logbook.status[entry.node] = VISITED
            else:
                logbook.status[entry.node] = WAITING if outcome.retry else DROPPED
                logbook.waiting[lease.group] += outcome.retry
        elif entry.kind == "budget":
            explorer.account.budget = Budget(**entry.data)
        if entry.seq > restored:
            retell(explorer, known, entry, lease)
    logbook.caught_up()
    return list(open_leases.values())


def retell(explorer: Explorer, known: list[Known], entry: Entry, lease: Lease | None) -> None:
    """Tell an explorer one entry of a log."""
    if entry.kind == "seed":
        assert entry.node is not None
        place = known[entry.node]
        explorer.add_seeds([Link(place.url, group=place.host or None)])
    elif entry.kind == "budget":
        explorer.account.budget = Budget(**entry.data)
    elif entry.kind in ("time", "lost"):
        explorer.spend(spend_from(entry.data))
    elif entry.kind == "rtt":
        explorer.clock(entry.data["host"], entry.data["seconds"])
    elif lease is not None:
        if entry.kind == "lease":
            explorer.relet(lease, spend_from(entry.data.get("hold")))
        elif entry.kind == "extend":
            explorer.extend(lease, spend_from(entry.data))
        elif entry.outcome is not None:
            for trip in entry.data.get("rtt", ()):
                group, micros = (lease.group, trip) if isinstance(trip, int) else trip
                explorer.clock(group, micros / 1e6)
            explorer.tell(lease, entry.outcome)
    if "dice" in entry.data:
        explorer.dice = tuple(entry.data["dice"])


def _restore(explorer: Explorer, database: sqlite3.Connection, known: list[Known]) -> int:
    """Bring the explorer to the run's last snapshot; the position in the log where it was taken."""
    found = database.execute(
        "SELECT log_seq, state FROM snapshots WHERE part = 'explorer'"
    ).fetchone()
    if found is None:
        return 0
    urls = [node.url for node in known]
    hosts = [node.host or None for node in known]
    return int(found[0]) if snapshot.restore(explorer, found[1], urls, hosts) else 0


def settle_interrupted(logbook: Logbook, leases: list[Lease]) -> None:
    """What was in flight when the run was killed: it may have left, so it is spent."""
    account = logbook.explorer.account
    for lease in leases:
        held = logbook.explorer.held(lease)
        logbook.tell(lease, Failure("interrupted", retry=True, spent=held), interrupt=True)
        logbook.again.append(lease)
    if logbook.run.power_lost:
        lost = logbook.run.journal.reserved - account.spent.requests
        lost = int(min(lost, account.left("requests")))
        if lost > 0:
            size = int(min(lost * logbook.hold.bytes, account.left("bytes")))
            logbook.spend(Spend(requests=lost, bytes=size), "lost")
    logbook.journal.sent = account.spent.requests
