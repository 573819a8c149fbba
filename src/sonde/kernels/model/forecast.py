"""Forecasts: regressions over the parts of an estimate by yields, from its weights as the prior.

The parts of a row are what ``Yields`` adds up: the expectation, the logarithms of the number of
links, of their scores and of the share, what words stand for, and a 1; all in units of a positive
gain. With the weights w0 of `prior` they give that estimate. A regression moves them as gains come:

    w = w0 + (A + p I)^-1 (b - A w0)        A = sum of x x', b = sum of x y

over the parts x that picked nodes had when they were asked and their gains y, older ones weighed
down by `forget` a step, and p imaginary samples that agree with w0. ``Forecast`` ranks by w x;
with `optimism` c by w x + c sqrt(x' (A + p I)^-1 x), linear UCB; with `spread` s by weights that
are drawn from the normal distribution around w, s times as wide as (A + p I)^-1 says: Thompson
sampling. ``Hurdle`` ranks by the chance of a positive gain, a logistic regression from `chance` w0
as its prior, times its expected size, a regression over positive gains towards the usual size.

Weights are worked out anew at every revision of the yields, and all rows with them; in between the
rows that change are weighed by the weights as they are.
"""

import cython
import numpy as np
from cython.cimports.libc.math import exp, log1p, sqrt
from cython.cimports.sonde.kernels.model.dice import Dice
from cython.cimports.sonde.kernels.model.neighbourhood import Signal
from cython.cimports.sonde.kernels.model.rankings import Tournament

if cython.compiled:
    from cython.cimports.libc.math import INFINITY
else:
    from math import inf as INFINITY

TERMS = 6
FAIR_SHARE = 20.0
TINY = 1e-12
ROUNDS = 4  # of Newton's method, from the prior


class Forecast(Signal):
    LEARNED = ("due", "weights", "drawn", "moments", "target", "factor")
    PARTS = ("dice",)

    def __init__(self, frontier, links, yields, column, weights, prior, forget):
        Signal.__init__(self, frontier, links)
        self.yields = yields
        self.column = column
        self.prior = prior
        self.forget = forget
        self.optimism = self.spread = 0.0
        self.dice = Dice(0)
        self.start = np.array([1.0, *weights, 0.0])
        self.weights = np.array(self.start)
        self.drawn = np.array(self.start)
        self.parts = np.ones(TERMS)
        self.moments = np.zeros((TERMS, TERMS))
        self.target = np.zeros(TERMS)
        self.factor = np.eye(TERMS) * sqrt(prior)
        self.due = 0
        self.told = False
        self.rankings = []

    def learn(self, snapshot, gain):
        """A picked node that had these features has brought this gain."""
        if self.told or snapshot[self.yields.weight] == 0.0:
            return
        self.told = True
        self.take_apart(snapshot)
        self.sample(gain / self.yields.unit)

    def sample(self, gain):
        """A gain, in units, of a node with the current parts."""
        self.note(self.moments, self.target, 1.0, gain)

    def note(self, moments, target, weight, value):
        i: cython.int
        j: cython.int
        for i in range(TERMS):
            for j in range(TERMS):
                moments[i, j] = self.forget * moments[i, j] + weight * self.parts[i] * self.parts[j]
            target[i] = self.forget * target[i] + weight * self.parts[i] * value

    def take_apart(self, row):
        """The parts of a row of features."""
        yields = self.yields
        degree: cython.int = yields.of_degree.level(row[yields.deg])
        link: cython.int = yields.link_level(row[yields.e_sum])
        self.parts[0] = (
            row[yields.worth]
            / row[yields.weight]
            * (yields.of_degree.ratio[degree] * yields.of_link.ratio[link])
            / yields.unit
        )
        self.parts[1] = log1p(row[yields.deg])
        self.parts[2] = log1p(row[yields.e_sum] / yields.promise)
        self.parts[3] = log1p(FAIR_SHARE * row[yields.share] / yields.scale)
        self.parts[4] = row[yields.words] / row[yields.deg] / yields.unit

    def visited(self, node, score, start, end):
        table = self.frontier
        i: cython.longlong
        slot: cython.int
        block: cython.int
        ranking: Tournament
        self.told = False
        if self.due == self.yields.due:
            for i in range(table.changes):
                self.weigh(table.changed[i])
            return
        self.due = self.yields.due
        self.fit()
        for block in range(table.blocks):
            for slot in range(
                table.block_first[block], table.block_first[block] + table.block_rows[block]
            ):
                self.weigh(slot)
        for ranking in self.rankings:
            if ranking.active:
                ranking.activate()

    def weigh(self, slot):
        table = self.frontier
        if table.features[slot, self.yields.weight] > 0.0:  # not a seed that nothing links to
            self.take_apart(table.features[slot])
            table.features[slot, self.column] = self.yields.unit * self.judge()

    def judge(self):
        """What the current parts are worth, in units."""
        total: cython.double = self.weigh_parts(self.drawn)
        if self.optimism > 0.0:
            total += self.optimism * self.doubt()
        return total

    def weigh_parts(self, weights):
        total: cython.double = 0.0
        i: cython.int
        for i in range(TERMS):
            total += weights[i] * self.parts[i]
        return total

    def doubt(self):
        """sqrt(x' (A + p I)^-1 x) of the current parts: the length of what solves L z = x."""
        solved: cython.double[6]
        total: cython.double = 0.0
        rest: cython.double
        i: cython.int
        j: cython.int
        if not cython.compiled:
            solved = [0.0] * TERMS
        for i in range(TERMS):
            rest = self.parts[i]
            for j in range(i):
                rest -= self.factor[i, j] * solved[j]
            solved[i] = rest / self.factor[i, i]
            total += solved[i] * solved[i]
        return sqrt(total)

    # -- weights -------------------------------------------------------------------------------

    def fit(self):
        self.solve(self.moments, self.target, self.start, self.weights)
        i: cython.int
        for i in range(TERMS):
            self.drawn[i] = self.weights[i]
        if self.spread > 0.0:
            self.draw()

    def solve(self, moments, target, start, out):
        """out = start + (A + p I)^-1 (b - A start), by Cholesky's L L' = A + p I."""
        step: cython.double[::1] = np.zeros(TERMS)
        total: cython.double
        i: cython.int
        j: cython.int
        k: cython.int
        for i in range(TERMS):
            for j in range(i + 1):
                total = moments[i, j] + (self.prior if i == j else 0.0)
                for k in range(j):
                    total -= self.factor[i, k] * self.factor[j, k]
                # Rounding may leave less than nothing where the prior is next to nothing.
                self.factor[i, j] = sqrt(max(total, TINY)) if i == j else total / self.factor[j, j]
        for i in range(TERMS):
            total = target[i]
            for j in range(TERMS):
                total -= moments[i, j] * start[j]
            for j in range(i):
                total -= self.factor[i, j] * step[j]
            step[i] = total / self.factor[i, i]
        self.back(step)
        for i in range(TERMS):
            out[i] = start[i] + step[i]

    def back(self, step):
        """Solve L' z = step in its place."""
        total: cython.double
        i: cython.int
        j: cython.int
        for i in range(TERMS - 1, -1, -1):
            total = step[i]
            for j in range(i + 1, TERMS):
                total -= self.factor[j, i] * step[j]
            step[i] = total / self.factor[i, i]

    def draw(self):
        """Weights from the normal distribution around those of the regression: each noise is the
        sum of twelve draws less six, which is near enough to normal."""
        noise: cython.double[::1] = np.zeros(TERMS)
        i: cython.int
        for i in range(TERMS):
            noise[i] = -6.0
            for _ in range(12):
                noise[i] += self.dice.uniform()
        self.back(noise)
        for i in range(TERMS):
            self.drawn[i] = self.weights[i] + self.spread * noise[i]


class Hurdle(Forecast):
    LEARNED = tuple("due factor size_moments size_target sizes chances seen scored count".split())

    def __init__(self, frontier, links, yields, column, weights, prior, forget, chance):
        Forecast.__init__(self, frontier, links, yields, column, weights, prior, forget)
        self.size_moments = np.zeros((TERMS, TERMS))
        self.size_target = np.zeros(TERMS)
        self.usual = np.array([0.0] * (TERMS - 1) + [1.0])
        self.sizes = np.array(self.usual)
        self.first = np.array([chance[0], *(chance[0] * weight for weight in weights), chance[1]])
        self.chances = np.array(self.first)
        self.seen = np.zeros((64, TERMS))
        self.scored = np.zeros(64, dtype=np.int8)
        self.count = 0

    def sample(self, gain):
        i: cython.int
        if self.count == self.scored.shape[0]:
            self.seen = np.concatenate([self.seen, np.zeros((self.count, TERMS))])
            self.scored = np.concatenate([self.scored, np.zeros(self.count, dtype=np.int8)])
        for i in range(TERMS):
            self.seen[self.count, i] = self.parts[i]
        self.scored[self.count] = 1 if gain > 0.0 else 0
        self.count += 1
        if gain > 0.0:
            self.note(self.size_moments, self.size_target, 1.0, gain)

    def chance(self):
        return 1.0 / (1.0 + exp(-self.weigh_parts(self.chances)))

    def judge(self):
        return self.chance() * max(0.0, self.weigh_parts(self.sizes))

    def fit(self):
        moments: cython.double[:, ::1]
        target: cython.double[::1]
        chance: cython.double
        weight: cython.double
        i: cython.int
        j: cython.longlong
        self.solve(self.size_moments, self.size_target, self.usual, self.sizes)
        for i in range(TERMS):
            self.chances[i] = self.first[i]
        for _ in range(ROUNDS):
            moments = np.zeros((TERMS, TERMS))
            target = np.zeros(TERMS)
            for j in range(self.count):
                for i in range(TERMS):
                    self.parts[i] = self.seen[j, i]
                chance = self.chance()
                weight = max(chance * (1.0 - chance), 0.01)
                self.note(
                    moments,
                    target,
                    weight,
                    self.weigh_parts(self.chances) + (self.scored[j] - chance) / weight,
                )
            self.solve(moments, target, self.first, self.chances)


class Foresight(Tournament):
    """A ranking by a forecast, which hears of each gain before its visit is told."""

    LEARNED = ("active",)

    def __init__(self, forecast):
        Tournament.__init__(self, forecast.frontier, forecast.column)
        self.lowest = -INFINITY
        self.forecast = forecast
        forecast.rankings.append(self)

    def learn(self, snapshot, gain):
        self.forecast.learn(snapshot, gain)
        self.forecast.yields.expect(snapshot, gain)
