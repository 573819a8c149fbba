"""A custom estimator works in simulations and explorers, and the check says what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sonde
from sonde.protocols import Floats
from sonde.testing import check_estimator


class Ratio:
    """The mean score of a node's parents, as `n:avg` has it, learned offset and all."""

    features: Any = ("n:sum", "deg")

    def __init__(self) -> None:
        self.seen = 0.0

    def predict(self, features: Floats) -> Floats:
        return np.asarray(features[:, 0] / np.maximum(features[:, 1], 1))

    def learn(self, features: Floats, gain: float) -> None:
        self.seen += gain


def test_it_crawls_as_the_built_in_one_does() -> None:
    graph = sonde.sources.graph.topical(3000, 30_000, seed=2)  # type: ignore[attr-defined]
    own = Ratio()
    ours = sonde.simulate(graph, random_seeds=5, estimator=own, budget=200)
    assert (
        ours.sequence
        == sonde.simulate(graph, random_seeds=5, estimator="n:avg", budget=200).sequence
    )
    assert own.seen == pytest.approx(ours.gain)
    assert ours.estimator == "Ratio"


def test_it_may_be_an_arm() -> None:
    from sonde.estimators import EpsilonGreedy, Feature
    from sonde.estimators.custom import Custom

    graph = sonde.sources.graph.topical(3000, 30_000, seed=2)  # type: ignore[attr-defined]
    bandit = EpsilonGreedy(0.2, (Custom(Ratio()), Feature("e:sum")))
    assert sonde.simulate(graph, random_seeds=5, estimator=bandit, budget=50).estimator == (
        "mab:eps=0.2[Ratio,e:sum]"
    )


def test_a_good_one_passes() -> None:
    check_estimator(Ratio())


class Unknown(Ratio):
    features = ("pagerank",)


class Text(Ratio):
    features = "n:sum"


class Short(Ratio):
    def predict(self, features: Floats) -> Floats:
        return features[:1, 0]


class Infinite(Ratio):
    def predict(self, features: Floats) -> Floats:
        return features[:, 0] * np.inf


class Meddling(Ratio):
    def predict(self, features: Floats) -> Floats:
        features[:, 0] += 1
        return features[:, 0]


class Restless(Ratio):
    def predict(self, features: Floats) -> Floats:
        self.seen += 1
        return features[:, 0] + self.seen


class Relative(Ratio):
    def predict(self, features: Floats) -> Floats:
        return features[:, 0] + np.arange(len(features))


class Fragile(Ratio):
    def learn(self, features: Floats, gain: float) -> None:
        raise KeyError("gain")


class Moody(Ratio):
    def learn(self, features: Floats, gain: float) -> None:
        self.seen = np.random.default_rng().random()

    def predict(self, features: Floats) -> Floats:
        return features[:, 0] * np.sin(1e6 * self.seen + features[:, 1])


class Raising(Ratio):
    def predict(self, features: Floats) -> Floats:
        raise KeyError("n:sum")


class Complex(Ratio):
    def predict(self, features: Floats) -> Floats:
        return features[:, 0] * 1j  # type: ignore[return-value]


class Writing(Ratio):
    def learn(self, features: Floats, gain: float) -> None:
        features[0] = -1


class Incomplete:
    features = ("deg",)


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.parametrize(
    ("estimator", "complaint"),
    [
        (Unknown(), "unknown feature 'pagerank'"),
        (Text(), "must be a list of feature names"),
        (Short(), r"shape \(1,\) for 5 rows"),
        (Infinite(), "not a finite number"),
        (Meddling(), "changes the features"),
        (Restless(), "when asked again"),
        (Relative(), "order of the rows"),
        (Fragile(), "learn failed on a sample"),
        (Moody(), "in two ways"),
        (Incomplete(), "has no predict"),
        (Raising(), "predict failed on one row"),
        (Complex(), "complex numbers"),
        (Writing(), "learn changes the features"),
        (Ratio, "is a class"),
    ],
)
def test_a_bad_one_is_told_what_is_wrong(estimator: Any, complaint: str) -> None:
    with pytest.raises(sonde.EstimatorError, match=complaint):
        check_estimator(estimator)
