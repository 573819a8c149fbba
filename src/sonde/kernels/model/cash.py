"""OPIC: every node holds cash, and a visit hands it on along the links.

Nodes are visited once, so that the history of a frontier node is always zero and its estimate
(H + C) / (G + 1) is its cash over G + 1, where G is all the cash ever handed on. What a page
without links would hand on goes to a virtual page: cash is conserved.
"""

import cython
import numpy as np

from sonde.kernels.model.frontier import grown

if cython.compiled:
    from cython.cimports.sonde.kernels.model.frontier import FIRST_VISIT, Leaf
    from cython.cimports.sonde.kernels.model.signals import Signal
    from cython.cimports.sonde.kernels.model.tournament import Tournament
else:
    from sonde.kernels.model.frontier import FIRST_VISIT, Leaf
    from sonde.kernels.model.signals import Signal
    from sonde.kernels.model.tournament import Tournament


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
        ranking: Wealth
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


class Wealth(Tournament):
    """A ranking by cash over G + 1. To divide may make equals of two that differ by the last bit,
    and equals go by their discovery: so those next to the richest are looked at as well."""

    def __init__(self, cash):
        Tournament.__init__(self, cash.frontier, cash.column)
        self.divisor = 1.0
        cash.rankings.append(self)

    def estimate(self, slot):
        return self.frontier.features[slot, self.column] / self.divisor

    def opinion(self, snapshot):
        return snapshot[self.column] / self.divisor

    def limit(self, block):
        return self.block_bound[block] / self.divisor

    def within(self, threshold, out):
        return Leaf.within(self, threshold, out)

    def best(self):
        table = self.frontier
        richest: cython.int = Tournament.best(self)
        if richest < 0:
            return -1
        self.least = self.best_value * (1.0 - 1e-12)
        self.best_value = self.best_value / self.divisor
        self.found = richest
        shelf: cython.int
        block: cython.int
        i: cython.int
        if table.restricted:
            for i in range(table.list_blocks()):
                self.look_into(table.listed[i])
        else:
            for shelf in range(table.shelves):
                if self.shelf_bound[shelf] >= self.least:
                    for block in range(shelf << 6, min((shelf + 1) << 6, table.blocks)):
                        self.look_into(block)
        return self.found

    def look_into(self, block):
        """Find rows of a block that are as rich, and were discovered before."""
        table = self.frontier
        first: cython.int = table.block_first[block]
        slot: cython.int
        if (
            self.block_bound[block] < self.least
            or table.block_seq[block] >= table.row_seq[self.found]
        ):
            return
        for slot in range(first, first + table.block_rows[block]):
            if (
                table.row_live[slot]
                and table.row_seq[slot] < table.row_seq[self.found]
                and table.features[slot, self.column] / self.divisor == self.best_value
            ):
                self.found = slot
