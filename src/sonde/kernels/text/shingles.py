"""Shingles: the runs of three words in a row that a page's main text has, as hashes, and sets of
them as sorted arrays."""

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.sonde.kernels import byte
    from cython.cimports.sonde.kernels.text.boilerplate import Imprint
else:
    from sonde.kernels import byte
    from sonde.kernels.text.boilerplate import Imprint

MULTIPLIER = cython.declare(cython.ulonglong, byte.GOLDEN)
AWAY = cython.declare(cython.ulonglong, 0x632BE59BD9B4E019)


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


def words_of(page: Imprint, kept: cython.const[cython.uchar][::1], found: cython.ulonglong[::1]):
    """Write the hashes of the first words that are kept, numbers passed over, as many as there is
    room for; how many there are."""
    if not cython.compiled:
        kept, found = memoryview(kept), memoryview(found)
    word: cython.Py_ssize_t
    count: cython.Py_ssize_t = 0
    for word in range(page.words):
        if count == found.shape[0]:
            break
        if kept[word] and not page.number[word]:
            found[count] = page.word[word]
            count += 1
    return count


def pass_over(
    page: Imprint, kept: cython.uchar[::1], words: cython.const[cython.ulonglong][::1]
) -> None:
    """Keep none of these words, which are few."""
    if not cython.compiled:
        kept, words = memoryview(kept), memoryview(words)
    word: cython.Py_ssize_t
    i: cython.Py_ssize_t
    for word in range(page.words):
        for i in range(words.shape[0]):
            if page.word[word] == words[i]:
                kept[word] = 0


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


def minima(shingles: cython.const[cython.ulonglong][::1], bins: cython.ulonglong[::1]):
    """Write the least of these sorted hashes in each bin, by their first bits; an empty bin takes
    what the next filled one has, as another hash. There must be a hash, and 2**n bins."""
    if not cython.compiled:
        shingles, bins = memoryview(shingles), memoryview(bins)
    count: cython.Py_ssize_t = bins.shape[0]
    shift: cython.int = 64
    at: cython.Py_ssize_t = count
    while at > 1:
        shift -= 1
        at >>= 1
    if shingles.shape[0] == 0 or shift == 64 or 1 << (64 - shift) != count:
        raise ValueError("there must be shingles, and a power of two of bins")
    place: cython.Py_ssize_t
    for place in range(count):
        bins[place] = 0
    for at in range(shingles.shape[0] - 1, -1, -1):
        bins[cython.cast(cython.Py_ssize_t, shingles[at] >> shift)] = shingles[at] | 1
    for at in range(2 * count - 1, -1, -1):  # twice: the last bins may be empty too
        place = at % count
        if bins[place] == 0 and bins[(place + 1) % count] != 0:
            bins[place] = ((bins[(place + 1) % count] + AWAY) & byte.MASK) | 1


def bands_of(bins: cython.const[cython.ulonglong][::1], found: cython.ulonglong[::1]) -> None:
    """Write a hash of each of as many runs of bins as there is room for."""
    if not cython.compiled:
        bins, found = memoryview(bins), memoryview(found)
    width: cython.Py_ssize_t = bins.shape[0] // found.shape[0]
    band: cython.Py_ssize_t
    i: cython.Py_ssize_t
    key: cython.ulonglong
    for band in range(found.shape[0]):
        key = cython.cast(cython.ulonglong, band)
        for i in range(band * width, (band + 1) * width):
            key = byte.hashed(key, bins[i])
        found[band] = byte.mixed(key)


class ShingleSet:
    """A set of shingles, by 32 bits of their hashes: what has been read in a place."""

    def __init__(self, keys=()) -> None:
        self.live = 0
        self.make_room(1024)
        for key in keys:
            self.put(key)

    def make_room(self, room):
        self.room = room
        self.keys = np.zeros(room, dtype=np.uint32)  # 0: nothing stands here

    def put(self, key):
        """Whether a hash was not known."""
        if 4 * (self.live + 1) > 3 * self.room:
            self.grow()
        at: cython.Py_ssize_t = key & (self.room - 1)
        while self.keys[at] != 0:
            if self.keys[at] == key:
                return False
            at = (at + 1) & (self.room - 1)
        self.keys[at] = key
        self.live += 1
        return True

    def grow(self):
        old: cython.uint[::1] = self.keys
        at: cython.Py_ssize_t
        self.live = 0
        self.make_room(2 * self.room)
        for at in range(old.shape[0]):
            if old[at] != 0:
                self.put(old[at])

    def read(self, page: Imprint, kept: cython.const[cython.uchar][::1]):
        """Take in the runs of three of the words that are kept, numbers passed over: how many of
        them were new, and how many runs there are."""
        if not cython.compiled:
            kept = memoryview(kept)
        word: cython.Py_ssize_t
        runs: cython.Py_ssize_t = 0
        count: cython.Py_ssize_t = 0
        new: cython.Py_ssize_t = 0
        one: cython.ulonglong = 0
        two: cython.ulonglong = 0
        for word in range(page.words):
            if not kept[word] or page.number[word]:
                continue
            if count >= 2:
                one = ((one * MULTIPLIER) & byte.MASK) ^ two
                one = byte.mixed(((one * MULTIPLIER) & byte.MASK) ^ page.word[word])
                runs += 1
                if self.put(cython.cast(cython.uint, (one >> 32) | 1)):
                    new += 1
            one, two = two, page.word[word]
            count += 1
        return new, runs

    def state(self):
        """All of them, sorted."""
        keys = np.asarray(self.keys)
        return np.sort(keys[keys != 0])


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
