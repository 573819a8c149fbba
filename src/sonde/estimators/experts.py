"""Estimators that choose between others by what is known of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sonde.errors import SpecError
from sonde.estimators.assembly import Assembly, Estimator
from sonde.estimators.combined import Arms


@dataclass(frozen=True)
class Hedge(Arms):
    """An expert drawn by weight; weights follow how high each expert had placed what was visited.

    Every visit teaches of every expert: one that put a good node higher on the frontier than the
    others did, or a bad one lower, gains. All give `share` of their weight to all.
    """

    arms: tuple[Estimator, ...]
    rate: float = 1.0
    share: float = 0.01

    def __post_init__(self) -> None:
        self._check_arms()
        if not 0 < self.rate < float("inf"):
            raise SpecError(f"estimator '{self}': the rate must be a number above 0")
        if not 0 <= self.share <= 1:
            raise SpecError(f"estimator '{self}': the share must be from 0 to 1")

    def __str__(self) -> str:
        options = f":rate={self.rate:g}" if self.rate != 1.0 else ""
        options += f":share={self.share:g}" if self.share != 0.01 else ""
        return f"hedge{options}[{self._listed()}]"

    def grow(self, assembly: Assembly) -> Any:
        modules = assembly.kernels.experts
        arms = [arm.grow(assembly) for arm in self.arms]
        for arm, grown in zip(self.arms, arms, strict=True):
            if len(grown.leaves()) != 1 or not modules.opinionated(grown.leaves()[0]):
                raise SpecError(
                    f"estimator '{self}': {arm} has no opinion of single nodes (hedge takes "
                    f"estimators that rank by features)"
                )
        return modules.Hedge(
            arms,
            assembly.dice,
            len(assembly.frontier.leaves),
            assembly.frontier,
            assembly.seed,
            self.rate,
            self.share,
        )


@dataclass(frozen=True)
class DynamicThompson(Arms):
    """The arm with the highest draw from what its picks brought; old picks are forgotten.

    `memory` is how many picks an arm remembers; without it a tenth of the budget, 100 where there
    is none, and 20 at the least.
    """

    arms: tuple[Estimator, ...]
    memory: float | None = None

    def __post_init__(self) -> None:
        self._check_arms()
        if self.memory is not None and not 2 < self.memory < float("inf"):
            raise SpecError(f"estimator '{self}': the memory must be a number above 2")

    def __str__(self) -> str:
        option = f"={self.memory:g}" if self.memory is not None else ""
        return f"mab:thompson{option}[{self._listed()}]"

    def grow(self, assembly: Assembly) -> Any:
        memory = self.memory
        if memory is None:
            memory = 100.0 if assembly.budget is None else max(20.0, assembly.budget / 10)
        arms = [arm.grow(assembly) for arm in self.arms]
        return assembly.kernels.experts.Thompson(
            arms, assembly.dice, len(assembly.frontier.leaves), memory
        )
