"""Recursive least squares as a ranking: the weights after every visit are those of a regression
over all visits so far, from a start of zero weights and P = 10^6 I.

Per sample (x, y), with the constant 1 as the last entry of x:
    k = P x / (1 + x' P x),  w += k (y - x' w),  P -= k (P x)'
each sum taken in the order of the features. The last `given` columns take part in the ranking with
weights that somebody else sets, and in nothing else.
"""

import cython
import numpy as np
from cython.cimports.sonde.kernels.model.linear import Linear


class Regression(Linear):
    LEARNED = ("active", "weights", "offset", "inverse")

    def __init__(self, frontier, columns, start=1e6, given=0):
        Linear.__init__(self, frontier, columns, np.zeros(len(columns)))
        self.regressed = len(columns) - given
        size = self.regressed + 1
        self.inverse = np.eye(size) * start
        self.sample = np.ones(size)
        self.direction = np.zeros(size)
        self.error = 0.0

    def predicted(self, snapshot):
        """What today's weights say of a node that had these features; leaves them in `sample`."""
        total: cython.double
        i: cython.int
        for i in range(self.regressed):
            self.sample[i] = snapshot[self.columns[i]]
        total = self.weights[0] * self.sample[0]
        for i in range(1, self.regressed):
            total += self.weights[i] * self.sample[i]
        return total + self.offset

    def learn(self, snapshot, gain):
        size: cython.int = self.regressed + 1
        i: cython.int
        j: cython.int
        total: cython.double
        self.error = gain - self.predicted(snapshot)
        for i in range(size):
            total = self.inverse[i, 0] * self.sample[0]
            for j in range(1, size):
                total += self.inverse[i, j] * self.sample[j]
            self.direction[i] = total
        spread: cython.double = 1.0
        for i in range(size):
            spread += self.sample[i] * self.direction[i]
        for i in range(self.regressed):
            self.weights[i] += self.direction[i] / spread * self.error
        self.offset += self.direction[self.regressed] / spread * self.error
        for i in range(size):
            for j in range(size):
                self.inverse[i, j] -= self.direction[i] * self.direction[j] / spread
