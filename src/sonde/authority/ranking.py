"""The most cited nodes: K, what a crawler takes for it, and where a crawl for it starts.

One rule for ties, everywhere: of equal values the node that comes first in node order. So there is
one set K, whatever the graph.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sonde.extras import scipy

Nodes: TypeAlias = npt.NDArray[np.int32]


def highest(values: npt.NDArray[Any], count: int, among: Nodes | None = None) -> Nodes:
    """The nodes with the `count` highest values, the highest first.

    `among`, in node order, restricts the choice to these nodes.
    """
    if among is not None:
        values = values[among]
    places = np.arange(len(values), dtype=np.int32)
    if not count:
        places = places[:0]
    elif count < len(values):
        least = np.partition(values, len(values) - count)[len(values) - count]
        above = places[values > least]
        places = np.concatenate([above, places[values == least][: count - len(above)]])
    places = places[np.lexsort((places, -values[places].astype(np.float64)))]
    return places if among is None else among[places]


def most_cited(indegree: npt.NDArray[np.int32], count: int) -> Nodes:
    """K: the `count` nodes with the highest in-degree; nodes that nobody cites are never in it."""
    return highest(indegree, count, np.flatnonzero(indegree > 0).astype(np.int32))


def share(found: Nodes, targets: npt.NDArray[np.bool_], whole: int) -> float:
    """Which share of all `whole` targets is among the nodes found."""
    return float(np.count_nonzero(targets[found])) / whole if whole else 1.0


_WHAT = "a start node inside the largest strongly connected component"


def largest_component(indptr: npt.NDArray[np.int64], targets: npt.NDArray[np.int32]) -> Nodes:
    """The nodes of the largest strongly connected component, in node order.

    Of components of one size, the one that holds the first node.
    """
    count = len(indptr) - 1
    matrix: Any = scipy("sparse", _WHAT).csr_array(
        (np.ones(len(targets), dtype=np.int8), targets, indptr), shape=(count, count)
    )
    _, labels = scipy("sparse.csgraph", _WHAT).connected_components(
        matrix, directed=True, connection="strong"
    )
    sizes = np.bincount(labels)
    first = int(np.argmax(sizes[labels]))  # the first node of any component of that size
    return np.flatnonzero(labels == labels[first]).astype(np.int32)


def start_node(indptr: npt.NDArray[np.int64], targets: npt.NDArray[np.int32], seed: int) -> int:
    """One of them, drawn from a seed."""
    nodes = largest_component(indptr, targets)
    return int(nodes[np.random.default_rng(seed).integers(len(nodes))])
