"""Estimators made of estimators: hybrids and bandits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sonde.errors import SpecError
from sonde.estimators.assembly import Assembly, Estimator


def _features(parts: Iterable[Estimator]) -> tuple[str, ...]:
    return tuple(name for part in parts for name in part.features())


def _check(parts: Iterable[Estimator]) -> None:
    for part in parts:
        if not hasattr(part, "grow"):
            raise SpecError(f"{part!r} is not an estimator: estimator_from reads its text")


@dataclass(frozen=True)
class Hybrid:
    """The first estimator for so many steps, then the second, which has learned from step 0."""

    first: Estimator
    second: Estimator
    steps: int

    def __post_init__(self) -> None:
        _check((self.first, self.second))
        if self.steps < 0:
            raise SpecError(f"estimator '{self}': the number of steps must be 0 or more")

    def __str__(self) -> str:
        return f"hybrid[{self.first},{self.second},{self.steps}]"

    def features(self) -> tuple[str, ...]:
        return _features((self.first, self.second))

    def remembers(self) -> bool:
        return self.first.remembers() or self.second.remembers()

    def reads_words(self) -> bool:
        return self.first.reads_words() or self.second.reads_words()

    def reasons(self, leaf: Any, slot: int) -> tuple[str, ...]:
        return ()  # those of the leaves count

    def leaves(self) -> tuple[Estimator, ...]:
        return self.first.leaves() + self.second.leaves()

    def grow(self, assembly: Assembly) -> Any:
        return assembly.kernels.chooser.Hybrid(
            self.first.grow(assembly), self.second.grow(assembly), self.steps
        )


class Arms:
    """What all estimators answer that choose between others."""

    arms: tuple[Estimator, ...]

    def _check_arms(self) -> None:
        _check(self.arms)
        if not self.arms:
            raise SpecError(f"estimator '{self}': at least one arm is needed")

    def features(self) -> tuple[str, ...]:
        return _features(self.arms)

    def remembers(self) -> bool:
        return any(arm.remembers() for arm in self.arms)

    def reads_words(self) -> bool:
        return any(arm.reads_words() for arm in self.arms)

    def reasons(self, leaf: Any, slot: int) -> tuple[str, ...]:
        return ()  # those of the leaves count

    def leaves(self) -> tuple[Estimator, ...]:
        return tuple(leaf for arm in self.arms for leaf in arm.leaves())

    def _listed(self) -> str:
        return ",".join(map(str, self.arms))


@dataclass(frozen=True)
class _Bandit(Arms):
    """Each arm is pulled once first; ties go to the first listed; every arm learns from every
    visit; the reward is the gain of the node that the arm picked."""

    epsilon: float
    arms: tuple[Estimator, ...]

    def __post_init__(self) -> None:
        if not 0 < self.epsilon <= 1:
            raise SpecError(f"estimator '{self}': epsilon must be above 0 and at most 1")
        self._check_arms()

    def _grown(self, assembly: Assembly, exploring: int, renewed: bool) -> Any:
        arms = [arm.grow(assembly) for arm in self.arms]
        return assembly.kernels.chooser.Bandit(
            arms,
            assembly.dice,
            self.epsilon,
            exploring,
            renewed,
            len(assembly.frontier.leaves),
        )


@dataclass(frozen=True)
class EpsilonGreedy(_Bandit):
    """The arm with the best average, or with probability epsilon a random one."""

    def __str__(self) -> str:
        return f"mab:eps={self.epsilon:g}[{self._listed()}]"

    def grow(self, assembly: Assembly) -> Any:
        return self._grown(assembly, -1, False)


@dataclass(frozen=True)
class EpsilonFirst(_Bandit):
    """A random arm for the first floor(epsilon N) steps of a budget of N, then the best."""

    def __str__(self) -> str:
        return f"mab:eps-first={self.epsilon:g}[{self._listed()}]"

    def grow(self, assembly: Assembly) -> Any:
        if assembly.budget is None:
            raise SpecError(f"estimator '{self}' needs a budget of requests")
        return self._grown(assembly, math.floor(self.epsilon * assembly.budget), False)


@dataclass(frozen=True)
class VariableEpsilonFirst(_Bandit):
    """A succession of epsilon-first runs, each starting afresh.

    A run is first as short as its exploration allows, ceil(arms / epsilon) steps. Its length
    doubles when the arm that led it also led the run before, and halves when it did not: a stable
    context should not pay for exploring again, a changing one should not be held to old averages.
    """

    def __str__(self) -> str:
        parameter = f":eps={self.epsilon:g}" if self.epsilon != 0.1 else ""
        return f"mab:var{parameter}[{self._listed()}]"

    def grow(self, assembly: Assembly) -> Any:
        return self._grown(assembly, -1, True)
