"""Which visited node to visit again: recrawl policies, and a bandit over them.

Told of every visit, a ``Recrawl`` keeps whatever its policy weighs nodes by:

    u      every node alike                     or     links seen on it so far
    yr     yield: links that were not there at the visit before, over the time since
    yru    half yr, half u                      ldu    half the highest link score, half u
    fresh  the rates at which most nodes are up to date, for their rates of change
    bandit whichever of u, or, yr, the highest link score, fresh has lately found most new links

Where all weights are 0, every node is alike.

Fresh. A node that changes at rate c and is visited at rate f, both by chance, is up to date for
f / (f + c) of the time. The sum of that over all nodes, with the rates of visits adding up to
``rate``, is greatest where f = max(0, sqrt(c / level) - c): water filling, with one level for all.
Rates of change are estimated from how many visits found a change (see ``_change``). The level is
found anew once as many visits were made as there are nodes, or the nodes grew by a tenth.
"""

import cython
import numpy as np
from cython.cimports.libc.math import log, sqrt
from cython.cimports.sonde.kernels.citations.expansion import Heap, Weights

if not cython.compiled:
    U = 0
    OR = 1
    YR = 2
    YRU = 3
    LDU = 4
    FRESH = 5
    BANDIT = 6
    ARMS = 5  # u, or, yr, the highest link score, fresh
    MEMORY = 200  # pulls that an arm's mean is taken over
    HALVINGS = 200

POLICIES = ("u", "or", "yr", "yru", "ldu", "fresh", "bandit")

STRAY = 0.1  # how often the bandit tries any arm


class Recrawl:
    def __init__(self, policy, room, rate):
        self.policy = policy
        self.rate = rate
        self.count = 0
        self.members = np.zeros(room, dtype=np.intc)
        self.place = np.full(room, -1, dtype=np.intc)
        both = policy == BANDIT
        self.links = Weights(room if policy == OR or both else 0)
        self.yields = Weights(room if policy in (YR, YRU) or both else 0)
        self.highest = Heap(room if policy == LDU or both else 0)
        self.plan = Weights(room if policy == FRESH or both else 0)
        watching = room if policy == FRESH or both else 0
        self.intervals = np.zeros(watching, dtype=np.intc)
        self.changes = np.zeros(watching, dtype=np.intc)
        self.watched = np.zeros(watching)
        self.level = 0.0
        self.planned = 0
        self.since = 0
        self.picked = -1
        self.arm = -1
        self.pulls = np.zeros(ARMS, dtype=np.int64)
        self.means = np.zeros(ARMS)

    def reserve(self, room):
        """Make room for so many nodes."""
        more = room - len(self.place)
        if more <= 0:
            return
        more = max(more, len(self.place))
        room = len(self.place) + more
        self.members = np.concatenate([self.members, np.zeros(more, dtype=np.intc)])
        self.place = np.concatenate([self.place, np.full(more, -1, dtype=np.intc)])
        if self.policy == OR or self.policy == BANDIT:
            self.links.reserve(room)
        if self.policy == YR or self.policy == YRU or self.policy == BANDIT:
            self.yields.reserve(room)
        if self.policy == LDU or self.policy == BANDIT:
            self.highest.reserve(room)
        if self.policy == FRESH or self.policy == BANDIT:
            self.plan.reserve(room)
            self.intervals = np.concatenate([self.intervals, np.zeros(more, dtype=np.intc)])
            self.changes = np.concatenate([self.changes, np.zeros(more, dtype=np.intc)])
            self.watched = np.concatenate([self.watched, np.zeros(more)])

    # -- what is told ----------------------------------------------------------------------------

    def visited(self, node, links, fresh, elapsed, score):
        """A node was visited: links seen on it so far, links that were not there at the visit
        before, the time since then (at a first visit: how far back links go), its link score."""
        if self.place[node] < 0:
            self.place[node] = self.count
            self.members[self.count] = node
            self.count += 1
        if self.policy == OR or self.policy == BANDIT:
            self.links.put(node, links)
        if self.policy == YR or self.policy == YRU or self.policy == BANDIT:
            self.yields.put(node, fresh / elapsed)
        if self.policy == LDU or self.policy == BANDIT:
            self.highest.put(node, score)
        if self.policy == FRESH or self.policy == BANDIT:
            self.intervals[node] += 1
            self.changes[node] += 1 if fresh > 0 else 0
            self.watched[node] += elapsed
            self.plan.put(node, self._share(self._change(node)))
            self.since += 1
        if self.arm >= 0 and node == self.picked:
            if self.pulls[self.arm] < MEMORY:
                self.pulls[self.arm] += 1
            self.means[self.arm] += (fresh - self.means[self.arm]) / self.pulls[self.arm]
            self.arm = -1

    def restore(self, node, links, fresh, elapsed, score, intervals, changes, watched):
        """A node as it was left: as of its last visit, and of all its visits."""
        self.arm = -1
        self.visited(node, links, fresh, elapsed, score)
        if self.policy == FRESH or self.policy == BANDIT:
            self.intervals[node] = intervals
            self.changes[node] = changes
            self.watched[node] = watched
            self.plan.put(node, self._share(self._change(node)))

    def remove(self, node):
        """A node that is visited no more."""
        hole: cython.int = self.place[node]
        if hole < 0:
            return
        self.count -= 1
        last: cython.int = self.members[self.count]
        self.members[hole] = last
        self.place[last] = hole
        self.place[node] = -1
        if self.policy == OR or self.policy == BANDIT:
            self.links.put(node, 0.0)
        if self.policy == YR or self.policy == YRU or self.policy == BANDIT:
            self.yields.put(node, 0.0)
        if self.policy == LDU or self.policy == BANDIT:
            self.highest.forget(node)
        if self.policy == FRESH or self.policy == BANDIT:
            self.plan.put(node, 0.0)
            self.intervals[node] = 0
            self.changes[node] = 0
            self.watched[node] = 0.0

    # -- what is asked ---------------------------------------------------------------------------

    def pick(self, dice):
        """A visited node to visit again, or -1 where there is none."""
        node: cython.int = -1
        kind: cython.int = self.policy
        self.arm = -1
        if self.count == 0:
            return -1
        if kind == BANDIT:
            self.arm = self._pull(dice)
            kind = FRESH if self.arm == 4 else LDU if self.arm == 3 else self.arm
        elif kind == YRU:
            kind = YR if dice.uniform() < 0.5 else U
        elif kind == LDU and dice.uniform() >= 0.5:
            kind = U
        if kind == OR:
            node = self.links.draw(dice)
        elif kind == YR:
            node = self.yields.draw(dice)
        elif kind == LDU:
            node = self.highest.top()
            if self.highest.score[node] <= 0.0:
                node = -1
        elif kind == FRESH:
            self._fill()
            node = self.plan.draw(dice)
        if node < 0:
            node = self.members[dice.below(self.count)]
        self.picked = node
        return node

    def _pull(self, dice):
        """An arm: each once, then the best, and now and then any."""
        arm: cython.int
        best: cython.int = 0
        for arm in range(ARMS):
            if self.pulls[arm] == 0:
                return arm
            if self.means[arm] > self.means[best]:
                best = arm
        if dice.uniform() < STRAY:
            return cython.cast(cython.int, dice.below(ARMS))
        return best

    def _change(self, node):
        """The rate of change: of visits by chance, -log(share of intervals without a change) over
        the mean interval, with half a change and half an interval added, so that it is neither 0
        nor infinite."""
        count: cython.double = self.intervals[node]
        still: cython.double = count - self.changes[node]
        return -log((still + 0.5) / (count + 1.0)) * count / self.watched[node]

    def _share(self, change):
        if self.level <= 0.0:
            return 1.0
        share: cython.double = sqrt(change / self.level) - change
        return share if share > 0.0 else 0.0

    def _fill(self):
        """Find the level at which the rates of visits add up to the rate that there is."""
        if self.level > 0.0 and self.since < self.planned and 10 * self.count < 11 * self.planned:
            return
        i: cython.int
        turn: cython.int
        node: cython.int
        total: cython.double
        low: cython.double = 1e-300
        high: cython.double = 1e300
        change: cython.double[::1] = np.zeros(self.count)
        for i in range(self.count):
            change[i] = self._change(self.members[i])
        for turn in range(HALVINGS):
            self.level = sqrt(low) * sqrt(high)
            total = 0.0
            for i in range(self.count):
                total += self._share(change[i])
            if total > self.rate:
                low = self.level
            else:
                high = self.level
            if high <= low * (1.0 + 1e-12):
                break
        for i in range(self.count):
            node = self.members[i]
            self.plan.put(node, self._share(change[i]))
        self.planned = self.count
        self.since = 0


class Tracking:
    """Tracking the most cited of a time graph, step by step.

    Links arrive at times; those of the last ``window`` are there. ``pairs`` are the distinct links
    in order of source and target, those of node u in ``rows[u]:rows[u + 1]``; ``arrivals`` are the
    times at which ``arriving`` pairs arrive, in order of time. A pair that arrives again is there
    until the window has passed since its last arrival.

    At each step, with probability ``expand`` a new node is crawled: the expansion's pick or, with
    ``anywhere``, a node drawn evenly from those that have a link and were not crawled. Otherwise,
    and where there is no such node, a crawled one is crawled again. A crawl sees the links that are
    there.
    """

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
