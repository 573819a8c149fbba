"""The three tables of ``stats`` as text, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from itertools import product

from sonde.lab.data.stats import FEATURES, FOLDS, SIDES, Description

Table = tuple[str, list[str], list[list[str]]]  # title, heads, rows

_COLUMNS = [f"{side} {fold}" for side, fold in product(SIDES, FOLDS)]
_KEYS = [f"{side}:{fold}" for side, fold in product(SIDES, FOLDS)]
_SPECIAL = {c: "\\" + c for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def tables_of(found: Sequence[Description]) -> list[Table]:
    """Tables 1 to 3, cells as text."""
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


def as_text(found: Sequence[Description]) -> str:
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


def as_csv(found: Sequence[Description]) -> str:
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


def as_latex(found: Sequence[Description]) -> str:
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
