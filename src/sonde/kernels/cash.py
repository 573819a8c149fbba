"""OPIC: every node holds cash, and a visit hands it on along the links.

Nodes are visited once, so that the history of a frontier node is always zero and its estimate
(H + C) / (G + 1) is its cash over G + 1, where G is all the cash ever handed on. What a page
without links would hand on goes to a virtual page: cash is conserved.
"""

import cython
import numpy as np

from sonde.kernels.frontier import grown

if cython.compiled:
    from cython.cimports.sonde.kernels.frontier import FIRST_VISIT
    from cython.cimports.sonde.kernels.linear import Linear
    from cython.cimports.sonde.kernels.signals import Signal
else:
    from sonde.kernels.frontier import FIRST_VISIT
    from sonde.kernels.linear import Linear
    from sonde.kernels.signals import Signal


class Cash(Signal):
    def __init__(self, frontier, links, column, n_sum, nodes, by_link, by_score):
        """Shares go by link score, by target score (or n:sum, column `n_sum`), both or neither."""
        Signal.__init__(self, frontier, links)
        self.column = column
        self.n_sum = n_sum
        self.by_link = by_link
        self.by_score = by_score
        self.cash = np.zeros(nodes)
        self.given = 0.0
        self.virtual = 0.0
        self.endowed = False
        self.rankings = []

    def reserve_nodes(self, nodes):
        if nodes > self.cash.shape[0]:
            self.cash = grown(self.cash, nodes, 0.0)

    def begin(self, seeds):
        """The first seeds share a cash of 1; seeds that come later start with none."""
        if not self.endowed:
            self.endowed = True
            for node in seeds:
                self.cash[node] = 1.0 / len(seeds)

    def weight(self, link):
        weight: cython.double = 1.0
        target: cython.int
        slot: cython.int
        if self.by_link:
            weight = self.links.score(link)
        if self.by_score:
            target = self.links.target[link]
            slot = self.frontier.slot_of[target]
            if slot <= FIRST_VISIT:
                weight *= self.links.beta[FIRST_VISIT - slot]
            elif slot >= 0:
                weight *= self.frontier.features[slot, self.n_sum]
            else:
                weight = 0.0
        return weight

    def visited(self, node, score, start, end):
        held: cython.double = self.cash[node]
        self.cash[node] = 0.0
        self.given += held
        ranking: Linear
        for ranking in self.rankings:
            ranking.divisor = self.given + 1.0
        if start == end:
            self.virtual += held
            return
        link: cython.longlong
        self.frontier.reserve_changes(end - start)
        total: cython.double = 0.0
        for link in range(start, end):
            total += self.weight(link)
        target: cython.int
        slot: cython.int
        for link in range(start, end):
            target = self.links.target[link]
            if total > 0.0:
                self.cash[target] += held * self.weight(link) / total
            else:
                self.cash[target] += held / (end - start)
            slot = self.frontier.slot_of[target]
            if slot >= 0:
                self.frontier.features[slot, self.column] = self.cash[target]
                self.frontier.changed[self.frontier.changes] = slot
                self.frontier.changes += 1
