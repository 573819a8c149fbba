"""Tracking the most cited of a time graph, step by step.

Links arrive at times; those of the last ``window`` are there. ``pairs`` are the distinct links in
order of source and target, those of node u in ``rows[u]:rows[u + 1]``; ``arrivals`` are the times
at which ``arriving`` pairs arrive, in order of time. A pair that arrives again is there until the
window has passed since its last arrival.

At each step, with probability ``expand`` a new node is crawled: the expansion's pick or, with
``anywhere``, a node drawn evenly from those that have a link and were not crawled. Otherwise, and
where there is no such node, a crawled one is crawled again. A crawl sees the links that are there.
"""

import cython
import numpy as np


class Tracking:
    def __init__(
        self, rows, sources, targets, arriving, arrivals, window, expansion, recrawl, dice
    ):
        self.rows = rows
        self.sources = sources
        self.targets = targets
        self.arriving = arriving
        self.arrivals = arrivals
        self.window = window
        self.expansion = expansion
        self.recrawl = recrawl
        self.dice = dice
        nodes = len(rows) - 1
        pairs = len(targets)
        self.head = 0  # arrivals before it have come
        self.tail = 0  # arrivals before it have gone
        self.present = np.zeros(pairs, dtype=np.intc)  # arrivals of a pair within the window
        self.indegree = np.zeros(nodes, dtype=np.intc)  # distinct sources within the window
        self.degree = np.zeros(nodes, dtype=np.intc)  # links within the window, either way
        self.known = np.zeros(nodes, dtype=np.uint8)  # whether it ever had a link
        self.arrived = 0  # nodes that ever had a link
        self.seen = np.zeros(pairs, dtype=np.intc)  # the crawl of its source that last saw a pair
        self.crawls = np.zeros(nodes, dtype=np.intc)
        self.links = np.zeros(nodes, dtype=np.intc)  # distinct links seen
        self.last = np.zeros(nodes)  # when it was last crawled
        self.pool = np.zeros(nodes, dtype=np.intc)  # nodes that have a link and were not crawled
        self.pooled = 0
        self.place = np.full(nodes, -1, dtype=np.intc)
        self.expanded = 0
        self.recrawled = 0

    def slide(self, now):
        """Let come what has arrived by now, and go what arrived a window ago or before."""
        pair: cython.int
        while self.head < self.arrivals.shape[0] and self.arrivals[self.head] <= now:
            pair = self.arriving[self.head]
            self.head += 1
            self.present[pair] += 1
            if self.present[pair] == 1:
                self.indegree[self.targets[pair]] += 1
                self._linked(self.sources[pair])
                self._linked(self.targets[pair])
        while self.tail < self.head and self.arrivals[self.tail] <= now - self.window:
            pair = self.arriving[self.tail]
            self.tail += 1
            self.present[pair] -= 1
            if self.present[pair] == 0:
                self.indegree[self.targets[pair]] -= 1
                self._unlinked(self.sources[pair])
                self._unlinked(self.targets[pair])

    def _linked(self, node):
        self.degree[node] += 1
        if self.degree[node] == 1:
            if not self.known[node]:
                self.known[node] = 1
                self.arrived += 1
            if self.crawls[node] == 0:
                self.place[node] = self.pooled
                self.pool[self.pooled] = node
                self.pooled += 1

    def _unlinked(self, node):
        self.degree[node] -= 1
        if self.degree[node] == 0:
            self._leave(node)

    def _leave(self, node):
        hole: cython.int = self.place[node]
        if hole >= 0:
            self.pooled -= 1
            last: cython.int = self.pool[self.pooled]
            self.pool[hole] = last
            self.place[last] = hole
            self.place[node] = -1

    def crawl(self, node, now):
        """See the links of a node that are there now."""
        before: cython.int = self.crawls[node]
        elapsed: cython.double = now - self.last[node] if before else self.window
        fresh: cython.int = 0
        score: cython.double = 0.0
        pair: cython.longlong
        target: cython.int
        self.expansion.take(node)
        self._leave(node)
        for pair in range(self.rows[node], self.rows[node + 1]):
            if self.present[pair] == 0:
                continue
            target = self.targets[pair]
            if self.seen[pair] == 0:
                self.links[node] += 1
                self.expansion.cite(target)
            if before == 0 or self.seen[pair] != before:
                fresh += 1
                score += self.expansion.apparent[target]
            self.seen[pair] = before + 1
        self.crawls[node] = before + 1
        self.last[node] = now
        self.recrawl.visited(node, self.links[node], fresh, elapsed, score)

    def step(self, now, expand, anywhere):
        """One crawl, of a new node or of an old one."""
        node: cython.int = -1
        self.slide(now)
        if self.dice.uniform() < expand:
            if not anywhere:
                node = self.expansion.pick(self.dice)
            elif self.pooled:
                node = self.pool[self.dice.below(self.pooled)]
        if node >= 0:
            self.expanded += 1
        else:
            node = self.recrawl.pick(self.dice)
            self.recrawled += 1
        self.crawl(node, now)

    def run(self, first, count, start, interval, expand, anywhere):
        """Steps first to first + count - 1; step i is at start + i * interval."""
        step: cython.longlong
        begin: cython.longlong = first
        end: cython.longlong = begin + count
        origin: cython.double = start
        gap: cython.double = interval
        share: cython.double = expand
        free: cython.bint = anywhere
        for step in range(begin, end):
            self.step(origin + step * gap, share, free)
