"""The contract of a custom estimator."""

from __future__ import annotations

import copy

import numpy as np

from sonde.errors import EstimatorError
from sonde.estimators import Custom
from sonde.protocols import CustomEstimator, Floats
from sonde.simulation import simulate
from sonde.sources.graph import Graph


def check_estimator(estimator: CustomEstimator) -> None:
    """Raise ``EstimatorError`` if the estimator breaks its contract.

    The estimator itself is left as it is; copies of it are tried.
    """
    if isinstance(estimator, type):
        raise EstimatorError(f"{estimator.__name__} is a class: give an instance of it")
    for member in ("features", "predict", "learn"):
        if not hasattr(estimator, member):
            raise EstimatorError(f"{type(estimator).__name__} has no {member}")
    if isinstance(estimator.features, str) or not len(estimator.features):
        raise EstimatorError(f"{type(estimator).__name__}.features must be a list of feature names")
    custom = Custom(_copied(estimator))
    _check_predictions(custom)
    _check_learning(custom)
    _check_crawls(estimator)


def _copied(estimator: CustomEstimator) -> CustomEstimator:
    try:
        return copy.deepcopy(estimator)
    except Exception as error:
        raise EstimatorError(
            f"{type(estimator).__name__} cannot be copied, so that runs cannot be repeated: {error}"
        ) from error


def _frontiers(width: int) -> dict[str, Floats]:
    drawn = np.random.default_rng(7).random((50, width)) * 10
    return {
        "one row": np.ones((1, width)),
        "rows of zeros": np.zeros((5, width)),
        "large values": np.full((3, width), 1e9),
        "mixed rows": np.where(drawn > 5, drawn, 0.0),
    }


def _check_predictions(custom: Custom) -> None:
    for title, frontier in _frontiers(len(custom.features())).items():
        given = frontier.copy()
        try:
            first = custom.estimator.predict(given)
        except Exception as error:
            raise EstimatorError(f"{custom}.predict failed on {title}: {error!r}") from error
        values = custom.checked(first, len(frontier))
        if not np.array_equal(given, frontier):
            raise EstimatorError(f"{custom}.predict changes the features it is given ({title})")
        again = custom.checked(custom.estimator.predict(frontier.copy()), len(frontier))
        if not np.array_equal(values, again):
            raise EstimatorError(
                f"{custom}.predict gives other values when asked again ({title}): "
                f"it must change in learn() alone"
            )
        order = np.arange(len(frontier))[::-1]
        turned = custom.checked(custom.estimator.predict(frontier[order].copy()), len(frontier))
        if not np.array_equal(values[order], turned):
            raise EstimatorError(
                f"{custom}.predict depends on the order of the rows ({title}): "
                f"a row's value must come from that row"
            )


def _check_learning(custom: Custom) -> None:
    rows = _frontiers(len(custom.features()))["mixed rows"]
    for number, row in enumerate(rows):
        given = row.copy()
        try:
            custom.estimator.learn(given, float(number % 3))
        except Exception as error:
            raise EstimatorError(f"{custom}.learn failed on a sample: {error!r}") from error
        if not np.array_equal(given, row):
            raise EstimatorError(f"{custom}.learn changes the features it is given")
    custom.checked(custom.estimator.predict(rows.copy()), len(rows))


def _check_crawls(estimator: CustomEstimator) -> None:
    edges = [(a, b, float((a * b) % 4)) for a in range(30) for b in range(30) if (a + b) % 7 == 1]
    graph = Graph.from_edges(edges, [(node, float(node % 3)) for node in range(30)])
    runs = [
        simulate(graph, seeds=[1, 2], estimator=_copied(estimator), budget=20).sequence
        for _ in range(2)
    ]
    if runs[0] != runs[1]:
        raise EstimatorError(
            f"{type(estimator).__name__} crawls the same graph in two ways: "
            f"give its randomness a seed"
        )
