"""Means with intervals, differences between pairs, and means of ratios."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sonde import extras
from sonde.protocols import Floats


@dataclass(frozen=True)
class Mean:
    """A mean, and half the width of its 95 % confidence interval (Student's t)."""

    value: float
    half: float  # not a number for a single observation

    def __str__(self) -> str:
        return self.shown(3)

    def shown(self, digits: int, sign: str = "") -> str:
        """As text, with the interval where there is one."""
        if math.isnan(self.value):
            return "-"
        text = f"{self.value:{sign}z,.{digits}f}"
        return text if math.isnan(self.half) else f"{text} ± {self.half:,.{digits}f}"


def mean(values: Floats) -> Mean:
    """The mean of independent observations."""
    count = len(values)
    if count < 2:
        return Mean(float(values[0]) if count else math.nan, math.nan)
    return Mean(float(np.mean(values)), float(half_width(values[:, None])[0]))


def half_width(values: Floats) -> Floats:
    """Half the width of the interval around the mean of each column."""
    count = len(values)
    if count < 2:
        return np.full(values.shape[1], np.nan)
    quantile = float(extras.scipy("special", "an interval").stdtrit(count - 1, 0.975))
    spread: Floats = quantile * np.std(values, axis=0, ddof=1) / math.sqrt(count)
    return spread


def share(values: Floats, base: Floats) -> Floats:
    """Values as shares of `base`; 1 where both are 0, not a number where only the base is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: Floats = np.where(base > 0, values / base, np.where(values > 0, np.nan, 1.0))
    return ratio


def geometric(values: list[float]) -> float:
    """The geometric mean, of those that are numbers; 0 if one of them is."""
    kept = [value for value in values if not math.isnan(value)]
    if not kept:
        return math.nan
    if min(kept) <= 0:
        return 0.0
    return math.exp(sum(map(math.log, kept)) / len(kept))
