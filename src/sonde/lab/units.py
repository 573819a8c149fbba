"""A unit of work: one crawl, one crawl followed along, or one bound, from one seed graph.

A unit is described by plain parameters, so that its description names its result: a finished unit
is a file, and the same unit asked for again, by whichever experiment, is read instead of run.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sonde import __version__
from sonde.kernels.graphs.harvest import followed
from sonde.lab.bounds import bound
from sonde.lab.crawls import Crawl
from sonde.lab.protocol import Setting
from sonde.metrics import hits_and_backtracks
from sonde.protocols import Floats
from sonde.sources.graph import Graph

Columns = dict[str, Floats]


@dataclass(frozen=True)
class Unit:
    """One piece of an experiment on one graph."""

    task: str
    setting: Setting
    number: int  # of the seed graph
    crawl: Crawl
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
                "window": self.window if self.task == "along" else None,
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
    gains, visited = unit.crawl.gains(graph, seeds, setting.steps, dice, idle=False)
    rate, gpr = hits_and_backtracks(
        graph.scores[visited], followed(graph.indptr, graph.targets, visited), setting.threshold
    )
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


def _along(unit: Unit, graph: Graph) -> Columns:
    """The rolling mean of what its picks lose against the oracle's, and microseconds a step."""
    setting, objective = unit.setting, unit.crawl.objective
    seeds, dice = setting.seeds(graph, unit.number), setting.seed + unit.number
    oracle = Crawl("oracle", objective=objective)
    gains, sequence = oracle.gains(graph, seeds, setting.steps, dice)
    marks = np.concatenate([[0], np.minimum(setting.marks, len(sequence))])
    marks = np.unique(marks)
    picks, clock = unit.crawl.follow(graph, seeds, sequence, marks, dice)
    worth = graph.scores[picks] if objective == "sum" else (graph.scores[picks] > 0) * 1.0
    lost = np.concatenate([[0.0], np.cumsum(gains - worth)])
    ends = marks[1:]
    starts = np.maximum(0, ends - unit.window)
    return {
        "step": ends.astype(np.float64),
        "loss": (lost[ends] - lost[starts]) / (ends - starts),
        "micros": np.diff(clock) / np.diff(marks) / 1000.0,
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
    "along": _along,
    "bound": _bound,
}


class Shelf:
    """The folder of finished units."""

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
