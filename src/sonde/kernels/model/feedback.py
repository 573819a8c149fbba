"""Associated relevance feedback: what a visit brought against what was predicted flows back.

The error of v, its gain less its prediction, flows to the pages that link to v, and from each of
them at once to those of its links on the frontier that are like v: with its basename, and with its
domain. So every frontier node x has, for either kind, the mean of the errors of its visited
siblings like it, a sibling counted once for each parent that it shares with x.

Errors are added in the order in which they become known. A page that is visited brings the errors
of its links that were visited before as one sum a key, in the order of its links. A visit walks
over the links of all pages that linked to it before; since each link leads back to its page once in
a crawl, all of that together is at most the sum of the squares of the pages' numbers of links. The
mean stands in two columns, one where it is above 0 and one where it is below, because columns may
not be negative.
"""

import cython
import numpy as np

from sonde.kernels.model.frontier import grown

if cython.compiled:
    from cython.cimports.sonde.kernels.model.signals import Signal
else:
    from sonde.kernels.model.signals import Signal

NONE = float("nan")


class Feedback(Signal):
    def __init__(self, frontier, links, places, columns, nodes):
        """`columns`: where basenames' means above and below 0 stand, then domains'."""
        Signal.__init__(self, frontier, links)
        self.places = places
        self.near_up, self.near_down, self.wide_up, self.wide_down = columns
        self.pending = NONE
        self.error = np.zeros(nodes)  # by visit
        self.near_sum = np.zeros(nodes)
        self.near_count = np.zeros(nodes, dtype=np.intc)
        self.wide_sum = np.zeros(nodes)
        self.wide_count = np.zeros(nodes, dtype=np.intc)
        self.touched = np.zeros(0, dtype=np.int8)  # zero between visits
        # What the page that is being visited brings, by key; zero between visits.
        self.basename_sum = np.zeros(0)
        self.basename_count = np.zeros(0, dtype=np.intc)
        self.domain_sum = np.zeros(0)
        self.domain_count = np.zeros(0, dtype=np.intc)

    def reserve_nodes(self, nodes):
        if nodes > self.near_sum.shape[0]:
            self.near_sum = grown(self.near_sum, nodes, 0.0)
            self.near_count = grown(self.near_count, nodes, 0)
            self.wide_sum = grown(self.wide_sum, nodes, 0.0)
            self.wide_count = grown(self.wide_count, nodes, 0)

    def heard(self, error):
        """The node whose visit is told next has brought so much more than was predicted."""
        self.pending = error

    def visited(self, node, score, start, end):
        visit: cython.int = self.links.visits - 1
        if visit >= self.error.shape[0]:
            self.error = grown(self.error, visit + 1, 0.0)
        self.error[visit] = self.pending
        if self.pending == self.pending:  # a seed has no prediction, and no error
            self.flow_back(node, self.pending)
        self.pending = NONE
        self.take_over(start, end)

    def error_of(self, node):
        """What a node has brought beyond its prediction, NONE for a seed and before its visit."""
        visit: cython.int = self.frontier.visit_of(node)
        return self.error[visit] if visit >= 0 else NONE

    def flow_back(self, node, error):
        links = self.links
        table = self.frontier
        domain: cython.int = self.places.domain[node]
        basename: cython.int = self.places.basename[node]
        near: cython.bint
        wide: cython.bint
        first: cython.longlong = table.changes
        i: cython.longlong
        source: cython.int
        target: cython.int
        slot: cython.int
        link: cython.longlong
        back: cython.longlong = links.first_in(node)
        if self.touched.shape[0] < self.near_sum.shape[0]:
            self.touched = np.zeros(self.near_sum.shape[0], dtype=np.int8)
        while back >= 0:
            source = links.in_visit[back]
            table.reserve_changes(links.last[source] - links.first[source])
            for link in range(links.first[source], links.last[source]):
                target = links.target[link]
                slot = table.slot_of[target]
                if slot < 0:
                    continue
                near = basename >= 0 and self.places.basename[target] == basename
                wide = domain >= 0 and self.places.domain[target] == domain
                if near:
                    self.near_sum[target] += error
                    self.near_count[target] += 1
                if wide:
                    self.wide_sum[target] += error
                    self.wide_count[target] += 1
                if (near or wide) and not self.touched[target]:
                    self.touched[target] = 1
                    table.changed[table.changes] = slot
                    table.changes += 1
            back = links.next_in(node, back)
        for i in range(first, table.changes):
            target = table.row_node[table.changed[i]]
            self.touched[target] = 0
            self.show(target, table.changed[i])

    def take_over(self, start, end):
        """The links of a new page hear of those among them that were visited before."""
        links = self.links
        table = self.frontier
        target: cython.int
        slot: cython.int
        key: cython.int
        known: cython.int = 0
        error: cython.double
        link: cython.longlong
        self.reserve_keys()
        for link in range(start, end):
            target = links.target[link]
            error = self.error_of(target)
            if error == error:
                known += 1
                key = self.places.basename[target]
                if key >= 0:
                    self.basename_sum[key] += error
                    self.basename_count[key] += 1
                key = self.places.domain[target]
                if key >= 0:
                    self.domain_sum[key] += error
                    self.domain_count[key] += 1
        if known == 0:
            return
        for link in range(start, end):
            target = links.target[link]
            slot = table.slot_of[target]
            if slot < 0:
                continue
            key = self.places.basename[target]
            if key >= 0 and self.basename_count[key] > 0:
                self.near_sum[target] += self.basename_sum[key]
                self.near_count[target] += self.basename_count[key]
            key = self.places.domain[target]
            if key >= 0 and self.domain_count[key] > 0:
                self.wide_sum[target] += self.domain_sum[key]
                self.wide_count[target] += self.domain_count[key]
            self.show(target, slot)  # noted as changed: the neighbourhood has seen it before
        for link in range(start, end):
            target = links.target[link]
            error = self.error_of(target)
            if error == error:
                key = self.places.basename[target]
                if key >= 0:
                    self.basename_sum[key] = 0.0
                    self.basename_count[key] = 0
                key = self.places.domain[target]
                if key >= 0:
                    self.domain_sum[key] = 0.0
                    self.domain_count[key] = 0

    def reserve_keys(self):
        if self.places.basenames > self.basename_sum.shape[0]:
            self.basename_sum = grown(self.basename_sum, self.places.basenames, 0.0)
            self.basename_count = grown(self.basename_count, self.places.basenames, 0)
        if self.places.domains > self.domain_sum.shape[0]:
            self.domain_sum = grown(self.domain_sum, self.places.domains, 0.0)
            self.domain_count = grown(self.domain_count, self.places.domains, 0)

    def show(self, target, slot):
        """Write the means of a node into its row."""
        table = self.frontier
        mean: cython.double = 0.0
        if self.near_count[target] > 0:
            mean = self.near_sum[target] / self.near_count[target]
        table.features[slot, self.near_up] = mean if mean > 0.0 else 0.0
        table.features[slot, self.near_down] = -mean if mean < 0.0 else 0.0
        mean = 0.0
        if self.wide_count[target] > 0:
            mean = self.wide_sum[target] / self.wide_count[target]
        table.features[slot, self.wide_up] = mean if mean > 0.0 else 0.0
        table.features[slot, self.wide_down] = -mean if mean < 0.0 else 0.0
