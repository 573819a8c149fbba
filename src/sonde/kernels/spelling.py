"""Words of texts as numbers of 16 bits.

A word is a run of two or more letters and digits. Its number is the FNV-1a hash of its characters
in lower case, folded to 16 bits; a `salt` gives the same word another number in another place.
A page's words are numbered once, however many windows of links they stand in.
"""

import cython
import numpy as np

FNV_START = 2166136261
FNV_TIMES = 16777619
MASK = 0xFFFFFFFF
QUESTION = 63
FRAGMENT = 35
SLASH = 47
DOT = 46
LOWER = np.array(
    [ord(chr(code).lower()) if chr(code).isalnum() else 0 for code in range(128)], dtype=np.uint32
)


def foreign(letter):
    """What a character beyond ASCII counts as: its lower case (of some that is two characters, of
    which the first counts), 0 for one that is neither letter nor digit."""
    if cython.compiled:
        if not cython.cast(cython.Py_UCS4, letter).isalnum():
            return 0
    elif not chr(letter).isalnum():
        return 0
    return ord(chr(letter).lower()[0])


class Numbered:
    """The words of a text: where they start and end, and their numbers."""

    def __init__(self, text, salt):
        # As numbers of 32 bits, so that no character is looked up through Python.
        self.text = np.frombuffer(_wide(text), np.uint32)
        self.starts = np.empty(len(text) // 2 + 1, dtype=np.intc)
        self.ends = np.empty(len(text) // 2 + 1, dtype=np.intc)
        self.numbers = np.empty(len(text) // 2 + 1, dtype=np.uint16)
        self.lower = LOWER
        self.count = 0
        self.first = FNV_START
        if salt:  # as a first character that no word has
            self.first = ((self.first ^ salt) * FNV_TIMES) & MASK

    def read(self, start, end):
        """Number the words inside text[start:end], in place of those before."""
        value: cython.uint
        letter: cython.uint
        place: cython.Py_ssize_t = start
        begin: cython.Py_ssize_t
        self.count = 0
        while place < end:
            begin = place
            value = self.first
            while place < end:
                letter = cython.cast(cython.uint, self.text[place])
                letter = self.lower[letter] if letter < 128 else foreign(letter)
                if letter == 0:
                    break
                value = ((value ^ cython.cast(cython.uint, letter)) * FNV_TIMES) & MASK
                place += 1
            if place - begin >= 2:
                self.starts[self.count] = cython.cast(cython.int, begin)
                self.ends[self.count] = cython.cast(cython.int, place)
                self.numbers[self.count] = cython.cast(
                    cython.ushort, (value ^ (value >> 16)) & 0xFFFF
                )
                self.count += 1
            place += 1

    def gather(self, start, end, out, first, count, most):
        """Write the words that lie whole in [start, end) behind the `count` of out[first:], each
        once, up to `most`; their number."""
        low: cython.int = 0
        high: cython.int = self.count
        middle: cython.int
        i: cython.int
        number: cython.ushort
        while low < high:
            middle = (low + high) // 2
            if self.starts[middle] < start:
                low = middle + 1
            else:
                high = middle
        while low < self.count and self.ends[low] <= end and count < most:
            number = self.numbers[low]
            i = 0
            while i < count and out[first + i] != number:
                i += 1
            if i == count:
                out[first + count] = number
                count += 1
            low += 1
        return count

    def read_address(self, start, end):
        """Number the words of the last two parts of the address text[start:end], without its query
        and its ending."""
        stop: cython.Py_ssize_t = start
        slashes: cython.int = 0
        begin: cython.Py_ssize_t
        dot: cython.Py_ssize_t = -1
        while stop < end and self.text[stop] != QUESTION and self.text[stop] != FRAGMENT:
            stop += 1
        begin = stop
        while begin > start:
            if self.text[begin - 1] == SLASH:
                slashes += 1
                if slashes == 2:
                    break
            elif self.text[begin - 1] == DOT and slashes == 0 and dot < 0:
                dot = begin - 1
            begin -= 1
        self.read(begin, stop if dot < 0 else dot)


def spelled(text: str, starts, ends, addresses, window: cython.Py_ssize_t, most: cython.int):
    """The words of links whose anchors stand at these places of a text: of the anchor, then of the
    address, then of `window` characters on either side. All words in one array, and where those
    of each link end."""
    links: cython.Py_ssize_t = len(addresses)
    link: cython.Py_ssize_t
    total: cython.Py_ssize_t = 0
    place: cython.Py_ssize_t = 0
    size: cython.Py_ssize_t
    start: cython.Py_ssize_t
    end: cython.Py_ssize_t
    count: cython.int
    words: Numbered = Numbered(text, 0)
    paths: Numbered = Numbered("".join(addresses), 1)
    numbers = np.empty(links * most, dtype=np.uint16)
    out: cython.ushort[::1] = numbers
    ends_at = np.empty(links, dtype=np.int64)
    stops: cython.longlong[::1] = ends_at
    words.read(0, words.text.shape[0])
    for link in range(links):
        start = starts[link]
        end = ends[link]
        size = len(addresses[link])
        count = words.gather(start, end, out, total, 0, most)
        paths.read_address(place, place + size)
        count = paths.gather(place, place + size, out, total, count, most)
        place += size
        if window > 0:
            count = words.gather(start - window, end + window, out, total, count, most)
        total += count
        stops[link] = total
    return numbers[:total], ends_at


def _wide(text):
    return bytearray(text.encode("utf-32-le", "surrogatepass"))  # a writable buffer
