"""UTF-8 folded character by character, by a table that fills as characters are met.

The table has an entry for each character of the Basic Multilingual Plane: where in ``spelt`` stands
what it folds to, and how many bytes that is, or that it stays as it is. Characters beyond the plane
stay.
"""

import cython
import numpy as np
from cython.cimports.sonde.kernels import byte
from cython.cimports.sonde.kernels.text.utf8 import code_at, width_at

UNKNOWN = -1
SAME = -2
PLANE = 0x10000
WIDEST = 9  # bytes of what one character folds to


class Folding:
    def __init__(self, define) -> None:
        """``define`` says what a character, as a string, folds to."""
        self.define = define
        self.entries = np.full(PLANE, UNKNOWN, np.intc)
        self.spelt = bytearray()

    def entry(self, code):
        found: cython.int
        if code >= PLANE:
            return SAME
        found = self.entries[code]
        if found == UNKNOWN:
            character = chr(code)
            folded = self.define(character).encode("utf-8", "surrogatepass")
            if folded == character.encode("utf-8", "surrogatepass"):
                found = SAME
            else:
                assert len(folded) <= WIDEST
                found = len(self.spelt) << 4 | len(folded)
                self.spelt += folded
            self.entries[code] = found
        return found

    def fold(self, text: bytes):
        """The folded text."""
        size: cython.Py_ssize_t = len(text)
        store: bytearray = bytearray(size + size // 2 + WIDEST)
        codes: cython.p_uchar = text
        out: cython.p_uchar = store
        room: cython.Py_ssize_t = len(store)
        at: cython.Py_ssize_t = 0
        to: cython.Py_ssize_t = 0
        code: cython.uint
        found: cython.int
        width: cython.int
        i: cython.int
        while at < size:
            while at < size and codes[at] < 0x80:
                code = codes[at]
                if byte.CAPITAL_A <= code <= byte.CAPITAL_Z:
                    code += byte.SMALL
                elif code == byte.HYPHEN:
                    code = byte.SPACE
                out[to] = code
                to += 1
                at += 1
            if at >= size:
                break
            if room - to < size - at + WIDEST:  # the rest as it is, and one that grows
                store += bytes(size)
                out = store
                room = len(store)
            width = width_at(codes, at)
            if at + width > size:
                raise ValueError("a character of UTF-8 is cut short")
            found = self.entry(code_at(codes, at))
            if found == SAME:
                for i in range(width):
                    out[to] = codes[at + i]
                    to += 1
            else:
                for i in range(found & 15):
                    out[to] = self.spelt[(found >> 4) + i]
                    to += 1
            at += width
        del store[to:]
        return bytes(store)

    def places(self, text: bytes):
        """Where each character of the text begins once folded, in bytes, and where all ends."""
        size: cython.Py_ssize_t = len(text)
        codes: cython.p_uchar = text
        found = np.empty(size + 1, np.intc)
        places: cython.int[::1] = found
        at: cython.Py_ssize_t = 0
        count: cython.Py_ssize_t = 0
        to: cython.int = 0
        entry: cython.int
        width: cython.int
        while at < size:
            places[count] = to
            count += 1
            width = width_at(codes, at)
            if at + width > size:
                raise ValueError("a character of UTF-8 is cut short")
            entry = SAME if width == 1 else self.entry(code_at(codes, at))
            to += width if entry == SAME else entry & 15
            at += width
        places[count] = to
        return found[: count + 1]
