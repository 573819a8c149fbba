"""The register of nodes: names to numbers in order of first appearance, and back.

Most names are texts, and there are millions of them: they stand one behind the other in ``pool`` as
UTF-8, and are found by an open-addressing table of 64-bit entries, 31 bits of the name's hash above
its number + 1, 0 where free. That takes half of what a dictionary and a list of texts would. A
dictionary has the names that are no texts (or no proper ones); they take a number without a text.
How names hash decides only how fast they are found, never which number they get.
"""

import cython
import numpy as np

from sonde.kernels.model.frontier import grown, stretched

if cython.compiled:
    from cython.cimports.cpython.unicode import PyUnicode_AsUTF8AndSize, PyUnicode_DecodeUTF8
    from cython.cimports.libc.string import memcmp, memcpy


class Register:
    def __init__(self):
        self.count = 0
        self.others = {}
        self.strangers = {}  # the others, by number
        self.pool = np.zeros(1024, dtype=np.uint8)
        self.offsets = np.zeros(17, dtype=np.int64)
        self.table = np.zeros(64, dtype=np.int64)

    def __len__(self):
        return self.count

    def find(self, node):
        """The number of a node, -1 for one that has none."""
        if isinstance(node, str):
            try:
                return self.search(node, False)
            except UnicodeEncodeError:
                pass
        return self.others.get(node, -1)

    def get(self, node):
        """The number of a node, ``None`` for one that has none."""
        number: cython.int = self.find(node)
        return None if number < 0 else number

    def number(self, node):
        """The number of a node, the next one if it had none."""
        if isinstance(node, str):
            try:
                return self.search(node, True)
            except UnicodeEncodeError:
                pass
        if node not in self.others:
            self.others[node] = self.count
            self.strangers[self.count] = node
            self.write(b"", 0)
        return self.others[node]

    def number_all(self, nodes):
        """The numbers of nodes, in their order."""
        return [self.number(node) for node in nodes]

    def node(self, number):
        """The node of a number."""
        start: cython.longlong
        size: cython.Py_ssize_t
        if not 0 <= number < self.count:
            raise IndexError(f"no node has the number {number}")
        if number in self.strangers:
            return self.strangers[number]
        start = self.offsets[number]
        size = self.offsets[number + 1] - start
        if cython.compiled:
            return PyUnicode_DecodeUTF8(
                cython.cast(cython.p_char, cython.address(self.pool[start])), size, cython.NULL
            )
        return bytes(self.pool[start : start + size]).decode()

    def search(self, text, add):
        hashed: cython.longlong = hash(text) & 0x7FFFFFFF
        size: cython.Py_ssize_t = 0
        slot: cython.longlong
        if cython.compiled:
            data: cython.p_const_char = PyUnicode_AsUTF8AndSize(text, cython.address(size))
        else:
            data = text.encode()
            size = len(data)
        slot = self.slot_of(hashed, data, size)
        if self.table[slot] == 0:
            if not add:
                return -1
            self.table[slot] = (hashed << 32) | (self.count + 1)
            self.write(data, size)
            if 4 * self.count > 3 * self.table.shape[0]:
                self.rebuild()
            return self.count - 1
        return cython.cast(cython.int, (self.table[slot] & 0xFFFFFFFF) - 1)

    def slot_of(self, hashed, data, size):
        """The slot of the table that holds the text, or the free one where it belongs."""
        last: cython.longlong = self.table.shape[0] - 1
        slot: cython.longlong = hashed & last
        while self.table[slot] != 0 and (
            self.table[slot] >> 32 != hashed
            or not self.holds((self.table[slot] & 0xFFFFFFFF) - 1, data, size)
        ):
            slot = (slot + 1) & last
        return slot

    def holds(self, number, data, size):
        start: cython.longlong = self.offsets[number]
        if self.offsets[number + 1] - start != size:
            return False
        if cython.compiled:
            return memcmp(cython.address(self.pool[start]), data, size) == 0
        return bytes(self.pool[start : start + size]) == data

    def write(self, data, size):
        """The text of the next number."""
        start: cython.longlong = self.offsets[self.count]
        if start + size > self.pool.shape[0]:
            stretched(self, "pool", start + size)
        if self.count + 2 > self.offsets.shape[0]:
            self.offsets = grown(self.offsets, self.count + 2, 0)
        if cython.compiled:
            memcpy(cython.address(self.pool[start]), data, size)
        else:
            self.pool[start : start + size] = np.frombuffer(data, dtype=np.uint8)
        self.offsets[self.count + 1] = start + size
        self.count += 1

    def rebuild(self):
        """A table of twice the size."""
        before: cython.longlong[::1] = self.table
        last: cython.longlong = 2 * before.shape[0] - 1
        slot: cython.longlong
        i: cython.Py_ssize_t
        self.table = np.zeros(last + 1, dtype=np.int64)
        for i in range(before.shape[0]):
            if before[i] != 0:
                slot = (before[i] >> 32) & last
                while self.table[slot] != 0:
                    slot = (slot + 1) & last
                self.table[slot] = before[i]
