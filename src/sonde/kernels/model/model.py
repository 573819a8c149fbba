"""The model: everything an exploration knows, stepped one pick and one visit at a time.

Both drivers use it, so that they cannot disagree: the explorer (ask and tell, from Python) and
the replay of a recorded graph (one compiled loop).
"""

import cython
import numpy as np
from cython.cimports.sonde.kernels.model.frontier import Leaf
from cython.cimports.sonde.kernels.model.neighbourhood import Signal
from cython.cimports.sonde.kernels.model.rankings import Chance


class Model:
    LEARNED = ("step",)
    PARTS = ("frontier", "links", "dice", "neighbourhood", "signals", "chooser")

    def __init__(
        self,
        frontier,
        links,
        dice,
        chooser,
        neighbourhood,
        signals,
        certain,
        slack,
        places=None,
        quickness=None,
    ):
        """`places` and `quickness` are those among the signals that are told of URLs and clocks.

        Altered greedy: with probability `certain` the argmax, otherwise any node whose
        estimate is within `slack` of the highest, as a share of its magnitude."""
        self.frontier = frontier
        self.links = links
        self.dice = dice
        self.chooser = chooser
        self.neighbourhood = neighbourhood
        self.signals = signals
        self.places = places
        self.quickness = quickness
        self.certain = certain
        self.slack = slack
        self.step = 0
        self.chosen = -1
        self.predicted = 0.0
        self.candidates = np.zeros(0, dtype=np.intc)

    def reserve_nodes(self, nodes):
        self.frontier.reserve_nodes(nodes)
        self.links.reserve_nodes(nodes)
        self.neighbourhood.reserve_nodes(nodes)
        for signal in self.signals:
            signal.reserve_nodes(nodes)

    def begin(self, seeds):
        """These nodes are seeds: they will be visited without being picked."""
        self.neighbourhood.begin(seeds)
        for signal in self.signals:
            signal.begin(seeds)

    def repick(self, node, leaf):
        """Take a node as an earlier run's `leaf` did, drawing nothing: a log is being told."""
        self.chooser.follow(self.step, leaf)
        self.frontier.take(self.frontier.slot_of[node])
        self.step += 1

    def pick(self):
        """Take the next row off the frontier: its slot, or -1 when no row is selectable.

        Leaves the leaf that chose in `chosen` and its estimate in `predicted`.
        """
        if self.frontier.live == 0 or (
            self.frontier.restricted and self.frontier.selectable() == 0
        ):
            return -1
        self.chosen = self.chooser.choose(self.step)
        leaf: Leaf = self.frontier.leaves[self.chosen]
        slot: cython.int = leaf.best()
        if slot < 0:  # sums beyond all numbers have no order: the first row will do
            slot = self.frontier.nth(0)
            self.predicted = float("nan")
        elif isinstance(leaf, Chance):
            self.predicted = float("nan")
        else:
            self.predicted = leaf.best_value
            if self.certain < 1.0 and self.dice.uniform() >= self.certain:
                slot = self.alternative(leaf, self.predicted - self.slack * abs(self.predicted))
                self.predicted = leaf.estimate(slot)
        self.frontier.take(slot)
        self.step += 1
        return slot

    def foreseen(self):
        """The row that the leaf which chose last holds for the best, without taking it; -1 where
        none is selectable, or none better than another. Leaves its estimate in `predicted`."""
        leaf: Leaf = self.frontier.leaves[max(self.chosen, 0)]
        if self.frontier.live == 0 or isinstance(leaf, Chance):
            return -1
        if self.frontier.restricted and self.frontier.selectable() == 0:
            return -1
        if not leaf.active:
            leaf.catch_up()
        slot: cython.int = leaf.best()
        self.predicted = leaf.best_value
        return slot

    def alternative(self, leaf, threshold):
        """A selectable row that reaches the threshold, each with equal chances."""
        if threshold <= leaf.lowest:  # all of them do: counting is enough
            return self.frontier.nth(self.dice.below(self.frontier.selectable()))
        if self.candidates.shape[0] < self.frontier.live:
            self.candidates = np.zeros(2 * self.frontier.live, dtype=np.intc)
        return self.candidates[self.dice.below(leaf.within(threshold, self.candidates))]

    def snapshot(self, slot, out):
        """Copy the features of a row: what was known when it was asked."""
        i: cython.int
        for i in range(self.frontier.width):
            out[i] = self.frontier.features[slot, i]

    def learn(self, leaf, snapshot, gain):
        """A node that `leaf` picked, with these features, has brought this gain."""
        student: Leaf
        for student in self.frontier.leaves:
            student.learn(snapshot, gain)
        self.chooser.reward(leaf, gain)
        self.chooser.witness(snapshot, gain)

    def visit(self, node, score, start, end):
        """A node was visited: its score, and its links at links.target[start:end]."""
        self.frontier.settle(node)
        self.links.visited(node, score, start, end)
        self.neighbourhood.visited(node, score, start, end)
        signal: Signal
        for signal in self.signals:
            signal.visited(node, score, start, end)
        self.frontier.announce()
