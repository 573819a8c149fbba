"""On frontiers of many blocks and shelves: the fast paths against rescoring everything."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from sonde.protocols import Floats
from sonde.simulation import simulate
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


@pytest.mark.parametrize("how", ["sum", "max", "avg"])
def test_regression_is_the_exact_argmax(graph: Graph, how: str) -> None:
    features = [f"{kind}:{how}" for kind in ("n", "e", "ne")]
    slow = simulate(graph, random_seeds=20, budget=1500, seed=1, estimator=Rescored(features))
    fast = simulate(graph, random_seeds=20, budget=1500, seed=1, estimator=f"lnh:{how}")
    assert fast.sequence == slow.sequence
    assert fast.predictions.tolist() == slow.predictions.tolist()


def test_regression_on_a_sparse_graph_full_of_ties(graph: Graph) -> None:
    sparse = np.where(np.arange(graph.node_count) % 40 == 0, 1.0, 0.0)
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
