"""A signal keeps some columns of the frontier table up to date as nodes are visited.

An ``Aggregate`` is one whose columns are sums, maxima and averages over terms (beta, alpha,
beta x alpha), with `deg` their number.
"""

import cython
import numpy as np

from sonde.kernels.model.frontier import grown


class Signal:
    def __init__(self, frontier, links):
        self.frontier = frontier
        self.links = links

    def begin(self, seeds):
        """These nodes are seeds; called before any of them is visited."""

    def visited(self, node, score, start, end):
        """`node` was visited and scored; its links are links.target[start:end]."""

    def reserve_nodes(self, nodes):
        """Make room for node numbers below `nodes`."""


class Aggregate(Signal):
    def __init__(self, frontier, links, columns, level):
        """`columns` gives a column number for each wanted feature by name; `level` is "" or "2"."""
        Signal.__init__(self, frontier, links)
        self.deg = columns.get(f"deg{level}", -1)
        self.n_sum = columns.get(f"n{level}:sum", -1)
        self.e_sum = columns.get(f"e{level}:sum", -1)
        self.ne_sum = columns.get(f"ne{level}:sum", -1)
        self.n_max = columns.get(f"n{level}:max", -1)
        self.e_max = columns.get(f"e{level}:max", -1)
        self.ne_max = columns.get(f"ne{level}:max", -1)
        self.n_avg = columns.get(f"n{level}:avg", -1)
        self.e_avg = columns.get(f"e{level}:avg", -1)
        self.ne_avg = columns.get(f"ne{level}:avg", -1)
        self.alpha = np.zeros(64)
        self.alpha_top = np.zeros(64)

    def reserve_rows(self, count):
        """Make room to add to so many rows at once."""
        self.frontier.reserve_changes(count)
        if count > self.alpha.shape[0]:
            self.alpha = grown(self.alpha, count, 0.0)
            self.alpha_top = grown(self.alpha_top, count, 0.0)

    def add(self, count, terms, beta, beta_top, product, product_top):
        """Add so many terms to each of the last `count` changed rows.

        Terms are given by their sums and maxima: of betas and products for all rows alike, of
        alphas in `alpha` and `alpha_top`. A negative `product` stands for beta x alpha, row by
        row. One short loop a column keeps the compiled code free of calls.
        """
        table = self.frontier
        first: cython.longlong = table.changes - count
        column: cython.int
        i: cython.int
        value: cython.double
        if self.deg >= 0:
            column = self.deg
            for i in range(count):
                table.features[table.changed[first + i], column] += terms
        if self.n_sum >= 0:
            column = self.n_sum
            for i in range(count):
                table.features[table.changed[first + i], column] += beta
        if self.e_sum >= 0:
            column = self.e_sum
            for i in range(count):
                table.features[table.changed[first + i], column] += self.alpha[i]
        if self.ne_sum >= 0:
            column = self.ne_sum
            for i in range(count):
                value = beta * self.alpha[i] if product < 0.0 else product
                table.features[table.changed[first + i], column] += value
        if self.n_max >= 0:
            self.raise_to(self.n_max, count, beta_top, False)
        if self.e_max >= 0:
            self.raise_to(self.e_max, count, 1.0, True)
        if self.ne_max >= 0:
            if product < 0.0:
                self.raise_to(self.ne_max, count, beta_top, True)
            else:
                self.raise_to(self.ne_max, count, product_top, False)
        if self.n_avg >= 0:
            self.divide(self.n_avg, self.n_sum, count)
        if self.e_avg >= 0:
            self.divide(self.e_avg, self.e_sum, count)
        if self.ne_avg >= 0:
            self.divide(self.ne_avg, self.ne_sum, count)

    def raise_to(self, column, count, level, times_alpha):
        """Raise a column to `level`, or to level x alpha_top, where it is lower."""
        table = self.frontier
        first: cython.longlong = table.changes - count
        value: cython.double
        i: cython.int
        for i in range(count):
            value = level * self.alpha_top[i] if times_alpha else level
            if value > table.features[table.changed[first + i], column]:
                table.features[table.changed[first + i], column] = value

    def divide(self, average, total, count):
        table = self.frontier
        first: cython.longlong = table.changes - count
        slot: cython.int
        i: cython.int
        for i in range(count):
            slot = table.changed[first + i]
            table.features[slot, average] = (
                table.features[slot, total] / table.features[slot, self.deg]
            )
