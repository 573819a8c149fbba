"""Estimators that are linear in the features of the frontier table."""

from __future__ import annotations

from dataclasses import dataclass

from sonde.errors import SpecError
from sonde.estimators.builder import AGGREGATES, KINDS, SECOND_LEVEL, ModelBuilder, SingleEstimator
from sonde.protocols import Chooser


@dataclass(frozen=True)
class Feature(SingleEstimator):
    """One feature as the estimate: `deg`, `n:sum`, `ne2:max` and so on."""

    name: str

    def __post_init__(self) -> None:
        kind, _, how = self.name.partition(":")
        known = kind in ("deg", "deg2") and not how
        if not known and (kind.removesuffix("2") not in KINDS or how not in AGGREGATES):
            raise SpecError(
                f"unknown feature {self.name!r} (deg, or n, e or ne with :sum, :max or :avg; "
                f"the same with a 2 for the second level)"
            )

    def __str__(self) -> str:
        return self.name

    def features(self) -> tuple[str, ...]:
        return (self.name,)

    def remembers(self) -> bool:
        return self.name in SECOND_LEVEL

    def build(self, builder: ModelBuilder) -> Chooser:
        return builder.single(builder.ranking(self.name))


@dataclass(frozen=True)
class LinearNeighbourhood(SingleEstimator):
    """`lnh`: online least squares over n, e, ne and a constant; `lnh2` adds the second level.

    Weights start at 0 and P at 10⁶·I; there is no forgetting and no clamping. A sample is the
    features that a node had when it was asked, with the gain of its visit; seeds are no samples.
    """

    how: str = "sum"
    level: int = 1

    def __post_init__(self) -> None:
        if self.how not in AGGREGATES or self.level not in (1, 2):
            raise SpecError(f"unknown estimator '{self}' (lnh or lnh2, :sum, :max or :avg)")

    def __str__(self) -> str:
        return f"lnh{'' if self.level == 1 else self.level}:{self.how}"

    def features(self) -> tuple[str, ...]:
        levels = ("", "2")[: self.level]
        return tuple(f"{kind}{level}:{self.how}" for level in levels for kind in KINDS)

    def remembers(self) -> bool:
        return self.level == 2

    def build(self, builder: ModelBuilder) -> Chooser:
        columns = [builder.columns[name] for name in self.features()]
        return builder.single(builder.kernels.Regression(builder.frontier, columns))
