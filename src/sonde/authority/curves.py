"""Learning curves: methods side by side, the mean and its standard error over several seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sonde.authority.discovery import DiscoveryMethod, LinkArrays, find, performance
from sonde.authority.ranking import largest_component
from sonde.authority.timegraph import TimeGraph
from sonde.authority.tracking import DAY, Tracker, track
from sonde.figures import label_axes, line_style, new_figure, save
from sonde.protocols import Floats

STATIC = {"crawl": "crawl performance", "rank": "rank performance"}
DYNAMIC = {
    "crawl": "crawl performance",
    "discovery": "discovery performance",
    "crawl-lift": "lift of the visited nodes",
    "discovery-lift": "lift of the visited and the frontier nodes",
    "frontier-lift": "lift of the frontier nodes",
}


@dataclass(frozen=True)
class Curve:
    """One method's course of one measure; ``rows`` has a row for each seed."""

    label: str
    measure: str
    at: Floats
    rows: Floats

    @property
    def mean(self) -> Floats:
        found: Floats = self.rows.mean(axis=0)
        return found

    @property
    def error(self) -> Floats:
        """The standard error of the mean, 0 for one seed."""
        count = len(self.rows)
        if count < 2:
            return np.zeros(self.rows.shape[1])
        found: Floats = self.rows.std(axis=0, ddof=1) / np.sqrt(count)
        return found

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "label": self.label,
            "measure": self.measure,
            "at": self.at.tolist(),
            "mean": self.mean.tolist(),
            "error": self.error.tolist(),
        }


def compare(
    graph: LinkArrays,
    methods: Sequence[str | DiscoveryMethod],
    *,
    top: int,
    budget: int,
    repeat: int = 5,
    seed: int = 0,
    points: int = 25,
    say: Callable[[str], None] = lambda line: None,
) -> list[Curve]:
    """Crawl and rank performance of methods along the way; starts are shared by all of them."""
    budget = min(budget, len(graph.indptr) - 1)
    at = np.unique(np.geomspace(max(1, budget // 100), budget, points).astype(int))
    parsed = [
        DiscoveryMethod.parse(method) if isinstance(method, str) else method for method in methods
    ]
    starts: Sequence[int | None] = [None] * repeat
    if any(method.crawls for method in parsed):
        nodes = largest_component(graph.indptr, graph.targets)
        dice = np.random.default_rng(seed)
        starts = [int(nodes[dice.integers(len(nodes))]) for _ in range(repeat)]
    curves = []
    for method in parsed:
        rows: dict[str, list[Floats]] = {name: [] for name in STATIC}
        for number, start in enumerate(starts):
            found = find(
                graph,
                top=top,
                budget=budget,
                method=method,
                start=start if method.crawls else None,
                seed=seed + number,
            )
            for name, row in zip(STATIC, performance(found, at.tolist()), strict=True):
                rows[name].append(row)
        curves += [
            Curve(str(method), name, at.astype(np.float64), np.array(rows[name])) for name in STATIC
        ]
        say(f"{method}: {len(starts)} times {budget:,} visits")
    return curves


def compare_tracking(
    graph: TimeGraph,
    trackers: Sequence[Tracker],
    *,
    repeat: int = 3,
    seed: int = 0,
    points: int = 100,
    start: int | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> list[Curve]:
    """All measures of trackers over time, in days."""
    curves = []
    for tracker in trackers:
        courses = [
            track(graph, tracker, start=start, seed=seed + number, points=points)
            for number in range(repeat)
        ]
        measures = {
            "crawl": [course.crawl for course in courses],
            "discovery": [course.discovery for course in courses],
            "crawl-lift": [course.crawl_lift for course in courses],
            "discovery-lift": [course.discovery_lift for course in courses],
            "frontier-lift": [course.frontier_lift for course in courses],
        }
        times = courses[0].times / DAY
        curves += [
            Curve(str(tracker), name, times, np.array(rows)) for name, rows in measures.items()
        ]
        course = courses[0]
        say(f"{tracker}: {course.expansions:,} expansions, {course.recrawls:,} recrawls a run")
    return curves


# -- as figures ----------------------------------------------------------------------------------


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
    written = []
    for measure, title in titles.items():
        figure, panels = new_figure()
        axes = panels[0, 0]
        for number, curve in enumerate(curve for curve in curves if curve.measure == measure):
            style, mean, error = line_style(number), curve.mean, curve.error
            axes.plot(curve.at, mean, linewidth=1.2, label=curve.label, **style)
            if np.any(error > 0):
                band = {"color": style["color"], "alpha": 0.15, "linewidth": 0}
                axes.fill_between(curve.at, mean - error, mean + error, **band)
        if logarithmic:
            axes.set_xscale("log")
        axes.set_ylim(bottom=0)
        label_axes(axes, f"{title}{f', {heading}' if heading else ''}", xlabel, title)
        written += save(figure, folder, f"{prefix}{measure}")
    return written
