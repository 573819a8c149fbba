"""An experiment: a protocol, what is compared under it, and what is made of the findings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from sonde.errors import InputError
from sonde.lab.crawls import Crawl, estimator_of
from sonde.lab.findings import Findings
from sonde.lab.progress import UNITS, Shown
from sonde.lab.protocol import Protocol, Setting, fit
from sonde.lab.report import Report
from sonde.lab.running import run
from sonde.lab.units import Shelf, Unit
from sonde.sources.graph import Graph
from sonde.strategies import strategy_from


@dataclass(frozen=True)
class Experiment:
    """Every entrant (a label and how to crawl) runs from every seed graph of every graph."""

    name: str
    protocol: Protocol
    entrants: Sequence[tuple[str, Crawl]]
    report: Callable[[Findings], Report]
    task: str = "crawl"
    window: int = 1_000
    bounded: Sequence[str] = ()  # objectives for which the best crawl is bounded as well

    def __post_init__(self) -> None:
        for _, crawl in self.entrants:
            estimator_of(crawl.estimator)
            strategy_from(crawl.strategy)
        if self.window < 1:
            raise InputError(f"the window must be 1 or more, not {self.window}")

    @property
    def size(self) -> int:
        """Units of work on each graph."""
        return self.protocol.sets * (len(self.entrants) + len(self.bounded))

    def units(self, setting: Setting) -> list[tuple[Unit, str]]:
        """The work on one graph, each unit with the label that it counts for."""
        window = min(self.window, max(1, setting.steps // 2))
        found = [
            (Unit(self.task, setting, number, crawl, window), label)
            for label, crawl in self.entrants
            for number in range(setting.sets)
        ]
        found += [
            (Unit("bound", setting, number, Crawl("oracle", objective=objective)), "bound")
            for objective in self.bounded
            for number in range(setting.sets)
        ]
        return found


def conduct(
    experiment: Experiment,
    graphs: dict[str, Callable[[], Graph]],
    *,
    folder: Path | None = None,
    workers: int | None = None,
    say: Callable[[str], None] = lambda line: None,
    quiet: bool = False,
) -> Findings:
    """Run an experiment on graphs, one after the other in memory; `folder` keeps finished units."""
    shelf = None if folder is None else Shelf(folder / "units")
    findings = Findings()
    total = experiment.size * len(graphs)
    shown = None if quiet else Shown(experiment.name, total, UNITS)
    with shown or nullcontext():
        for name, load in graphs.items():
            graph = load()
            setting = fit(name, graph, experiment.protocol)
            for note in setting.notes:
                (shown.say if shown is not None else say)(f"{name}: {note}")
            labelled = experiment.units(setting)
            units = [unit for unit, _ in labelled]
            results = run(graph, units, shelf=shelf, workers=workers, shown=shown)
            findings.add(setting, labelled, results)
    return findings


def notes(findings: Findings) -> list[str]:
    """What was run on each graph, for a report."""
    lines = []
    for name, setting in findings.settings.items():
        line = (
            f"{name}: {setting.sets} seed graphs of {setting.seed_nodes:,} nodes scoring above "
            f"{setting.above:g}, {setting.steps:,} steps"
        )
        lines.append(line + (f" ({'; '.join(setting.notes)})" if setting.notes else ""))
    return lines
