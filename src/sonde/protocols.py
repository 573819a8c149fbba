"""The protocols at sonde's seams: what a class must offer to take part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from sonde.records import Lease, Node, Outcome, Visit

Floats: TypeAlias = npt.NDArray[np.float64]
"""An array of doubles."""


@runtime_checkable
class CustomEstimator(Protocol):
    """An estimator of the user's own: features in, predictions out, learning from each visit.

    ``features`` names the columns it wants (see ``sonde.estimators.FEATURES``).
    """

    features: Sequence[str]

    def predict(self, features: Floats) -> Floats:
        """One finite prediction for each row of `features`."""
        ...

    def learn(self, features: Floats, gain: float) -> None:
        """A node that had these features when it was asked has brought this gain."""
        ...


@runtime_checkable
class Objective(Protocol):
    """What a set of visits is worth: monotone, and given incrementally."""

    def gain(self, node: Node, visit: Visit) -> float:
        """What this visit would add to the visits so far (never negative)."""
        ...

    def add(self, node: Node, visit: Visit) -> None:
        """Count this visit in."""
        ...


class Allowance(Protocol):
    """What one visit may spend. A lease holds one request; whatever needs more takes more."""

    @property
    def lease(self) -> Lease:
        """The lease that the visit settles."""
        ...

    @property
    def depth(self) -> int:
        """How many links the node is away from a seed."""
        ...

    def take(self) -> bool:
        """Take one request before it is sent; ``False`` when the budget has none left.

        Once this returns ``True`` the request counts as spent, whatever becomes of it.
        """
        ...

    def receive(self, size: int) -> None:
        """So many bytes came back."""
        ...


@runtime_checkable
class Source(Protocol):
    """Where nodes come from: one method that visits a node."""

    async def visit(self, node: Node, allowance: Allowance) -> Outcome:
        """Visit a node: a ``Visit``, a ``Failure`` or a ``Skip``.

        A source that calls ``allowance.take()`` is charged for what it took; for one that never
        does, the outcome's own ``spent`` counts, which may not exceed the one request held.
        """
        ...
