"""Simulated crawls of a recorded graph, by the model that also leads live ones.

``simulate`` runs the compiled replay where it can, and otherwise (an objective of the user's own,
an oracle whose values change) drives an explorer by ask and tell; the sequence is the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

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
from sonde.estimators.builder import Strategy, reads_urls, strategy_from
from sonde.explorer import Explorer
from sonde.kernels.graphs.harvest import followed
from sonde.metrics import MeritSteps, judge
from sonde.objectives import objective_from
from sonde.protocols import CustomEstimator, Floats, Model, Numbers, Objective
from sonde.records import Lease, LinkColumns, Node, Visit
from sonde.sources.graph import Graph
from sonde.sources.graph.columns import NodeRecords, records_of
from sonde.sources.graph.reachable import node_values, reachable


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
    def followed(self) -> npt.NDArray[np.int8]:
        """Whether the next visit is one of a visit's links; true for the last."""
        sequence = np.asarray(self.visited, dtype=np.int32)
        found: npt.NDArray[np.int8] = followed(self.graph.indptr, self.graph.targets, sequence)
        return found

    @property
    def harvest(self) -> Floats:
        """The objective's growth since the seeds, after each visit."""
        return np.asarray(np.cumsum(self.gains), dtype=np.float64)

    def judged(self, threshold: float = 0.0) -> MeritSteps:
        """Harvest rate, efficiency (relative to these visits sorted best first) and GPR after each
        visit; scores above the threshold count as finds."""
        return judge(self.scores, self.gains, self.followed, threshold)

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
    seed_numbers: Numbers | None = None,
    random_seeds: int | None = None,
    estimator: str | Estimator | CustomEstimator = DEFAULT,
    strategy: str | Strategy = "greedy",
    objective: str | Objective = "sum",
    budget: int | Budget | None = None,
    refresh: int = 1,
    seed: int = 0,
    engine: str = "compiled",
    stop_when_all_found: bool = False,
) -> Simulation:
    """Crawl a recorded graph from `seeds` (names) or `seed_numbers` (their numbers in the graph),
    or from `random_seeds` nodes that score.

    Seeds are visited first and free of budget; ``refresh`` picks are made on the same estimates.
    With `stop_when_all_found` the crawl ends when all nodes in reach that score have been visited:
    the visits that are left would bring nothing, and a regression over nothing but zeros is slow.
    """
    if not isinstance(refresh, int) or refresh < 1:
        raise InputError(f"refresh must be a whole number of 1 or more, not {refresh}")
    limits = budget_from(budget)
    if limits != Budget(requests=limits.requests):
        raise SpecError("a simulation spends requests: it knows no bytes, seconds or cost")
    if isinstance(seeds, str):
        raise InputError(f"seeds is a list of names, not the text {seeds!r}")
    if sum(given is not None for given in (seeds, seed_numbers, random_seeds)) != 1:
        raise InputError("a simulation needs either seeds or a number of random seeds")
    if random_seeds is not None:
        start = draw_seeds(graph, random_seeds, seed)
    else:
        start = _distinct(graph.indices(seeds or ()) if seed_numbers is None else seed_numbers)
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
        stop_when_all_found,
    )
    knows = any(isinstance(leaf, Oracle) for leaf in plan.estimator.leaves())
    if stop_when_all_found and objective not in ("sum", "count"):
        raise InputError(f"with the objective {objective} nobody knows when all is found")
    if objective in ("sum", "count") or (objective == "distinct" and not knows):
        return plan.replay()
    return plan.drive()


@dataclass(frozen=True)
class Following:
    """What an estimator would have picked along another's crawl: the node that it named at each
    step, and its processor time in nanoseconds up to each of the marks."""

    picks: Numbers
    nanoseconds: Numbers


def follow(
    crawl: Simulation,
    *,
    estimator: str | Estimator | CustomEstimator = DEFAULT,
    strategy: str | Strategy = "greedy",
    objective: str = "sum",
    marks: Numbers,
    seed: int = 0,
) -> Following:
    """Lead an estimator along a crawl that another one has chosen.

    It learns from the visits of the crawl, and names its own best node before each. A bandit is
    rewarded with the worth of the node that it named. `marks` are growing numbers of steps, the
    first of them 0.
    """
    plan = _Plan(
        crawl.graph,
        crawl.seeds,
        estimator_from(estimator),
        strategy_from(strategy),
        objective,
        len(crawl.visited),
        1,
        seed,
        "compiled",
        False,
    )
    graph, kernels, model = crawl.graph, load_kernels(plan.engine), plan.model()
    values = node_values(graph, objective)
    sequence = np.asarray(crawl.visited, dtype=np.int32)
    kernels.begin(model, graph.scores, graph.indptr, crawl.seeds.tolist())
    picks: list[Numbers] = []
    clock: list[int] = []
    for start, stop in pairwise([*marks.tolist(), len(sequence)]):
        clock.append(time.thread_time_ns())
        picks.append(
            kernels.follow(model, graph.scores, values, graph.indptr, sequence[start:stop])
        )
    return Following(np.concatenate(picks), np.array(clock, dtype=np.int64))


def draw_seeds(graph: Graph, count: int, seed: int, above: float = 0.0) -> Numbers:
    """The numbers of `count` nodes that score above a threshold, uniformly without replacement."""
    eligible = np.flatnonzero(graph.scores > above)
    if not 0 < count <= len(eligible):
        what = "a positive score" if above == 0 else f"a score above {above:g}"
        raise InputError(f"cannot draw {count} random seeds: {len(eligible)} nodes have {what}")
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
    stop_when_all_found: bool

    def scoring(self) -> int:
        """After how many visits that score the crawl ends; -1 for never."""
        if not self.stop_when_all_found:
            return -1
        return int(np.count_nonzero(self.graph.scores[reachable(self.graph, self.seeds)] > 0))

    def model(self) -> Model:
        """The model that leads the crawl, over the graph's own arrays."""
        graph = self.graph
        return build_model(
            self.estimator,
            self.strategy,
            engine=self.engine,
            seed=self.seed,
            budget=self.budget,
            nodes=graph.node_count,
            links=(graph.targets, graph.link_scores),
            places=lambda: graph.places,
            words=graph.link_words if self.estimator.reads_words() else None,
            truths=node_values(graph, str(self.objective)),
        )

    def replay(self) -> Simulation:
        """One compiled loop over the graph's own arrays."""
        graph = self.graph
        kernels = load_kernels(self.engine)
        distinct = self.objective == "distinct"
        records = records_of(graph.node_columns) if distinct else NodeRecords.none()
        model = self.model()
        kind = ("sum", "count", "distinct").index(str(self.objective))
        value = kernels.Value(kind, graph.scores, records.first, records.numbers)
        limit = graph.node_count if self.budget is None else min(self.budget, graph.node_count)
        scoring = self.scoring()
        visited, gains, predictions, seed_gains = kernels.replay(
            model,
            value,
            graph.indptr,
            self.seeds.tolist(),
            limit,
            min(self.refresh, graph.node_count),
            scoring,
        )
        over = scoring >= 0 and np.count_nonzero(graph.scores[visited] > 0) == scoring
        live = model.frontier.live
        return self.result(visited, gains, predictions, seed_gains, live, over)

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
        all_found: bool = False,
    ) -> Simulation:
        spent = len(visited) == self.budget
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
            stop_reason="budget" if spent else "found" if all_found else "frontier",
        )


def recorded_visits(
    graph: Graph, with_records: bool = False, with_places: bool = False
) -> Callable[[Node], Visit]:
    """A function that gives the visit of any node of the graph."""
    records = records_of(graph.node_columns) if with_records else None
    places = graph.places if with_places else None
    names = graph.names.to_pylist()
    link_words = graph.link_words

    def words(link: int) -> bytes:
        assert link_words is not None
        found = link_words.words[link_words.first[link] : link_words.first[link + 1]]
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
                words=None if link_words is None else [words(link) for link in links],
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
