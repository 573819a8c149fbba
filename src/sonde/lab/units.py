"""A unit of work: one crawl, one crawl that is followed, or one bound, from one seed graph.

A unit is described by plain parameters, so that its description names its result: a finished unit
is a file, and the same unit asked for again, by whichever experiment, is read instead of run.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sonde import __version__
from sonde.errors import InputError
from sonde.estimators import Estimator, estimator_from
from sonde.lab.bounds import bound
from sonde.lab.protocol import CrawlSetting
from sonde.metrics import hits_and_backtracks
from sonde.protocols import Floats, Numbers
from sonde.simulation import Simulation, follow, simulate
from sonde.sources.graph import Graph
from sonde.sources.graph.reachable import node_values

OBJECTIVES = ("sum", "count")

Columns = dict[str, Floats]


def estimator_of(text: str) -> Estimator:
    """An estimator from its text; ``@module.Class`` is a class of one's own, made without
    arguments."""
    if not text.startswith("@"):
        return estimator_from(text)
    module, _, name = text[1:].rpartition(".")
    try:
        made = getattr(importlib.import_module(module), name)()
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"estimator {text!r}: {error}") from None
    return estimator_from(made)


@dataclass(frozen=True)
class CrawlSpec:
    """How to crawl: an estimator's text, a strategy's, and how many picks on one estimate."""

    estimator: str
    strategy: str = "greedy"
    objective: str = "sum"
    refresh: int = 1

    def simulate(
        self, graph: Graph, seeds: Numbers, budget: int, seed: int, *, idle: bool = True
    ) -> Simulation:
        """The crawl from the seeds of these numbers; without `idle` it ends when all is found."""
        return simulate(
            graph,
            seed_numbers=seeds,
            estimator=estimator_of(self.estimator),
            strategy=self.strategy,
            objective=self.objective,
            budget=budget,
            refresh=self.refresh,
            seed=seed,
            stop_when_all_found=not idle,
        )


@dataclass(frozen=True)
class Unit:
    """One piece of an experiment on one graph."""

    task: str
    setting: CrawlSetting
    number: int  # of the seed graph
    crawl: CrawlSpec
    window: int = 1_000

    def key(self) -> str:
        """The name of its file: another graph, version or parameter is another name."""
        setting = self.setting
        said = json.dumps(
            {
                "version": __version__,
                "task": self.task,
                "graph": setting.fingerprint,
                "seeds": [setting.seed_nodes, setting.above, setting.seed + self.number],
                "steps": setting.steps,
                "crawl": asdict(self.crawl),
                "window": self.window if self.task == "follow" else None,
                "threshold": setting.threshold if self.task == "crawl" else None,
            },
            sort_keys=True,
        )
        return f"{self.task}-{hashlib.blake2b(said.encode(), digest_size=12).hexdigest()}"

    def run(self, graph: Graph) -> Columns:
        """Do the work."""
        return TASKS[self.task](self, graph)


def _crawl(unit: Unit, graph: Graph) -> Columns:
    setting = unit.setting
    seeds, dice = setting.seeds(graph, unit.number), setting.seed + unit.number
    run = unit.crawl.simulate(graph, seeds, setting.steps, dice, idle=False)
    gains = run.gains
    rate, gpr = hits_and_backtracks(run.scores, run.followed, setting.threshold)
    last = np.minimum(setting.marks, len(gains))
    total = np.concatenate([[0.0], np.cumsum(gains)])
    area = np.concatenate([[0.0], np.cumsum(total[1:])])
    # A crawl that has run out of nodes, or found all that scores, is over: it keeps what it has.
    return {
        "step": setting.marks.astype(np.float64),
        "gain": total[last],
        "area": area[last] + total[-1] * (setting.marks - last),
        "harvest_rate": np.concatenate([[0.0], rate])[last],
        "gpr": np.concatenate([[0.0], gpr])[last],
    }


def _follow(unit: Unit, graph: Graph) -> Columns:
    """The rolling mean of what its picks lose against the oracle's, and microseconds a step."""
    setting, objective = unit.setting, unit.crawl.objective
    seeds, dice = setting.seeds(graph, unit.number), setting.seed + unit.number
    oracle = CrawlSpec("oracle", objective=objective).simulate(graph, seeds, setting.steps, dice)
    marks = np.concatenate([[0], np.minimum(setting.marks, len(oracle.visited))])
    marks = np.unique(marks)
    found = follow(
        oracle,
        estimator=estimator_of(unit.crawl.estimator),
        strategy=unit.crawl.strategy,
        objective=objective,
        marks=marks,
        seed=dice,
    )
    worth = node_values(graph, objective)[found.picks]
    lost = np.concatenate([[0.0], np.cumsum(oracle.gains - worth)])
    ends = marks[1:]
    starts = np.maximum(0, ends - unit.window)
    return {
        "step": ends.astype(np.float64),
        "loss": (lost[ends] - lost[starts]) / (ends - starts),
        "micros": np.diff(found.nanoseconds) / np.diff(marks) / 1000.0,
    }


def _bound(unit: Unit, graph: Graph) -> Columns:
    setting = unit.setting
    found = bound(
        graph,
        setting.seeds(graph, unit.number),
        setting.steps,
        objective=unit.crawl.objective,
    )
    return {
        "step": np.array([float(setting.steps)]),
        "upper": np.array([found.upper]),
        "lower": np.array([found.lower]),
    }


TASKS: dict[str, Callable[[Unit, Graph], Columns]] = {
    "crawl": _crawl,
    "follow": _follow,
    "bound": _bound,
}


class FinishedUnits:
    """The folder of finished units: a file each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def get(self, unit: Unit) -> Columns | None:
        """The result of a unit, if it is finished."""
        path = self.folder / f"{unit.key()}.parquet"
        if not path.exists():
            return None
        table = pq.read_table(path, memory_map=False, use_threads=False)
        return {name: table.column(name).to_numpy() for name in table.column_names}

    def put(self, unit: Unit, columns: Columns) -> None:
        """Keep a result: all of it or nothing, whenever the power goes."""
        path = self.folder / f"{unit.key()}.parquet"
        partial = path.with_suffix(f".{os.getpid()}")
        pq.write_table(pa.table(dict(columns)), partial)
        partial.replace(path)
