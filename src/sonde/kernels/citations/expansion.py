"""The frontier of a crawl for the most cited: which node to expand next.

A node's *apparent* in-degree is how many links to it were seen. A pick is the node with the
highest (ties to the one seen first) or, with probability ``explore``, a node drawn in proportion
to it. ``chance`` is the probability of the last draw, and 0 where the pick was the highest.
"""

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.sonde.kernels.citations.summit import Summit
    from cython.cimports.sonde.kernels.citations.weights import Weights
else:
    from sonde.kernels.citations.summit import Summit
    from sonde.kernels.citations.weights import Weights

    UNSEEN = 0
    WAITING = 1
    TAKEN = 2


class Expansion:
    def __init__(self, room, explore):
        self.explore = explore
        self.chance = 0.0
        self.waiting = 0
        self.apparent = np.zeros(room, dtype=np.intc)
        self.state = np.zeros(room, dtype=np.uint8)
        self.summit = Summit(room if explore < 1.0 else 0)
        self.weights = Weights(room if explore > 0.0 else 0)

    def reserve(self, room):
        """Make room for so many nodes."""
        more = room - len(self.state)
        if more > 0:
            more = max(more, len(self.state))
            self.apparent = np.concatenate([self.apparent, np.zeros(more, dtype=np.intc)])
            self.state = np.concatenate([self.state, np.zeros(more, dtype=np.uint8)])
            if self.explore < 1.0:
                self.summit.reserve(len(self.state))
            if self.explore > 0.0:
                self.weights.reserve(len(self.state))

    def cite(self, node):
        """A link to the node was seen for the first time."""
        self.apparent[node] += 1
        if self.state[node] != TAKEN:
            self.enter(node)

    def enter(self, node):
        """Put a node on the frontier, or bring its standing there up to date."""
        if self.state[node] != WAITING:
            self.state[node] = WAITING
            self.waiting += 1
        if self.explore < 1.0:
            self.summit.put(node, self.apparent[node])
        if self.explore > 0.0:  # a node that nobody cites weighs as one that is cited once
            self.weights.put(node, max(self.apparent[node], 1))

    def take(self, node):
        """A node is crawled, from the frontier or from anywhere."""
        if self.state[node] == WAITING:
            self.waiting -= 1
            if self.explore < 1.0:
                self.summit.drop(node)
            if self.explore > 0.0:
                self.weights.put(node, 0.0)
        self.state[node] = TAKEN

    def pick(self, dice):
        """The next node to expand, or -1 where the frontier is empty."""
        node: cython.int
        self.chance = 0.0
        if self.explore > 0.0 and (self.explore >= 1.0 or dice.uniform() < self.explore):
            node = self.weights.draw(dice)
            if node >= 0:
                self.chance = self.weights.get(node) / self.weights.total()
            return node
        return self.summit.top()
