"""The words of a text that somebody waits for, found in one pass, whatever makes them wanted.

A word is a longest run of letters, and of characters that count for nothing within it. The caller
says of each character what it is (``OTHER``, ``NOTHING``, ``LETTER``, or ``FIRST``: a letter that a
wanted word may begin with), and of each word that begins with such a letter what it is wanted for:
a number, or 0. Both are asked once and remembered, characters in a table of the Basic Multilingual
Plane, words by a hash of 64 bits in a table in which each place has the last word that fell on it.
"""

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.sonde.kernels import byte
    from cython.cimports.sonde.kernels.text.utf8 import code_at, width_at
else:
    from sonde.kernels import byte
    from sonde.kernels.text.utf8 import code_at, width_at

UNKNOWN = 0
OTHER = 1
NOTHING = 2
LETTER = 3
FIRST = 4
PLANE = 0x10000
ROOM = 1 << 15


class Lexicon:
    def __init__(self, classify, define) -> None:
        """``classify`` says what a character is, ``define`` what a word is wanted for."""
        self.classify = classify
        self.define = define
        self.classes = bytearray(PLANE)
        self.keys = np.zeros(ROOM, np.uint64)
        self.labels = np.zeros(ROOM, np.intc)
        for code in range(0x80):  # so that only others are unknown
            self.class_of(code)

    def class_of(self, code):
        """What a character is."""
        found: cython.int = UNKNOWN
        if code < PLANE:
            found = self.classes[code]
        if found == UNKNOWN:
            found = self.classify(chr(code))
            if code < PLANE:
                self.classes[code] = found
        return found

    def label_of(self, key, text, begin, end):
        """What a word is wanted for."""
        at: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, (key ^ (key >> 32)) & (ROOM - 1))
        if self.keys[at] != key:
            self.labels[at] = self.define(text[begin:end].decode("utf-8", "surrogatepass"))
            self.keys[at] = key
        return self.labels[at]

    def find(self, text: bytes):
        """The wanted words of a text in UTF-8, by their starts: (start, end, what it is wanted
        for), in characters."""
        size: cython.Py_ssize_t = len(text)
        codes: cython.p_uchar = text
        classes: cython.p_uchar = self.classes
        at: cython.Py_ssize_t = 0
        more: cython.Py_ssize_t = 0  # bytes than characters, before this place
        begin: cython.Py_ssize_t
        end: cython.Py_ssize_t
        start: cython.Py_ssize_t
        stop: cython.Py_ssize_t
        width: cython.int
        what: cython.int
        before: cython.int = OTHER
        label: cython.int
        code: cython.uint
        key: cython.ulonglong
        found: list = []
        while True:
            while at < size:  # most of a text goes by here
                if codes[at] >= 0x80:
                    break
                what = classes[codes[at]]
                if (what == FIRST) & (before < LETTER):
                    break
                if what != NOTHING:
                    before = what
                at += 1
            if at >= size:
                return found
            width = width_at(codes, at)
            if at + width > size:
                raise ValueError("a character of UTF-8 is cut short")
            if width > 1:
                what = self.class_of(code_at(codes, at))
                if what != FIRST or before >= LETTER:
                    if what != NOTHING:
                        before = what
                    at += width
                    more += width - 1
                    continue
            begin = end = at
            start = stop = at - more
            key = byte.FNV_START
            while at < size:
                width = 1
                code = codes[at]
                if code < 0x80:
                    what = classes[code]
                else:
                    width = width_at(codes, at)
                    if at + width > size:
                        raise ValueError("a character of UTF-8 is cut short")
                    code = code_at(codes, at)
                    what = self.class_of(code)
                if what == OTHER:
                    break
                key = (key ^ code) * byte.FNV_PRIME & byte.MASK
                at += width
                more += width - 1
                if what != NOTHING:
                    end = at
                    stop = at - more
            before = OTHER
            label = self.label_of(key, text, begin, end)
            if label > 0:
                found.append((start, stop, label))
