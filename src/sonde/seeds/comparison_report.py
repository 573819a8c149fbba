"""A comparison of seed methods as tables in Markdown, which a terminal shows well, and figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from sonde import figures
from sonde.seeds.comparison import OBJECTIVES, Anatomy, Comparison, Point

TITLES = {"pages": "Page coverage", "value": "Value coverage"}
_MARKERS = "osD^vP*Xhd"
_ANATOMY = (
    "site",
    "pages",
    "links",
    "components",
    "largest",
    "roots",
    "of 1 page",
    "2-9",
    "10-99",
    "100+",
)


def report(comparison: Comparison) -> str:
    """Everything that a comparison found, for a terminal."""
    plan, parts = comparison.plan, []
    for objective in OBJECTIVES:
        for axis, fixed in (("seeds", f"{plan.at_hops} hops"), ("hops", f"{plan.at_seeds} seeds")):
            parts.append(f"{TITLES[objective]}, improvement over random in percent, {fixed}")
            parts.append(improvement_table(comparison, objective, axis))
    parts.append("Strongly connected components by number of pages")
    parts.append(anatomy_table(comparison.sites))
    return "\n\n".join(parts)


def improvement_table(comparison: Comparison, objective: str, axis: str) -> str:
    """Improvement over random in percent, a row a method, a column a number of seeds or hops."""
    curves = [comparison.curve(objective, axis, method) for method in comparison.methods]
    head = [f"method \\ {axis}", *(str(point.at) for point in curves[0])]
    rows = [[curve[0].method, *(_percent(point) for point in curve)] for curve in curves]
    return markdown(head, rows)


def anatomy_table(sites: Sequence[Anatomy]) -> str:
    """The distribution of component sizes, a row a site."""
    rows = [
        [
            site.name,
            *map(
                str,
                (
                    site.pages,
                    site.links,
                    site.components,
                    site.largest,
                    site.roots,
                    site.single,
                    site.below_10,
                    site.below_100,
                    site.larger,
                ),
            ),
        ]
        for site in sites
    ]
    return markdown(_ANATOMY, rows)


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose columns line up."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        first = cells[0].ljust(widths[0])
        rest = [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
        return "| " + " | ".join([first, *rest]) + " |"

    rule = "|" + "|".join("-" * (width + 1) + (":" if i else "-") for i, width in enumerate(widths))
    return "\n".join([line(head), rule + "|", *(line(row) for row in rows)])


def _percent(point: Point) -> str:
    if math.isnan(point.improvement):
        return "–"
    error = "" if math.isnan(point.error) else f" ± {point.error:.1f}"
    return f"{point.improvement:+.1f}{error}"


def draw(comparison: Comparison, folder: Path, prefix: str = "") -> list[Path]:
    """One figure for each of pages and value against seeds and hops; the files written."""
    written = []
    for objective in OBJECTIVES:
        for axis in ("seeds", "hops"):
            if not any(point.axis == axis for point in comparison.points):
                continue
            figure, ((axes,),) = figures.new_figure()
            for number, method in enumerate(comparison.methods):
                curve = comparison.curve(objective, axis, method)
                axes.errorbar(
                    [point.at for point in curve],
                    [point.improvement for point in curve],
                    yerr=[point.error for point in curve],
                    marker=_MARKERS[number % len(_MARKERS)],
                    markersize=5,
                    linewidth=1.2,
                    capsize=2,
                    label=method,
                    **figures.line_style(number),
                )
            axes.xaxis.get_major_locator().set_params(integer=True)
            title = f"{TITLES[objective]}, {len(comparison.sites)} sites"
            figures.label_axes(axes, title, f"number of {axis}", "improvement over random (%)")
            written += figures.save(figure, folder, f"{prefix}{objective}-{axis}")
    return written
