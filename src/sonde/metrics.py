"""Metrics of a crawl beyond its total: harvest rate, efficiency, and the guided path measure.

- *Harvest rate*: visits that score above a threshold, over visits.
- *Efficiency*, how early: the area under the harvest curve (the value brought after each visit), as
  a share of that of a better order: of the oracle's crawl where there is one, of the crawl's own
  visits sorted best first where there is not.
- *GPR*, the guided path measure: S / (S + 2B), where S is the number of visits above the threshold
  and B that of *backtracks*: visits at or below it whose successor in the crawl is not one of their
  links. The last visit has no successor and is none. Without any visit above the threshold it is 0.

All lie between 0 and 1, except that a crawl may be more efficient than a greedy oracle's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sonde.errors import InputError
from sonde.kernels.graphs.harvest import best_first
from sonde.protocols import Floats


@dataclass(frozen=True, slots=True)
class Merit:
    """The three measures of a whole crawl."""

    harvest_rate: float
    efficiency: float
    gpr: float


@dataclass(frozen=True, slots=True)
class MeritSteps:
    """The three measures after each visit."""

    harvest_rate: Floats
    efficiency: Floats
    gpr: Floats

    @property
    def last(self) -> Merit | None:
        """Those of the whole crawl; nothing where nothing was visited."""
        if not len(self.gpr):
            return None
        columns = (self.harvest_rate, self.efficiency, self.gpr)
        return Merit(*(float(column[-1]) for column in columns))


def checked_threshold(threshold: float) -> float:
    """A threshold that scores can be compared with."""
    if not math.isfinite(threshold):
        raise InputError(f"a threshold is a finite number, not {threshold}")
    return threshold


def hits_and_backtracks(
    scores: Floats, followed: npt.NDArray[np.int8], threshold: float = 0.0
) -> tuple[Floats, Floats]:
    """Harvest rate and GPR after each visit. `followed` says whether the next visit is one of a
    visit's links."""
    above = scores > checked_threshold(threshold)
    hits = np.cumsum(above)
    turned = ~above & (followed == 0)
    # A visit turns into a backtrack when its successor is made.
    backtracks = np.concatenate([[0], np.cumsum(turned)[:-1]])[: len(scores)]
    rate: Floats = hits / np.arange(1, len(scores) + 1)
    gpr: Floats = hits / np.maximum(hits + 2 * backtracks, 1)
    return rate, gpr


def judge(
    scores: Floats, gains: Floats, followed: npt.NDArray[np.int8], threshold: float = 0.0
) -> MeritSteps:
    """All measures after each visit; efficiency is relative to the own visits sorted best first."""
    rate, gpr = hits_and_backtracks(scores, followed, threshold)
    places = np.empty(len(gains), dtype=np.int64)
    places[np.argsort(-gains, kind="stable")] = np.arange(len(gains))
    ideal = best_first(places, np.ascontiguousarray(gains, dtype=np.float64))
    area = np.cumsum(np.cumsum(gains))
    efficiency = np.divide(area, ideal, out=np.ones(len(gains)), where=ideal > 0)
    return MeritSteps(rate, np.minimum(efficiency, 1.0), gpr)  # rounding may lift it above 1
