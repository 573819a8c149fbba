"""The features that the frontier table can keep for every node, strategies, and how the two and an
estimator become a model: the kernels' objects, wired for one exploration.

A strategy turns predictions into the next node: `greedy`, or `altered:q,zeta`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, cast

import numpy as np

from sonde.errors import SpecError
from sonde.estimators.model_kernels import ModelKernels, RecordedPlaces, load_kernels
from sonde.protocols import (
    Chooser,
    Dice,
    Feedback,
    Floats,
    Frontier,
    Leaf,
    Links,
    Model,
    Numbers,
    Places,
    Quickness,
    Signal,
)


@dataclass(frozen=True)
class Strategy:
    """With probability `certain` the argmax, otherwise uniformly among the nodes whose estimate
    is within `slack` of the maximum, as a share of its magnitude."""

    certain: float = 1.0
    slack: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.certain <= 1:
            raise SpecError(f"strategy {self}: q must be between 0 and 1, not {self.certain:g}")
        if not (self.slack >= 0 and math.isfinite(self.slack)):
            raise SpecError(f"strategy {self}: zeta must be 0 or more, not {self.slack:g}")

    def __str__(self) -> str:
        if self.certain == 1.0:
            return "greedy"
        return f"altered:{self.certain:g},{self.slack:g}"


GREEDY = Strategy()


def strategy_from(text: str | Strategy) -> Strategy:
    """A strategy from its text: ``greedy`` or ``altered:q,zeta``."""
    if isinstance(text, Strategy):
        return text
    name, _, arguments = text.partition(":")
    if name == "greedy" and not arguments:
        return GREEDY
    if name == "altered":
        try:
            certain, slack = (float(part) for part in arguments.split(","))
        except ValueError:
            raise SpecError(
                f"strategy {text!r}: altered takes two numbers, as in altered:0.9,0.1"
            ) from None
        return Strategy(certain, slack)
    raise SpecError(f"unknown strategy {text!r} (greedy, or altered:q,zeta)")


KINDS = ("n", "e", "ne")
AGGREGATES = ("sum", "max", "avg")

FIRST_LEVEL = ("deg", *(f"{kind}:{how}" for kind in KINDS for how in AGGREGATES), "hop")
SECOND_LEVEL = ("deg2", *(f"{kind}2:{how}" for kind in KINDS for how in AGGREGATES))
PLACED = ("rfu", "bfu", "id", "repeats")
ASSOCIATED = ("arf:basename+", "arf:basename-", "arf:domain+", "arf:domain-")

FEATURES = FIRST_LEVEL + SECOND_LEVEL + PLACED + ASSOCIATED
"""What a custom estimator may ask for. `hop` is 1 / (l + 1), l the distance from the seeds. The
last two groups need the places of nodes: sources that know URLs tell them with each link."""

_INGREDIENTS = {
    "rfu": ("deg", "rfu:sum"),
    "bfu": ("deg", "bfu:sum"),
    "id": ("deg",),
    "repeats": ("repeats:sum",),
}


def associated(owner: str) -> tuple[str, ...]:
    """The columns of one estimator's own feedback: its errors are no other's."""
    return tuple(f"{owner}|{name}" for name in ASSOCIATED)


def reads_urls(columns: Iterable[str]) -> bool:
    """Whether these columns need to know the places of nodes."""
    return any(name in PLACED or name.endswith(ASSOCIATED) for name in columns)


def with_ingredients(features: Iterable[str]) -> tuple[str, ...]:
    """The features in order without repeats, and before each what it is made of."""
    wanted: dict[str, None] = {}
    for feature in features:
        kind, _, how = feature.partition(":")
        if how == "avg" and kind.rstrip("2") in KINDS:
            wanted["deg2" if kind.endswith("2") else "deg"] = None
            wanted[f"{kind}:sum"] = None
        wanted.update(dict.fromkeys(_INGREDIENTS.get(feature, ())))
        wanted[feature] = None
    return tuple(wanted)


_Signal = TypeVar("_Signal", bound=Signal)


class Estimator(Protocol):
    """A description from which a part of a model can be built."""

    def features(self) -> Sequence[str]:
        """The columns of the frontier table that this estimator reads."""

    def remembers(self) -> bool:
        """Whether it needs the links of visited nodes after their visit."""

    def reads_words(self) -> bool:
        """Whether it learns from the words that links carry."""

    def leaves(self) -> tuple[Estimator, ...]:
        """The estimators that pick, in the order in which they are built."""

    def reasons(self, leaf: Leaf, slot: int) -> tuple[str, ...]:
        """What its estimate of a row rests on, in words, where there is more to say than that."""

    def build(self, builder: ModelBuilder) -> Chooser:
        """Its chooser, made of leaves and signals of this model."""


class SingleEstimator:
    """What most estimators answer that are not made of others."""

    def remembers(self) -> bool:
        return False

    def reads_words(self) -> bool:
        return False

    def reasons(self, leaf: Leaf, slot: int) -> tuple[str, ...]:
        return ()

    def leaves(self) -> tuple[Estimator, ...]:
        return (cast("Estimator", self),)


class ModelBuilder:
    """The model in the making, as estimators see it while their parts of it are built."""

    def __init__(
        self,
        kernels: ModelKernels,
        columns: Mapping[str, int],
        frontier: Frontier,
        links: Links,
        dice: Dice,
        seed: int,
        nodes: int,
        budget: int | None,
        knows_truth: bool,
        oracle: Callable[[Numbers], Floats] | None,
    ) -> None:
        self.kernels = kernels
        self.columns = columns
        self.frontier = frontier
        self.links = links
        self.dice = dice
        self.seed = seed
        self.nodes = nodes
        self.budget = budget
        self.knows_truth = knows_truth
        self.oracle = oracle
        self.signals: dict[str, Signal] = {}
        self.places: Places | None = None
        self.quickness: Quickness | None = None

    def single(self, leaf: Leaf) -> Chooser:
        """A chooser that always lets this leaf pick."""
        return self.kernels.Single(leaf)

    def ranking(self, column: str) -> Leaf:
        """A leaf that ranks by one column as it is."""
        return self.kernels.Tournament(self.frontier, self.columns[column])

    def signal(self, column: str, make: Callable[[], _Signal]) -> _Signal:
        """The signal that keeps this column, made when it is first asked for."""
        if column not in self.signals:
            self.signals[column] = make()
        return cast("_Signal", self.signals[column])

    def feedback(self, owner: str) -> Feedback:
        """The signal that keeps one estimator's associated feedback."""
        places = self.places
        assert places is not None
        names = associated(owner)
        return self.signal(
            names[0],
            lambda: self.kernels.Feedback(
                self.frontier,
                self.links,
                places,
                [self.columns[name] for name in names],
                self.nodes,
            ),
        )

    def quick_column(self) -> int:
        """The column of the hosts' quickness, or -1 where nodes have no hosts."""
        if not self.frontier.grouped:
            return -1
        column = self.columns["quick"]
        self.quickness = self.signal(
            "quick", lambda: self.kernels.Quickness(self.frontier, self.links, column)
        )
        return column


def build_model(
    estimator: Estimator,
    strategy: Strategy = GREEDY,
    *,
    engine: str = "compiled",
    seed: int = 0,
    budget: int | None = None,
    nodes: int = 0,
    grouped: bool = False,
    links: tuple[Numbers, Floats] | None = None,
    places: Callable[[], RecordedPlaces] | None = None,
    words: tuple[Numbers, Numbers] | None = None,
    truths: Floats | None = None,
    oracle: Callable[[Numbers], Floats] | None = None,
) -> Model:
    """Build a model.

    `nodes` is how many nodes to make room for; `links` the target and score arrays of a recorded
    graph, `places` gives its URL measures where they are wanted, and `words` where the words of
    each link start and all words, where there are any (they are kept if the estimator reads words);
    `truths` the true value of each node for an oracle, or `oracle` a function that gives them for
    node numbers, where they change as the crawl goes on.
    """
    kernels = load_kernels(engine)
    names = with_ingredients(estimator.features())
    columns = {name: number for number, name in enumerate(names)}
    frontier = kernels.Frontier(len(names), nodes, grouped)
    target, alpha = links if links is not None else (None, None)
    # An explorer has no recorded graph, and cannot know yet whether its links will have words.
    wordy = estimator.reads_words() and (links is None or words is not None)
    second = any(name in columns for name in SECOND_LEVEL)
    link_words = kernels.LinkWords(*words) if wordy and words is not None else None
    memory = kernels.Links(nodes, estimator.remembers(), second, target, alpha, wordy, link_words)
    dice = kernels.Dice(seed)
    builder = ModelBuilder(
        kernels, columns, frontier, memory, dice, seed, nodes, budget, truths is not None, oracle
    )
    neighbourhood = kernels.Neighbourhood(
        frontier, memory, columns, nodes, np.zeros(0) if truths is None else truths
    )
    if second:
        builder.signal("second", lambda: kernels.SecondLevel(frontier, memory, columns, nodes))
    if reads_urls(columns):
        recorded = places() if places is not None else None
        builder.places = builder.signal(
            "places", lambda: kernels.Places(frontier, memory, columns, nodes, recorded)
        )
    chooser = estimator.build(builder)
    return kernels.Model(
        frontier,
        memory,
        dice,
        chooser,
        neighbourhood,
        list(builder.signals.values()),
        strategy.certain,
        strategy.slack,
        builder.places,
        builder.quickness,
    )
