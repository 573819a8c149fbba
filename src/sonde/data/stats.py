"""What the literature says of a graph: how sparse it is, and what its features tell.

For each node v three features over its in-links u -> v, and three over its out-links v -> w:
n, the score of the other node; e, the link's score; ne, their product; each as sum and as maximum.
Nodes without links have 0. Table 1 counts what is not 0, Table 2 is Pearson's correlation of each
feature with the nodes' scores over all nodes, Table 3 is R² of the linear model with intercept on
the three features together. ``as_text``, ``as_csv`` and ``as_latex`` print them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
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

_COLUMNS = [f"{side} {fold}" for side, fold in product(SIDES, FOLDS)]
_KEYS = [f"{side}:{fold}" for side, fold in product(SIDES, FOLDS)]
_SPECIAL = {c: "\\" + c for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


@dataclass(frozen=True)
class GraphDescription:
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


def describe(graph: Path | Graph, name: str | None = None) -> GraphDescription:
    """Describe a graph, or the folder of one."""
    if not isinstance(graph, Graph):
        name = name or str(graph).rstrip("/")
        graph = Graph.load(graph)
    features = features_of(graph)
    return GraphDescription(
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


def tables_of(found: Sequence[GraphDescription]) -> list[tuple[str, list[str], list[list[str]]]]:
    """Tables 1 to 3: titles, heads and rows, cells as text."""
    sizes = [
        [
            each.name,
            f"{each.nodes:,}",
            f"{each.nonzero_nodes:,}",
            _share(each.nonzero_nodes, each.nodes),
            f"{each.edges:,}",
            f"{each.nonzero_edges:,}",
            _share(each.nonzero_edges, each.edges),
        ]
        for each in found
    ]
    correlations = [
        [each.name, feature, *(_number(each.correlations[f"{feature}:{key}"]) for key in _KEYS)]
        for each in found
        for feature in FEATURES
    ]
    models = [[each.name, *(_number(each.r_squared[key]) for key in _KEYS)] for each in found]
    return [
        (
            "Table 1: nodes and edges that are not zero",
            ["graph", "nodes", "non-zero", "%", "edges", "non-zero", "%"],
            sizes,
        ),
        (
            "Table 2: correlation of node score and feature",
            ["graph", "feature", *_COLUMNS],
            correlations,
        ),
        ("Table 3: R² of the linear models on n, e, ne", ["graph", *_COLUMNS], models),
    ]


def as_text(found: Sequence[GraphDescription]) -> str:
    """For people: columns lined up."""
    out = []
    for title, heads, rows in tables_of(found):
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        lines = []
        for row in (heads, *rows):
            cells = [
                cell.ljust(width) if heads[place] in ("graph", "feature") else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append("  ".join(cells).rstrip())
        out.append("\n".join([title, *lines]) + "\n")
    return "\n".join(out)


def as_csv(found: Sequence[GraphDescription]) -> str:
    """One row a value, unrounded; a value that is not defined is empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["graph", "measure", "feature", "side", "fold", "value"])
    for each in found:
        for name in ("nodes", "nonzero_nodes", "edges", "nonzero_edges"):
            writer.writerow([each.name, name, "", "", "", getattr(each, name)])
        for key, value in each.correlations.items():
            writer.writerow([each.name, "correlation", *key.split(":"), _exact(value)])
        for key, value in each.r_squared.items():
            writer.writerow([each.name, "r_squared", "", *key.split(":"), _exact(value)])
    return out.getvalue()


def as_latex(found: Sequence[GraphDescription]) -> str:
    """Three ``table`` environments, with rules by booktabs."""
    out = []
    for title, heads, rows in tables_of(found):
        left = sum(head in ("graph", "feature") for head in heads)
        lines = [
            r"\begin{table}",
            rf"\caption{{{_tex(title.partition(': ')[2])}}}",
            rf"\begin{{tabular}}{{{'l' * left}{'r' * (len(heads) - left)}}}",
            r"\toprule",
            _tex_row(heads),
            r"\midrule",
            *map(_tex_row, rows),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
        out.append("\n".join(lines) + "\n")
    return "\n".join(out)


def _tex_row(cells: Sequence[str]) -> str:
    return " & ".join(map(_tex, cells)) + r" \\"


def _tex(text: str) -> str:
    return "".join(_SPECIAL.get(c, c) for c in text).replace("R²", "$R^2$")


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f}" if whole else "-"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _exact(value: float | None) -> str:
    return "" if value is None else repr(value)
