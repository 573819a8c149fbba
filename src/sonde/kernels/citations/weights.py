"""Weights that change, and draws in proportion to them, both in O(log n): a binary tree of sums.

Each inner node is the sum of its two children, added anew whenever one changes: sums of whole
numbers are exact, and those of fractions never drift. A draw walks down from the root.
"""

import cython
import numpy as np


class Weights:
    def __init__(self, room):
        self.leaves = 1
        while self.leaves < room:
            self.leaves *= 2
        self.sums = np.zeros(2 * self.leaves)

    def reserve(self, room):
        """Make room for so many items; what there is keeps its weight."""
        if room <= self.leaves:
            return
        old = np.asarray(self.sums)[self.leaves :]
        self.leaves *= 2
        while self.leaves < room:
            self.leaves *= 2
        sums = np.zeros(2 * self.leaves)
        sums[self.leaves : self.leaves + len(old)] = old
        self._sum_up(sums)

    def fill(self, weights):
        """Give the first items these weights, and the others none."""
        sums = np.zeros(2 * self.leaves)
        sums[self.leaves : self.leaves + len(weights)] = weights
        self._sum_up(sums)

    def _sum_up(self, sums):
        level: cython.longlong = self.leaves
        while level > 1:
            level //= 2
            sums[level : 2 * level] = (
                sums[2 * level : 4 * level : 2] + sums[2 * level + 1 : 4 * level : 2]
            )
        self.sums = sums

    def total(self):
        return self.sums[1]

    def get(self, item):
        return self.sums[self.leaves + item]

    def put(self, item, weight):
        """Change the weight of an item."""
        place: cython.longlong = self.leaves + item
        self.sums[place] = weight
        place >>= 1
        while place >= 1:
            self.sums[place] = self.sums[2 * place] + self.sums[2 * place + 1]
            place >>= 1

    def draw(self, dice):
        """An item, with a probability in proportion to its weight; -1 if all weights are 0."""
        if self.sums[1] <= 0.0:
            return -1
        rest: cython.double = dice.uniform() * self.sums[1]
        place: cython.longlong = 1
        while place < self.leaves:
            place *= 2
            # Rounding may leave a rest that reaches past the last weight: never into nothing.
            if rest >= self.sums[place] and self.sums[place + 1] > 0.0:
                rest -= self.sums[place]
                place += 1
        return cython.cast(cython.int, place - self.leaves)
