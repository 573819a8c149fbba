"""Values as whole numbers of a unit, so that sums are exact.

Values such as 1 + 7 x 0.83 do not add up the same in every order as doubles, and then two pages
of equal worth would differ in the last bit, ties would go to the wrong page, and a page whose
whole neighbourhood was taken away would keep a gain of 1e-16 and never stop being chosen. So each
value is held as a 64-bit number of units, the unit being a power of two small enough that the sum
of all values still fits: 1 where all values are whole, and otherwise so fine that rounding to it
moves no value by more than a 10**-17 part of the sum of all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sonde.errors import InputError
from sonde.seeds.network import Units

_ROOM = 61  # bits that the sum of all absolute values may take, one kept for rounding


@dataclass(frozen=True, eq=False)
class Amounts:
    """What each node is worth, in units."""

    units: Units
    unit: float

    @classmethod
    def of(cls, values: npt.ArrayLike) -> Amounts:
        worth = np.asarray(values, dtype=np.float64)
        if worth.ndim != 1:
            raise InputError("values must be one number a node")
        if not np.isfinite(worth).all():
            raise InputError(f"node {int(np.argmin(np.isfinite(worth)))} has no finite value")
        with np.errstate(over="ignore"):
            total = float(np.abs(worth).sum())
        if not math.isfinite(total):
            raise InputError("the values are too large to add up")
        bits = _ROOM - math.frexp(total)[1] if total else 0
        if bits >= 0 and (worth == np.rint(worth)).all():
            bits = 0
        return cls(np.rint(np.ldexp(worth, bits)).astype(np.int64), math.ldexp(1.0, -bits))

    def __len__(self) -> int:
        return len(self.units)

    def value(self, units: int | np.integer[Any]) -> float:
        """A number of units, back as a value."""
        return int(units) * self.unit

    @property
    def positive(self) -> int:
        """The sum of the positive amounts, in units: no choice of seeds covers more."""
        return int(self.units[self.units > 0].sum())

    @staticmethod
    def largest(units: Units, k: int) -> int:
        """The sum of the k largest, for k of at least 1, or of all if they are fewer."""
        rest = max(len(units) - k, 0)
        return int(np.partition(units, rest)[rest:].sum()) if rest else int(units.sum())

    def at(self, nodes: npt.NDArray[Any]) -> Amounts:
        """The amounts of some nodes, in the same unit."""
        return Amounts(np.ascontiguousarray(self.units[nodes]), self.unit)
