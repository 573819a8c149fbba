"""Wordings: the distinct lists of words that links carry, each kept once.

What a site's pages have in common, its menus, says the same on every page: the links of a crawl
share a tenth as many lists, or fewer. List k stands in ``words`` from first[k] to first[k + 1].
"""

import cython
import numpy as np

from sonde.kernels.model.frontier import grown

FNV_START = 0xCBF29CE484222325
FNV_TIMES = 0x100000001B3
MASK = 0xFFFFFFFFFFFFFFFF


class Wordings:
    def __init__(self, first=None, words=None):
        """Empty, or those of a recorded graph, which need not be distinct and do not grow."""
        self.first = np.zeros(17, dtype=np.int64) if first is None else first
        self.words = np.zeros(16, dtype=np.uint16) if words is None else words
        self.count = 0 if first is None else len(first) - 1
        self.table = np.zeros(64, dtype=np.intc)  # number + 1 of a list, 0 where free

    def number_all(self, lists, numbers):
        """Write the number of each list, given as bytes, two a word; new ones are kept."""
        data: cython.const[cython.uchar][::1] = memoryview(b"".join(lists))
        out: cython.int[::1] = numbers
        begin: cython.longlong = 0
        size: cython.longlong
        i: cython.Py_ssize_t
        for i in range(len(lists)):
            size = len(lists[i])
            out[i] = self.number(data, begin, size)
            begin += size

    def number(self, data, begin, size):
        if 4 * (self.count + 1) > 3 * self.table.shape[0]:
            self.rebuild()
        slot: cython.longlong = self.slot_of(data, begin, size)
        if self.table[slot] > 0:
            return self.table[slot] - 1
        end: cython.longlong = self.first[self.count] + size // 2
        i: cython.longlong
        if end > self.words.shape[0]:
            self.words = grown(self.words, end, 0)
        if self.count + 2 > self.first.shape[0]:
            self.first = grown(self.first, self.count + 2, 0)
        for i in range(size // 2):
            self.words[self.first[self.count] + i] = data[begin + 2 * i] | (
                cython.cast(cython.ushort, data[begin + 2 * i + 1]) << 8
            )
        self.first[self.count + 1] = end
        self.count += 1
        self.table[slot] = self.count
        return self.count - 1

    def slot_of(self, data, begin, size):
        """The slot of the table that holds the list, or the free one where it belongs."""
        digest: cython.ulonglong = FNV_START
        last: cython.longlong = self.table.shape[0] - 1
        start: cython.longlong
        slot: cython.longlong
        i: cython.longlong
        same: cython.bint
        for i in range(begin, begin + size, 2):
            digest ^= data[i] | (cython.cast(cython.ushort, data[i + 1]) << 8)
            digest = (digest * FNV_TIMES) & MASK
        slot = cython.cast(cython.longlong, digest >> 32) & last
        while self.table[slot] > 0:
            start = self.first[self.table[slot] - 1]
            same = 2 * (self.first[self.table[slot]] - start) == size
            i = 0
            while same and 2 * i < size:
                same = self.words[start + i] == (
                    data[begin + 2 * i] | (cython.cast(cython.ushort, data[begin + 2 * i + 1]) << 8)
                )
                i += 1
            if same:
                break
            slot = (slot + 1) & last
        return slot

    def rebuild(self):
        """A table with room for twice as many lists, filled anew."""
        data: cython.const[cython.uchar][::1] = memoryview(
            np.asarray(self.words).astype("<u2", copy=False).view(np.uint8)
        )
        size: cython.longlong = 64
        number: cython.int
        while 3 * size < 8 * (self.count + 1):
            size *= 2
        self.table = np.zeros(size, dtype=np.intc)
        for number in range(self.count):
            self.table[
                self.slot_of(
                    data,
                    2 * self.first[number],
                    2 * (self.first[number + 1] - self.first[number]),
                )
            ] = number + 1
