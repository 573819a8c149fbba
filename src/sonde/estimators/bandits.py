"""Estimators made of estimators: hybrids, bandits, and experts that are weighed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from sonde.errors import SpecError
from sonde.estimators.builder import Estimator, ModelBuilder
from sonde.protocols import Chooser, Leaf

_LEAST_EPSILON = 1e-9  # the periods that it stands for are whole numbers


def _features(parts: Iterable[Estimator]) -> tuple[str, ...]:
    return tuple(name for part in parts for name in part.features())


def _check(parts: Iterable[Estimator]) -> None:
    for part in parts:
        if not hasattr(part, "build"):
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

    def reasons(self, leaf: Leaf, slot: int) -> tuple[str, ...]:
        return ()  # those of the leaves count

    def leaves(self) -> tuple[Estimator, ...]:
        return self.first.leaves() + self.second.leaves()

    def build(self, builder: ModelBuilder) -> Chooser:
        return builder.kernels.Hybrid(
            self.first.build(builder), self.second.build(builder), self.steps
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

    def reasons(self, leaf: Leaf, slot: int) -> tuple[str, ...]:
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
        if not _LEAST_EPSILON <= self.epsilon <= 1:
            raise SpecError(f"estimator '{self}': epsilon must be above 0 and at most 1")
        self._check_arms()

    def _bandit(self, builder: ModelBuilder, exploring: int, renewed: bool) -> Chooser:
        arms = [arm.build(builder) for arm in self.arms]
        return builder.kernels.Bandit(
            arms,
            builder.dice,
            self.epsilon,
            exploring,
            renewed,
            len(builder.frontier.leaves),
        )


@dataclass(frozen=True)
class EpsilonGreedy(_Bandit):
    """The arm with the best average, or with probability epsilon a random one."""

    def __str__(self) -> str:
        return f"mab:eps={self.epsilon:g}[{self._listed()}]"

    def build(self, builder: ModelBuilder) -> Chooser:
        return self._bandit(builder, -1, False)


@dataclass(frozen=True)
class EpsilonFirst(_Bandit):
    """A random arm for the first floor(epsilon N) steps of a budget of N, then the best."""

    def __str__(self) -> str:
        return f"mab:eps-first={self.epsilon:g}[{self._listed()}]"

    def build(self, builder: ModelBuilder) -> Chooser:
        if builder.budget is None:
            raise SpecError(f"estimator '{self}' needs a budget of requests")
        return self._bandit(builder, math.floor(self.epsilon * builder.budget), False)


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

    def build(self, builder: ModelBuilder) -> Chooser:
        return self._bandit(builder, -1, True)


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

    def build(self, builder: ModelBuilder) -> Chooser:
        arms = [arm.build(builder) for arm in self.arms]
        for arm, grown in zip(self.arms, arms, strict=True):
            if len(grown.leaves()) != 1 or not builder.kernels.opinionated(grown.leaves()[0]):
                raise SpecError(
                    f"estimator '{self}': {arm} has no opinion of single nodes (hedge takes "
                    f"estimators that rank by features)"
                )
        return builder.kernels.Hedge(
            arms,
            builder.dice,
            len(builder.frontier.leaves),
            builder.frontier,
            builder.seed,
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

    def build(self, builder: ModelBuilder) -> Chooser:
        memory = self.memory
        if memory is None:
            memory = 100.0 if builder.budget is None else max(20.0, builder.budget / 10)
        arms = [arm.build(builder) for arm in self.arms]
        return builder.kernels.Thompson(arms, builder.dice, len(builder.frontier.leaves), memory)
