"""Tracking the most cited of a time graph in simulation.

G_t holds the links that arrived within the window before t, K_t its most cited nodes. The crawl
begins one window after the first arrival, and at each step crawls a new node or an old one (see
``sonde.kernels.citations.recrawl``). Measures, at some times t:

- *crawl performance*: the share of K_t that was visited;
- *discovery performance*: the share of K_t that was visited or is on the frontier;
- *lift* of either: the chance that a node drawn from those is in K_t, over the chance that a node
  drawn from all that have appeared by then is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sonde import kernels
from sonde.authority.ranking import most_cited, start_node
from sonde.authority.timegraph import TimeGraph
from sonde.durations import seconds_from
from sonde.errors import InputError, SpecError
from sonde.kernels.citations.recrawl import POLICIES
from sonde.protocols import Floats

EXPANSIONS = ("sample-u", "crawl-gai", "crawl-ai")
RECRAWLS: tuple[str, ...] = tuple(POLICIES)


def check_policies(expand: str, expansions: tuple[str, ...], recrawl: str, share: float) -> None:
    """Refuse what is no way to track."""
    if expand not in expansions:
        known = ", ".join(expansions)
        raise SpecError(f"unknown way to expand {expand!r} (one of: {known})")
    if recrawl not in RECRAWLS:
        known = ", ".join(RECRAWLS)
        raise SpecError(f"unknown recrawl policy {recrawl!r} (one of: {known})")
    if not 0 <= share <= 1:
        raise SpecError(f"the share of expansions must be between 0 and 1, not {share}")


DAY = 86_400.0


@dataclass(frozen=True)
class Tracker:
    """How to track: what to expand, what to visit again, and how often."""

    expand: str = "crawl-gai"
    recrawl: str = "or"
    top: int = 500
    window: float = 7 * DAY
    rate: float = 1000 / DAY
    share: float = 0.5

    def __post_init__(self) -> None:
        check_policies(self.expand, EXPANSIONS, self.recrawl, self.share)
        if self.top < 1:
            raise SpecError(f"the number of nodes to track must be 1 or more, not {self.top}")
        if not 0 < self.window < np.inf or not 0 < self.rate < np.inf:
            raise SpecError("window and rate must be above 0")

    def __str__(self) -> str:
        return f"{self.expand}, {self.recrawl}"


def rate_from(text: str) -> float:
    """``1000/d`` as visits a second; ``200/h``, ``5/15m``."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)/((?:\d.*)?[a-z]+)", text.strip())
    if not found:
        raise SpecError(f"{text!r} is not a rate (such as 1000/d or 200/h)")
    per = found[2] if found[2][0].isdigit() else f"1{found[2]}"
    rate = float(found[1]) / seconds_from(per)
    if rate <= 0:
        raise SpecError(f"{text!r}: a rate must be above 0")
    return rate


@dataclass(frozen=True)
class Course:
    """How tracking went, one row a time of measurement."""

    tracker: Tracker
    start: int
    times: Floats  # seconds since the first visit
    visited: Floats
    frontier: Floats
    nodes: Floats  # that have appeared
    targets: Floats  # size of K_t
    visited_targets: Floats
    frontier_targets: Floats
    expansions: int
    recrawls: int

    @property
    def crawl(self) -> Floats:
        """Crawl performance."""
        return self.visited_targets / self.targets

    @property
    def discovery(self) -> Floats:
        """Discovery performance."""
        return (self.visited_targets + self.frontier_targets) / self.targets

    @property
    def crawl_lift(self) -> Floats:
        """Of the visited nodes."""
        return self.visited_targets / self.visited * self.nodes / self.targets

    @property
    def discovery_lift(self) -> Floats:
        """Of the nodes visited or on the frontier."""
        found = self.visited_targets + self.frontier_targets
        return found / (self.visited + self.frontier) * self.nodes / self.targets

    @property
    def frontier_lift(self) -> Floats:
        """Of the nodes on the frontier."""
        some = np.maximum(self.frontier, 1)
        return self.frontier_targets / some * self.nodes / self.targets


def track(
    graph: TimeGraph,
    tracker: Tracker = Tracker(),  # noqa: B008 (frozen)
    *,
    start: int | None = None,
    seed: int = 0,
    points: int = 100,
    engine: str = "compiled",
) -> Course:
    """Track the most cited from one window after the first arrival until the last one."""
    first, last = graph.span
    begin = first + tracker.window
    if begin > last:
        raise InputError(
            f"the links arrive within {(last - first) / DAY:g} days, a window of"
            f" {tracker.window / DAY:g} days leaves no time to track"
        )
    if start is None:
        start = start_node(*graph.at(begin, tracker.window), seed)
    loops = kernels.load(engine)
    count = graph.node_count
    explore = 1.0 if tracker.expand == "crawl-ai" else 0.0
    state = loops.recrawl.Tracking(
        graph.rows,
        graph.sources,
        graph.targets,
        graph.arriving,
        graph.arrivals,
        tracker.window,
        loops.expansion.Expansion(count, explore),
        loops.recrawl.Recrawl(
            RECRAWLS.index(tracker.recrawl), count, tracker.rate * (1 - tracker.share)
        ),
        loops.dice.Dice(seed),
    )
    state.slide(begin)
    state.crawl(start, begin)
    steps = int((last - begin) * tracker.rate)
    measured = []
    done = 0
    for until in _spread(steps, points):
        state.run(
            done + 1,
            until - done,
            begin,
            1.0 / tracker.rate,
            tracker.share,
            tracker.expand == "sample-u",
        )
        done = until
        row = _measure(state, tracker.top)
        if row is not None:
            measured.append((done / tracker.rate, *row))
    if not measured:
        raise InputError("no link is within the window at any time of measurement")
    times, visited, frontier, nodes, targets, had, waiting = np.array(measured, dtype=float).T
    return Course(
        tracker,
        start,
        times,
        visited,
        frontier,
        nodes,
        targets,
        had,
        waiting,
        expansions=state.expanded,
        recrawls=state.recrawled,
    )


def _spread(steps: int, points: int) -> Iterator[int]:
    """`points` numbers of steps, evenly from nearly none to all."""
    last = -1
    for number in range(points):
        until = steps * (number + 1) // points
        if until > last:
            last = until
            yield until


def _measure(state: object, top: int) -> tuple[int, ...] | None:
    indegree = np.asarray(state.indegree)  # type: ignore[attr-defined]
    targets = most_cited(indegree, top)
    if not len(targets):  # nothing to find: no link is there
        return None
    taken = np.asarray(state.crawls) > 0  # type: ignore[attr-defined]
    waiting = np.asarray(state.expansion.state) == 1  # type: ignore[attr-defined]
    return (
        int(np.count_nonzero(taken)),
        int(np.count_nonzero(waiting)),
        int(state.arrived),  # type: ignore[attr-defined]
        len(targets),
        int(np.count_nonzero(taken[targets])),
        int(np.count_nonzero(waiting[targets])),
    )
