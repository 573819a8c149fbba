"""First-level features: what the incoming links from visited nodes say about a frontier node.

It is also what puts nodes on the frontier: the targets of a visit, in the order of its links.
Contributions are added in the order in which they become known; that order is part of the
definition, since floating-point sums depend on it.
"""

import cython
import numpy as np

from sonde.kernels.model.frontier import grown

if cython.compiled:
    from cython.cimports.sonde.kernels.model.frontier import UNSEEN
    from cython.cimports.sonde.kernels.model.prefetch import prefetch
    from cython.cimports.sonde.kernels.model.signals import Aggregate
else:
    from sonde.kernels.model.frontier import UNSEEN
    from sonde.kernels.model.signals import Aggregate


class Neighbourhood(Aggregate):
    def __init__(self, frontier, links, columns, nodes, truths=None):
        Aggregate.__init__(self, frontier, links, columns, "")
        self.hop = columns.get("hop", -1)
        self.truth = columns.get("truth", -1)
        self.depth = np.full(nodes if self.hop >= 0 else 0, 2147483647, dtype=np.intc)
        self.truths = np.zeros(0) if truths is None else truths
        # Scores of links that nothing asks for are not fetched from memory.
        self.weighted = max(self.e_sum, self.ne_sum, self.e_max, self.ne_max) >= 0

    def reserve_nodes(self, nodes):
        if self.hop >= 0 and nodes > self.depth.shape[0]:
            self.depth = grown(self.depth, nodes, 2147483647)

    def know(self, node, truth):
        """The true value of a node, for an oracle."""
        if node >= self.truths.shape[0]:
            self.truths = grown(self.truths, node + 1, 0.0)
        self.truths[node] = truth

    def begin(self, seeds):
        """A seed gets a row, so that it may gather features, but is withheld from picks."""
        for node in seeds:
            self.frontier.take(self.frontier.add(node))
            if self.hop >= 0:
                self.depth[node] = 0

    def visited(self, node, score, start, end):
        links = self.links
        table = self.frontier
        target: cython.int
        slot: cython.int
        count: cython.int = 0
        link: cython.longlong
        scores_from: cython.longlong = links.scores_from
        self.reserve_rows(end - start)
        if cython.compiled:
            for link in range(start, end):
                prefetch(cython.address(table.slot_of[links.target[link]]))
            for link in range(start, end):
                slot = table.slot_of[links.target[link]]
                if slot >= 0:
                    prefetch(cython.address(table.features[slot, 0]))
                    prefetch(cython.address(table.row_live[slot]))
        for link in range(start, end):
            target = links.target[link]
            slot = table.slot_of[target]
            if slot < UNSEEN:
                continue  # visited, or dropped
            if slot == UNSEEN:
                slot = table.add(target)
                if self.truth >= 0:
                    table.features[slot, self.truth] = self.truths[target]
            table.changed[table.changes + count] = slot
            if self.weighted:
                self.alpha[count] = self.alpha_top[count] = links.alpha[link - scores_from]
            count += 1
        table.changes += count
        self.add(count, 1.0, score, score, -1.0, -1.0)
        if self.hop >= 0:
            self.reach(count, self.depth[node] + 1)

    def reach(self, count, hop):
        """These rows are at this distance from the seeds, if not nearer."""
        table = self.frontier
        slot: cython.int
        i: cython.int
        for i in range(count):
            slot = table.changed[table.changes - count + i]
            if hop < self.depth[table.row_node[slot]]:
                self.depth[table.row_node[slot]] = hop
                table.features[slot, self.hop] = 1.0 / (hop + 1)
