"""Navigational rank: scores flow from children to parents, then from parents to the frontier.

Over visited nodes, with d = `keep`, NR1(u) = d score(u) + (1 - d) mean over u's out-links v of
NR1(v) / indegree(v), where a node that is not visited counts as zero; for a frontier node,
NR2(v) = (1 - d) mean over its in-links u of NR1(u) / outdegree(u). All degrees are known degrees.

``ExactNavigation`` iterates from zero until nothing moves by more than 1e-12, after every visit.

``Navigation`` keeps the solution by local push. It stores share(v) = NR1(v) / indegree(v) and the
residual of each equation. A visit changes few equations: its own, and those of its visited
targets, whose in-degree grew (with the share as the variable that costs one subtraction, not a
walk over all their parents). A residual above the tolerance is pushed: the share takes it up, and
the parents' residuals receive (1 - d) / outdegree of it. Since the equations' columns sum to less
than 1 - d, every push lowers the sum of residuals by at least d of what it pushed, so that pushing
ends and the error is at most the remaining residuals over d. Frontier nodes are told of a parent
whose rank moved by more than the tolerance since they last heard.
"""

import cython
import numpy as np

from sonde.kernels.frontier import grown

if cython.compiled:
    from cython.cimports.sonde.kernels.frontier import VISITED
    from cython.cimports.sonde.kernels.signals import Signal
else:
    from sonde.kernels.frontier import VISITED
    from sonde.kernels.signals import Signal


class ExactNavigation(Signal):
    def __init__(self, frontier, links, column, nodes, keep):
        Signal.__init__(self, frontier, links)
        self.column = column
        self.keep = keep
        self.order = []
        self.indegree = np.zeros(nodes, dtype=np.intc)
        self.rank = np.zeros(nodes)
        self.following = np.zeros(nodes)

    def reserve_nodes(self, nodes):
        if nodes > self.rank.shape[0]:
            self.indegree = grown(self.indegree, nodes, 0)
            self.rank = grown(self.rank, nodes, 0.0)
            self.following = grown(self.following, nodes, 0.0)

    def settled(self, node):
        """What the equation of a visited node gives from the current ranks."""
        links = self.links
        total: cython.double = 0.0
        target: cython.int
        link: cython.longlong
        count: cython.longlong = links.last[node] - links.first[node]
        for link in range(links.first[node], links.last[node]):
            target = links.target[link]
            total += self.rank[target] / self.indegree[target]
        if count > 0:
            total = total / count
        return self.keep * links.beta[node] + (1.0 - self.keep) * total

    def reached(self, node):
        """The rank of a frontier node."""
        links = self.links
        total: cython.double = 0.0
        source: cython.int
        link: cython.longlong = links.in_head[node]
        while link >= 0:
            source = links.in_source[link]
            total += self.rank[source] / (links.last[source] - links.first[source])
            link = links.in_next[link]
        return (1.0 - self.keep) * (total / self.indegree[node])

    def visited(self, node, score, start, end):
        links = self.links
        frontier = self.frontier
        link: cython.longlong
        for link in range(start, end):
            self.indegree[links.target[link]] += 1
        self.order.append(node)
        visited: cython.int
        for visited in self.order:
            self.rank[visited] = 0.0
        moved: cython.double = 1.0
        while moved > 1e-12:
            moved = 0.0
            for visited in self.order:
                self.following[visited] = self.settled(visited)
                moved = max(moved, abs(self.following[visited] - self.rank[visited]))
            for visited in self.order:
                self.rank[visited] = self.following[visited]
        slot: cython.int
        block: cython.int
        frontier.reserve_changes(frontier.rows)
        for block in range(frontier.blocks):
            for slot in range(
                frontier.block_first[block],
                frontier.block_first[block] + frontier.block_rows[block],
            ):
                target: cython.int = frontier.row_node[slot]
                if frontier.slot_of[target] == slot and self.indegree[target] > 0:
                    frontier.features[slot, self.column] = self.reached(target)
                    frontier.changed[frontier.changes] = slot
                    frontier.changes += 1


class Navigation(Signal):
    def __init__(self, frontier, links, column, nodes, keep, precision):
        """`precision` is the tolerance as a share of the highest score seen."""
        Signal.__init__(self, frontier, links)
        self.column = column
        self.keep = keep
        self.precision = precision
        self.tolerance = 0.0
        self.pushes = 0
        self.queued = 0
        self.indegree = np.zeros(nodes, dtype=np.intc)
        self.share = np.zeros(nodes)
        self.residual = np.zeros(nodes)
        self.shown = np.zeros(nodes)
        self.inflow = np.zeros(nodes)
        self.waiting = np.zeros(nodes, dtype=np.int8)
        self.queue = np.zeros(64, dtype=np.intc)

    def reserve_nodes(self, nodes):
        if nodes > self.share.shape[0]:
            self.indegree = grown(self.indegree, nodes, 0)
            self.share = grown(self.share, nodes, 0.0)
            self.residual = grown(self.residual, nodes, 0.0)
            self.shown = grown(self.shown, nodes, 0.0)
            self.inflow = grown(self.inflow, nodes, 0.0)
            self.waiting = grown(self.waiting, nodes, 0)

    def divisor(self, node):
        return max(1, self.indegree[node])

    def enqueue(self, node):
        if self.waiting[node]:
            return
        if self.queued == self.queue.shape[0]:
            self.queue = grown(self.queue, self.queued + 1, 0)
        self.waiting[node] = 1
        self.queue[self.queued] = node
        self.queued += 1

    def visited(self, node, score, start, end):
        links = self.links
        link: cython.longlong
        target: cython.int
        total: cython.double = 0.0
        self.tolerance = max(self.tolerance, self.precision * score)
        self.queued = 0
        for link in range(start, end):
            target = links.target[link]
            self.indegree[target] += 1
            if self.frontier.slot_of[target] == VISITED:
                total += self.share[target]
                if self.indegree[target] > 1:
                    self.residual[target] -= self.share[target]
                    self.enqueue(target)
        self.residual[node] = self.keep * score
        if end > start:
            self.residual[node] += (1.0 - self.keep) * total / (end - start)
        self.enqueue(node)
        position: cython.longlong = 0
        while position < self.queued:
            self.push(self.queue[position])
            position += 1
        # The in-degree of its targets grew: their mean changes even if this parent adds nothing.
        self.rerank(node)

    def rerank(self, node):
        """Set the ranks of the children of a visited node that are on the frontier."""
        links = self.links
        table = self.frontier
        target: cython.int
        slot: cython.int
        link: cython.longlong
        table.reserve_changes(links.last[node] - links.first[node])
        for link in range(links.first[node], links.last[node]):
            target = links.target[link]
            slot = table.slot_of[target]
            if slot >= 0:
                table.features[slot, self.column] = (
                    (1.0 - self.keep) * self.inflow[target] / self.indegree[target]
                )
                table.changed[table.changes] = slot
                table.changes += 1

    def push(self, node):
        links = self.links
        self.waiting[node] = 0
        if abs(self.residual[node]) > self.tolerance:
            self.pushes += 1
            change: cython.double = self.residual[node] / self.divisor(node)
            self.share[node] += change
            self.residual[node] = 0.0
            parent: cython.int
            link: cython.longlong = links.in_head[node]
            while link >= 0:
                parent = links.in_source[link]
                self.residual[parent] += (
                    (1.0 - self.keep) * change / (links.last[parent] - links.first[parent])
                )
                if abs(self.residual[parent]) > self.tolerance:
                    self.enqueue(parent)
                link = links.in_next[link]
        self.show(node)

    def show(self, node):
        """Pass the rank of a visited node on to its children on the frontier, if it moved."""
        links = self.links
        rank: cython.double = self.share[node] * self.divisor(node)
        moved: cython.double = rank - self.shown[node]
        if abs(moved) <= self.tolerance:
            return
        self.shown[node] = rank
        target: cython.int
        link: cython.longlong
        count: cython.longlong = links.last[node] - links.first[node]
        for link in range(links.first[node], links.last[node]):
            target = links.target[link]
            self.inflow[target] += moved / count
        self.rerank(node)
