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

if cython.compiled:
    from cython.cimports.libc.math import log, sqrt
    from cython.cimports.sonde.kernels.citations.summit import Summit
    from cython.cimports.sonde.kernels.citations.weights import Weights
else:
    from math import log, sqrt

    from sonde.kernels.citations.summit import Summit
    from sonde.kernels.citations.weights import Weights

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
        self.summit = Summit(room if policy == LDU or both else 0)
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
            self.summit.reserve(room)
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
            self.summit.put(node, score)
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
            self.summit.forget(node)
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
            node = self.summit.top()
            if self.summit.score[node] <= 0.0:
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
