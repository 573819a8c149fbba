"""The box of each block: the least and the greatest value of each feature among its live rows.

Under weights of any sign, no row of a block stands above the corner of its box that they favour:
the greatest value where a weight is positive, the least where it is negative. A row that changes
widens its box at once; a row that leaves makes it too wide, never too narrow, until it is fitted
anew. Products and sums round monotonically and are taken in the same order as a row's score, so
that the corner's score bounds those of the rows to the last bit.
"""

import cython
import numpy as np

from sonde.kernels.model.frontier import grown

if cython.compiled:
    from cython.cimports.libc.math import INFINITY
else:
    from math import inf as INFINITY


class Boxes:
    def __init__(self, frontier, columns):
        self.frontier = frontier
        self.columns = np.asarray(columns, dtype=np.intc)
        self.terms = len(columns)
        self.least = np.zeros((0, self.terms))
        self.greatest = np.zeros((0, self.terms))

    def reserve(self, blocks):
        """Make room for so many blocks; new boxes hold nothing."""
        if blocks > self.least.shape[0]:
            self.least = grown(self.least, blocks, np.inf)
            self.greatest = grown(self.greatest, blocks, -np.inf)

    def fit_all(self):
        block: cython.int
        self.reserve(self.frontier.blocks)
        for block in range(self.frontier.blocks):
            self.fit(block)

    def fit(self, block):
        """Draw the box of a block as narrow as its live rows allow."""
        table = self.frontier
        first: cython.int = table.block_first[block]
        slot: cython.int
        i: cython.int
        for i in range(self.terms):
            self.least[block, i] = INFINITY
            self.greatest[block, i] = -INFINITY
        for slot in range(first, first + table.block_rows[block]):
            if table.row_live[slot]:
                self.widen(block, slot)

    def widen(self, block, slot):
        """Take in a row that is new or has changed."""
        value: cython.double
        i: cython.int
        for i in range(self.terms):
            value = self.frontier.features[slot, self.columns[i]]
            if value < self.least[block, i]:
                self.least[block, i] = value
            if value > self.greatest[block, i]:
                self.greatest[block, i] = value

    def corner(self, block, weights):
        """The score of the best corner of a box, -inf if it holds nothing."""
        total: cython.double = 0.0
        term: cython.double
        i: cython.int
        if self.least[block, 0] > self.greatest[block, 0]:
            return -INFINITY
        for i in range(self.terms):
            if weights[i] > 0.0:
                term = weights[i] * self.greatest[block, i]
            else:
                term = weights[i] * self.least[block, i]
            total = term if i == 0 else total + term
        return total
