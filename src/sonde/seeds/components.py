"""Strongly connected components: which they are, how heavy, and the two methods that use them.

Inside a component every page reaches every other, so one seed anywhere in it reaches all, given
hops enough. That is the whole case for choosing by component, and `Components.sizes` shows when it
fails: on sites whose components are mostly single pages there is nothing to choose inside, and a
root component, though everything below hangs on it, may be farther away than the hops allow.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from sonde.extras import scipy
from sonde.kernels.graphs import coverage as kernels
from sonde.seeds.coverage import Coverage
from sonde.seeds.network import LinkNetwork, Nodes, Units
from sonde.seeds.weights import DepthWeights


class Components:
    """The strongly connected components, numbered by the first node that each holds."""

    def __init__(self, network: LinkNetwork) -> None:
        count = network.nodes
        matrix = scipy("sparse", "strongly connected components").csr_array(
            (np.ones(len(network.targets), dtype=np.int8), network.targets, network.indptr),
            shape=(count, count),
        )
        _, found = scipy("sparse.csgraph", "strongly connected components").connected_components(
            matrix, directed=True, connection="strong"
        )
        _, first, inverse = np.unique(found, return_index=True, return_inverse=True)
        number = np.empty(len(first), dtype=np.int32)
        number[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
        self._network = network
        self.labels: Nodes = number[inverse]
        self.sizes: npt.NDArray[np.int64] = np.bincount(self.labels, minlength=len(first))
        self._order = np.argsort(self.labels, kind="stable").astype(np.int32)
        self._starts = np.concatenate(([0], np.cumsum(self.sizes)))

    def members(self, component: int) -> Nodes:
        """The nodes of one component, in node order."""
        return self._order[self._starts[component] : self._starts[component + 1]]

    @cached_property
    def condensation(self) -> LinkNetwork:
        """The acyclic network of components."""
        sources = np.repeat(self.labels, self._network.degrees)
        order = np.argsort(sources, kind="stable")
        indptr = np.zeros(len(self.sizes) + 1, dtype=np.int64)
        np.cumsum(np.bincount(sources, minlength=len(self.sizes)), out=indptr[1:])
        return LinkNetwork.tidy(indptr, self.labels[self._network.targets][order])

    @cached_property
    def roots(self) -> npt.NDArray[np.bool_]:
        """Whether no other component leads to a component."""
        return np.asarray(self.condensation.reversed.degrees == 0)

    def root_ancestors(self, component: int) -> Nodes:
        """The roots that lead to a component, itself if it is one, in order."""
        back = self.condensation.reversed
        queue = np.empty(back.nodes, dtype=np.int32)
        seen = np.zeros(back.nodes, dtype=np.uint8)
        size = kernels.reach(back.indptr, back.targets, component, back.nodes, seen, queue)
        above = np.sort(queue[:size])
        return above[self.roots[above]]


class MaxScc:
    """The best depth-d weight inside the component of greatest remaining weight."""

    def __init__(self, coverage: Coverage, depth: int) -> None:
        self._coverage = coverage
        self._components = Components(coverage.network)
        self._weights = DepthWeights(coverage, depth)
        self._heft: Units = np.zeros(len(self._components.sizes), dtype=np.int64)
        np.add.at(self._heft, self._components.labels, coverage.left)

    def next(self) -> int | None:
        heaviest = self._heaviest()
        if heaviest is None:
            return None
        return self._weights.best(self._components.members(heaviest))

    def update(self, fresh: Nodes) -> None:
        self._weights.update(fresh)
        amounts = self._coverage.amounts.units[fresh]
        np.subtract.at(self._heft, self._components.labels[fresh], amounts)

    def bound(self) -> int | None:
        return None

    def _heaviest(self) -> int | None:
        """The first component of greatest remaining weight; none if that is not positive."""
        if not len(self._heft):
            return None
        component = int(np.argmax(self._heft))
        return component if self._heft[component] > 0 else None


class RootScc(MaxScc):
    """The best depth-d weight inside the heaviest root ancestor of the heaviest component."""

    def next(self) -> int | None:
        heaviest = self._heaviest()
        if heaviest is None:
            return None
        roots = self._components.root_ancestors(heaviest)
        root = int(roots[np.argmax(self._heft[roots])])
        return self._weights.best(self._components.members(root))
