"""Curves as figures, SVG and PNG."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sonde.authority.comparison import Curve
from sonde.extras import pyplot


def draw(
    curves: Sequence[Curve],
    folder: Path,
    titles: dict[str, str],
    xlabel: str,
    *,
    prefix: str = "",
    heading: str = "",
    logarithmic: bool = False,
) -> list[Path]:
    """One figure for each measure that curves have; the files written."""
    plots = pyplot()
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for measure, title in titles.items():
        figure, axes = plots.subplots(figsize=(7.2, 4.2), layout="constrained")
        for number, curve in enumerate(curve for curve in curves if curve.measure == measure):
            colour, mean, error = f"C{number % 10}", curve.mean, curve.error
            style = ("-", "--", ":", "-.")[number // 10 % 4]
            axes.plot(curve.at, mean, linewidth=1.2, color=colour, ls=style, label=curve.label)
            if np.any(error > 0):
                axes.fill_between(
                    curve.at, mean - error, mean + error, color=colour, alpha=0.15, linewidth=0
                )
        if logarithmic:
            axes.set_xscale("log")
        axes.set_xlabel(xlabel)
        axes.set_ylabel(title)
        axes.set_ylim(bottom=0)
        axes.set_title(f"{title}{f', {heading}' if heading else ''}", fontsize=10)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
        for kind, details in (("svg", {"Date": None}), ("png", {"Software": None})):
            path = folder / f"{prefix}{measure}.{kind}"
            figure.savefig(path, dpi=80, metadata=details)
            written.append(path)
        plots.close(figure)
        _shorten(written[-2])
    return written


def _shorten(path: Path) -> None:
    """Coordinates to a tenth of a point: what cannot be seen need not be kept."""
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"(\d+\.\d)\d+", r"\1", text), encoding="utf-8")
