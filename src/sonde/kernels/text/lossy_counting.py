"""Lossy counting: on how many pages a key stood, for the keys that stand on many.

A table of bounded size, by open addressing. When more than ``limit`` keys are alive after a page,
buckets are closed until they are not: each closing forgets the keys that were counted least since
they came in. So a count is never too high, and too low by at most the number of buckets closed
(Manku and Motwani, VLDB 2002, with buckets closed by size).

Each key has room for some sums of its own beside its count. The table grows by doubling: a small
site needs little. What a table answers is a function of what it was told, not of where keys stand.
"""

import cython
import numpy as np

MOST = 2**31 - 1


class LossyCounting:
    def __init__(self, limit, sums=0, most_new=0) -> None:
        """`most_new` keys at most come in with one page (0: as many as there are)."""
        self.limit = limit
        self.sums = sums
        self.most_new = most_new if most_new > 0 else MOST
        self.closed = 0
        self.page = 0
        self.live = 0
        self.new = 0
        self.make_room(256)

    def make_room(self, room):
        self.room = room
        self.keys = np.zeros(room, dtype=np.uint64)
        self.counts = np.zeros(room, dtype=np.intc)  # 0: nothing stands here
        self.deltas = np.zeros(room, dtype=np.intc)
        self.pages = np.zeros(room, dtype=np.intc)
        self.sum = np.zeros((room, max(self.sums, 1)), dtype=np.int64)

    def place(self, key):
        """Where a key stands, or would."""
        at: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, key & (self.room - 1))
        while self.counts[at] > 0 and self.keys[at] != key:
            at = (at + 1) & (self.room - 1)
        return at

    def find(self, key):
        """Where a key stands; -1 where it does not."""
        at: cython.Py_ssize_t = self.place(key)
        return at if self.counts[at] > 0 else -1

    def count(self, key):
        """On how many pages a key stood, as far as is known."""
        return self.counts[self.place(key)]

    def turn(self) -> None:
        """Another page begins."""
        self.page += 1
        self.new = 0

    def see(self, key) -> int:
        """A key stands on this page; its place, or -1 where there is no room for another."""
        at: cython.Py_ssize_t = self.place(key)
        if self.counts[at] == 0:
            if self.new >= self.most_new:
                return -1
            if 4 * (self.live + 1) > 3 * self.room:
                self.gather(2 * self.room, 0)
                at = self.place(key)
            self.keys[at] = key
            self.counts[at] = 1
            self.deltas[at] = self.closed
            self.pages[at] = self.page
            self.live += 1
            self.new += 1
        elif self.pages[at] != self.page:
            self.pages[at] = self.page
            self.counts[at] += 1
        return at

    def close(self):
        """The page is told: forget what is needed to keep the bound."""
        at: cython.Py_ssize_t
        left: cython.Py_ssize_t = self.live
        if left <= self.limit:
            return
        while left > self.limit:
            self.closed += 1
            left = 0
            for at in range(self.room):
                if self.counts[at] > 0 and self.counts[at] + self.deltas[at] > self.closed:
                    left += 1
        self.gather(self.room, self.closed)

    def gather(self, room, least):
        """Move to a table of another size the keys that count more than this."""
        keys: cython.ulonglong[::1] = self.keys
        counts: cython.int[::1] = self.counts
        deltas: cython.int[::1] = self.deltas
        pages: cython.int[::1] = self.pages
        sums: cython.longlong[:, ::1] = self.sum
        old: cython.Py_ssize_t = self.room
        at: cython.Py_ssize_t
        to: cython.Py_ssize_t
        i: cython.Py_ssize_t
        self.make_room(room)
        self.live = 0
        for at in range(old):
            if counts[at] > 0 and counts[at] + deltas[at] > least:
                to = self.place(keys[at])
                self.keys[to] = keys[at]
                self.counts[to] = counts[at]
                self.deltas[to] = deltas[at]
                self.pages[to] = pages[at]
                for i in range(self.sums):
                    self.sum[to, i] = sums[at, i]
                self.live += 1

    def state(self):
        """What is known, in the order of the keys."""
        alive = np.flatnonzero(np.asarray(self.counts))
        alive = alive[np.argsort(np.asarray(self.keys)[alive])]
        return {
            "facts": np.array([self.page, self.closed], dtype=np.int64),
            "keys": np.asarray(self.keys)[alive],
            "counts": np.asarray(self.counts)[alive],
            "deltas": np.asarray(self.deltas)[alive],
            "sums": np.asarray(self.sum)[alive, : self.sums],
        }

    def restore(self, state):
        """Become what a state says."""
        keys: cython.ulonglong[::1] = np.ascontiguousarray(state["keys"], dtype=np.uint64)
        counts: cython.int[::1] = np.ascontiguousarray(state["counts"], dtype=np.intc)
        deltas: cython.int[::1] = np.ascontiguousarray(state["deltas"], dtype=np.intc)
        sums: cython.longlong[:, ::1] = np.ascontiguousarray(state["sums"], dtype=np.int64)
        number: cython.Py_ssize_t
        at: cython.Py_ssize_t
        i: cython.Py_ssize_t
        self.page, self.closed = (int(fact) for fact in state["facts"])
        room = 256
        while 4 * len(keys) > 3 * room:
            room *= 2
        self.make_room(room)
        self.live = len(keys)
        for number in range(keys.shape[0]):
            at = self.place(keys[number])
            self.keys[at] = keys[number]
            self.counts[at] = counts[number]
            self.deltas[at] = deltas[number]
            for i in range(self.sums):
                self.sum[at, i] = sums[number, i]
