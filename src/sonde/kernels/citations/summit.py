"""The item with the highest score, while scores change: a binary heap that knows its places.

Ties go to the item that came first. An item that goes and comes back keeps its turn.
"""

import cython
import numpy as np


class Summit:
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
