"""The kernels that models are built of, by name, with the types that cross.

The kernels are compiled from files that a type checker does not see through; this is what it sees
of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Protocol, TypeAlias, cast

from sonde import kernels
from sonde import protocols as p
from sonde.errors import SpecError

Columns: TypeAlias = Mapping[str, int]
Weights: TypeAlias = Sequence[float]
Choosers: TypeAlias = list[p.Chooser]
Replayed: TypeAlias = tuple[p.Numbers, p.Floats, p.Floats, p.Floats]


class RecordedPlaces(Protocol):
    """The keys of a recorded graph's nodes, and the URL measures of its links."""

    @property
    def domain(self) -> p.Numbers: ...
    @property
    def basename(self) -> p.Numbers: ...
    @property
    def domains(self) -> int: ...
    @property
    def basenames(self) -> int: ...
    @property
    def rfu(self) -> p.Floats: ...
    @property
    def bfu(self) -> p.Floats: ...
    @property
    def repeats(self) -> p.Floats: ...


class ModelKernels(Protocol):
    """The kernels of one engine: what makes each of them."""

    Dice: Callable[[int], p.Dice]
    Register: Callable[[], p.Register]
    Frontier: Callable[[int, int, bool], p.Frontier]
    LinkWords: Callable[[p.Numbers, p.Numbers], object]
    Links: Callable[
        [int, bool, bool, p.Numbers | None, p.Floats | None, bool, object | None], p.Links
    ]
    Model: Callable[
        [
            p.Frontier,
            p.Links,
            p.Dice,
            p.Chooser,
            p.Neighbourhood,
            list[p.Signal],
            float,
            float,
            p.Places | None,
            p.Quickness | None,
        ],
        p.Model,
    ]

    # Signals.
    Neighbourhood: Callable[[p.Frontier, p.Links, Columns, int, p.Floats], p.Neighbourhood]
    SecondLevel: Callable[[p.Frontier, p.Links, Columns, int], p.Signal]
    Places: Callable[[p.Frontier, p.Links, Columns, int, RecordedPlaces | None], p.Places]
    Quickness: Callable[[p.Frontier, p.Links, int], p.Quickness]
    Feedback: Callable[[p.Frontier, p.Links, p.Places, Sequence[int], int], p.Feedback]
    Cash: Callable[[p.Frontier, p.Links, int, int, int, bool, bool], p.Signal]
    Navigation: Callable[[p.Frontier, p.Links, int, int, float, float], p.Signal]
    ExactNavigation: Callable[[p.Frontier, p.Links, int, int, float], p.Signal]
    Yields: Callable[[p.Frontier, p.Links, Columns, str, int, float, Weights, int], p.Yields]
    Forecast: Callable[[p.Frontier, p.Links, p.Yields, int, Weights, float, float], p.Forecast]
    Hurdle: Callable[
        [p.Frontier, p.Links, p.Yields, int, Weights, float, float, tuple[float, float]],
        p.Forecast,
    ]

    # Leaves.
    Tournament: Callable[[p.Frontier, int], p.Leaf]
    Chance: Callable[[p.Frontier, p.Dice], p.Leaf]
    Wealth: Callable[[p.Signal], p.Leaf]
    Expectation: Callable[[p.Yields, int], p.Expectation]
    Foresight: Callable[[p.Forecast], p.Leaf]
    Regression: Callable[[p.Frontier, Sequence[int]], p.Leaf]
    Relevance: Callable[
        [p.Frontier, Sequence[int], Weights | None, p.Feedback | None, int, float], p.Leaf
    ]
    Custom: Callable[
        [p.Frontier, Callable[[p.Numbers], p.Floats], Callable[[p.Floats, float], None]], p.Leaf
    ]

    # Choosers.
    Single: Callable[[p.Leaf], p.Chooser]
    Hybrid: Callable[[p.Chooser, p.Chooser, int], p.Chooser]
    Bandit: Callable[[Choosers, p.Dice, float, int, bool, int], p.Chooser]
    Thompson: Callable[[Choosers, p.Dice, int, float], p.Chooser]
    Hedge: Callable[[Choosers, p.Dice, int, p.Frontier, int, float, float], p.Chooser]
    opinionated: Callable[[p.Leaf], bool]

    # A whole crawl of a recorded graph.
    Value: Callable[[int, p.Floats, p.Numbers, p.Numbers], object]
    replay: Callable[[p.Model, object, p.Numbers, list[int], int, int, int], Replayed]
    begin: Callable[[p.Model, p.Floats, p.Numbers, list[int]], None]
    follow: Callable[[p.Model, p.Floats, p.Floats, p.Numbers, p.Numbers], p.Numbers]


def compiled() -> bool:
    """Whether the kernels were compiled when this package was installed."""
    return kernels.compiled()


@cache
def load_kernels(engine: str) -> ModelKernels:
    """The kernels of the model: ``compiled``, or ``python`` for the uncompiled ones."""
    if engine not in ("compiled", "python"):
        raise SpecError(f"unknown engine {engine!r} (compiled or python)")
    found: dict[str, object] = {}
    modules = kernels.load(engine)
    for module in (getattr(modules, name) for name in kernels.names("model")):
        found |= {name: thing for name, thing in vars(module).items() if callable(thing)}
    return cast("ModelKernels", SimpleNamespace(**found))
