"""Shingles: the runs of three words in a row that a page's main text has, as hashes."""

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.sonde.kernels import byte
    from cython.cimports.sonde.kernels.text.boilerplate import Imprint
else:
    from sonde.kernels import byte
    from sonde.kernels.text.boilerplate import Imprint

MULTIPLIER = cython.declare(cython.ulonglong, byte.GOLDEN)


def shingled(
    page: Imprint,
    kept: cython.const[cython.uchar][::1],
    found: cython.ulonglong[::1],
    numbers: cython.bint,
    links: cython.bint,
):
    """Write the hashes of the runs of three of the words that are kept; how many there are.

    Without `numbers` these are passed over, as if they were not there, and without `links` so are
    words in links. There must be room for as many as the page has words.
    """
    if not cython.compiled:
        kept, found = memoryview(kept), memoryview(found)
    word: cython.Py_ssize_t
    count: cython.Py_ssize_t = -2
    one: cython.ulonglong = 0
    two: cython.ulonglong = 0
    three: cython.ulonglong
    for word in range(page.words):
        if not kept[word]:
            continue
        if (not numbers and page.number[word]) or (not links and page.link[word]):
            continue
        three = page.word[word]
        if count >= 0:
            one = ((one * MULTIPLIER) & byte.MASK) ^ two
            found[count] = byte.mixed(((one * MULTIPLIER) & byte.MASK) ^ three)
        one, two = two, three
        count += 1
    return max(count, 0)


def digest(
    page: Imprint, kept: cython.const[cython.uchar][::1], numbers: cython.bint, links: cython.bint
):
    """A hash of these words in their order, and how many they are."""
    if not cython.compiled:
        kept = memoryview(kept)
    word: cython.Py_ssize_t
    count: cython.Py_ssize_t = 0
    key: cython.ulonglong = byte.FNV_START
    for word in range(page.words):
        if not kept[word]:
            continue
        if (not numbers and page.number[word]) or (not links and page.link[word]):
            continue
        key = byte.hashed(key, page.word[word])
        count += 1
    return byte.mixed(key), count


def shared(one: cython.const[cython.uint][::1], other: cython.const[cython.uint][::1]):
    """How many numbers two sorted arrays of different ones have in common."""
    if not cython.compiled:
        one, other = memoryview(one), memoryview(other)
    at: cython.Py_ssize_t = 0
    place: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t = 0
    while at < one.shape[0] and place < other.shape[0]:
        if one[at] < other[place]:
            at += 1
        elif one[at] > other[place]:
            place += 1
        else:
            count += 1
            at += 1
            place += 1
    return count


class Bands:
    """Pages by the bands of their MinHash: which earlier ones agree with a page on one of them.

    Pages have numbers from 0 in the order in which they were added. Of the pages that agree on one
    band the first ``deepest`` are remembered: an empty template has thousands.
    """

    def __init__(self, width, deepest) -> None:
        self.width = width
        self.deepest = deepest
        self.pages = 0
        self.live = 0
        self.make_room(1024)
        self.following = np.full(width * 64, -1, dtype=np.intc)

    def make_room(self, room):
        self.room = room
        self.keys = np.zeros(room, dtype=np.uint64)
        self.first = np.full(room, -1, dtype=np.intc)  # -1: nothing stands here
        self.last = np.zeros(room, dtype=np.intc)
        self.size = np.zeros(room, dtype=np.intc)

    def place(self, key):
        at: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, key & (self.room - 1))
        while self.first[at] >= 0 and self.keys[at] != key:
            at = (at + 1) & (self.room - 1)
        return at

    def grow(self):
        keys: cython.ulonglong[::1] = self.keys
        first: cython.int[::1] = self.first
        last: cython.int[::1] = self.last
        size: cython.int[::1] = self.size
        old: cython.Py_ssize_t = self.room
        at: cython.Py_ssize_t
        to: cython.Py_ssize_t
        self.make_room(2 * old)
        for at in range(old):
            if first[at] >= 0:
                to = self.place(keys[at])
                self.keys[to] = keys[at]
                self.first[to] = first[at]
                self.last[to] = last[at]
                self.size[to] = size[at]

    def add(self, bands: cython.const[cython.ulonglong][::1]):
        """Add a page with these bands, or with none; its number."""
        number: cython.Py_ssize_t = self.pages
        link: cython.int
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        if not cython.compiled:
            bands = memoryview(bands)
        self.pages += 1
        if self.pages * self.width > self.following.shape[0]:
            longer = np.full(2 * self.following.shape[0], -1, dtype=np.intc)
            longer[: self.following.shape[0]] = self.following
            self.following = longer
        for i in range(bands.shape[0]):
            if 4 * (self.live + 1) > 3 * self.room:
                self.grow()
            at = self.place(bands[i])
            link = cython.cast(cython.int, number * self.width + i)
            if self.first[at] < 0:
                self.keys[at] = bands[i]
                self.first[at] = self.last[at] = link
                self.size[at] = 1
                self.live += 1
            elif self.size[at] < self.deepest:
                self.following[self.last[at]] = link
                self.last[at] = link
                self.size[at] += 1
        return number

    def candidates(self, bands: cython.const[cython.ulonglong][::1]):
        """The numbers of the pages that agree on a band, the earliest first."""
        found = set()
        link: cython.int
        i: cython.Py_ssize_t
        if not cython.compiled:
            bands = memoryview(bands)
        for i in range(bands.shape[0]):
            link = self.first[self.place(bands[i])]
            while link >= 0:
                found.add(link // self.width)
                link = self.following[link]
        return sorted(found)
