"""A report: tables and figures with a title each, as Markdown, SVG and PNG."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from sonde import figures
from sonde.lab.results import Curves, half_width
from sonde.protocols import Floats

PANELS = 6
"""The most in one figure."""


@dataclass(frozen=True)
class ReportTable:
    """Rows of text under heads; the first column is to the left, the others to the right."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def markdown(self) -> str:
        cells = [[cell.replace("|", "\\|") for cell in row] for row in (self.heads, *self.rows)]
        lines = ["| " + " | ".join(row) + " |" for row in cells]
        lines.insert(1, "|---" + "|---:" * (len(self.heads) - 1) + "|")
        parts = [f"### {self.title}", *([self.note] if self.note else []), "\n".join(lines)]
        return "\n\n".join(parts)


@dataclass(frozen=True)
class Line:
    """A curve with its band: the mean over seed graphs and its 95 % interval."""

    label: str
    steps: Floats
    middle: Floats
    half: Floats

    @classmethod
    def of(cls, label: str, curves: Curves) -> Line:
        return cls(label, curves.steps, curves.rows.mean(axis=0), half_width(curves.rows))


def panels(
    graphs: Iterable[str], labels: Sequence[str], curves: Callable[[str, str], Curves]
) -> dict[str, list[Line]]:
    """The lines of a figure: by graph, the curves of each label on it."""
    return {graph: [Line.of(label, curves(graph, label)) for label in labels] for graph in graphs}


@dataclass(frozen=True)
class Figure:
    """One panel a graph, the same lines in each."""

    name: str
    title: str
    ylabel: str
    panels: dict[str, list[Line]]
    logarithmic: bool = False
    from_early_on: bool = False  # steps on a logarithmic scale too
    levels: dict[str, float] = field(default_factory=dict)  # horizontal lines

    def pages(self) -> list[Figure]:
        """The same in figures of a size that can be read, numbered when there are several."""
        names = list(self.panels)
        if len(names) <= PANELS:
            return [self]
        return [
            replace(
                self,
                name=f"{self.name}-{number}",
                panels={name: self.panels[name] for name in names[first : first + PANELS]},
            )
            for number, first in enumerate(range(0, len(names), PANELS), start=1)
        ]

    def draw(self, folder: Path) -> list[Path]:
        """Write it as SVG and PNG; the files."""
        count = len(self.panels)
        across = min(3, count)
        down = -(-count // across)
        figure, grid = figures.new_figure(down, across, (4.0 * across + 2.6, 2.9 * down + 0.4))
        for place, (graph, lines) in enumerate(self.panels.items()):
            axes = grid.flat[place]
            if self.logarithmic:
                axes.set_yscale("log")
            if self.from_early_on:
                axes.set_xscale("log")
            for number, line in enumerate(lines):
                _plot(axes, number, line, self.from_early_on)
            span = axes.get_ylim()  # of the lines: wide bands would press them flat
            for number, line in enumerate(lines):
                _shade(axes, number, line, self.from_early_on)
            span = [*span, *(2 * level for level in self.levels.values())]
            axes.set_ylim(min(span), max(span))
            axes.set_title(graph, fontsize=9)
            axes.tick_params(labelsize=7)
            axes.tick_params(which="minor", labelbottom=False, labelleft=False)
            if not self.from_early_on:
                axes.locator_params(axis="x", nbins=4)
            axes.grid(alpha=figures.GRID)
            for name, level in self.levels.items():
                axes.axhline(level, color="black", linewidth=0.8, linestyle=":")
                axes.annotate(name, (0.02, level), xycoords=("axes fraction", "data"), fontsize=6)
        for axes in list(grid.flat)[count:]:
            axes.set_visible(False)
        figure.suptitle(self.title, fontsize=10)
        figure.supxlabel("steps", fontsize=9)
        figure.supylabel(self.ylabel, fontsize=9)
        handles, labels = grid.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, fontsize=7, loc="outside right upper")
        return figures.save(figure, folder, self.name, dpi=60)  # several panels are large enough


def _plot(axes: Any, number: int, line: Line, early: bool) -> None:
    kept = _spaced(np.log(line.steps) if early else line.steps, 30)
    axes.plot(
        line.steps[kept],
        line.middle[kept],
        linewidth=1.0,
        label=line.label,
        **figures.line_style(number),
    )


def _shade(axes: Any, number: int, line: Line, early: bool) -> None:
    if not np.isnan(line.half).all():
        kept = _spaced(np.log(line.steps) if early else line.steps, 10)
        axes.fill_between(
            line.steps[kept],
            (line.middle - line.half)[kept],
            (line.middle + line.half)[kept],
            color=figures.line_style(number)["color"],
            alpha=0.08,
            linewidth=0,
        )


def _spaced(steps: Floats, parts: int) -> list[int]:
    """Places of steps that are at least such a part of the whole apart, the last among them."""
    gap = float(steps[-1] - steps[0]) / parts
    kept = [len(steps) - 1]
    for place in range(len(steps) - 2, -1, -1):
        if steps[kept[-1]] - steps[place] >= 0.999 * gap:
            kept.append(place)
    return kept[::-1]


@dataclass(frozen=True)
class Report:
    """What one experiment has to say."""

    name: str
    title: str
    tables: Sequence[ReportTable]
    figures: Sequence[Figure]
    notes: Sequence[str] = ()

    def markdown(self) -> str:
        parts = [f"# {self.title}"]
        parts += ["\n".join(f"- {note}" for note in self.notes)] if self.notes else []
        parts += [table.markdown() for table in self.tables]
        parts += [f"![{page.title}](figures/{page.name}.svg)" for page in self._pages()]
        return "\n\n".join(parts) + "\n"

    def save(self, folder: Path, figures: bool = True) -> list[Path]:
        """Write the Markdown, and the figures into a folder beside it."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.md"
        path.write_text(self.markdown(), encoding="utf-8")
        written = [path]
        if figures:
            for page in self._pages():
                written += page.draw(folder / "figures")
        return written

    def _pages(self) -> list[Figure]:
        return [page for figure in self.figures for page in figure.pages()]
