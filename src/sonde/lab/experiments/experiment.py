"""An experiment: a protocol, what is compared under it, and what is made of the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sonde.errors import InputError
from sonde.estimators.builder import strategy_from
from sonde.interruption import check, interruptible
from sonde.lab.protocol import CrawlSetting, Protocol, fit
from sonde.lab.report import Report
from sonde.lab.results import Results
from sonde.lab.units import Columns, CrawlSpec, FinishedUnits, Unit, estimator_of
from sonde.meter import UNITS, Shown
from sonde.pool import as_finished
from sonde.sources.graph import Graph


@dataclass(frozen=True)
class Experiment:
    """Every entrant (a label and how to crawl) runs from every seed graph of every graph."""

    name: str
    protocol: Protocol
    entrants: Sequence[tuple[str, CrawlSpec]]
    report: Callable[[Results], Report]
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

    def units(self, setting: CrawlSetting) -> list[tuple[Unit, str]]:
        """The work on one graph, each unit with the label that it counts for."""
        window = min(self.window, max(1, setting.steps // 2))
        found = [
            (Unit(self.task, setting, number, crawl, window), label)
            for label, crawl in self.entrants
            for number in range(setting.sets)
        ]
        found += [
            (Unit("bound", setting, number, CrawlSpec("oracle", objective=objective)), "bound")
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
) -> Results:
    """Run an experiment on graphs, one after the other in memory; `folder` keeps finished units.

    Ctrl-C ends it: units that are worked on by other processes at once, one that is worked on by
    this process when it is done.
    """
    finished = None if folder is None else FinishedUnits(folder / "units")
    results = Results()
    total = experiment.size * len(graphs)
    shown = None if quiet else Shown(experiment.name, total, UNITS)
    with interruptible(), shown or nullcontext():
        for name, load in graphs.items():
            check()
            graph = load()
            setting = fit(name, graph, experiment.protocol)
            for note in setting.notes:
                (shown.say if shown is not None else say)(f"{name}: {note}")
            labelled = experiment.units(setting)
            units = [unit for unit, _ in labelled]
            found = run(graph, units, finished=finished, workers=workers, shown=shown)
            results.add(setting, labelled, found)
    return results


def run(
    graph: Graph,
    units: Sequence[Unit],
    *,
    finished: FinishedUnits | None = None,
    workers: int | None = None,
    shown: Shown | None = None,
) -> list[Columns]:
    """The results of all units, in their order; those that are finished are read."""
    results: list[Columns | None] = [None] * len(units)
    missing: dict[Unit, list[int]] = {}  # one of two equal units is enough
    for place, unit in enumerate(units):
        results[place] = finished.get(unit) if finished is not None else None
        if results[place] is None:
            missing.setdefault(unit, []).append(place)
        elif shown is not None:
            shown.spare()
    if any(estimator_of(unit.crawl.estimator).reads_words() for unit in missing):
        _ = graph.link_words  # read once, before there are workers
    waiting = list(missing)
    for number, columns in as_finished(partial(_run, graph), waiting, workers):
        unit = waiting[number]
        if finished is not None:
            finished.put(unit, columns)
        for place in missing[unit]:
            results[place] = columns
            if shown is not None:
                shown.advance()
    return [columns for columns in results if columns is not None]


def _run(graph: Graph, unit: Unit) -> Columns:
    return unit.run(graph)


def notes(results: Results) -> list[str]:
    """What was run on each graph, for a report."""
    lines = []
    for name, setting in results.settings.items():
        line = (
            f"{name}: {setting.sets} seed graphs of {setting.seed_nodes:,} nodes scoring above "
            f"{setting.above:g}, {setting.steps:,} steps"
        )
        lines.append(line + (f" ({'; '.join(setting.notes)})" if setting.notes else ""))
    return lines
