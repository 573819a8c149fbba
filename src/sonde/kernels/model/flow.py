"""What flows along links: cash (OPIC), and navigational rank."""

import cython
import numpy as np
from cython.cimports.sonde.kernels.model.frontier import FIRST_VISIT, Leaf
from cython.cimports.sonde.kernels.model.neighbourhood import Signal
from cython.cimports.sonde.kernels.model.rankings import Tournament

from sonde.kernels.model.frontier import grown


class Cash(Signal):
    """OPIC: every node holds cash, and a visit hands it on along the links.

    Nodes are visited once, so that the history of a frontier node is always zero and its estimate
    (H + C) / (G + 1) is its cash over G + 1, where G is all the cash ever handed on. What a page
    without links would hand on goes to a virtual page: cash is conserved.
    """

    LEARNED = ("cash", "given", "virtual", "endowed")

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

    LEARNED = ("active", "divisor")

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


class ExactNavigation(Signal):
    """Navigational rank: scores flow from children to parents, then from parents to the frontier.

    Over visited nodes, with d = `keep`, NR1(u) = d score(u) + (1 - d) mean over u's out-links v of
    NR1(v) / indegree(v), where a node that is not visited counts as zero; for a frontier node,
    NR2(v) = (1 - d) mean over its in-links u of NR1(u) / outdegree(u). All degrees are known
    degrees. This one iterates from zero until nothing moves by more than 1e-12, after every visit.
    """

    LEARNED = ("indegree", "rank")

    def __init__(self, frontier, links, column, nodes, keep):
        Signal.__init__(self, frontier, links)
        self.column = column
        self.keep = keep
        self.indegree = np.zeros(nodes, dtype=np.intc)
        self.rank = np.zeros(nodes)
        self.following = np.zeros(nodes)  # by visit

    def reserve_nodes(self, nodes):
        if nodes > self.rank.shape[0]:
            self.indegree = grown(self.indegree, nodes, 0)
            self.rank = grown(self.rank, nodes, 0.0)

    def settled(self, visit):
        """What the equation of a visited node gives from the current ranks."""
        links = self.links
        total: cython.double = 0.0
        target: cython.int
        link: cython.longlong
        count: cython.longlong = links.last[visit] - links.first[visit]
        for link in range(links.first[visit], links.last[visit]):
            target = links.target[link]
            total += self.rank[target] / self.indegree[target]
        if count > 0:
            total = total / count
        return self.keep * links.beta[visit] + (1.0 - self.keep) * total

    def reached(self, node):
        """The rank of a frontier node."""
        links = self.links
        total: cython.double = 0.0
        source: cython.int
        link: cython.longlong = links.first_in(node)
        while link >= 0:
            source = links.in_visit[link]
            total += self.rank[links.node[source]] / (links.last[source] - links.first[source])
            link = links.next_in(node, link)
        return (1.0 - self.keep) * (total / self.indegree[node])

    def visited(self, node, score, start, end):
        links = self.links
        frontier = self.frontier
        link: cython.longlong
        visit: cython.int
        if links.visits > self.following.shape[0]:
            self.following = grown(self.following, links.visits, 0.0)
        for link in range(start, end):
            self.indegree[links.target[link]] += 1
        for visit in range(links.visits):
            self.rank[links.node[visit]] = 0.0
        moved: cython.double = 1.0
        while moved > 1e-12:
            moved = 0.0
            for visit in range(links.visits):
                self.following[visit] = self.settled(visit)
                moved = max(moved, abs(self.following[visit] - self.rank[links.node[visit]]))
            for visit in range(links.visits):
                self.rank[links.node[visit]] = self.following[visit]
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
    """Navigational rank, as ``ExactNavigation`` has it, whose solution is kept by local push.

    It stores share(v) = NR1(v) / indegree(v) and the residual of each equation. A visit changes few
    equations: its own, and those of its visited targets, whose in-degree grew (with the share as
    the variable that costs one subtraction, not a walk over all their parents). A residual above
    the tolerance is pushed: the share takes it up, and the parents' residuals receive (1 - d) /
    outdegree of it. Since the equations' columns sum to less than 1 - d, every push lowers the sum
    of residuals by at least d of what it pushed, so that pushing ends and the error is at most the
    remaining residuals over d. Frontier nodes are told of a parent whose rank moved by more than
    the tolerance since they last heard.
    """

    LEARNED = ("tolerance", "indegree", "share", "residual", "shown", "inflow", "waiting")

    def __init__(self, frontier, links, column, nodes, keep, precision):
        """`precision` is the tolerance as a share of the highest score seen."""
        Signal.__init__(self, frontier, links)
        self.column = column
        self.keep = keep
        self.precision = precision
        self.tolerance = 0.0
        self.queued = 0
        self.indegree = np.zeros(nodes, dtype=np.intc)
        self.inflow = np.zeros(nodes)
        # By visit, as is the queue:
        self.share = np.zeros(nodes)
        self.residual = np.zeros(nodes)
        self.shown = np.zeros(nodes)
        self.waiting = np.zeros(nodes, dtype=np.int8)
        self.queue = np.zeros(64, dtype=np.intc)

    def reserve_nodes(self, nodes):
        if nodes > self.indegree.shape[0]:
            self.indegree = grown(self.indegree, nodes, 0)
            self.inflow = grown(self.inflow, nodes, 0.0)

    def reserve_visits(self, visits):
        self.share = grown(self.share, visits, 0.0)
        self.residual = grown(self.residual, visits, 0.0)
        self.shown = grown(self.shown, visits, 0.0)
        self.waiting = grown(self.waiting, visits, 0)

    def reserve_queue(self):
        self.queue = grown(self.queue, self.queued + 1, 0)

    def divisor(self, visit):
        return max(1, self.indegree[self.links.node[visit]])

    def enqueue(self, visit):
        if self.waiting[visit]:
            return
        if self.queued == self.queue.shape[0]:
            self.reserve_queue()
        self.waiting[visit] = 1
        self.queue[self.queued] = visit
        self.queued += 1

    def visited(self, node, score, start, end):
        links = self.links
        link: cython.longlong
        target: cython.int
        other: cython.int
        visit: cython.int = links.visits - 1
        total: cython.double = 0.0
        if links.visits > self.share.shape[0]:
            self.reserve_visits(links.visits)
        self.tolerance = max(self.tolerance, self.precision * score)
        self.queued = 0
        for link in range(start, end):
            target = links.target[link]
            self.indegree[target] += 1
            other = self.frontier.visit_of(target)
            if other >= 0:
                total += self.share[other]
                if self.indegree[target] > 1:
                    self.residual[other] -= self.share[other]
                    self.enqueue(other)
        self.residual[visit] = self.keep * score
        if end > start:
            self.residual[visit] += (1.0 - self.keep) * total / (end - start)
        self.enqueue(visit)
        position: cython.longlong = 0
        while position < self.queued:
            self.push(self.queue[position])
            position += 1
        # The in-degree of its targets grew: their mean changes even if this parent adds nothing.
        self.rerank(visit)

    def rerank(self, visit):
        """Set the ranks of the children of a visited node that are on the frontier."""
        links = self.links
        table = self.frontier
        target: cython.int
        slot: cython.int
        link: cython.longlong
        table.reserve_changes(links.last[visit] - links.first[visit])
        for link in range(links.first[visit], links.last[visit]):
            target = links.target[link]
            slot = table.slot_of[target]
            if slot >= 0:
                table.features[slot, self.column] = (
                    (1.0 - self.keep) * self.inflow[target] / self.indegree[target]
                )
                table.changed[table.changes] = slot
                table.changes += 1

    def push(self, visit):
        links = self.links
        self.waiting[visit] = 0
        if abs(self.residual[visit]) > self.tolerance:
            change: cython.double = self.residual[visit] / self.divisor(visit)
            self.share[visit] += change
            self.residual[visit] = 0.0
            node: cython.int = links.node[visit]
            parent: cython.int
            link: cython.longlong = links.first_in(node)
            while link >= 0:
                parent = links.in_visit[link]
                self.residual[parent] += (
                    (1.0 - self.keep) * change / (links.last[parent] - links.first[parent])
                )
                if abs(self.residual[parent]) > self.tolerance:
                    self.enqueue(parent)
                link = links.next_in(node, link)
        self.show(visit)

    def show(self, visit):
        """Pass the rank of a visited node on to its children on the frontier, if it moved."""
        links = self.links
        rank: cython.double = self.share[visit] * self.divisor(visit)
        moved: cython.double = rank - self.shown[visit]
        if abs(moved) <= self.tolerance:
            return
        self.shown[visit] = rank
        target: cython.int
        link: cython.longlong
        count: cython.longlong = links.last[visit] - links.first[visit]
        for link in range(links.first[visit], links.last[visit]):
            target = links.target[link]
            self.inflow[target] += moved / count
        self.rerank(visit)
