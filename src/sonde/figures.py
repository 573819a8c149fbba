"""Figures in one style, as SVG and PNG, and charts in characters for a terminal.

Whatever draws curves (``sonde lab``, ``sonde seeds compare``, ``sonde authority compare``) begins a
figure with ``new_figure``, takes the look of its lines from ``line_style``, finishes axes with
``label_axes`` and the whole with ``save``. The same curves give the same files on every run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sonde.extras import pyplot
from sonde.protocols import Floats

SIZE = (7.2, 4.2)
"""Inches of a figure of one panel, its legend included."""

MARKS = "●○◆◇■□"
"""Of the curves of a chart in characters."""

GRID = 0.25

_DASHES = ("-", "--", ":", "-.")


def new_figure(down: int = 1, across: int = 1, size: tuple[float, float] = SIZE) -> tuple[Any, Any]:
    """A figure, and the array of its panels' axes."""
    figure, axes = pyplot().subplots(
        down, across, figsize=size, squeeze=False, layout="constrained"
    )
    return figure, axes


def line_style(number: int) -> dict[str, Any]:
    """What tells the lines of a figure apart: ten colours, then the same ones dashed."""
    return {"color": f"C{number % 10}", "linestyle": _DASHES[number // 10 % len(_DASHES)]}


def label_axes(axes: Any, title: str, xlabel: str, ylabel: str) -> None:
    """The words of a figure of one panel, with the legend to its right."""
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.grid(alpha=GRID)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))


def save(figure: Any, folder: Path, name: str, dpi: int = 80) -> list[Path]:
    """Write a figure as SVG and PNG, and be done with it; the files."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for kind, details in (("svg", {"Date": None}), ("png", {"Software": None})):
        paths.append(folder / f"{name}.{kind}")
        figure.savefig(paths[-1], dpi=dpi, metadata=details)
    pyplot().close(figure)
    # Coordinates to a tenth of a point: what cannot be seen need not be kept.
    text = paths[0].read_text(encoding="utf-8")
    paths[0].write_text(re.sub(r"(\d+\.\d)\d+", r"\1", text), encoding="utf-8")
    return paths


def harvest_chart(
    curves: Mapping[str, Sequence[float] | Floats], width: int = 64, height: int = 12
) -> str:
    """Cumulative curves over visits, one mark each, on common axes."""
    longest = max((len(curve) for curve in curves.values()), default=0)
    if not longest:
        return "(no visits)"
    highest = max(float(np.max(curve)) for curve in curves.values() if len(curve)) or 1.0
    canvas = [[" "] * width for _ in range(height)]
    for mark, curve in zip(MARKS, curves.values(), strict=False):
        values = np.asarray(curve, dtype=np.float64)
        for column in range(width):
            visit = max(1, round((column + 1) * longest / width))
            if visit <= len(values):
                row = round((height - 1) * values[visit - 1] / highest)
                canvas[height - 1 - row][column] = mark
    labels = [f"{highest:,.4g}", *[""] * (height - 2), "0"]
    margin = max(map(len, labels))
    lines = [
        f"{label:>{margin}} │{''.join(row)}".rstrip()
        for label, row in zip(labels, canvas, strict=True)
    ]
    lines.append(f"{'':>{margin}} └{'─' * width}")
    count = f"{longest:,} visits"
    lines.append(f"{'':>{margin}}  0{count:>{width - 1}}")
    if len(curves) > 1:
        legend = "   ".join(f"{mark} {name}" for mark, name in zip(MARKS, curves, strict=False))
        lines.append(f"{'':>{margin}}  {legend}")
    return "\n".join(lines)
