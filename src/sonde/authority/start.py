"""Where a crawl starts: a node of the largest strongly connected component, drawn evenly."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sonde.authority.ranking import Nodes
from sonde.extras import scipy

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
