"""Recursive least squares as a ranking: the weights after every visit are those of a regression
over all visits so far, from a start of zero weights and P = 10^6 I.

Per sample (x, y), with the constant 1 as the last entry of x:
    k = P x / (1 + x' P x),  w += k (y - x' w),  P -= k (P x)'
each sum taken in the order of the features.
"""

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.sonde.kernels.linear import Linear
else:
    from sonde.kernels.linear import Linear


class Regression(Linear):
    def __init__(self, frontier, columns, start=1e6):
        Linear.__init__(self, frontier, columns, np.zeros(len(columns)))
        size = len(columns) + 1
        self.inverse = np.eye(size) * start
        self.sample = np.ones(size)
        self.direction = np.zeros(size)

    def learn(self, snapshot, gain):
        size: cython.int = self.terms + 1
        i: cython.int
        j: cython.int
        total: cython.double
        for i in range(self.terms):
            self.sample[i] = snapshot[self.columns[i]]
        for i in range(size):
            total = self.inverse[i, 0] * self.sample[0]
            for j in range(1, size):
                total += self.inverse[i, j] * self.sample[j]
            self.direction[i] = total
        spread: cython.double = 1.0
        for i in range(size):
            spread += self.sample[i] * self.direction[i]
        total = self.weights[0] * self.sample[0]
        for i in range(1, self.terms):
            total += self.weights[i] * self.sample[i]
        error: cython.double = gain - (total + self.offset)
        for i in range(self.terms):
            self.weights[i] += self.direction[i] / spread * error
        self.offset += self.direction[self.terms] / spread * error
        for i in range(size):
            for j in range(size):
                self.inverse[i, j] -= self.direction[i] * self.direction[j] / spread
