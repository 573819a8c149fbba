"""Experts: choosers over estimators that learn more than an average for each arm.

``Hedge`` uses full information. Of a node that was visited every expert's opinion is known:
its estimate of the node, as it was when the node was asked, stands somewhere among its estimates of
the frontier. That place, a *percentile*, is found against ``DRAWN`` rows of the frontier. An expert
gains weight when it placed a good node higher than the other experts did, or a bad one lower, by

    w *= exp(rate (r - mean of r) (percentile - mean percentile of the experts))

where r = gain / (gain + mean positive gain) is between 0 and 1. Then every expert gives `share` of
its weight to all alike, so that none is lost for good. The expert that picks is drawn by weight.

``Thompson`` is dynamic Thompson sampling: an arm has wins and losses, a fraction r of one each
time; the arm with the highest draw from its Beta distribution is pulled. From `capacity` pulls on,
old ones are forgotten as new ones come.

Rows are drawn by dice of their own, which are thrown when visits are told, not when nodes are
picked: so that a log that is told again gives the same weights.
"""

import cython
import numpy as np
from cython.cimports.libc.math import exp, log, sqrt
from cython.cimports.sonde.kernels.model.chooser import Armed, Chooser
from cython.cimports.sonde.kernels.model.dice import Dice
from cython.cimports.sonde.kernels.model.frontier import Leaf
from cython.cimports.sonde.kernels.model.linear import Linear
from cython.cimports.sonde.kernels.model.rankings import Tournament

DRAWN = 16


def opinionated(leaf):
    """Whether a leaf's estimate can be worked out from a snapshot of features."""
    return isinstance(leaf, (Tournament, Linear))


class Panel(Armed):
    """Arms, and what a usual gain is."""

    def __init__(self, arms, dice, leaf_count):
        Armed.__init__(self, arms, dice, leaf_count)
        self.positive = self.positives = 0.0

    def fraction(self, gain):
        """A gain as a number between 0 and 1: half of that if it is the mean of positive ones."""
        if gain > 0.0:
            self.positive += gain
            self.positives += 1.0
            return gain / (gain + self.positive / self.positives)
        return 0.0


class Hedge(Panel):
    LEARNED = ("positive", "positives", "weights", "fractions", "count")
    PARTS = ("arms", "sampler")

    def __init__(self, arms, dice, leaf_count, frontier, seed, rate, share):
        """Each of the `arms` is a single leaf."""
        Panel.__init__(self, arms, dice, leaf_count)
        self.frontier = frontier
        self.sampler = Dice(seed)
        self.rate = rate
        self.share = share
        self.weights = np.full(len(arms), 1.0 / len(arms))
        self.percentiles = np.zeros(len(arms))
        self.drawn = np.zeros(DRAWN, dtype=np.intc)
        self.fractions = self.count = 0.0

    def choose(self, step):
        rest: cython.double = self.dice.uniform()
        last: cython.int = self.weights.shape[0] - 1
        i: cython.int
        for i in range(last):
            rest -= self.weights[i]
            if rest < 0.0:
                return self.arms[i].leaf.number
        return self.arms[last].leaf.number

    def witness(self, snapshot, gain):
        table = self.frontier
        count: cython.int = self.weights.shape[0]
        restricted: cython.bint = table.restricted
        rows: cython.int = min(DRAWN, table.live)
        fraction: cython.double = self.fraction(gain)
        surprise: cython.double
        middle: cython.double = 0.0
        total: cython.double = 0.0
        i: cython.int
        surprise = fraction - (self.fractions / self.count if self.count > 0.0 else 0.5)
        self.fractions += fraction
        self.count += 1.0
        if rows == 0:
            return
        table.restricted = False
        for i in range(rows):
            self.drawn[i] = table.nth(self.sampler.below(table.live))
        table.restricted = restricted
        for i in range(count):
            self.percentiles[i] = self.percentile(self.arms[i].leaf, snapshot, rows)
            middle += self.percentiles[i]
        middle /= count
        for i in range(count):
            self.weights[i] *= exp(self.rate * surprise * (self.percentiles[i] - middle))
            total += self.weights[i]
        for i in range(count):
            self.weights[i] = (1.0 - self.share) * (self.weights[i] / total) + self.share / count

    def percentile(self, leaf: Leaf, snapshot, rows):
        """The share of the drawn rows that a leaf puts below a node; those level count half."""
        value: cython.double = leaf.opinion(snapshot)
        other: cython.double
        below: cython.double = 0.0
        i: cython.int
        for i in range(rows):
            other = leaf.estimate(self.drawn[i])
            if other < value:
                below += 1.0
            elif other == value:
                below += 0.5
        return below / rows


class Thompson(Panel):
    LEARNED = ("positive", "positives", "wins", "losses")

    def __init__(self, arms, dice, leaf_count, capacity):
        Panel.__init__(self, arms, dice, leaf_count)
        self.capacity = capacity
        self.wins = np.ones(len(arms))
        self.losses = np.ones(len(arms))

    def choose(self, step):
        chosen: Chooser
        lead: cython.int = 0
        highest: cython.double = -1.0
        draw: cython.double
        wins: cython.double
        i: cython.int
        for i in range(self.wins.shape[0]):
            wins = self.gamma(self.wins[i])
            draw = wins / (wins + self.gamma(self.losses[i]))
            if draw > highest:
                highest = draw
                lead = i
        chosen = self.arms[lead]
        return chosen.choose(step)

    def follow(self, step, leaf):
        self.arms[self.arm_of[leaf]].follow(step, leaf)

    def reward(self, leaf, gain):
        if leaf >= self.arm_of.shape[0]:
            return  # a leaf that grew after this panel, in another branch
        arm: cython.int = self.arm_of[leaf]
        if arm < 0:
            return
        fraction: cython.double = self.fraction(gain)
        self.wins[arm] += fraction
        self.losses[arm] += 1.0 - fraction
        if self.wins[arm] + self.losses[arm] > self.capacity:
            self.wins[arm] *= self.capacity / (self.capacity + 1.0)
            self.losses[arm] *= self.capacity / (self.capacity + 1.0)
        chosen: Chooser = self.arms[arm]
        chosen.reward(leaf, gain)

    def gamma(self, shape):
        """A draw from the gamma distribution, by the squeeze of Marsaglia and Tsang."""
        if shape < 1.0:
            return self.gamma(shape + 1.0) * exp(log(1.0 - self.dice.uniform()) / shape)
        d: cython.double = shape - 1.0 / 3.0
        c: cython.double = 1.0 / sqrt(9.0 * d)
        x: cython.double
        v: cython.double
        while True:
            x = self.normal()
            v = 1.0 + c * x
            if v <= 0.0:
                continue
            v = v * v * v
            if log(1.0 - self.dice.uniform()) < 0.5 * x * x + d - d * v + d * log(v):
                return d * v

    def normal(self):
        """A draw from the normal distribution, by the polar method."""
        while True:
            x: cython.double = 2.0 * self.dice.uniform() - 1.0
            y: cython.double = 2.0 * self.dice.uniform() - 1.0
            r: cython.double = x * x + y * y
            if 0.0 < r < 1.0:
                return x * sqrt(-2.0 * log(r) / r)
