"""The reachable part of a graph: what its seeds and its budget let a crawl visit at all.

``Reachable`` is that part as a graph of its own, and ``DominatorTree`` says which of its nodes a
crawl must have visited to get at others. Bounds on crawls (``sonde.lab.bounds``) are made of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sonde.kernels.graphs import dominance, lagrangian, paths
from sonde.protocols import Floats, Numbers
from sonde.sources.graph.graph import Graph


def node_values(graph: Graph, objective: str) -> Floats:
    """What each node is worth under ``sum`` or ``count``."""
    if objective == "count":
        return (graph.scores > 0).astype(np.float64)
    return graph.scores


def within_hops(
    indptr: Numbers, targets: npt.NDArray[np.int32], seeds: Numbers, hops: int
) -> tuple[npt.NDArray[np.int32], int]:
    """The nodes within some hops of the seeds, nearest first, the seeds left out, and how many
    of them are linked from a seed."""
    nodes, entries = dominance.reach(indptr, targets, seeds, hops)
    return nodes, int(entries)


def reachable(graph: Graph, seeds: Numbers) -> npt.NDArray[np.int32]:
    """The nodes that a crawl from these seeds can reach, the seeds left out."""
    return within_hops(graph.indptr, graph.targets, seeds, graph.node_count)[0]


@dataclass(frozen=True)
class Reachable:
    """The nodes within `budget` hops of the seeds, numbered anew, nearest first, without seeds.

    ``nodes`` are their numbers in the graph; the first ``entries`` of them are linked from a
    seed; ``indptr`` and ``targets`` are the links among them. Whatever a crawl of `budget` visits
    takes lies in here, and so do all paths that it can take.
    """

    nodes: npt.NDArray[np.int32]
    entries: int
    indptr: Numbers
    targets: npt.NDArray[np.int32]
    values: Floats
    budget: int

    @classmethod
    def of(cls, graph: Graph, seeds: Numbers, budget: int, objective: str = "sum") -> Reachable:
        nodes, entries = within_hops(graph.indptr, graph.targets, seeds, budget)
        local = np.full(graph.node_count, -1, dtype=np.int32)
        local[nodes] = np.arange(len(nodes), dtype=np.int32)
        degrees = np.diff(graph.indptr)[nodes]
        # Where each link of the new rows stands in the graph's own arrays.
        ends = np.cumsum(degrees)
        places = np.repeat(graph.indptr[:-1][nodes] - (ends - degrees), degrees)
        places += np.arange(len(places))
        targets = local[graph.targets[places]]
        kept = targets >= 0
        indptr = np.zeros(len(nodes) + 1, dtype=np.int64)
        indptr[1:] = np.cumsum(kept)[ends - 1] if len(kept) else 0
        # A first row without links takes its end from the last place of all.
        indptr[1:][ends == 0] = 0
        return cls(
            nodes=nodes,
            entries=entries,
            indptr=indptr,
            targets=targets[kept],
            values=np.ascontiguousarray(node_values(graph, objective)[nodes]),
            budget=min(budget, len(nodes)),
        )

    def __len__(self) -> int:
        return len(self.nodes)

    def dominators(self) -> tuple[Numbers, Numbers]:
        """The nodes in depth-first order, and for each place in it the place of the immediate
        dominator, or -1 where only the seeds dominate."""
        order, idom = dominance.dominators(self.indptr, self.targets, self.entries)
        return order, idom

    def path_greedy(self, longest: int) -> Numbers:
        """The crawl that always adds the path of up to `longest` nodes with the best mean value."""
        if not len(self):
            return np.zeros(0, dtype=np.int64)
        by_value, targets = self._by_value()
        walker: Any = paths.Walker(self.indptr, targets, self.values, by_value)
        order: Numbers = walker.crawl(self.entries, self.budget, longest)
        return order

    def parent_surplus(self, chosen: Numbers) -> Floats:
        """For each node how many chosen nodes link to it, less one if it is chosen itself."""
        surplus = np.zeros(len(self))
        lagrangian.slack(self.indptr, self.targets, chosen, surplus)
        return surplus

    def price_in(self, prices: Floats, reduced: Floats) -> None:
        """Leave in `reduced` each node's value, less its own price, plus the prices of the nodes
        that it links to."""
        lagrangian.price_in(self.indptr, self.targets, self.values, prices, reduced)

    def _by_value(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """All nodes by falling value, ties in order, and each node's targets in that order."""
        order = np.argsort(-self.values, kind="stable").astype(np.int32)
        rank = np.empty(len(self), dtype=np.int64)
        rank[order] = np.arange(len(self))
        keys = np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.indptr))
        keys *= max(len(self), 1)
        keys += rank[self.targets]
        keys.sort()
        keys %= max(len(self), 1)
        return order, order[keys]


class DominatorTree:
    """Which nodes every way from the seeds to a node passes, and the best choice of nodes that is
    closed in that order, at a price a node."""

    def __init__(self, part: Reachable) -> None:
        self._budget = part.budget
        self._order, self._idom = part.dominators()
        self._worth = np.zeros(len(part))
        self._sizes = np.zeros(len(part), dtype=np.int64)
        self._held = np.zeros(len(part), dtype=np.int8)

    def bound(self, values: Floats, precision: float = 1e-12) -> tuple[float, float, float]:
        """The lowest Lagrangian bound over prices, and the prices just below and above the best."""
        values = np.ascontiguousarray(values[self._order])
        lowest, low, high, price = np.inf, 0.0, max(float(values.max()), 0.0), 0.0
        while True:
            total, size = self._relaxed(values, price)
            lowest = min(lowest, price * self._budget + total)
            # The bound is convex in the price, and falls while the choice exceeds the budget.
            if size > self._budget:
                low = price
            elif price == 0.0:
                return float(lowest), 0.0, 0.0
            else:
                high = price
            if high - low <= precision * high:
                return float(lowest), low, high
            price = (low + high) / 2

    def chosen(self, values: Floats, price: float) -> Numbers:
        """The nodes of the best closed choice at this price."""
        self._relaxed(np.ascontiguousarray(values[self._order]), price)
        lagrangian.closed(self._idom, self._worth, self._held)
        found: Numbers = self._order[np.flatnonzero(self._held)].astype(np.int64)
        return found

    def _relaxed(self, values: Floats, price: float) -> tuple[float, int]:
        total, size = lagrangian.relaxed(self._idom, values, price, self._worth, self._sizes)
        return total, size
