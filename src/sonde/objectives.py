"""What a set of visits is worth: `sum`, `count`, `distinct`, or a monotone function of one's own.

Rewards and learning targets are marginal gains under the objective; a node's own score is what
its links pass on as a parent.
"""

from __future__ import annotations

import math
from collections.abc import Hashable

from sonde.errors import ObjectiveError, SpecError
from sonde.protocols import Objective
from sonde.records import Node, Visit


class Sum:
    """The sum of the scores."""

    def gain(self, node: Node, visit: Visit) -> float:
        return visit.score

    def add(self, node: Node, visit: Visit) -> None:
        pass


class Count:
    """The number of nodes with a positive score."""

    def gain(self, node: Node, visit: Visit) -> float:
        return 1.0 if visit.score > 0 else 0.0

    def add(self, node: Node, visit: Visit) -> None:
        pass


class Distinct:
    """The number of distinct records returned."""

    def __init__(self) -> None:
        self.seen: set[Hashable] = set()

    def gain(self, node: Node, visit: Visit) -> float:
        return float(len(set(visit.records) - self.seen))

    def add(self, node: Node, visit: Visit) -> None:
        self.seen.update(visit.records)


BUILT_IN: dict[str, type[Sum | Count | Distinct]] = {
    "sum": Sum,
    "count": Count,
    "distinct": Distinct,
}


def objective_from(objective: str | Objective) -> Objective:
    """An objective from its name, or the user's own as it is."""
    if isinstance(objective, str):
        if objective not in BUILT_IN:
            names = ", ".join(BUILT_IN)
            raise SpecError(f"unknown objective {objective!r} (one of: {names})")
        return BUILT_IN[objective]()
    if not isinstance(objective, Objective):
        raise SpecError(f"{objective!r} is not an objective: it needs gain() and add()")
    return objective


def gain_of(objective: Objective, node: Node, visit: Visit) -> float:
    """The marginal gain of a visit, checked."""
    gain = float(objective.gain(node, visit))
    if math.isnan(gain) or gain < 0:
        raise ObjectiveError(
            f"the objective is not monotone: it changes by {gain} when {node!r} is added"
        )
    return gain
