"""Exact greedy at full depth, by lazy evaluation.

What a node adds can only shrink as others are chosen, so a gain measured earlier is an upper
bound now, and most nodes need no second look (lazy evaluation: Minoux 1978; CELF: Leskovec and
others, KDD 2007). With negative values that is no longer so: a node gains when spam in its
neighbourhood has been paid for by an earlier seed. Two bounds still hold, and the lower one is
used: the gain measured then plus all the negative value covered since, and the positive part of
that gain alone. So the choice is the exact argmax at every step whatever the signs.

The guarantee: with no negative values the k seeds cover at least 1 - 1/e of the best value that
any k seeds can cover. With negative values no such factor exists (the problem has no constant
approximation); what is left is that every seed is the best next one and that the value reported
is the true one. In both cases `Greedy.bound` is a ceiling for this very graph: however they are
chosen, k seeds cover no more than the positive value covered so far plus the k largest positive
gains on top of it, after any number of seeds.
"""

from __future__ import annotations

import heapq

import numpy as np

from sonde.seeds.amounts import Amounts
from sonde.seeds.coverage import Coverage
from sonde.seeds.network import Nodes, Units


class Greedy:
    """The node that adds the most, exactly, at each step."""

    def __init__(self, coverage: Coverage, k: int) -> None:
        self._coverage = coverage
        self._k = k
        self._net, self._gross = coverage.weigh(coverage.everyone, coverage.hops)
        self._debt = 0  # negative value covered so far, as a positive number
        self._debt_then: Units = np.zeros(coverage.network.nodes, dtype=np.int64)
        self._round = 0
        self._round_then = np.zeros(coverage.network.nodes, dtype=np.int64)
        self._ceiling = coverage.amounts.positive
        self._heap = self._ordered()
        self._lower_ceiling()

    def next(self) -> int | None:
        heap = self._heap
        while heap:
            bound, node = heap[0]
            if -bound <= 0:
                return None
            if self._round_then[node] == self._round:
                return heapq.heappop(heap)[1]
            self._measure(node)
            heapq.heapreplace(heap, (-self._bound(node), node))
        return None

    def update(self, fresh: Nodes) -> None:
        self._round += 1
        amounts = self._coverage.amounts.units[fresh]
        debt = -int(amounts[amounts < 0].sum())
        self._gross[self._coverage.chosen] = 0
        if debt:
            self._debt += debt
            self._heap = self._ordered()
        self._lower_ceiling()

    def bound(self) -> int | None:
        return self._ceiling

    def _measure(self, node: int) -> None:
        net, gross = self._coverage.weigh(np.array([node], dtype=np.int32), self._coverage.hops)
        self._net[node], self._gross[node] = net[0], gross[0]
        self._debt_then[node] = self._debt
        self._round_then[node] = self._round

    def _bound(self, node: int) -> int:
        since = self._debt - int(self._debt_then[node])
        return min(int(self._gross[node]), int(self._net[node]) + since)

    def _ordered(self) -> list[tuple[int, int]]:
        """All open nodes, largest bound first, ties in node order."""
        bounds = np.minimum(self._gross, self._net + (self._debt - self._debt_then))
        nodes = np.flatnonzero(~self._coverage.chosen & (bounds > 0))
        heap = list(zip((-bounds[nodes]).tolist(), nodes.tolist(), strict=True))
        heapq.heapify(heap)
        return heap

    def _lower_ceiling(self) -> None:
        more = Amounts.largest(self._gross, self._k)
        self._ceiling = min(self._ceiling, self._coverage.covered_gross() + more)
