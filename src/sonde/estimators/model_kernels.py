"""The kernels that models are built of, by name: their constructors, with the types that cross.

The kernels themselves are compiled from files that a type checker does not see through; this is
what it sees of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Protocol, cast

from sonde import kernels
from sonde import protocols as p
from sonde.errors import SpecError


class ModelKernels(Protocol):
    """The kernels of one engine."""

    def Dice(self, seed: int) -> p.Dice: ...
    def Register(self) -> p.Register: ...
    def Frontier(self, width: int, nodes: int, grouped: bool) -> p.Frontier: ...
    def LinkWords(self, first: p.Numbers, words: p.Numbers) -> object: ...
    def Links(
        self,
        nodes: int,
        remember: bool,
        keep_scores: bool,
        target: p.Numbers | None,
        alpha: p.Floats | None,
        wordy: bool,
        link_words: object | None,
    ) -> p.Links: ...
    def Model(
        self,
        frontier: p.Frontier,
        links: p.Links,
        dice: p.Dice,
        chooser: p.Chooser,
        neighbourhood: p.Neighbourhood,
        signals: list[p.Signal],
        certain: float,
        slack: float,
        places: p.Places | None,
        quickness: p.Quickness | None,
    ) -> p.Model: ...

    # -- signals -------------------------------------------------------------------------------

    def Neighbourhood(
        self,
        frontier: p.Frontier,
        links: p.Links,
        columns: Mapping[str, int],
        nodes: int,
        truths: p.Floats,
    ) -> p.Neighbourhood: ...
    def SecondLevel(
        self, frontier: p.Frontier, links: p.Links, columns: Mapping[str, int], nodes: int
    ) -> p.Signal: ...
    def Places(
        self,
        frontier: p.Frontier,
        links: p.Links,
        columns: Mapping[str, int],
        nodes: int,
        recorded: p.RecordedPlaces | None,
    ) -> p.Places: ...
    def Quickness(self, frontier: p.Frontier, links: p.Links, column: int) -> p.Quickness: ...
    def Feedback(
        self,
        frontier: p.Frontier,
        links: p.Links,
        places: p.Places,
        columns: Sequence[int],
        nodes: int,
    ) -> p.Feedback: ...
    def Cash(
        self,
        frontier: p.Frontier,
        links: p.Links,
        column: int,
        n_sum: int,
        nodes: int,
        by_link: bool,
        by_score: bool,
    ) -> p.Signal: ...
    def Navigation(
        self,
        frontier: p.Frontier,
        links: p.Links,
        column: int,
        nodes: int,
        keep: float,
        precision: float,
    ) -> p.Signal: ...
    def ExactNavigation(
        self, frontier: p.Frontier, links: p.Links, column: int, nodes: int, keep: float
    ) -> p.Signal: ...
    def Yields(
        self,
        frontier: p.Frontier,
        links: p.Links,
        columns: Mapping[str, int],
        name: str,
        nodes: int,
        patience: float,
        weights: Sequence[float],
        budget: int,
    ) -> p.Yields: ...
    def Forecast(
        self,
        frontier: p.Frontier,
        links: p.Links,
        yields: p.Yields,
        column: int,
        weights: Sequence[float],
        prior: float,
        forget: float,
    ) -> p.Forecast: ...
    def Hurdle(
        self,
        frontier: p.Frontier,
        links: p.Links,
        yields: p.Yields,
        column: int,
        weights: Sequence[float],
        prior: float,
        forget: float,
        chance: tuple[float, float],
    ) -> p.Forecast: ...

    # -- leaves --------------------------------------------------------------------------------

    def Tournament(self, frontier: p.Frontier, column: int) -> p.Leaf: ...
    def Chance(self, frontier: p.Frontier, dice: p.Dice) -> p.Leaf: ...
    def Wealth(self, cash: p.Signal) -> p.Leaf: ...
    def Expectation(self, yields: p.Yields, column: int) -> p.Expectation: ...
    def Foresight(self, forecast: p.Forecast) -> p.Leaf: ...
    def Regression(self, frontier: p.Frontier, columns: Sequence[int]) -> p.Leaf: ...
    def Relevance(
        self,
        frontier: p.Frontier,
        columns: Sequence[int],
        given: Sequence[float] | None,
        feedback: p.Feedback | None,
        quick: int,
        share: float,
    ) -> p.Leaf: ...
    def Custom(
        self,
        frontier: p.Frontier,
        predict: Callable[[p.Numbers], p.Floats],
        learn: Callable[[p.Floats, float], None],
    ) -> p.Leaf: ...

    # -- choosers ------------------------------------------------------------------------------

    def Single(self, leaf: p.Leaf) -> p.Chooser: ...
    def Hybrid(self, first: p.Chooser, second: p.Chooser, steps: int) -> p.Chooser: ...
    def Bandit(
        self,
        arms: list[p.Chooser],
        dice: p.Dice,
        epsilon: float,
        exploring: int,
        renewed: bool,
        leaf_count: int,
    ) -> p.Chooser: ...
    def Thompson(
        self, arms: list[p.Chooser], dice: p.Dice, leaf_count: int, capacity: float
    ) -> p.Chooser: ...
    def Hedge(
        self,
        arms: list[p.Chooser],
        dice: p.Dice,
        leaf_count: int,
        frontier: p.Frontier,
        seed: int,
        rate: float,
        share: float,
    ) -> p.Chooser: ...
    def opinionated(self, leaf: p.Leaf) -> bool: ...

    # -- a whole crawl of a recorded graph -----------------------------------------------------

    def Value(
        self, kind: int, scores: p.Floats, record_first: p.Numbers, records: p.Numbers
    ) -> object: ...
    def replay(
        self,
        model: p.Model,
        value: object,
        indptr: p.Numbers,
        seeds: list[int],
        budget: int,
        refresh: int,
        scoring: int = -1,
    ) -> tuple[p.Numbers, p.Floats, p.Floats, p.Floats]: ...
    def begin(
        self, model: p.Model, scores: p.Floats, indptr: p.Numbers, seeds: list[int]
    ) -> None: ...
    def follow(
        self,
        model: p.Model,
        scores: p.Floats,
        values: p.Floats,
        indptr: p.Numbers,
        sequence: p.Numbers,
    ) -> p.Numbers: ...


def compiled() -> bool:
    """Whether the kernels were compiled when this package was installed."""
    return kernels.compiled()


@cache
def load_kernels(engine: str) -> ModelKernels:
    """The kernels of the model: ``compiled``, or ``python`` for the uncompiled ones."""
    if engine not in ("compiled", "python"):
        raise SpecError(f"unknown engine {engine!r} (compiled or python)")
    found: dict[str, object] = {}
    for module in vars(kernels.load(engine)).values():
        if module.__name__.startswith("sonde.kernels.model."):
            found |= {name: thing for name, thing in vars(module).items() if callable(thing)}
    return cast(ModelKernels, SimpleNamespace(**found))
