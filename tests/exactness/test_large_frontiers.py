"""On frontiers of many blocks and shelves: the fast paths against rescoring everything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import sonde
from sonde.protocols import Floats
from sonde.records import Failure, Link, Visit
from sonde.simulation import recorded_visits, simulate
from sonde.sources.graph import Graph
from sonde.sources.graph.generate import topical


class Rescored:
    """Online least squares as a custom estimator: every row is weighed at every step."""

    def __init__(self, features: Sequence[str]) -> None:
        self.features = features
        self.weights = np.zeros(len(features) + 1)
        self.inverse = np.eye(len(features) + 1) * 1e6

    def predict(self, features: Floats) -> Floats:
        total = self.weights[0] * features[:, 0]
        for column in range(1, features.shape[1]):
            total = total + self.weights[column] * features[:, column]
        return np.asarray(total + self.weights[-1])

    def learn(self, features: Floats, gain: float) -> None:
        sample = np.append(features, 1.0)
        direction = np.array([_dot(row, sample) for row in self.inverse])
        spread = 1.0
        for a, b in zip(sample, direction, strict=True):
            spread += a * b
        error = gain - _dot(self.weights, sample)
        self.weights = self.weights + direction / spread * error
        self.inverse -= np.outer(direction, direction) / spread


def _dot(left: Floats, right: Floats) -> float:
    total = left[0] * right[0]
    for a, b in zip(left[1:], right[1:], strict=True):
        total += a * b
    return float(total)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return topical(30_000, 300_000, seed=5)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["sum", "max", "avg"])
def test_regression_is_the_exact_argmax(graph: Graph, how: str) -> None:
    features = [f"{kind}:{how}" for kind in ("n", "e", "ne")]
    slow = simulate(graph, random_seeds=20, budget=1500, seed=1, estimator=Rescored(features))
    fast = simulate(graph, random_seeds=20, budget=1500, seed=1, estimator=f"lnh:{how}")
    assert fast.sequence == slow.sequence
    assert fast.predictions.tolist() == slow.predictions.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("every", [40, 1000, 6000])
def test_regression_on_a_sparse_graph_full_of_ties(graph: Graph, every: int) -> None:
    sparse = np.where(np.arange(graph.node_count) % every == 0, 1.0, 0.0)
    flat = Graph(
        indptr=graph.indptr,
        targets=graph.targets,
        link_scores=np.zeros(graph.edge_count),
        scores=sparse,
        names=graph.names,
    )
    features = ["n:sum", "e:sum", "ne:sum"]
    slow = simulate(flat, random_seeds=5, budget=1500, seed=2, estimator=Rescored(features))
    fast = simulate(flat, random_seeds=5, budget=1500, seed=2, estimator="lnh")
    assert fast.sequence == slow.sequence


class Single:
    """One feature as it is, rescored at every step."""

    def __init__(self, feature: str) -> None:
        self.features = (feature,)

    def predict(self, features: Floats) -> Floats:
        return features[:, 0]

    def learn(self, features: Floats, gain: float) -> None: ...


@pytest.mark.parametrize("feature", ["deg", "n:sum", "ne:max", "e:avg", "n2:sum", "hop"])
@pytest.mark.parametrize("strategy", ["greedy", "altered:0.7,0.2"])
def test_single_features(graph: Graph, feature: str, strategy: str) -> None:
    spec = "bfs" if feature == "hop" else feature
    settings = {"random_seeds": 10, "budget": 600, "seed": 4, "refresh": 3, "strategy": strategy}
    slow = simulate(graph, estimator=Single(feature), **settings)  # type: ignore[arg-type]
    fast = simulate(graph, estimator=spec, **settings)  # type: ignore[arg-type]
    assert fast.sequence == slow.sequence


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["lnh", "lnh:max", "lnh, all weighed", "n", "opic", "ne:avg"])
@pytest.mark.parametrize("sparse", [False, True])
def test_picks_survive_failures_and_groups(graph: Graph, spec: str, sparse: bool) -> None:
    """Whatever a driver does, a pick is the argmax over every live row of the ready groups."""
    spec, _, weighed = spec.partition(", ")
    dice = np.random.default_rng(3)
    visits = recorded_visits(graph)
    explorer = sonde.Explorer(spec, grouped=True)
    seeds = np.flatnonzero(graph.scores > 0)[:30].tolist()
    explorer.add_seeds([Link(node, group=node % 40) for node in seeds])
    frontier: Any = explorer._model.frontier
    leaf = frontier.leaves[0]
    if weighed:
        leaf.way, leaf.turn = 2, 1 << 30
    for step in range(700):
        ready = None if step % 3 else set(dice.integers(0, 40, 6).tolist())
        live = np.flatnonzero(np.asarray(frontier.row_live)[: frontier.rows])
        nodes = np.asarray(frontier.row_node)[live]
        names = np.array([explorer.driver.node_of(node) for node in nodes], dtype=np.int64)
        if ready is not None:
            live = live[np.isin(names % 40, list(ready))]
        values = np.array([leaf.estimate(slot) for slot in live])
        leases = explorer.ask(1, ready=ready)
        if not leases:
            assert len(live) == 0
            continue
        (lease,) = leases
        if lease.arm >= 0:
            best = live[values == values.max()]
            first = best[np.argmin(np.asarray(frontier.row_seq)[best])]
            assert lease.node == explorer.driver.node_of(frontier.row_node[first])
            assert lease.predicted == values.max()
        visit = visits(lease.node)
        outcome: Visit | Failure
        if dice.random() < 0.2:
            outcome = Failure("timeout", retry=dice.random() < 0.7)
        else:
            outcome = Visit(
                (visit.score > 1.0) * 1.0 if sparse else visit.score,
                [
                    Link(link.target, 0.0 if sparse else link.score, int(str(link.target)) % 40)
                    for link in visit.links
                ],
            )
        explorer.tell(lease, outcome)
