"""The one source of randomness: xoshiro256++ with its state in plain sight.

NumPy's generators are faster in bulk, but their state cannot be stepped one draw at a time from
compiled code and from Python with the same result. Masks keep uncompiled integers in 64 bits.
"""

import cython
from cython.cimports.sonde.kernels.byte import GOLDEN, MASK, SPLITMIX


class Dice:
    LEARNED = ("s0", "s1", "s2", "s3")

    def __init__(self, seed):
        mixed = seed & MASK
        words = []
        for _ in range(4):  # splitmix64, as the generator's authors advise for seeding
            mixed = (mixed + GOLDEN) & MASK
            word = mixed
            word = ((word ^ (word >> 30)) * SPLITMIX) & MASK
            word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
            words.append(word ^ (word >> 31))
        self.s0, self.s1, self.s2, self.s3 = words

    def state(self):
        return (self.s0, self.s1, self.s2, self.s3)

    def restore(self, state):
        self.s0, self.s1, self.s2, self.s3 = state

    def turn(self):
        total: cython.ulonglong = (self.s0 + self.s3) & MASK
        result: cython.ulonglong = ((((total << 23) & MASK) | (total >> 41)) + self.s0) & MASK
        shifted: cython.ulonglong = (self.s1 << 17) & MASK
        self.s2 ^= self.s0
        self.s3 ^= self.s1
        self.s1 ^= self.s2
        self.s0 ^= self.s3
        self.s2 ^= shifted
        self.s3 = ((self.s3 << 45) & MASK) | (self.s3 >> 19)
        return result

    def uniform(self):
        """A double in [0, 1) with 53 random bits."""
        return (self.turn() >> 11) * (1.0 / 9007199254740992.0)

    def below(self, count):
        """An integer in [0, count), without bias: draws from the ragged end are drawn again."""
        size: cython.ulonglong = count
        spare: cython.ulonglong = (MASK % size + 1) % size
        limit: cython.ulonglong = MASK - spare
        draw: cython.ulonglong = self.turn()
        while draw > limit:
            draw = self.turn()
        return cython.cast(cython.longlong, draw % size)
