"""The territory of a crawl: what its seeds and its budget let it reach at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sonde.kernels.graphs.dominance import reach
from sonde.protocols import Floats
from sonde.sources.graph import Graph

Numbers = npt.NDArray[np.int64]


def value_of(graph: Graph, objective: str) -> Floats:
    """What each node is worth under ``sum`` or ``count``."""
    if objective == "count":
        return (graph.scores > 0).astype(np.float64)
    return graph.scores


def reachable(graph: Graph, seeds: Numbers) -> int:
    """How many nodes a crawl from these seeds can reach, the seeds left out."""
    order, _ = reach(graph.indptr, graph.targets, seeds, graph.node_count)
    return len(order)


def scoring_in_reach(graph: Graph, seeds: Numbers) -> int:
    """How many of them score."""
    order, _ = reach(graph.indptr, graph.targets, seeds, graph.node_count)
    return int(np.count_nonzero(graph.scores[order] > 0))


@dataclass(frozen=True)
class Territory:
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
    def of(cls, graph: Graph, seeds: Numbers, budget: int, objective: str = "sum") -> Territory:
        nodes, entries = reach(graph.indptr, graph.targets, seeds, budget)
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
            entries=int(entries),
            indptr=indptr,
            targets=targets[kept],
            values=np.ascontiguousarray(value_of(graph, objective)[nodes]),
            budget=min(budget, len(nodes)),
        )

    def __len__(self) -> int:
        return len(self.nodes)

    def by_value(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
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
