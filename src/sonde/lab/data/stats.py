"""What the literature says of a graph: how sparse it is, and what its features tell.

For each node v three features over its in-links u -> v, and three over its out-links v -> w:
n, the score of the other node; e, the link's score; ne, their product; each as sum and as maximum.
Nodes without links have 0. Table 1 counts what is not 0, Table 2 is Pearson's correlation of each
feature with the nodes' scores over all nodes, Table 3 is R² of the linear model with intercept on
the three features together.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sonde.sources.graph import Graph

FEATURES = ("n", "e", "ne")
SIDES = ("in", "out")
FOLDS = ("sum", "max")

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Description:
    """The numbers of one graph. Correlations and R² are None where nothing varies.

    ``correlations`` has keys such as ``ne:in:sum``, ``r_squared`` such as ``in:sum``.
    """

    name: str
    nodes: int
    edges: int
    nonzero_nodes: int
    nonzero_edges: int
    correlations: dict[str, float | None]
    r_squared: dict[str, float | None]

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def describe(graph: Path | Graph, name: str | None = None) -> Description:
    """Describe a graph, or the folder of one."""
    if not isinstance(graph, Graph):
        name = name or str(graph).rstrip("/")
        graph = Graph.load(graph)
    features = features_of(graph)
    return Description(
        name=name or "graph",
        nodes=graph.node_count,
        edges=graph.edge_count,
        nonzero_nodes=int(np.count_nonzero(graph.scores)),
        nonzero_edges=int(np.count_nonzero(graph.link_scores)),
        correlations={
            f"{feature}:{side}:{fold}": correlation(features[feature, side, fold], graph.scores)
            for feature, side, fold in product(FEATURES, SIDES, FOLDS)
        },
        r_squared={
            f"{side}:{fold}": r_squared(
                np.stack([features[feature, side, fold] for feature in FEATURES], axis=1),
                graph.scores,
            )
            for side, fold in product(SIDES, FOLDS)
        },
    )


def features_of(graph: Graph) -> dict[tuple[str, str, str], Floats]:
    """Every feature of every node, by (feature, side, fold)."""
    count = graph.node_count
    sources = np.repeat(np.arange(count), np.diff(graph.indptr))
    found: dict[tuple[str, str, str], Floats] = {}
    for side, own, other in (("in", graph.targets, sources), ("out", sources, graph.targets)):
        order = np.argsort(own, kind="stable")
        starts = np.flatnonzero(np.diff(own[order], prepend=-1))
        nodes = own[order][starts]
        far = graph.scores[other]
        for feature, values in (
            ("n", far),
            ("e", graph.link_scores),
            ("ne", far * graph.link_scores),
        ):
            for fold, reduce in (("sum", np.add.reduceat), ("max", np.maximum.reduceat)):
                whole = np.zeros(count)
                if len(starts):
                    whole[nodes] = reduce(values[order], starts)
                found[feature, side, fold] = whole
    return found


def correlation(feature: Floats, scores: Floats) -> float | None:
    """Pearson's, or None where one of the two is constant."""
    x, y = _centred(feature), _centred(scores)
    if x is None or y is None:
        return None
    return float(np.clip(x @ y, -1.0, 1.0))


def r_squared(features: Floats, scores: Floats) -> float | None:
    """The share of the scores' variance that a linear model with intercept explains."""
    y = _centred(scores)
    if y is None:
        return None
    columns = [x for x in map(_centred, features.T) if x is not None]
    if not columns:
        return 0.0
    design = np.stack(columns, axis=1)
    weights = np.linalg.lstsq(design, y, rcond=1e-10)[0]
    left = y - design @ weights
    return float(np.clip(1.0 - left @ left, 0.0, 1.0))


def _centred(values: Floats) -> Floats | None:
    """Without its mean, and of length 1; None if it is constant."""
    largest = float(np.abs(values).max(initial=0.0))
    if not largest or values.min() == values.max():
        return None
    scaled = values / largest
    centred = scaled - scaled.mean()
    length = float(np.sqrt(centred @ centred))
    return centred / length if length else None
