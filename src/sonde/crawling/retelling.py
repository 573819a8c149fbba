"""Retelling: a run told again from its log (replay, recovery), to resume it or to explain it.

Leases are *relet* rather than asked for, so nothing is chosen anew and nothing depends on a clock;
the dice are set to where the log left them. Model and dice are then, bit for bit, those of the
explorer that wrote the log.

A crawl has *parts*: the explorer, the logbook, the progress meter. Each is captured with every
*checkpoint* of the run. A retelling restores them from the nearest checkpoint before the point
that is wanted, and lets them hear what the log says from there on.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from sys import intern
from typing import Any, Protocol

import numpy as np

from sonde.budgets import Budget
from sonde.crawling.settings import Settings
from sonde.errors import InputError
from sonde.explorer import Explorer, Opinion
from sonde.records import (
    Failure,
    Group,
    Lease,
    Link,
    LinkColumns,
    Node,
    Outcome,
    Skip,
    Spend,
    UrlPlace,
    Visit,
)
from sonde.store.log import (
    Arrays,
    LeaseRow,
    LogRow,
    NodeRow,
    facts_from_array,
    facts_to_array,
    node_count,
    nodes_since,
    rows_since,
    spend_of,
    unpack_measures,
    unpack_words,
)
from sonde.store.reader import RunReader
from sonde.store.run import Run
from sonde.store.summary import RANKED, last_budget
from sonde.url_measures import keys_of


def explorer_of(settings: Settings, *, grouped: bool) -> Explorer:
    """The explorer of a run, as it is when the run begins."""
    return Explorer(
        settings.estimator,
        settings.strategy,
        settings.limits,
        settings.objective,
        settings.seed,
        grouped=grouped,
    )


# -- what the log says -----------------------------------------------------------------------------


@dataclass(slots=True)
class Entry:
    """One entry of the log. What its kind has not is ``None``. ``number`` is that of the node,
    ``targets`` are those of the nodes that a visit links to; ``title`` is what its page is called.
    """

    seq: int
    kind: str
    number: int | None
    data: dict[str, Any]
    node: Node = None
    group: Group = None
    lease: Lease | None = None
    outcome: Outcome | None = None
    gain: float = 0.0
    targets: Sequence[int] = ()
    title: str = ""


class Nodes:
    """What the nodes of a run are called, by their numbers.

    Whoever only looks at a run needs no names: a model knows nodes by their numbers alone, so they
    are called by these (``named=False``), and of nodes that a checkpoint knew little is read.
    """

    def __init__(self, database: sqlite3.Connection, *, grouped: bool, named: bool = True) -> None:
        self._database = database
        self._grouped = grouped
        self._named = named
        self.names: Sequence[Node]
        if named:
            self.names = [row.name for row in nodes_since(database)]
        else:
            self.names = range(node_count(database))
        self._base = 0
        self._new: list[Group] = []
        self._older: dict[int, Group] = {}

    def begin_at(self, number: int) -> None:
        """The nodes from this number on are new to whom the log is told."""
        self._base = number
        self._new = [intern(row.group) or None for row in nodes_since(self._database, number)]

    def group(self, number: int) -> Group:
        """The group of a node; of leases, ``None`` where the explorer knows no groups."""
        if not self._grouped:
            return None
        if number >= self._base:
            return self._new[number - self._base]
        if number not in self._older:
            self._older[number] = self._row(number).group or None
        return self._older[number]

    def called(self, numbers: Sequence[int]) -> Sequence[Node]:
        """What nodes are called."""
        return [self.names[number] for number in numbers] if self._named else numbers

    def new_groups(self, numbers: Sequence[int]) -> list[Group] | None:
        """The groups of those nodes that are new: they are told with the links by which nodes are
        found. ``None`` where none of them is."""
        base = self._base
        if max(numbers, default=-1) < base:
            return None
        return [self._new[number - base] if number >= base else None for number in numbers]

    def lease(self, row: LeaseRow) -> Lease:
        """A lease as it was given."""
        name, group = self.names[row.node], self.group(row.node)
        return Lease(row.number, name, group, row.predicted, row.chooser, row.arm)

    def keys(self, number: int) -> tuple[str, str]:
        """Domain and basename of a node whose name is a URL."""
        return keys_of(str(self.names[number]) if self._named else self._row(number).name)

    def _row(self, number: int) -> NodeRow:
        return next(nodes_since(self._database, number))


def entry_of(row: LogRow, nodes: Nodes) -> Entry:
    """What a row of the log says."""
    data = json.loads(row.data) if row.data else {}
    entry = Entry(row.seq, row.kind, row.node, data)
    if row.node is not None:
        entry.node, entry.group = nodes.names[row.node], nodes.group(row.node)
    if row.lease is not None:
        entry.lease = Lease(row.lease, entry.node, entry.group, row.predicted, row.chooser, row.arm)
    if row.kind in ("settle", "interrupt"):
        entry.gain, entry.title = row.gain or 0.0, row.title or ""
        spent = Spend(requests=row.requests, bytes=row.size, cost=data.get("cost", 0.0))
        if row.outcome == "visit":
            entry.targets = np.frombuffer(row.targets or b"", dtype="<i4").tolist()
            links = _links(row, entry, nodes)
            entry.outcome = Visit(row.score or 0.0, links, tuple(data.get("records", ())), spent)
        elif row.outcome == "skip":
            entry.outcome = Skip(row.reason or "", bool(row.retry), spent)
        else:
            entry.outcome = Failure(row.reason or "", bool(row.retry), spent)
    return entry


def _links(row: LogRow, entry: Entry, nodes: Nodes) -> LinkColumns:
    targets = entry.targets
    places: list[UrlPlace | None] | None = None
    if row.places is not None:
        # The keys of URLs follow from them; those of other nodes stand in the log.
        keys = entry.data.get("places") or map(nodes.keys, targets)
        places = [
            told and UrlPlace(key[0], key[1], *told)
            for key, told in zip(keys, unpack_measures(row.places), strict=True)
        ]
    return LinkColumns(
        nodes.called(targets),
        np.frombuffer(row.scores or b"", dtype="<f8").tolist(),
        nodes.new_groups(targets),
        unpack_words(row.words, len(targets)) if row.words else None,
        places,
    )


def visits_of(database: sqlite3.Connection) -> Iterator[tuple[Node, Visit]]:
    """What a run visited, in the order of its log."""
    nodes = Nodes(database, grouped=True)
    nodes.begin_at(0)
    for row in rows_since(database, 0):
        if row.outcome == "visit" and row.kind == "settle":
            entry = entry_of(row, nodes)
            assert isinstance(entry.outcome, Visit)
            yield entry.node, entry.outcome


# -- the parts that hear it ------------------------------------------------------------------------


class Part(Protocol):
    """A part of a crawl whose state follows from the log."""

    def capture(self) -> Arrays | None:
        """Its state; ``None`` where it cannot be captured."""

    def restore(self, arrays: Arrays, nodes: Nodes) -> bool:
        """Take on a captured state. ``False`` where that cannot be, and nothing has changed."""

    def hear(self, entry: Entry) -> None:
        """Take in what the log says next."""


class _Told:
    """The explorer, as a log tells it."""

    def __init__(self, explorer: Explorer) -> None:
        self._explorer = explorer
        self._driver = explorer.driver

    def capture(self) -> Arrays | None:
        arrays = self._driver.capture()
        if arrays is None:
            return None
        return {**arrays, "budget": facts_to_array(asdict(self._driver.account.budget))}

    def restore(self, arrays: Arrays, nodes: Nodes) -> bool:
        if not self._driver.restore(arrays, nodes.names):
            return False
        self._driver.account.budget = Budget(**facts_from_array(arrays["budget"]))
        return True

    def hear(self, entry: Entry) -> None:
        explorer, lease, data = self._explorer, entry.lease, entry.data
        if entry.kind == "seed":
            explorer.add_seeds([Link(entry.node, group=entry.group)])
        elif entry.kind == "budget":
            self._driver.account.budget = Budget(**data)
        elif entry.kind == "correct":
            self._driver.correct(entry.node, data["told"], data["score"])
        elif entry.kind in ("time", "lost", "aside"):
            explorer.spend(spend_of(data))
        elif lease is not None:
            if entry.kind == "lease":
                self._driver.relet(lease, spend_of(data.get("hold")))
            elif entry.kind == "extend":
                explorer.extend(lease, spend_of(data))
            elif entry.outcome is not None:
                for trip in data.get("rtt", ()):
                    group, micros = (entry.group, trip) if isinstance(trip, int) else trip
                    self._driver.clock(group, micros / 1e6)
                explorer.tell(lease, entry.outcome)
        if "dice" in data:
            self._driver.dice = tuple(data["dice"])


class Parts:
    """The parts of a crawl, by name. The explorer, which alone may refuse a state, is the first."""

    def __init__(self, explorer: Explorer, **further: Part) -> None:
        self.explorer = explorer
        self._parts: dict[str, Part] = {"explorer": _Told(explorer), **further}

    def add(self, name: str, part: Part) -> None:
        """One more."""
        self._parts[name] = part

    def captured(self) -> dict[str, Arrays] | None:
        """The state of all; ``None`` where one cannot be captured."""
        state: dict[str, Arrays] = {}
        for name, part in self._parts.items():
            arrays = part.capture()
            if arrays is None:
                return None
            state[name] = arrays
        return state

    def restore(self, run: Run | RunReader, nodes: Nodes, before: int | None = None) -> int:
        """Take on the state of the nearest checkpoint before a position of the log; its position,
        0 where there is none."""
        for seq, state in run.checkpoints(before):
            if all(part.restore(state[name], nodes) for name, part in self._parts.items()):
                return seq
        return 0

    def retell(
        self, run: Run | RunReader, nodes: Nodes, since: int, before: int | None = None
    ) -> Iterator[Entry]:
        """Tell the log after one position and before another, or to its end. Each entry is given
        out before the parts hear it."""
        nodes.begin_at(self.explorer.driver.known)
        for row in rows_since(run.database, since):
            if row.seq == before:
                break
            entry = entry_of(row, nodes)
            yield entry
            for part in self._parts.values():
                part.hear(entry)


# -- what was thought of a node --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Moment:
    """A node as the model saw it after so many visits; ``because`` is the lease of the page whose
    links changed it, ``None`` for the last word."""

    visits: int
    because: int | None
    opinions: tuple[Opinion, ...]


def request_limit(run: RunReader) -> int | None:
    """The limit in requests, as it was last set."""
    raised = last_budget(run)
    return settings_of(run).limits.requests if raised is None else raised.get("requests")


def settings_of(run: RunReader) -> Settings:
    """What the run was told; what it keeps besides settings is left out."""
    return Settings.kept(run.meta("config") or {})


def explorer_of_run(run: RunReader) -> Explorer:
    """The explorer of a run that is only looked at, as it was when the run began."""
    kind = (run.meta("config") or {}).get("kind", {})
    return explorer_of(settings_of(run), grouped=bool(kind.get("grouped")))


def moments(
    run: RunReader, node: int, *, before: int | None = None, from_start: bool = False
) -> tuple[list[Moment], int]:
    """How the opinion of a node changed, as long as it was on the frontier, and the visits after
    which that begins.

    The log is told up to the position `before`, or to its end, from the nearest checkpoint or from
    its start. The last moment is the state then; only it, and those at which the node was asked,
    have ranks, because a rank looks at the whole frontier.
    """
    explorer = explorer_of_run(run)
    explorer.driver.call_by_numbers()
    found: list[Moment] = []
    changed: int | None = None
    try:
        nodes = Nodes(run.database, grouped=explorer.driver.reads_times, named=False)
        parts = Parts(explorer)
        since = 0 if from_start else parts.restore(run, nodes, before)
        restored = explorer.visits
        for entry in parts.retell(run, nodes, since, before):
            if changed is not None:
                found += _moment(explorer, node, changed, ranked=False)
                changed = None
            if entry.kind == "lease" and entry.number == node:
                found += _moment(explorer, node, None, ranked=True)
            if node in entry.targets and entry.lease is not None:
                changed = entry.lease.number
    except sqlite3.DatabaseError as error:
        raise InputError(f"{run.folder}: cannot be read: {error}") from None
    if changed is not None:
        found += _moment(explorer, node, changed, ranked=False)
    return found + _moment(explorer, node, None, ranked=True), restored


def _moment(explorer: Explorer, node: int, because: int | None, *, ranked: bool) -> list[Moment]:
    """One moment, or none where the node is not on the frontier."""
    if not explorer.waits(node):
        return []
    opinions = explorer.opinions(node, RANKED if ranked else 0)
    return [Moment(explorer.visits, because, tuple(opinions))]
