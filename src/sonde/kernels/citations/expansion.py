"""Finding the most cited: which node to expand next, and the orders in which nodes are met.

An ``Expansion`` is the frontier of a crawl for the most cited; ``Weights`` and a ``Heap`` are what
it picks by. ``crawl``, ``walk`` and ``sample`` are orders in which crawlers and samplers meet the
nodes of a static graph. Each fills ``order`` with nodes and gives how many: fewer than there is
room for when nothing is left in reach. A graph is its CSR arrays, without self-loops and parallel
links.
"""

import cython
import numpy as np
from cython.cimports.sonde.kernels.model.dice import Dice

if not cython.compiled:
    UNSEEN = 0
    WAITING = 1
    TAKEN = 2


class Weights:
    """Weights that change, and draws in proportion to them, in O(log n): a binary tree of sums.

    Each inner node is the sum of its two children, added anew whenever one changes: sums of whole
    numbers are exact, and those of fractions never drift. A draw walks down from the root.
    """

    def __init__(self, room):
        self.leaves = 1
        while self.leaves < room:
            self.leaves *= 2
        self.sums = np.zeros(2 * self.leaves)

    def reserve(self, room):
        """Make room for so many items; what there is keeps its weight."""
        if room <= self.leaves:
            return
        old = np.asarray(self.sums)[self.leaves :]
        self.leaves *= 2
        while self.leaves < room:
            self.leaves *= 2
        sums = np.zeros(2 * self.leaves)
        sums[self.leaves : self.leaves + len(old)] = old
        self._sum_up(sums)

    def fill(self, weights):
        """Give the first items these weights, and the others none."""
        sums = np.zeros(2 * self.leaves)
        sums[self.leaves : self.leaves + len(weights)] = weights
        self._sum_up(sums)

    def _sum_up(self, sums):
        level: cython.longlong = self.leaves
        while level > 1:
            level //= 2
            sums[level : 2 * level] = (
                sums[2 * level : 4 * level : 2] + sums[2 * level + 1 : 4 * level : 2]
            )
        self.sums = sums

    def total(self):
        return self.sums[1]

    def get(self, item):
        return self.sums[self.leaves + item]

    def put(self, item, weight):
        """Change the weight of an item."""
        place: cython.longlong = self.leaves + item
        self.sums[place] = weight
        place >>= 1
        while place >= 1:
            self.sums[place] = self.sums[2 * place] + self.sums[2 * place + 1]
            place >>= 1

    def draw(self, dice):
        """An item, with a probability in proportion to its weight; -1 if all weights are 0."""
        if self.sums[1] <= 0.0:
            return -1
        rest: cython.double = dice.uniform() * self.sums[1]
        place: cython.longlong = 1
        while place < self.leaves:
            place *= 2
            # Rounding may leave a rest that reaches past the last weight: never into nothing.
            if rest >= self.sums[place] and self.sums[place + 1] > 0.0:
                rest -= self.sums[place]
                place += 1
        return cython.cast(cython.int, place - self.leaves)


class Heap:
    """The item with the highest score, while scores change: a binary heap that knows its places.

    Ties go to the item that came first. An item that goes and comes back keeps its turn.
    """

    def __init__(self, room):
        self.count = 0
        self.came = 0
        self.heap = np.zeros(room, dtype=np.intc)
        self.place = np.full(room, -1, dtype=np.intc)
        self.turn = np.full(room, -1, dtype=np.int64)
        self.score = np.zeros(room)

    def reserve(self, room):
        """Make room for so many items."""
        more = room - len(self.place)
        if more > 0:
            more = max(more, len(self.place))
            self.heap = np.concatenate([self.heap, np.zeros(more, dtype=np.intc)])
            self.place = np.concatenate([self.place, np.full(more, -1, dtype=np.intc)])
            self.turn = np.concatenate([self.turn, np.full(more, -1, dtype=np.int64)])
            self.score = np.concatenate([self.score, np.zeros(more)])

    def top(self):
        """The item with the highest score, or -1."""
        return self.heap[0] if self.count else -1

    def put(self, item, score):
        """Add an item, or change its score."""
        if self.turn[item] < 0:
            self.turn[item] = self.came
            self.came += 1
        self.score[item] = score
        if self.place[item] < 0:
            self.place[item] = self.count
            self.heap[self.count] = item
            self.count += 1
        self._rise(item)
        self._sink(item)

    def drop(self, item):
        """Take an item out, if it is there."""
        hole: cython.int = self.place[item]
        if hole < 0:
            return
        self.place[item] = -1
        self.count -= 1
        if hole < self.count:
            last: cython.int = self.heap[self.count]
            self.heap[hole] = last
            self.place[last] = hole
            self._rise(last)
            self._sink(last)

    def forget(self, item):
        """Take an item out, and its turn with it: whoever has its number next is a new one."""
        self.drop(item)
        self.turn[item] = -1

    def _before(self, one, other):
        if self.score[one] != self.score[other]:
            return self.score[one] > self.score[other]
        return self.turn[one] < self.turn[other]

    def _rise(self, item):
        place: cython.int = self.place[item]
        above: cython.int
        other: cython.int
        while place > 0:
            above = (place - 1) // 2
            other = self.heap[above]
            if not self._before(item, other):
                break
            self.heap[place] = other
            self.place[other] = place
            place = above
        self.heap[place] = item
        self.place[item] = place

    def _sink(self, item):
        place: cython.int = self.place[item]
        below: cython.int
        other: cython.int
        while 2 * place + 1 < self.count:
            below = 2 * place + 1
            if below + 1 < self.count and self._before(self.heap[below + 1], self.heap[below]):
                below += 1
            other = self.heap[below]
            if not self._before(other, item):
                break
            self.heap[place] = other
            self.place[other] = place
            place = below
        self.heap[place] = item
        self.place[item] = place


class Expansion:
    """Which node to expand next.

    A node's *apparent* in-degree is how many links to it were seen. A pick is the node with the
    highest (ties to the one seen first) or, with probability ``explore``, a node drawn in
    proportion to it. ``chance`` is the probability of the last draw, and 0 where the pick was the
    highest.
    """

    def __init__(self, room, explore):
        self.explore = explore
        self.chance = 0.0
        self.waiting = 0
        self.apparent = np.zeros(room, dtype=np.intc)
        self.state = np.zeros(room, dtype=np.uint8)
        self.highest = Heap(room if explore < 1.0 else 0)
        self.weights = Weights(room if explore > 0.0 else 0)

    def reserve(self, room):
        """Make room for so many nodes."""
        more = room - len(self.state)
        if more > 0:
            more = max(more, len(self.state))
            self.apparent = np.concatenate([self.apparent, np.zeros(more, dtype=np.intc)])
            self.state = np.concatenate([self.state, np.zeros(more, dtype=np.uint8)])
            if self.explore < 1.0:
                self.highest.reserve(len(self.state))
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
            self.highest.put(node, self.apparent[node])
        if self.explore > 0.0:  # a node that nobody cites weighs as one that is cited once
            self.weights.put(node, max(self.apparent[node], 1))

    def take(self, node):
        """A node is crawled, from the frontier or from anywhere."""
        if self.state[node] == WAITING:
            self.waiting -= 1
            if self.explore < 1.0:
                self.highest.drop(node)
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
        return self.highest.top()


def crawl(
    expansion: Expansion,
    dice: Dice,
    indptr: cython.const[cython.longlong][::1],
    targets: cython.const[cython.int][::1],
    start: cython.int,
    order: cython.int[::1],
    chances: cython.double[::1],
):
    """Expand the start, then what the expansion picks; ``chances`` are those of its draws."""
    done: cython.longlong = 0
    link: cython.longlong
    node: cython.int = start
    while done < order.shape[0] and node >= 0:
        chances[done] = expansion.chance
        order[done] = node
        done += 1
        expansion.take(node)
        for link in range(indptr[node], indptr[node + 1]):
            expansion.cite(targets[link])
        node = expansion.pick(dice)
    return done


def walk(
    dice: Dice,
    indptr: cython.const[cython.longlong][::1],
    targets: cython.const[cython.int][::1],
    start: cython.int,
    patience: cython.longlong,
    order: cython.int[::1],
):
    """A random walk along links; ``order`` has each node once, when it was first met.

    At a dead end, and after ``patience`` moves that met nothing new, it goes on from a node drawn
    evenly from those met.
    """
    if not cython.compiled:
        indptr, targets, order = memoryview(indptr), memoryview(targets), memoryview(order)
    state: cython.uchar[::1] = np.zeros(len(indptr) - 1, dtype=np.uint8)  # 1 seen, 2 met
    waiting: cython.longlong = 1
    done: cython.longlong = 0
    idle: cython.longlong = 0
    link: cython.longlong
    width: cython.longlong
    node: cython.int = start
    while done < order.shape[0]:
        if state[node] != 2:
            state[node] = 2
            waiting -= 1
            order[done] = node
            done += 1
            idle = 0
            for link in range(indptr[node], indptr[node + 1]):
                if state[targets[link]] == 0:
                    state[targets[link]] = 1
                    waiting += 1
            if waiting == 0:
                break
        else:
            idle += 1
        width = indptr[node + 1] - indptr[node]
        if width == 0 or idle >= patience:
            node = order[dice.below(done)]
            idle = 0
            width = indptr[node + 1] - indptr[node]
            if width == 0:
                continue
        node = targets[indptr[node] + dice.below(width)]
    return done


def sample(dice: Dice, weights: Weights, spare: Weights, order: cython.int[::1]):
    """Draw without replacement in proportion to the weights; once they are used up, to ``spare``.

    Both are used up by it.
    """
    done: cython.longlong = 0
    node: cython.int
    while done < order.shape[0]:
        node = weights.draw(dice)
        if node < 0:
            node = spare.draw(dice)
        if node < 0:
            break
        weights.put(node, 0.0)
        spare.put(node, 0.0)
        order[done] = node
        done += 1
    return done
