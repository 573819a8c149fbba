"""Estimators that go by what the other children of a node's parents have brought: `auto`, and
regressions that learn the weights of its parts from its own weights as a prior."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar, cast

from sonde.errors import SpecError
from sonde.estimators.builder import ModelBuilder, SingleEstimator
from sonde.estimators.flow import NavigationalRank
from sonde.protocols import Chooser, Expectation, Forecast, Leaf, Yields

PARTS = ("weight", "worth", "share", "words", "base")
"""What the kernel keeps of a row besides its estimate, each in a column of its own."""

RANK = NavigationalRank()

GROUNDS = (
    "the number of these links",
    "their scores",
    "its share of those pages' scores",
    "the words of the links",
    "what other nodes with such links brought against expectations",
    "its navigational rank",
)


@dataclass(frozen=True)
class ParentYield(SingleEstimator):
    """The mean yield of a node's visited parents: what their visited children have brought.

    A parent's yield is shrunk towards what pages of its score yield, as if it had `patience`
    more children of that kind; a parent that has shown more children weighs more.
    """

    patience: float = 10.0

    name: ClassVar[str] = "yield"

    def __post_init__(self) -> None:
        if not 0 < self.patience < float("inf"):
            raise SpecError(f"estimator '{self}': k must be a number above 0")

    def __str__(self) -> str:
        changed = (
            f"{OPTIONS[part.name]}={getattr(self, part.name):g}"
            for part in fields(self)
            if getattr(self, part.name) != part.default
        )
        return ":".join([self.name, *changed])

    def features(self) -> tuple[str, ...]:
        ranked = RANK.features() if self.weights()[5] else ()
        return ("deg", "e:sum", *ranked, *(f"{self}.{part}" for part in PARTS), str(self))

    def remembers(self) -> bool:
        return True

    def weights(self) -> tuple[float, ...]:
        """Of the number of links, of their scores, of shares, of words, of ratios, of
        navigational rank and of looking ahead."""
        return (0.0,) * 7

    def reasons(self, leaf: Leaf, slot: int) -> tuple[str, ...]:
        parents, children, brought, expected, *terms = cast("Expectation", leaf).yields.grounds(
            slot
        )
        pages = (
            "the page that links to it"
            if parents == 1
            else f"the {parents:,} pages that link to it"
        )
        if children:
            kids = "child" if children == 1 else "children"
            yielded = f"yielded {brought / children:.3g} on average over {children:,} {kids}"
        else:
            yielded = "has shown no children yet" if parents == 1 else "have shown no children yet"
        lines = [f"{pages} {yielded}: {expected:.3g} expected"]
        for weight, term, what in zip(self.weights()[:6], terms, GROUNDS, strict=True):
            if weight and term:
                lines.append(f"{what}: {term:+.3g}")
        return tuple(lines)

    def signal(self, builder: ModelBuilder) -> Yields:
        """What keeps the parts of its estimate."""
        if self.weights()[5]:
            RANK.signal(builder)  # before the yields, which read it
        if self.weights()[6] and builder.budget is None:
            raise SpecError(f"estimator '{self}' needs a budget of requests")
        return builder.signal(
            str(self),
            lambda: builder.kernels.Yields(
                builder.frontier,
                builder.links,
                builder.columns,
                str(self),
                builder.nodes,
                self.patience,
                self.weights(),
                max(1, builder.budget or 1),
            ),
        )

    def build(self, builder: ModelBuilder) -> Chooser:
        yields = self.signal(builder)
        return builder.single(builder.kernels.Expectation(yields, builder.columns[str(self)]))


@dataclass(frozen=True)
class Auto(ParentYield):
    """Parent yield, times what nodes with as many links of such scores have brought against what
    yields expected of them; and a little for many links, promising ones, a large share of the
    parents' scores, and words that have stood for more than the average.

    The weights are in units of a positive gain: those of the number of links, of their scores and
    of the share multiply logarithms; that of words multiplies a difference of gains, that of
    ratios by how much they differ from 1. `rank` is the weight of navigational rank. With `ahead`
    the weight of the number of links falls as the budget is spent: links pay off later.
    """

    degree: float = 0.07
    link: float = 0.3
    share: float = 0.1
    words: float = 1.0
    ratio: float = 1.0
    rank: float = 0.0
    ahead: float = 0.0

    name: ClassVar[str] = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(0 <= weight < float("inf") for weight in self.weights()):
            raise SpecError(f"estimator '{self}': weights are numbers of 0 or more")

    def reads_words(self) -> bool:
        return self.words > 0

    def weights(self) -> tuple[float, ...]:
        return (
            self.degree,
            self.link,
            self.share,
            self.words,
            self.ratio,
            self.rank,
            self.ahead,
        )


OPTIONS = {
    "patience": "k",
    "degree": "deg",
    "link": "e",
    "share": "share",
    "words": "words",
    "ratio": "ratio",
    "rank": "nr",
    "ahead": "ahead",
}
"""The text form of each parameter."""


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
