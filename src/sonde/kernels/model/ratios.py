"""Ratios: how much more a kind of node has brought than was foreseen of it.

Nodes are told apart by a *level*: the number of doublings from 1 that an amount takes. For each
level a ratio is kept, what its picked nodes have brought over what was foreseen of them. It is
shrunk towards the ratio of the level below, as if that had been seen ``PATIENCE`` times more with
a usual gain, and that of the lowest level towards 1. So a level that was never met is taken for
what is known of the nearest below it.
"""

import cython
import numpy as np

LEVELS = 24
PATIENCE = 30.0


class Ratios:
    def __init__(self):
        self.brought = np.zeros(LEVELS)
        self.foreseen = np.zeros(LEVELS)
        self.ratio = np.ones(LEVELS)

    def level(self, amount):
        """How often an amount can be halved before it is below 2."""
        level: cython.int = 0
        rest: cython.double = amount
        while rest >= 2.0 and level < LEVELS - 1:
            rest *= 0.5
            level += 1
        return level

    def note(self, level, foreseen, gain):
        """A node of this level has brought a gain."""
        self.brought[level] += gain
        self.foreseen[level] += foreseen

    def settle(self, usual):
        """Work out the ratios, where nodes usually bring so much."""
        level: cython.int
        below: cython.double = 1.0
        for level in range(LEVELS):
            below = (self.brought[level] + PATIENCE * usual * below) / (
                self.foreseen[level] + PATIENCE * usual
            )
            self.ratio[level] = below
