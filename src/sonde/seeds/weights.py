"""Out-degree and depth-d weight with the covered part taken away, and orders fixed beforehand.

The first two are kept exact for all nodes at once: whenever a node is covered, what it counted for
is taken back from the few nodes that reach it. As a node is covered only once, all the taking back
of a whole selection costs no more than working out the weights in the first place, whatever k is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sonde.extras import scipy
from sonde.seeds.coverage import Coverage
from sonde.seeds.network import LinkNetwork, Nodes, Units

_TAKEN = np.iinfo(np.int64).min


class MaxOut:
    """The largest out-degree in the graph from which all covered nodes have been removed.

    It counts pages, not value: a page left without out-links still covers itself, so the choice
    stops only when no page is left.
    """

    def __init__(self, coverage: Coverage) -> None:
        self._coverage = coverage
        self._degrees: Units = coverage.network.degrees.copy()
        self._one_each: Units = np.ones(coverage.network.nodes, dtype=np.int64)

    def next(self) -> int | None:
        if self._coverage.covered.all():
            return None
        return int(np.argmax(np.where(self._coverage.covered, -1, self._degrees)))

    def update(self, fresh: Nodes) -> None:
        # One less for every page that links to a covered one (and for the covered page itself,
        # which is out of the choice already).
        self._coverage.withdraw(fresh, self._one_each, 1, self._degrees)

    def bound(self) -> int | None:
        return None


class DepthWeights:
    """The value left within ``depth`` hops of every node."""

    def __init__(self, coverage: Coverage, depth: int) -> None:
        self._coverage = coverage
        self._depth = depth
        # Gathered from the side of what is left, so that late in a selection, or on a graph
        # covered in part, the work is that of the uncovered nodes alone.
        self.weights: Units = np.zeros(coverage.network.nodes, dtype=np.int64)
        uncovered = np.flatnonzero(coverage.left).astype(np.int32)
        coverage.withdraw(uncovered, -coverage.left, depth, self.weights)

    def update(self, fresh: Nodes) -> None:
        self._coverage.withdraw(fresh, self._coverage.amounts.units, self._depth, self.weights)

    def best(self, nodes: Nodes | None = None) -> int | None:
        """The first node of the largest weight, of all or of some; none if it is not positive."""
        chosen, weights = self._coverage.chosen, self.weights
        if nodes is not None:
            chosen, weights = chosen[nodes], weights[nodes]
        if not len(weights):
            return None
        open_weights = np.where(chosen, _TAKEN, weights)
        place = int(np.argmax(open_weights))
        if open_weights[place] <= 0:
            return None
        return place if nodes is None else int(nodes[place])


class MaxWeight:
    """The largest depth-d weight, after the values of covered nodes were set to zero."""

    def __init__(self, coverage: Coverage, depth: int) -> None:
        self._weights = DepthWeights(coverage, depth)

    def next(self) -> int | None:
        return self._weights.best()

    def update(self, fresh: Nodes) -> None:
        self._weights.update(fresh)

    def bound(self) -> int | None:
        return None


DAMPING = 0.85


class FixedOrder:
    """Nodes in an order fixed beforehand: random, PageRank and out-degree, the baselines of all
    other methods. As they look neither at values nor at what is covered, they go on to k whatever
    a seed adds."""

    def __init__(self, order: npt.NDArray[Any]) -> None:
        self._order = iter(order.tolist())

    def next(self) -> int | None:
        return next(self._order, None)

    def update(self, fresh: Nodes) -> None:
        """Nothing is removed."""

    def bound(self) -> int | None:
        return None


def at_random(coverage: Coverage, seed: int) -> FixedOrder:
    return FixedOrder(np.random.default_rng(seed).permutation(coverage.network.nodes))


def by_outdegree(coverage: Coverage) -> FixedOrder:
    return FixedOrder(np.argsort(-coverage.network.degrees, kind="stable"))


def by_pagerank(coverage: Coverage) -> FixedOrder:
    network = coverage.network
    # Pages in equal positions must tie, whatever order their sums were taken in.
    ranks = np.round(pagerank(network) * network.nodes, 8)
    return FixedOrder(np.argsort(-ranks, kind="stable"))


def pagerank(network: LinkNetwork, tolerance: float = 1e-12) -> npt.NDArray[np.float64]:
    """PageRank by power iteration on SciPy's sparse product; pages without links jump anywhere."""
    count = network.nodes
    if not count:
        return np.empty(0)
    degrees = network.degrees
    share = np.divide(1.0, degrees, out=np.zeros(count), where=degrees > 0)
    sparse = scipy("sparse", "pagerank")
    back = network.reversed
    matrix = sparse.csr_array(
        (share[back.targets], back.targets, back.indptr), shape=(count, count)
    )
    ranks = np.full(count, 1.0 / count)
    stuck = degrees == 0
    for _ in range(1000):
        jump = (1.0 - DAMPING + DAMPING * ranks[stuck].sum()) / count
        after = DAMPING * (matrix @ ranks) + jump
        moved = float(np.abs(after - ranks).sum())
        ranks = after
        if moved < tolerance:
            break
    return ranks
