"""Names in HTML, of elements above all: a table from the hash of a name to a number.

A reader of markup meets a name every few bytes and must know what it stands for without making a
string of it: it hashes the bytes as it passes them, and looks the hash up. Two names with one hash
would be taken for each other; a table refuses to be made with such names.
"""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.sonde.kernels.byte import FNV_START, hashed

if not cython.compiled:
    # What happens when a reader enters an element, and, above that, what kind of element it is.
    SKIP = 1
    BLOCK = 2
    ANCHOR = 3
    CHROME = 4
    NOTE = 5
    TITLE = 6
    SCRIPT = 7
    FRAME = 8
    ROOT = 9
    ACTION = 15
    VOID = 16  # has no end tag
    RAW = 32  # holds text without entities
    LAST = 64  # holds all the rest of the document
    FLAT = 128  # does not nest: empty, or closed by the next of its kind

ELEMENTS = {
    name: action
    for action, names in (
        (SKIP, "template svg object audio video canvas datalist"),
        (SKIP | VOID | FLAT, "embed"),
        (SKIP | RAW, "style noscript iframe noframes noembed"),
        (BLOCK, "address article blockquote body button center details dialog dir div dl fieldset"),
        (BLOCK, "figcaption figure form h1 h2 h3 h4 h5 h6 hgroup legend main menu ol pre section"),
        (BLOCK, "select summary table textarea ul caption"),
        (BLOCK | FLAT, "dd dt li optgroup option p tbody td tfoot th thead tr"),
        (BLOCK | VOID | FLAT, "br hr img input"),
        (ANCHOR | FLAT, "a"),
        (ANCHOR | VOID | FLAT, "area"),
        (CHROME, "nav header footer aside"),
        (NOTE | VOID | FLAT, "meta link base"),
        (TITLE, "title"),
        (SCRIPT | RAW, "script"),
        (FRAME | VOID | FLAT, "frame"),
        (ROOT | FLAT, "html"),
        (VOID | FLAT, "col param source track wbr basefont bgsound keygen"),
        (RAW, "xmp"),
        (RAW | LAST, "plaintext"),
        (FLAT, "head colgroup"),
    )
    for name in names.split()
}
"""What each does; all others do nothing."""


def hash_of(name) -> int:
    """The hash of a name in bytes."""
    digest = FNV_START
    for code in name:
        digest = hashed(digest, code)
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
