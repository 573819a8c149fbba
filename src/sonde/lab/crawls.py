"""One simulated crawl, as the experiments ask for it: by node numbers, giving a curve."""

from __future__ import annotations

import importlib
import time
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sonde import kernels
from sonde.errors import InputError
from sonde.estimators import Estimator, build_model, estimator_from
from sonde.kernels.model.replay import begin, follow
from sonde.lab.territory import Numbers, scoring_in_reach, value_of
from sonde.protocols import Floats
from sonde.sources.graph import Graph
from sonde.strategies import strategy_from

OBJECTIVES = ("sum", "count")


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
class Crawl:
    """How to crawl: an estimator's text, a strategy's, and how many picks on one estimate."""

    estimator: str
    strategy: str = "greedy"
    objective: str = "sum"
    refresh: int = 1

    def gains(
        self, graph: Graph, seeds: Numbers, budget: int, seed: int, *, idle: bool = True
    ) -> tuple[Floats, npt.NDArray[np.int32]]:
        """The gain of each visit after the seeds, and the nodes visited.

        Without `idle` the crawl ends when all nodes that score have been visited: the visits that
        are left would bring nothing, and a regression over nothing but zeros is slow.
        """
        modules = kernels.load("compiled")
        model = self._model(graph, budget, seed)
        nothing = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
        kind = OBJECTIVES.index(self.objective)
        value = modules.replay.Value(kind, graph.scores, *nothing)
        limit = min(budget, graph.node_count)
        scoring = -1 if idle else scoring_in_reach(graph, seeds)
        visited, gains, _, _ = modules.replay.replay(
            model, value, graph.indptr, seeds.tolist(), limit, min(self.refresh, limit), scoring
        )
        return gains, visited

    def follow(
        self,
        graph: Graph,
        seeds: Numbers,
        sequence: npt.NDArray[np.int32],
        marks: Numbers,
        seed: int,
    ) -> tuple[npt.NDArray[np.int32], Numbers]:
        """The node that it would pick at each step of another crawl, and its time at the marks:
        growing numbers of steps, the first of them 0."""
        model = self._model(graph, len(sequence), seed)
        values = value_of(graph, self.objective)
        begin(model, graph.scores, graph.indptr, seeds.tolist())
        picks: list[npt.NDArray[np.int32]] = []
        clock: list[int] = []
        for start, stop in pairwise([*marks.tolist(), len(sequence)]):
            clock.append(time.thread_time_ns())
            stretch = sequence[start:stop]
            picks.append(follow(model, graph.scores, values, graph.indptr, stretch))
        return np.concatenate(picks), np.array(clock, dtype=np.int64)

    def _model(self, graph: Graph, budget: int, seed: int) -> object:
        estimator = estimator_of(self.estimator)
        return build_model(
            estimator,
            strategy_from(self.strategy),
            seed=seed,
            budget=budget,
            nodes=graph.node_count,
            links=(graph.targets, graph.link_scores),
            places=lambda: graph.places,
            words=graph.link_words if estimator.reads_words() else None,
            truths=value_of(graph, self.objective),
        )
