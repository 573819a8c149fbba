"""Near duplicates: pages whose main text another page has said before, with how much of it.

A page is the twin of one earlier page, named, when their main texts share nine tenths of their
*shingles*, the runs of three words: a Jaccard similarity of at least 0.9, and a containment too (of
the shingles of the shorter one, the share that the other has). A page that has all the words of
another in the same order, menus included, is its twin whatever is known of their sites by then.
What a page shares with a twin may count as boilerplate where few pages of the site are known: of a
page that has no main text left, all that its own markup calls text is compared.

Candidates are proposed by one-permutation MinHash (Li, Owen and Zhang, 2012): shingles fall into 32
bins by the first five bits of their hashes, the least hash of a bin stands for it, an empty bin
takes what the next filled one has, and pages that agree on four bins in a row are looked at, the
earliest first. What is proposed is confirmed by *sketches*, the 2,048 least hashes of a page, which
for a page of no more shingles are all of them. The similarity of two sketches is the share of
common ones among the least of both together: exact for such pages, within about 0.01 for longer
ones.

A page of fewer than ten shingles has no twin. Telling the same pages in the same order gives the
same answers. Prints are kept with the run: those of candidates are read again when they are needed.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sonde.kernels.text.boilerplate import Site
from sonde.kernels.text.shingles import Bands, bands_of, digest, minima, shared
from sonde.sources.main_text import MainText

SIMILAR = 0.9
"""Pages that share so much of their shingles are twins."""

FEWEST = 10
"""Shingles that a page must have to be anything's twin."""

SKETCH = 2_048
_BINS = 32
_BANDS = 8
_DEEPEST = 256  # pages remembered by one band: an empty template has thousands
_RECENT = 2_048  # prints in memory
_HIGH = np.uint64(32)
_UNKNOWN = Site()
_HEAD = np.dtype([("count", "<u4"), ("bands", "<u4"), ("whole", "<u8")])

Shingles = NDArray[np.uint64]
"""Hashes of shingles, sorted, each once."""
Sketch = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Twin:
    """An earlier page (its number in the order added, its URL, the lease that brought it), with the
    similarity and the containment that were measured."""

    number: int
    name: str
    lease: int
    jaccard: float
    containment: float


@dataclass(frozen=True, slots=True)
class Print:
    """What is kept of a page: how many shingles its main text has, a hash of all its words (0 for
    fewer than a twin needs), its bands, and the least of its shingles."""

    count: int
    whole: int
    bands: Shingles
    sketch: Sketch

    def packed(self) -> bytes:
        """As bytes, to be kept."""
        head = np.array([(self.count, len(self.bands), self.whole)], dtype=_HEAD)
        bands, sketch = self.bands.astype("<u8"), self.sketch.astype("<u4")
        return head.tobytes() + bands.tobytes() + sketch.tobytes()

    @classmethod
    def unpacked(cls, data: bytes | None) -> Print:
        """From what was kept; from nothing, one that is nobody's twin."""
        if data is None or len(data) < _HEAD.itemsize:
            return NOTHING
        count, bands, whole = np.frombuffer(data, _HEAD, 1)[0].tolist()
        end = _HEAD.itemsize + 8 * bands
        return cls(
            count,
            whole,
            np.frombuffer(data, "<u8", bands, _HEAD.itemsize).astype(np.uint64),
            np.frombuffer(data[end:], "<u4").astype(np.uint32),
        )


NOTHING = Print(0, 0, np.empty(0, np.uint64), np.empty(0, np.uint32))


def printed(main: MainText) -> Print:
    """The print of a page."""
    whole, page = 0, main.imprint
    if page.words >= FEWEST + 2:
        whole = digest(page, np.ones(page.words, dtype=np.uint8), True, True)[0] or 1
    return print_of(main.shingles(), whole)


def printed_alone(main: MainText) -> Print:
    """The print of a page as if nothing were known of its site."""
    kept = np.empty(main.imprint.words, dtype=np.uint8)
    _UNKNOWN.main(main.imprint, kept)
    return print_of(replace(main, kept=kept).shingles())


def print_of(shingles: Shingles, whole: int = 0) -> Print:
    """The print of a page with these shingles."""
    count = len(shingles)
    few = count < FEWEST
    bands = np.empty((0 if few else _BANDS) + (whole != 0), dtype=np.uint64)
    if not few:
        bins = np.empty(_BINS, dtype=np.uint64)
        minima(shingles, bins)
        bands_of(bins, bands[:_BANDS])
    if whole:
        bands[-1] = whole
    return Print(count, whole, bands, (shingles[:SKETCH] >> _HIGH).astype(np.uint32))


def similarity(one: Print, other: Print) -> tuple[float, float]:
    """The Jaccard similarity and the containment of two pages, by their sketches."""
    if not one.count or not other.count:
        return 0.0, 0.0
    mine, theirs = one.sketch, other.sketch
    for page in (one, other):
        if page.count > SKETCH:  # beyond its last one nothing is known
            mine = mine[: np.searchsorted(mine, page.sketch[-1], side="right")]
            theirs = theirs[: np.searchsorted(theirs, page.sketch[-1], side="right")]
    both: int = shared(mine, theirs)
    jaccard = both / (len(mine) + len(theirs) - both)
    common = jaccard / (1.0 + jaccard) * (one.count + other.count)
    return jaccard, min(1.0, common / min(one.count, other.count))


class Twins:
    """Finds a page's twin among those added before it."""

    def __init__(self, kept: Callable[[int], bytes | None] = lambda lease: None) -> None:
        """``kept`` reads the print of the page that a lease brought, once it is out of memory."""
        self._kept = kept
        self._bands = Bands(_BANDS + 1, _DEEPEST)
        self._names: list[str] = []
        self._leases = array("q")
        self._contents = array("Q")
        self._prints: dict[int, Print] = {}  # the latest

    def find(self, page: Print) -> Twin | None:
        """The earliest page that this one is the twin of."""
        for number in self._bands.candidates(page.bands):
            known = self._print_of(number)
            jaccard = containment = 1.0
            fewest = max(page.count, known.count)
            if not page.whole or page.whole != known.whole:
                jaccard, containment = similarity(page, known)
                fewest = min(page.count, known.count)
            if fewest >= FEWEST and jaccard >= SIMILAR and containment >= SIMILAR:
                lease = self._leases[number]
                return Twin(number, self._names[number], lease, jaccard, containment)
        return None

    def add(
        self, name: str, lease: int, page: Print, twin: int | None, *, whole: bool = True
    ) -> int:
        """Remember a page after those before it, and which of them is its twin; what is the same
        number for all pages that are the same, and 0 for one with too few words. Of a page that is
        told again the print need not be ``whole``: its sketch is read when it is needed."""
        number: int = self._bands.add(page.bands)
        content = page.whole if twin is None else self._contents[twin] or page.whole
        self._names.append(name)
        self._leases.append(lease)
        self._contents.append(content)
        if whole:
            self._prints[number] = page
        if len(self._prints) > _RECENT:
            del self._prints[next(iter(self._prints))]
        return content

    def name(self, number: int) -> str:
        """The URL of the page with this number."""
        return self._names[number]

    def _print_of(self, number: int) -> Print:
        found = self._prints.get(number)
        return Print.unpacked(self._kept(self._leases[number])) if found is None else found
