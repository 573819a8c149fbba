"""Words of texts as numbers of 16 bits.

A word is a run of two or more letters and digits. Its number is the FNV-1a hash of its characters
in lower case, folded to 16 bits; a `salt` gives the same word another number in another place.
Of a page's text only the windows of links are read, and each stretch of it once, however many
windows it is in.
"""

import cython
import numpy as np
from cython.cimports.sonde.kernels import byte

if cython.compiled:
    from cython.cimports.cpython.unicode import PyUnicode_DATA, PyUnicode_KIND, PyUnicode_READ
else:

    def PyUnicode_KIND(text):
        return 0

    def PyUnicode_DATA(text):
        return text

    def PyUnicode_READ(kind, data, place):
        return ord(data[place])


# FNV-1a in 32 bits.
START = 2166136261
PRIME = 16777619
BITS = 0xFFFFFFFF
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
    """Words of a text: where they start and end, and their numbers."""

    def __init__(self, room, salt):
        """`room` for the words of so many characters."""
        self.starts = np.empty(room // 2 + 1, dtype=np.intc)
        self.ends = np.empty(room // 2 + 1, dtype=np.intc)
        self.numbers = np.empty(room // 2 + 1, dtype=np.uint16)
        self.lower = LOWER
        self.first = START
        if salt:  # as a first character that no word has
            self.first = ((self.first ^ salt) * PRIME) & BITS

    def turn_to(self, text):
        """Read this text from now on, of which no word is known yet."""
        self.text = text
        self.size = len(text)
        self.count = 0
        self.kind = PyUnicode_KIND(text)
        self.data = PyUnicode_DATA(text)

    def character(self, place):
        return PyUnicode_READ(self.kind, self.data, place)

    def letter(self, place):
        """The lower case of a letter or digit, 0 for anything else."""
        code: cython.uint = self.character(place)
        return self.lower[code] if code < 128 else foreign(code)

    def read(self, start, end):
        """Number the words that begin in text[start:end], behind those before them; where the last
        of them ends, or `end`."""
        value: cython.uint
        letter: cython.uint
        place: cython.Py_ssize_t = start
        begin: cython.Py_ssize_t
        kind: cython.uint = self.kind
        data: cython.p_void = self.data
        if place > 0 and self.letter(place - 1) != 0:  # a word that began before
            while place < end and self.letter(place) != 0:
                place += 1
        while place < end:
            begin = place
            value = self.first
            while place < self.size:
                letter = PyUnicode_READ(kind, data, place)
                letter = self.lower[letter] if letter < 128 else foreign(letter)
                if letter == 0:
                    break
                value = ((value ^ cython.cast(cython.uint, letter)) * PRIME) & BITS
                place += 1
            if place - begin >= 2:
                self.starts[self.count] = cython.cast(cython.int, begin)
                self.ends[self.count] = cython.cast(cython.int, place)
                self.numbers[self.count] = cython.cast(
                    cython.ushort, (value ^ (value >> 16)) & 0xFFFF
                )
                self.count += 1
            if place < end:
                place += 1
        return place

    def gather(self, start, end, out, first, count, most):
        """Write the words that lie whole in [start, end) behind the `count` of out[first:], each
        once, up to `most`; their number."""
        low: cython.int = 0
        high: cython.int = self.count
        middle: cython.int
        i: cython.int
        number: cython.ushort
        one: cython.ulonglong = 1
        bit: cython.ulonglong
        taken: cython.ulonglong = 0  # the last six bits of what is there: most are not
        for i in range(count):
            taken |= one << (cython.cast(cython.int, out[first + i]) & 63)
        while low < high:
            middle = (low + high) // 2
            if self.starts[middle] < start:
                low = middle + 1
            else:
                high = middle
        while low < self.count and self.ends[low] <= end and count < most:
            number = self.numbers[low]
            bit = one << (cython.cast(cython.int, number) & 63)
            i = 0 if taken & bit else count
            while i < count and out[first + i] != number:
                i += 1
            if i == count:
                out[first + count] = number
                count += 1
                taken |= bit
            low += 1
        return count

    def read_address(self):
        """Number the words of an address's last two parts, without its query and its ending."""
        stop: cython.Py_ssize_t = 0
        slashes: cython.int = 0
        begin: cython.Py_ssize_t
        dot: cython.Py_ssize_t = -1
        while (
            stop < self.size
            and self.character(stop) != byte.QUESTION
            and self.character(stop) != byte.NUMBER_SIGN
        ):
            stop += 1
        begin = stop
        while begin > 0:
            if self.character(begin - 1) == byte.SLASH:
                slashes += 1
                if slashes == 2:
                    break
            elif self.character(begin - 1) == byte.DOT and slashes == 0 and dot < 0:
                dot = begin - 1
            begin -= 1
        self.read(begin, stop if dot < 0 else dot)


def words_of_links(
    text: str,
    starts: list[int],
    ends: list[int],
    addresses: list[str],
    window: cython.Py_ssize_t,
    most: cython.int,
) -> list[bytes]:
    """The words of links whose anchors stand at these places of a text: of the anchor, then of the
    address, then of `window` characters on either side, two bytes a word."""
    links: cython.Py_ssize_t = len(addresses)
    link: cython.Py_ssize_t
    total: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t
    end: cython.Py_ssize_t
    count: cython.int
    words: Numbered = Numbered(len(text), 0)
    paths: Numbered = Numbered(max(map(len, addresses), default=0), 1)
    numbers = np.empty(links * most, dtype=np.uint16)
    out: cython.ushort[::1] = numbers
    counts: list[int] = []
    words.turn_to(text)
    done: cython.Py_ssize_t = 0
    for link in sorted(range(links), key=starts.__getitem__):  # as they stand in the text
        start = starts[link]
        end = ends[link]
        if not 0 <= start <= end <= words.size:
            raise ValueError(f"an anchor from {start} to {end} is not in the text")
        end = min(end + window, words.size)
        if end > done:
            done = words.read(max(start - window, done), end)
    for link in range(links):
        start = starts[link]
        end = ends[link]
        count = words.gather(start, end, out, total, 0, most)
        paths.turn_to(addresses[link])
        paths.read_address()
        count = paths.gather(0, paths.size, out, total, count, most)
        if window > 0:
            count = words.gather(start - window, end + window, out, total, count, most)
        total += count
        counts.append(count)
    packed: bytes = numbers[:total].astype("<u2", copy=False).tobytes()
    found: list[bytes] = []
    total = 0
    raw: cython.p_const_char = packed
    for count in counts:
        found.append(raw[total : total + 2 * count])
        total += 2 * count
    return found
