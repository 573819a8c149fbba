"""How an estimator becomes a model: the kernels' objects, wired for one exploration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np

from sonde import kernels
from sonde.errors import SpecError
from sonde.estimators.features import SECOND_LEVEL, associated, placed, with_ingredients
from sonde.protocols import Floats
from sonde.strategies import GREEDY, Strategy


class Estimator(Protocol):
    """A description from which a part of a model can be grown."""

    def features(self) -> Sequence[str]:
        """The columns of the frontier table that this estimator reads."""
        ...

    def remembers(self) -> bool:
        """Whether it needs the links of visited nodes after their visit."""
        ...

    def reads_words(self) -> bool:
        """Whether it learns from the words that links carry."""
        ...

    def leaves(self) -> tuple[Estimator, ...]:
        """The estimators that pick, in the order in which they grow."""
        ...

    def reasons(self, leaf: Any, slot: int) -> tuple[str, ...]:
        """What its estimate of a row rests on, in words, where there is more to say than that."""
        ...

    def grow(self, assembly: Assembly) -> Any:
        """Its chooser, made of leaves and signals of this assembly."""
        ...


class Leaf:
    """What most estimators answer that are not made of others."""

    def remembers(self) -> bool:
        return False

    def reads_words(self) -> bool:
        return False

    def reasons(self, leaf: Any, slot: int) -> tuple[str, ...]:
        return ()

    def leaves(self: Any) -> tuple[Estimator, ...]:
        return (self,)


class Assembly:
    """The model in the making, as estimators see it while they grow."""

    def __init__(
        self,
        modules: SimpleNamespace,
        columns: Mapping[str, int],
        frontier: Any,
        links: Any,
        dice: Any,
        seed: int,
        nodes: int,
        budget: int | None,
        knows_truth: bool,
        oracle: Callable[[Any], Floats] | None,
    ) -> None:
        self.kernels = modules
        self.columns = columns
        self.frontier = frontier
        self.links = links
        self.dice = dice
        self.seed = seed
        self.nodes = nodes
        self.budget = budget
        self.knows_truth = knows_truth
        self.oracle = oracle
        self.signals: dict[str, Any] = {}

    def single(self, leaf: Any) -> Any:
        """A chooser that always lets this leaf pick."""
        return self.kernels.chooser.Single(leaf)

    def ranking(self, column: str) -> Any:
        """A leaf that ranks by one column as it is."""
        return self.kernels.rankings.Tournament(self.frontier, self.columns[column])

    def signal(self, column: str, make: Callable[[], Any]) -> Any:
        """The signal that keeps this column, made when it is first asked for."""
        if column not in self.signals:
            self.signals[column] = make()
        return self.signals[column]

    def feedback(self, owner: str) -> Any:
        """The signal that keeps one estimator's associated feedback."""
        names = associated(owner)
        return self.signal(
            names[0],
            lambda: self.kernels.significance.Feedback(
                self.frontier,
                self.links,
                self.signals["places"],
                [self.columns[name] for name in names],
                self.nodes,
            ),
        )

    def quickness(self) -> int:
        """The column of the hosts' quickness, or -1 where nodes have no hosts."""
        if not self.frontier.grouped:
            return -1
        column = self.columns["quick"]
        self.signal(
            "quick",
            lambda: self.kernels.significance.Quickness(self.frontier, self.links, column),
        )
        return column


def assemble(
    estimator: Estimator,
    strategy: Strategy = GREEDY,
    *,
    engine: str = "compiled",
    seed: int = 0,
    budget: int | None = None,
    nodes: int = 0,
    grouped: bool = False,
    links: tuple[Any, Any] | None = None,
    places: Callable[[], Any] | None = None,
    words: tuple[Any, Any] | None = None,
    truths: Floats | None = None,
    oracle: Callable[[Any], Floats] | None = None,
) -> Any:
    """Grow a model.

    `nodes` is how many nodes to make room for; `links` the target and score arrays of a recorded
    graph, `places` gives its `GraphPlaces` where they are wanted, and `words` where the words of
    each link start and all words, where there are any (they are kept if the estimator reads words);
    `truths` the true value of each node for an oracle, or `oracle` a function that gives them for
    node numbers, where they change as the crawl goes on.
    """
    if engine not in ("compiled", "python"):
        raise SpecError(f"unknown engine {engine!r} (compiled or python)")
    modules = kernels.load(engine)
    names = with_ingredients(estimator.features())
    columns = {name: number for number, name in enumerate(names)}
    frontier = modules.frontier.Frontier(len(names), nodes, grouped)
    target, alpha = links if links is not None else (None, None)
    # An explorer has no recorded graph, and cannot know yet whether its links will have words.
    wordy = estimator.reads_words() and (links is None or words is not None)
    second = any(name in columns for name in SECOND_LEVEL)
    link_words = modules.links.LinkWords(*words) if wordy and words is not None else None
    memory = modules.links.Links(
        nodes, estimator.remembers(), second, target, alpha, wordy, link_words
    )
    dice = modules.dice.Dice(seed)
    assembly = Assembly(
        modules, columns, frontier, memory, dice, seed, nodes, budget, truths is not None, oracle
    )
    neighbourhood = modules.neighbourhood.Neighbourhood(
        frontier, memory, columns, nodes, np.zeros(0) if truths is None else truths
    )
    if second:
        assembly.signal(
            "second", lambda: modules.neighbourhood.SecondLevel(frontier, memory, columns, nodes)
        )
    if placed(columns):
        recorded = places() if places is not None else None
        assembly.signal(
            "places",
            lambda: modules.significance.Places(frontier, memory, columns, nodes, recorded),
        )
    chooser = estimator.grow(assembly)
    return modules.model.Model(
        frontier,
        memory,
        dice,
        chooser,
        neighbourhood,
        list(assembly.signals.values()),
        strategy.certain,
        strategy.slack,
        assembly.signals.get("places"),
        assembly.signals.get("quick"),
    )
