"""Yardsticks: chance, breadth first, and the oracle that knows the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sonde.errors import SpecError
from sonde.estimators.assembly import Assembly, Leaf
from sonde.protocols import Floats


@dataclass(frozen=True)
class Random(Leaf):
    """Every frontier node is equally likely, whatever the strategy."""

    def __str__(self) -> str:
        return "random"

    def features(self) -> tuple[str, ...]:
        return ()

    def grow(self, assembly: Assembly) -> Any:
        return assembly.single(assembly.kernels.rankings.Chance(assembly.frontier, assembly.dice))


@dataclass(frozen=True)
class BreadthFirst(Leaf):
    """1 / (l + 1), where l is 1 + the least distance of a visited parent and seeds are at 0.

    A node's distance is fixed when it is visited.
    """

    def __str__(self) -> str:
        return "bfs"

    def features(self) -> tuple[str, ...]:
        return ("hop",)

    def grow(self, assembly: Assembly) -> Any:
        return assembly.single(assembly.ranking("hop"))


@dataclass(frozen=True)
class Oracle(Leaf):
    """The true score, or under other objectives the true marginal gain.

    It is the one estimator that sees unvisited nodes, and only a source that holds the truth (a
    recorded graph) can grow it.
    """

    def __str__(self) -> str:
        return "oracle"

    def features(self) -> tuple[str, ...]:
        return ("truth",)

    def grow(self, assembly: Assembly) -> Any:
        if assembly.oracle is not None:
            return assembly.single(_rescoring(assembly, assembly.oracle))
        if not assembly.knows_truth:
            raise SpecError("the oracle needs the true scores: it works on recorded graphs only")
        return assembly.single(assembly.ranking("truth"))


def _rescoring(assembly: Assembly, oracle: Callable[[Any], Floats]) -> Any:
    """A leaf that looks every frontier node up anew for each pick."""
    frontier = assembly.frontier
    return assembly.kernels.rankings.Custom(
        frontier,
        lambda slots: oracle(np.asarray(frontier.row_node)[slots]),
        lambda snapshot, gain: None,
    )
