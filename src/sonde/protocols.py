"""The protocols at sonde's seams: what a class must offer to take part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from sonde.records import Node, Visit

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
