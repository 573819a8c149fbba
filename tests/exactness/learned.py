"""The obvious references of estimators that learn: experts, and regressions over auto's parts."""

from __future__ import annotations

import math
from typing import Any

from exactness.reference import Dice, Leaf, LeastSquares, Seen, Yield, aggregate

Matrix = list[list[float]]
SIZE = range(6)


class Panel:
    def __init__(self, arms: list[Any], dice: Any) -> None:
        self.arms, self.dice = arms, dice
        self.positive: list[float] = []

    def leaves(self) -> list[Leaf]:
        return [leaf for arm in self.arms for leaf in arm.leaves()]

    def fraction(self, gain: float) -> float:
        if gain <= 0:
            return 0.0
        self.positive.append(gain)
        return gain / (gain + aggregate(self.positive, "avg"))

    def reward(self, leaf: Leaf, gain: float) -> None: ...

    def witness(self, *told: Any) -> None:
        for arm in self.arms:
            arm.witness(*told)


class Hedge(Panel):
    def __init__(self, arms: list[Any], dice: Any, seed: int, rate: float, share: float) -> None:
        super().__init__(arms, dice)
        self.own, self.rate, self.share = Dice(seed), rate, share
        self.weights = [1 / len(arms)] * len(arms)
        self.fractions: list[float] = []

    def choose(self, step: int) -> Leaf:
        rest = self.dice.uniform()
        for arm, weight in zip(self.arms[:-1], self.weights[:-1], strict=True):
            rest -= weight
            if rest < 0:
                return arm  # type: ignore[no-any-return]
        return self.arms[-1]  # type: ignore[no-any-return]

    def witness(self, seen: Seen, live: list[int], asked: dict[int, Any], gain: float) -> None:
        fraction = self.fraction(gain)
        usual = aggregate(self.fractions, "avg") if self.fractions else 0.5
        self.fractions.append(fraction)
        if not live:
            return
        drawn = [live[self.own.below(len(live))] for _ in range(min(16, len(live)))]
        places = []
        for arm in self.arms:
            value, sample = asked[id(arm)]
            if isinstance(arm, LeastSquares):
                value = arm.dot(arm.weights, sample)
            others = [arm.estimate(seen, v) for v in drawn]
            below = sum((other < value) + 0.5 * (other == value) for other in others)
            places.append(below / len(drawn))
        middle = aggregate(places, "avg")
        grown = [
            weight * math.exp(self.rate * (fraction - usual) * (place - middle))
            for weight, place in zip(self.weights, places, strict=True)
        ]
        total = aggregate(grown, "sum")
        self.weights = [
            (1 - self.share) * (weight / total) + self.share / len(grown) for weight in grown
        ]


class Thompson(Panel):
    def __init__(self, arms: list[Any], dice: Any, memory: float) -> None:
        super().__init__(arms, dice)
        self.memory = memory
        self.wins = [1.0] * len(arms)
        self.losses = [1.0] * len(arms)

    def choose(self, step: int) -> Leaf:
        draws = []
        for wins, losses in zip(self.wins, self.losses, strict=True):
            won = self.gamma(wins)
            draws.append(won / (won + self.gamma(losses)))
        chosen: Leaf = self.arms[draws.index(max(draws))].choose(step)
        return chosen

    def reward(self, leaf: Leaf, gain: float) -> None:
        for i, arm in enumerate(self.arms):
            if leaf in arm.leaves():
                fraction = self.fraction(gain)
                self.wins[i] += fraction
                self.losses[i] += 1 - fraction
                if self.wins[i] + self.losses[i] > self.memory:
                    self.wins[i] *= self.memory / (self.memory + 1)
                    self.losses[i] *= self.memory / (self.memory + 1)
                arm.reward(leaf, gain)

    def gamma(self, shape: float) -> float:
        if shape < 1:
            return self.gamma(shape + 1) * math.exp(math.log(1 - self.dice.uniform()) / shape)
        d = shape - 1 / 3
        while True:
            x = self.normal()
            v = 1 + 1 / math.sqrt(9 * d) * x
            if v > 0:
                v = v * v * v
                bound = 0.5 * x * x + d - d * v + d * math.log(v)
                if math.log(1 - self.dice.uniform()) < bound:
                    return d * v

    def normal(self) -> float:
        while True:
            x: float = 2 * self.dice.uniform() - 1
            y = 2 * self.dice.uniform() - 1
            r = x * x + y * y
            if 0 < r < 1:
                return x * math.sqrt(-2 * math.log(r) / r)


def cholesky(moments: Matrix, prior: float) -> Matrix:
    factor = [[0.0] * 6 for _ in SIZE]
    for i in SIZE:
        for j in range(i + 1):
            rest = moments[i][j] + (prior if i == j else 0.0)
            for k in range(j):
                rest -= factor[i][k] * factor[j][k]
            factor[i][j] = math.sqrt(rest) if i == j else rest / factor[j][j]
    return factor


def forward(factor: Matrix, right: list[float]) -> list[float]:
    solved: list[float] = []
    for i in SIZE:
        rest = right[i]
        for j in range(i):
            rest -= factor[i][j] * solved[j]
        solved.append(rest / factor[i][i])
    return solved


def backward(factor: Matrix, right: list[float]) -> list[float]:
    solved = [0.0] * 6
    for i in reversed(SIZE):
        rest = right[i]
        for j in range(i + 1, 6):
            rest -= factor[j][i] * solved[j]
        solved[i] = rest / factor[i][i]
    return solved


def dot(left: list[float], right: list[float]) -> float:
    return aggregate([a * b for a, b in zip(left, right, strict=True)], "sum")


AUTO = (0.07, 0.3, 0.1, 1.0, 1.0, 0.0, 0.0)


class Forecast(Yield):
    """Regressions over the parts, from all samples anew at every revision of the yields."""

    def __init__(self, kind: str, options: dict[str, float], seed: int) -> None:
        super().__init__(10.0, AUTO)
        self.kind = kind
        self.prior = options.get("prior", 30.0)
        self.forget = options.get("forget", 1.0)
        self.c = options.get("c", 0.5)
        self.spread = options.get("spread", 0.5)
        self.own = Dice(seed)
        self.samples: list[tuple[list[float], float]] = []
        self.start = [1.0, *AUTO[:4], 0.0]
        self.fitted = self.start
        self.drawn = self.start

    def take_apart(self, usual: Any, more: Any) -> list[float]:
        degree, alpha, foreseen = usual
        at, linked = self.levels_of(degree, alpha)
        share, words = more
        return [
            foreseen * (self.of_degree.ratio[at] * self.of_link.ratio[linked]) / self.unit,
            math.log1p(degree),
            math.log1p(alpha / self.promise),
            math.log1p(20.0 * share / self.scale),
            words / degree / self.unit,
            1.0,
        ]

    def sample(self, seen: Seen, node: int) -> Any:
        return super().sample(seen, node), tuple(self.sums[node][2:])

    def learn(self, sample: Any, gain: float) -> None:
        usual, more = sample
        self.samples.append((self.take_apart(usual, more), gain / self.unit))
        super().learn(usual, gain)

    def moments(self, samples: list[tuple[list[float], float, float]]) -> Any:
        """A and b over parts, values and weights."""
        a = [[0.0] * 6 for _ in SIZE]
        b = [0.0] * 6
        for x, y, weight in samples:
            for i in SIZE:
                for j in SIZE:
                    a[i][j] = self.forget * a[i][j] + weight * x[i] * x[j]
                b[i] = self.forget * b[i] + weight * x[i] * y
        return a, b

    def solve(self, samples: list[tuple[list[float], float, float]], start: list[float]) -> Any:
        a, b = self.moments(samples)
        factor = cholesky(a, self.prior)
        # The right side is eliminated in the same pass as it is set up.
        step: list[float] = []
        for i in SIZE:
            rest = b[i]
            for j in SIZE:
                rest -= a[i][j] * start[j]
            for j in range(i):
                rest -= factor[i][j] * step[j]
            step.append(rest / factor[i][i])
        return factor, [s + z for s, z in zip(start, backward(factor, step), strict=True)]

    def revise(self, seen: Seen) -> None:
        super().revise(seen)
        if self.kind == "hurdle":
            positive = [(x, y, 1.0) for x, y in self.samples if y > 0]
            _, self.sizes = self.solve(positive, [0.0] * 5 + [1.0])
            first = [4.0, *(4.0 * weight for weight in AUTO[:4]), -2.0]
            self.chances = first
            for _ in range(4):
                told = []
                for x, y in self.samples:
                    chance = self.likely(x)
                    weight = max(chance * (1 - chance), 0.01)
                    logit = dot(self.chances, x) + ((y > 0) - chance) / weight
                    told.append((x, logit, weight))
                _, self.chances = self.solve(told, first)
            return
        self.factor, self.fitted = self.solve([(x, y, 1.0) for x, y in self.samples], self.start)
        self.drawn = self.fitted
        if self.kind == "posterior":
            noise = []
            for _ in SIZE:
                total = -6.0
                for _ in range(12):
                    total += self.own.uniform()
                noise.append(total)
            self.drawn = [
                w + self.spread * z
                for w, z in zip(self.fitted, backward(self.factor, noise), strict=True)
            ]

    def likely(self, parts: list[float]) -> float:
        return 1.0 / (1.0 + math.exp(-dot(self.chances, parts)))

    def estimate(self, seen: Seen, node: int) -> float:
        usual, more = self.sample(seen, node)
        parts = self.take_apart(usual, more)
        if self.kind == "hurdle":
            return self.unit * (self.likely(parts) * max(0.0, dot(self.sizes, parts)))
        value = dot(self.drawn, parts)
        if self.kind == "ucb":
            solved = forward(self.factor, parts)
            value += self.c * math.sqrt(aggregate([z * z for z in solved], "sum"))
        return self.unit * value
