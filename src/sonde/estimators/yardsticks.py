"""Yardsticks (baselines): chance, breadth first, and the oracle that knows the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sonde.errors import SpecError
from sonde.estimators.builder import ModelBuilder, SingleEstimator
from sonde.protocols import Chooser, Floats, Leaf, Numbers


@dataclass(frozen=True)
class Random(SingleEstimator):
    """Every frontier node is equally likely, whatever the strategy."""

    def __str__(self) -> str:
        return "random"

    def features(self) -> tuple[str, ...]:
        return ()

    def build(self, builder: ModelBuilder) -> Chooser:
        return builder.single(builder.kernels.Chance(builder.frontier, builder.dice))


@dataclass(frozen=True)
class BreadthFirst(SingleEstimator):
    """1 / (l + 1), where l is 1 + the least distance of a visited parent and seeds are at 0.

    A node's distance is fixed when it is visited.
    """

    def __str__(self) -> str:
        return "bfs"

    def features(self) -> tuple[str, ...]:
        return ("hop",)

    def build(self, builder: ModelBuilder) -> Chooser:
        return builder.single(builder.ranking("hop"))


@dataclass(frozen=True)
class Oracle(SingleEstimator):
    """The true score, or under other objectives the true marginal gain.

    It is the one estimator that sees unvisited nodes, and only a source that holds the truth (a
    recorded graph) can grow it.
    """

    def __str__(self) -> str:
        return "oracle"

    def features(self) -> tuple[str, ...]:
        return ("truth",)

    def build(self, builder: ModelBuilder) -> Chooser:
        if builder.oracle is not None:
            return builder.single(_rescoring(builder, builder.oracle))
        if not builder.knows_truth:
            raise SpecError("the oracle needs the true scores: it works on recorded graphs only")
        return builder.single(builder.ranking("truth"))


def _rescoring(builder: ModelBuilder, oracle: Callable[[Numbers], Floats]) -> Leaf:
    """A leaf that looks every frontier node up anew for each pick."""
    frontier = builder.frontier
    return builder.kernels.Custom(
        frontier,
        lambda slots: oracle(np.asarray(frontier.row_node)[slots]),
        lambda snapshot, gain: None,
    )
