"""Regressions that learn the weights of the parts of `auto`, from its own weights as a prior."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

from sonde.errors import SpecError
from sonde.estimators.builder import ModelBuilder, SingleEstimator
from sonde.estimators.yields import Auto
from sonde.protocols import Chooser, Forecast, Yields

AUTO = Auto()


@dataclass(frozen=True)
class Ridge(SingleEstimator):
    """Regression over the parts of `auto` towards its weights.

    `prior` is how many imaginary samples agree with them; with `forget` below 1 samples count
    less as they grow older.
    """

    prior: float = 30.0
    forget: float = 1.0

    name: ClassVar[str] = "ridge"

    def __post_init__(self) -> None:
        for part in fields(self):
            value = getattr(self, part.name)
            if not 0 < value < float("inf") or (part.name == "forget" and value > 1):
                raise SpecError(f"estimator '{self}': {part.name} cannot be {value:g}")

    def __str__(self) -> str:
        changed = (
            f"{part.name}={getattr(self, part.name):g}"
            for part in fields(self)
            if getattr(self, part.name) != part.default
        )
        return ":".join([self.name, *changed])

    def features(self) -> tuple[str, ...]:
        return (*AUTO.features(), str(self))

    def remembers(self) -> bool:
        return True

    def reads_words(self) -> bool:
        return True

    def build(self, builder: ModelBuilder) -> Chooser:
        yields = AUTO.signal(builder)
        forecast = builder.signal(str(self), lambda: self.forecast(builder, yields))
        return builder.single(builder.kernels.Foresight(forecast))

    def forecast(self, builder: ModelBuilder, yields: Yields) -> Forecast:
        return builder.kernels.Forecast(
            builder.frontier,
            builder.links,
            yields,
            builder.columns[str(self)],
            AUTO.weights()[:4],
            self.prior,
            self.forget,
        )


@dataclass(frozen=True)
class LinearUcb(Ridge):
    """The same, with `c` times the doubt that the regression leaves of a node added to it."""

    c: float = 0.5

    name: ClassVar[str] = "ucb"

    def forecast(self, builder: ModelBuilder, yields: Yields) -> Forecast:
        made = super().forecast(builder, yields)
        made.optimism = self.c
        return made


@dataclass(frozen=True)
class PosteriorSampling(Ridge):
    """The same, with weights drawn from what the regression leaves open, anew at each revision:
    Thompson sampling. `spread` is in standard deviations."""

    spread: float = 0.5

    name: ClassVar[str] = "posterior"

    def forecast(self, builder: ModelBuilder, yields: Yields) -> Forecast:
        made = super().forecast(builder, yields)
        made.spread = self.spread
        made.dice = builder.kernels.Dice(builder.seed)
        return made


@dataclass(frozen=True)
class Hurdle(Ridge):
    """The chance of a positive gain times its expected size, each a regression with a prior."""

    name: ClassVar[str] = "hurdle"
    CHANCE: ClassVar[tuple[float, float]] = (4.0, -2.0)
    """The prior of the chance's logit: four times what `auto` says, less two."""

    def forecast(self, builder: ModelBuilder, yields: Yields) -> Forecast:
        return builder.kernels.Hurdle(
            builder.frontier,
            builder.links,
            yields,
            builder.columns[str(self)],
            AUTO.weights()[:4],
            self.prior,
            self.forget,
            self.CHANCE,
        )


FORECASTS = {kind.name: kind for kind in (Ridge, LinearUcb, PosteriorSampling, Hurdle)}
