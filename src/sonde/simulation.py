"""Simulated crawls of a recorded graph, by the model that also leads live ones.

``simulate`` runs the compiled replay where it can, and otherwise (an objective of the user's own,
an oracle whose values change) drives an explorer by ask and tell; the sequence is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sonde.budgets import Budget, budget_from
from sonde.errors import InputError, SpecError
from sonde.estimators import (
    DEFAULT,
    Estimator,
    Oracle,
    build_model,
    estimator_from,
    load_kernels,
)
from sonde.estimators.features import reads_urls
from sonde.explorer import Explorer
from sonde.kernels.graphs.harvest import followed
from sonde.link_columns import LinkColumns
from sonde.metrics import MeritSteps, judge
from sonde.objectives import objective_from
from sonde.protocols import CustomEstimator, Floats, Numbers, Objective
from sonde.records import Lease, Node, Visit
from sonde.sources.graph import Graph
from sonde.sources.graph.records import Records, records_of
from sonde.strategies import Strategy, strategy_from


@dataclass(frozen=True)
class Simulation:
    """What came of one simulated crawl; arrays are in order of visit, without the seeds."""

    graph: Graph
    estimator: str
    strategy: str
    seeds: Numbers
    visited: Numbers
    gains: Floats
    predictions: Floats
    seed_gains: Floats
    frontier_size: int
    stop_reason: str

    @property
    def sequence(self) -> list[str | int]:
        """The names of the visited nodes."""
        return [self.graph.name(node) for node in self.visited]

    @property
    def scores(self) -> Floats:
        """The visited nodes' own scores."""
        return np.asarray(self.graph.scores[self.visited], dtype=np.float64)

    @property
    def total(self) -> float:
        """The objective over all visits, seeds included."""
        return float(np.cumsum(np.concatenate([[0.0], self.seed_gains, self.gains]))[-1])

    @property
    def gain(self) -> float:
        """The objective over all visits, less that over the seeds alone."""
        return self.total - float(np.cumsum(np.concatenate([[0.0], self.seed_gains]))[-1])

    @property
    def harvest(self) -> Floats:
        """The objective's growth since the seeds, after each visit."""
        return np.asarray(np.cumsum(self.gains), dtype=np.float64)

    def judged(self, threshold: float = 0.0) -> MeritSteps:
        """Harvest rate, efficiency (relative to these visits sorted best first) and GPR after each
        visit; scores above the threshold count as finds."""
        sequence = np.asarray(self.visited, dtype=np.int32)
        links = followed(self.graph.indptr, self.graph.targets, sequence)
        return judge(self.scores, self.gains, links, threshold)

    def as_json(self) -> dict[str, Any]:
        """The object that ``sonde simulate --json`` prints."""
        return {
            "seeds": [self.graph.name(node) for node in self.seeds],
            "sequence": self.sequence,
            "scores": self.scores.tolist(),
            "gain": self.gain,
            "total": self.total,
            "estimator": self.estimator,
            "strategy": self.strategy,
            "budget_spent": len(self.visited),
            "frontier_size": self.frontier_size,
            "stop_reason": self.stop_reason,
            "merit": None if (merit := self.judged().last) is None else asdict(merit),
        }


def simulate(
    graph: Graph,
    *,
    seeds: Iterable[object] | None = None,
    random_seeds: int | None = None,
    estimator: str | Estimator | CustomEstimator = DEFAULT,
    strategy: str | Strategy = "greedy",
    objective: str | Objective = "sum",
    budget: int | Budget | None = None,
    refresh: int = 1,
    seed: int = 0,
    engine: str = "compiled",
) -> Simulation:
    """Crawl a recorded graph from `seeds` (names), or from `random_seeds` nodes that score.

    Seeds are visited first and free of budget; ``refresh`` picks are made on the same estimates.
    """
    if not isinstance(refresh, int) or refresh < 1:
        raise InputError(f"refresh must be a whole number of 1 or more, not {refresh}")
    limits = budget_from(budget)
    if limits != Budget(requests=limits.requests):
        raise SpecError("a simulation spends requests: it knows no bytes, seconds or cost")
    if isinstance(seeds, str):
        raise InputError(f"seeds is a list of names, not the text {seeds!r}")
    if (seeds is None) == (random_seeds is None):
        raise InputError("a simulation needs either seeds or a number of random seeds")
    start = (
        draw_seeds(graph, random_seeds, seed)
        if random_seeds is not None
        else _distinct(graph.indices(seeds or ()))
    )
    if not len(start):
        raise InputError("a simulation needs at least one seed")
    plan = _Plan(
        graph,
        start,
        estimator_from(estimator),
        strategy_from(strategy),
        objective,
        limits.requests,
        refresh,
        seed,
        engine,
    )
    knows = any(isinstance(leaf, Oracle) for leaf in plan.estimator.leaves())
    if objective in ("sum", "count") or (objective == "distinct" and not knows):
        return plan.replay()
    return plan.drive()


def draw_seeds(graph: Graph, count: int, seed: int) -> Numbers:
    """So many nodes with a positive score, uniformly without replacement."""
    eligible = np.flatnonzero(graph.scores > 0)
    if not 0 < count <= len(eligible):
        raise InputError(
            f"cannot draw {count} random seeds: {len(eligible)} nodes have a positive score"
        )
    dice = load_kernels("compiled").Dice(seed)
    for place in range(count):
        other = place + dice.below(len(eligible) - place)
        eligible[[place, other]] = eligible[[other, place]]
    return eligible[:count]


def _distinct(numbers: Numbers) -> Numbers:
    return np.array(list(dict.fromkeys(numbers.tolist())), dtype=np.int64)


@dataclass(frozen=True)
class _Plan:
    """What to simulate, read and checked."""

    graph: Graph
    seeds: Numbers
    estimator: Estimator
    strategy: Strategy
    objective: str | Objective
    budget: int | None
    refresh: int
    seed: int
    engine: str

    def replay(self) -> Simulation:
        """One compiled loop over the graph's own arrays."""
        graph = self.graph
        kernels = load_kernels(self.engine)
        records = records_of(graph) if self.objective == "distinct" else Records.none()
        counted = self.objective == "count"
        model = build_model(
            self.estimator,
            self.strategy,
            engine=self.engine,
            seed=self.seed,
            budget=self.budget,
            nodes=graph.node_count,
            links=(graph.targets, graph.link_scores),
            places=lambda: graph.places,
            words=graph.link_words if self.estimator.reads_words() else None,
            truths=(graph.scores > 0).astype(np.float64) if counted else graph.scores,
        )
        kind = ("sum", "count", "distinct").index(str(self.objective))
        value = kernels.Value(kind, graph.scores, records.first, records.numbers)
        limit = graph.node_count if self.budget is None else min(self.budget, graph.node_count)
        visited, gains, predictions, seed_gains = kernels.replay(
            model,
            value,
            graph.indptr,
            self.seeds.tolist(),
            limit,
            min(self.refresh, graph.node_count),
        )
        return self.result(visited, gains, predictions, seed_gains, model.frontier.live)

    def drive(self) -> Simulation:
        """Ask and tell, one visit at a time."""
        visits = recorded_visits(
            self.graph, self.objective == "distinct", reads_urls(self.estimator.features())
        )
        explorer = Explorer(
            self.estimator,
            self.strategy,
            self.budget,
            objective_from(self.objective),
            self.seed,
            free_seeds=True,
            truth=visits,
            engine=self.engine,
        )
        explorer.add_seeds([self.graph.name(node) for node in self.seeds])
        visited: list[int] = []
        gains: list[float] = []
        predictions: list[float] = []
        seed_gains: list[float] = []
        for lease, gain in walk(explorer, visits, self.refresh):
            if lease.chooser == "seed":
                seed_gains.append(gain)
            else:
                visited.append(self.graph.index(lease.node))
                gains.append(gain)
                predictions.append(np.nan if lease.predicted is None else lease.predicted)
        return self.result(
            np.array(visited, dtype=np.int64),
            np.array(gains, dtype=np.float64),
            np.array(predictions, dtype=np.float64),
            np.array(seed_gains, dtype=np.float64),
            explorer.frontier_size,
        )

    def result(
        self,
        visited: Numbers,
        gains: Floats,
        predictions: Floats,
        seed_gains: Floats,
        frontier_size: int,
    ) -> Simulation:
        return Simulation(
            graph=self.graph,
            estimator=str(self.estimator),
            strategy=str(self.strategy),
            seeds=self.seeds,
            visited=visited,
            gains=gains,
            predictions=predictions,
            seed_gains=seed_gains,
            frontier_size=frontier_size,
            stop_reason="budget" if len(visited) == self.budget else "frontier",
        )


def recorded_visits(
    graph: Graph, with_records: bool = False, with_places: bool = False
) -> Callable[[Node], Visit]:
    """A function that gives the visit of any node of the graph."""
    records = records_of(graph) if with_records else None
    places = graph.places if with_places else None
    names = graph.names.to_pylist()
    wording = graph.link_words

    def words(link: int) -> bytes:
        assert wording is not None
        found = wording.words[wording.first[link] : wording.first[link + 1]]
        return found.astype("<u2").tobytes()

    def visit(node: Node) -> Visit:
        number = graph.index(node)
        links = range(graph.indptr[number], graph.indptr[number + 1])
        targets = graph.targets[links.start : links.stop].tolist()
        return Visit(
            score=float(graph.scores[number]),
            links=LinkColumns(
                [names[target] for target in targets],
                graph.link_scores[links.start : links.stop].tolist(),
                words=None if wording is None else [words(link) for link in links],
                places=None if places is None else list(map(places.of, targets, links)),
            ),
            records=records.of(number) if records is not None else (),
        )

    return visit


def walk(
    explorer: Explorer, visits: Callable[[Node], Visit], refresh: int = 1
) -> Iterator[tuple[Lease, float]]:
    """Drive an explorer to its end, one visit at a time: each lease with the gain it brought."""
    while leases := explorer.ask(refresh):
        for lease in leases:
            yield lease, explorer.tell(lease, visits(lease.node))
