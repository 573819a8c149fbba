"""Names that a kernel knows: a table from the hash of a name to a number.

A reader of markup meets a name every few bytes and must know what it stands for without making a
string of it: it hashes the bytes as it passes them, and looks the hash up. Two names with one hash
would be taken for each other; a table refuses to be made with such names.
"""

from __future__ import annotations

import cython
import numpy as np

FIRST = 0xCBF29CE484222325
PRIME = 0x100000001B3
MASK = 0xFFFFFFFFFFFFFFFF


def hash_of(name):
    """The hash of a name in bytes: FNV-1a."""
    digest = FIRST
    for code in name:
        digest = ((digest ^ code) * PRIME) & MASK
    return digest


class Names:
    """What names stand for: numbers above 0, and 0 for all other names."""

    def __init__(self, numbers: dict):
        slots = 64
        while slots < 4 * len(numbers):
            slots *= 2
        self.last = slots - 1
        self.keys = np.zeros(slots, dtype=np.uint64)
        self.numbers = np.zeros(slots, dtype=np.intc)
        for name, number in numbers.items():
            key = hash_of(name.encode())
            if self.number(key):
                raise ValueError(f"the name {name!r} shares its hash with another one")
            slot = key >> 32 & self.last
            while self.numbers[slot]:
                slot = slot + 1 & self.last
            self.keys[slot] = key
            self.numbers[slot] = number

    def number(self, key):
        """What the name with this hash stands for."""
        slot: cython.longlong = cython.cast(cython.longlong, key >> 32) & self.last
        while self.numbers[slot]:
            if self.keys[slot] == key:
                return self.numbers[slot]
            slot = (slot + 1) & self.last
        return 0
