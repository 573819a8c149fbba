"""The comparison's curves as figures, SVG and PNG."""

from __future__ import annotations

from pathlib import Path

from sonde.extras import pyplot
from sonde.seeds.comparison import OBJECTIVES, Comparison
from sonde.seeds.tables import TITLES

_MARKERS = "osD^vP*Xhd"


def draw(comparison: Comparison, folder: Path, prefix: str = "") -> list[Path]:
    """One figure for each of pages and value against seeds and hops; the files written."""
    plots = pyplot()
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for objective in OBJECTIVES:
        for axis in ("seeds", "hops"):
            if not any(point.axis == axis for point in comparison.points):
                continue
            figure, axes = plots.subplots(figsize=(7.2, 4.6), layout="constrained")
            for number, method in enumerate(comparison.methods):
                curve = comparison.curve(objective, axis, method)
                axes.errorbar(
                    [point.at for point in curve],
                    [point.improvement for point in curve],
                    yerr=[point.error for point in curve],
                    marker=_MARKERS[number % len(_MARKERS)],
                    markersize=5,
                    linewidth=1.2,
                    linestyle="-" if number % 2 == 0 else "--",
                    capsize=2,
                    color=f"C{number % 10}",
                    label=method,
                )
            axes.set_xlabel(f"number of {axis}")
            axes.set_ylabel("improvement over random (%)")
            axes.set_title(f"{TITLES[objective]}, {len(comparison.sites)} sites")
            axes.xaxis.get_major_locator().set_params(integer=True)
            axes.grid(alpha=0.3)
            axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
            for kind, details in (("svg", {"Date": None}), ("png", {"Software": None})):
                path = folder / f"{prefix}{objective}-{axis}.{kind}"
                figure.savefig(path, dpi=110, metadata=details)
                written.append(path)
            plots.close(figure)
    return written
