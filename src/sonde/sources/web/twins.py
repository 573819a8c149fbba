"""Near duplicates: pages whose main text another page has said before, with how much of it.

A page is the twin of one earlier page, named, when their main texts share nine tenths of their
*shingles*, the runs of three words: a Jaccard similarity of at least 0.9, and so a containment too
(of the shingles of the shorter one, the share that the other has).

Candidates are proposed by one-permutation MinHash (Li, Owen and Zhang, 2012): shingles fall into 16
bins by the first four bits of their hashes, the least hash of a bin stands for it, an empty bin takes
what the next filled one has, and pages that agree on four bins in a row are looked at, the earliest
first. What is proposed is confirmed by *sketches*, the 1,024 least hashes of a page, which for a
page of no more shingles are all of them. The similarity of two sketches is the share of common ones
among the least of both together: exact for such pages, within about 0.01 for longer ones.

A page of fewer than ten shingles has no twin. Telling the same pages in the same order gives the
same answers. Sketches may be kept elsewhere: only those of candidates are read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sonde.kernels.text.shingles import Bands, shared

SIMILAR = 0.9
"""Pages that share so much of their shingles are twins."""

FEWEST = 10
"""Shingles that a page must have to be anything's twin."""

SKETCH = 1_024
_BINS = 16
_BANDS = 4
_DEEPEST = 256  # pages remembered by one band: an empty template has thousands
_BORDERS = np.arange(_BINS, dtype=np.uint64) << np.uint64(60)
_AWAY = np.uint64(0x632BE59BD9B4E019)  # what a bin has from the next one counts as another hash
_TIMES = np.uint64(0x9E3779B97F4A7C15)

Shingles = NDArray[np.uint64]
"""Hashes of shingles, sorted, each once."""
Sketch = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Twin:
    """An earlier page, with the similarity and the containment that were measured."""

    name: str
    jaccard: float
    containment: float


@dataclass(frozen=True, slots=True)
class Print:
    """What is kept of a page: how many shingles it has, the least of them, its bands."""

    count: int
    sketch: Sketch
    bands: Shingles


def printed(shingles: Shingles) -> Print:
    """The print of a page."""
    sketch = (shingles[:SKETCH] >> np.uint64(32)).astype(np.uint32)
    return Print(len(shingles), np.unique(sketch), _bands(shingles))


def _bands(shingles: Shingles) -> Shingles:
    if len(shingles) < FEWEST:
        return np.empty(0, dtype=np.uint64)
    begins = np.searchsorted(shingles, _BORDERS)
    ends = np.append(begins[1:], len(shingles))
    least = np.where(begins < ends, shingles[np.minimum(begins, len(shingles) - 1)], 0)
    empty = np.flatnonzero(begins == ends)
    for number in (*empty[::-1], *empty[::-1]):  # twice: the first bins may be empty too
        after = (number + 1) % _BINS
        least[number : number + 1] = least[after : after + 1] + _AWAY  # wraps, as arrays do
    bands = least.reshape(_BANDS, -1)
    keys = np.arange(_BANDS, dtype=np.uint64)
    for column in bands.T:
        keys = keys * _TIMES ^ column
    return keys ^ (keys >> np.uint64(29))


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

    def __init__(self, print_of: Callable[[int], Print] | None = None) -> None:
        """``print_of`` reads the print of the page that was added as this one, from 0, where
        prints are kept elsewhere."""
        self._bands = Bands(_BANDS, _DEEPEST)
        self._prints: list[Print] = []
        self._names: list[str] = []
        self._print_of = self._prints.__getitem__ if print_of is None else print_of
        self._keeps = print_of is None

    def find(self, page: Print) -> Twin | None:
        """The earliest page that this one is the twin of."""
        for number in self._bands.candidates(page.bands):
            jaccard, containment = similarity(page, self._print_of(number))
            if jaccard >= SIMILAR and containment >= SIMILAR:
                return Twin(self._names[number], jaccard, containment)
        return None

    def add(self, name: str, page: Print) -> None:
        """Remember a page, after those before it."""
        self._bands.add(page.bands)
        self._names.append(name)
        if self._keeps:
            self._prints.append(page)
