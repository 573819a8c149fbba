"""Greedy without measuring every node: bottom-k reachability sketches.

Let every unit of value have a rank drawn from the exponential distribution, and let a node's
sketch be the ``size`` smallest ranks among the units within h hops of it. A neighbourhood of value
g has its ranks arrive as a Poisson process of rate g, so the sketch that fills first, by rank
``tau``, belongs to the node of largest estimated gain, (size - 1) / tau, an unbiased estimate of
coefficient of variation 1 / sqrt(size - 2) whatever the values are. So no sketch is stored:
units arrive in rank order (drawing a node in proportion to its value *is* the next arrival), each
arrival is counted for all nodes that reach it within h hops, by a breadth-first search on the
reversed links, and the first node to count ``size`` of them is next. Arrivals on what it covers
are then counted back out, and the rest goes on where it stopped. No count passes ``size``, so the
work is about nodes x size steps in all, however large the neighbourhoods are. This is the
distance-threshold setting of Cohen, Delling, Pajor and Werneck (sketch-based influence
maximization, CIKM 2014; distance-based influence, 2014).

A few runners-up are measured too, and the seed is the one that truly adds the most; so every
reported gain is exact. And once as many arrivals were followed back as pages are left uncovered,
following each of those pages back once costs no more than was spent already: that gives the exact
weights of all nodes, and the rest of the choice is exact greedy. So on graphs of small
neighbourhoods, and near the end on others, nothing is estimated at all.

The guarantee, values not negative: with sketches of O(log n / eps**2) every seed gains at least
1 - eps of the best gain with high probability, and k seeds cover at least 1 - 1/e - eps of the
optimum. What holds for the very run is stated by `Sketch.bound`: with the seeds fixed, fresh
arrivals on what they left uncovered bound, at 99 % confidence, what any k seeds could add; or
the exact weights do so for certain, where it came to them.

Negative values arrive too and count minus one: a count estimates the true gain, without bias,
but with the variance of positive and negative parts added. No factor is guaranteed then (nor for
exact greedy); gains are still measured exactly, the choice stops when the best measured one is
not positive, and the bound, which takes the positive part, still holds.
"""

from __future__ import annotations

import math

import numpy as np

from sonde.seeds.amounts import Amounts
from sonde.seeds.coverage import Coverage
from sonde.seeds.network import Nodes, Units
from sonde.seeds.weights import DepthWeights

SIZE = 256
_RUNNERS_UP = 8
_PATIENCE = 4  # full sketches' worth of work for every node, after which a fill is given up
_CONFIDENCE = 0.99


class Sketch:
    """The node whose reachability sketch fills first, among the runners-up the truly best."""

    def __init__(self, coverage: Coverage, k: int, size: int, seed: int) -> None:
        nodes = coverage.network.nodes
        self._coverage = coverage
        self._k = k
        self._size = size
        self._random = np.random.default_rng(seed)
        self._counts: Units = np.zeros(nodes, dtype=np.int64)
        self._hits: Units = np.zeros(nodes, dtype=np.int64)
        self._work: Units = np.zeros(3, dtype=np.int64)
        self._draws: Nodes = np.empty(0, dtype=np.int32)
        self._place = 0
        self._exact: DepthWeights | None = None

    def next(self) -> int | None:
        if self._exact is None and not self._fill():
            self._exact = DepthWeights(self._coverage, self._coverage.hops)
        if self._exact is not None:
            return self._exact.best()
        return self._best_measured()

    def update(self, fresh: Nodes) -> None:
        if self._exact is not None:
            self._exact.update(fresh)
        else:
            self._coverage.withdraw(fresh, self._hits, self._coverage.hops, self._counts)

    def bound(self) -> int | None:
        """A ceiling that no k seeds pass, at 99 % confidence, from arrivals of its own.

        The seeds are fixed before these are drawn, and how many are drawn is fixed as well, so
        that what the best k seeds would add is hit a binomial number of times, at most the sum of
        the k largest counts; the tail bound is that of Tang and others (SIGMOD 2018).
        """
        left = np.maximum(self._coverage.left, 0)
        total = int(left.sum())
        covered = self._coverage.covered_gross()
        if not total:
            return covered
        if self._exact is not None and (self._coverage.amounts.units >= 0).all():
            return covered + Amounts.largest(self._exact.weights, self._k)
        arrivals = max(int(self._work[1]), 16 * self._size)
        hits = np.zeros_like(self._hits)
        counts = np.zeros_like(self._counts)
        draws = self._draw(left, arrivals)
        self._coverage.sample(draws, 0, arrivals + 1, hits, counts, np.zeros(3, dtype=np.int64))
        most = Amounts.largest(counts, self._k)
        slack = math.log(1.0 / (1.0 - _CONFIDENCE)) / 2.0
        share = (math.sqrt(most + slack) + math.sqrt(slack)) ** 2 / arrivals
        return covered + min(total, math.ceil(share * total))

    def _fill(self) -> bool:
        """Lets units arrive until a sketch is full; false if exact weights come cheaper."""
        left = self._coverage.left
        if self._counts.max(initial=0) >= self._size:
            return True
        pages = int(np.count_nonzero(left))
        most_work = int(self._work[0]) + _PATIENCE * self._size * len(left)
        self._work[2] = 0
        while not self._work[2]:
            if self._work[1] >= pages:
                return False
            if self._work[0] >= most_work:
                # Negative values hold all counts down: let the measured gains decide.
                return True
            if self._place >= len(self._draws):
                self._draws = self._draw(np.abs(left), max(256, pages // 16))
                self._place = 0
            self._place = self._coverage.sample(
                self._draws, self._place, self._size, self._hits, self._counts, self._work
            )
        return True

    def _draw(self, amounts: Units, count: int) -> Nodes:
        """The nodes of the next arrivals: each in proportion to its amount."""
        sums = np.cumsum(amounts)
        picks = self._random.integers(0, sums[-1], size=count)
        return np.searchsorted(sums, picks, side="right").astype(np.int32)

    def _best_measured(self) -> int | None:
        """The truly best of the nodes with the largest counts, if it adds anything."""
        few = min(_RUNNERS_UP, len(self._counts))
        counts = np.where(self._coverage.chosen, -(1 << 62), self._counts)
        nodes = np.sort(np.argsort(-counts, kind="stable")[:few]).astype(np.int32)
        gains, _ = self._coverage.weigh(nodes, self._coverage.hops)
        best = int(np.argmax(gains))
        return int(nodes[best]) if gains[best] > 0 else None
