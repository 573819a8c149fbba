"""The known links, made simple: distinct, without links of a page to itself, in node order.

A link that repeats another, or that leads back to its own page, covers nothing, so that it must
not count as out-degree either.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sonde.errors import GraphError
from sonde.kernels.graphs import coverage as kernels

Nodes = npt.NDArray[np.int32]
Units = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class Linked(Protocol):
    """Anything with links in CSR form, such as a recorded graph."""

    @property
    def indptr(self) -> npt.NDArray[np.int64]: ...

    @property
    def targets(self) -> npt.NDArray[np.int32]: ...


@dataclass(frozen=True, eq=False)
class LinkNetwork:
    """Links in CSR form; build one with `LinkNetwork.of`, which tidies them."""

    indptr: npt.NDArray[np.int64]
    targets: Nodes

    @classmethod
    def of(cls, graph: Linked | LinkNetwork) -> LinkNetwork:
        """The network of a graph: any object with ``indptr`` and ``targets``."""
        if isinstance(graph, LinkNetwork):
            return graph
        return cls.tidy(graph.indptr, graph.targets)

    @classmethod
    def tidy(cls, indptr: npt.NDArray[Any], targets: npt.NDArray[Any]) -> LinkNetwork:
        """Checks the arrays, drops repeated links and loops, and orders what is left."""
        starts = np.ascontiguousarray(indptr, dtype=np.int64)
        ends = np.ascontiguousarray(targets, dtype=np.int32)
        count = len(starts) - 1
        if count < 0 or starts[0] != 0 or starts[-1] != len(ends) or (np.diff(starts) < 0).any():
            raise GraphError("the graph's indptr does not fit its targets")
        if len(ends) and (ends.min() < 0 or ends.max() >= count):
            raise GraphError("the graph has a link to a node that it does not have")
        sources = np.repeat(np.arange(count, dtype=np.int32), np.diff(starts))
        ascending = np.ones(len(ends), dtype=bool)
        if len(ends):
            ascending[1:] = (ends[1:] > ends[:-1]) | (sources[1:] != sources[:-1])
        if ascending.all() and not (sources == ends).any():
            return cls(starts, ends)
        keys = np.unique(sources.astype(np.int64) * max(count, 1) + ends)
        sources, ends = (keys // count).astype(np.int32), (keys % count).astype(np.int32)
        keep = sources != ends
        return cls._grouped(sources[keep], ends[keep], count)

    @classmethod
    def _grouped(cls, sources: Nodes, targets: Nodes, count: int) -> LinkNetwork:
        """From links that are already tidy and ordered by source."""
        indptr = np.zeros(count + 1, dtype=np.int64)
        np.cumsum(np.bincount(sources, minlength=count), out=indptr[1:])
        return cls(indptr, np.ascontiguousarray(targets))

    @property
    def nodes(self) -> int:
        return len(self.indptr) - 1

    @cached_property
    def degrees(self) -> npt.NDArray[np.int64]:
        """The number of distinct other pages that each page links to."""
        return np.diff(self.indptr)

    @cached_property
    def reversed(self) -> LinkNetwork:
        """The same links, turned round."""
        into = np.zeros(self.nodes + 1, dtype=np.int64)
        sources = np.empty(len(self.targets), dtype=np.int32)
        kernels.reverse(self.indptr, self.targets, into, sources)
        return LinkNetwork(into, sources)

    def within(self, nodes: Nodes) -> LinkNetwork:
        """The links among some nodes (ascending), renumbered from zero in their order."""
        number = np.full(self.nodes, -1, dtype=np.int32)
        number[nodes] = np.arange(len(nodes), dtype=np.int32)
        sources = np.repeat(number, self.degrees)
        targets = number[self.targets]
        keep = (sources >= 0) & (targets >= 0)
        return LinkNetwork._grouped(sources[keep], targets[keep], len(nodes))
