"""Random, PageRank and out-degree: the top k, nothing removed between them.

They are what the other methods are measured against. As they look neither at values nor at what
is covered already, they go on to k whatever a seed adds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sonde.extras import scipy
from sonde.seeds.coverage import Coverage
from sonde.seeds.network import LinkNetwork, Nodes

DAMPING = 0.85


class FixedOrder:
    """Gives out nodes in an order fixed beforehand."""

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
