"""Near duplicates among many texts, exactly: every pair whose Jaccard similarity is high enough.

A text is the set of its *shingles*, the runs of three words. Two sets that share a part t of all
their shingles share at least one among the ``n - ceil(t n) + 1`` of each that come first in any one
order (the prefix filter of Chaudhuri, Ganti and Kaushik, 2006). The order here is by rarity, so
that what stands on every page of a site proposes nothing; what is proposed is measured.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

FEWEST = 10
"""Shingles that a text must have to be nearly another."""

Shingles: TypeAlias = npt.NDArray[np.uint32]
"""Hashes of shingles, sorted, each once."""

_WORD = re.compile(r"\w+")
_COUNTED = 1 << 20
_TIMES = np.uint64(0x9E3779B97F4A7C15)


class NearText(NamedTuple):
    """A text that is nearly an earlier one, with their similarity."""

    number: int
    of: int
    similarity: float


def shingles_of(text: str) -> Shingles:
    """The shingles of a text; of words without spaces between (Chinese, Thai), of characters."""
    words = _WORD.findall(text.lower())
    if len(text) > 12 * len(words):  # hardly any spaces
        words = list("".join(words))
    hashes: dict[str, int] = {}
    for word in words:
        if word not in hashes:
            hashes[word] = zlib.crc32(word.encode("utf-8", "replace"))
    numbers = np.array([hashes[word] for word in words], dtype=np.uint64)
    if len(numbers) < 3:
        return np.empty(0, dtype=np.uint32)
    mixed = (numbers[:-2] * _TIMES ^ numbers[1:-1]) * _TIMES ^ numbers[2:]
    mixed *= _TIMES
    return np.unique((mixed >> np.uint64(32)).astype(np.uint32))


def near_texts(texts: Iterable[Shingles], similar: float) -> Iterator[NearText]:
    """Those texts that are nearly an earlier one which is not nearly another itself, in order."""
    found = list(texts)
    seen_in = np.zeros(_COUNTED, dtype=np.uint32)
    for shingles in found:
        np.add.at(seen_in, shingles % _COUNTED, 1)
    firsts: dict[int, list[int]] = {}
    for number, shingles in enumerate(found):
        size = len(shingles)
        if size < FEWEST:
            continue
        order = np.lexsort((shingles, seen_in[shingles % _COUNTED]))
        prefix = shingles[order[: size - math.ceil(similar * size) + 1]].tolist()
        twin = None
        proposed = sorted({other for key in prefix for other in firsts.get(key, ())})
        for other in proposed:
            theirs = len(found[other])
            if similar * max(size, theirs) > min(size, theirs):
                continue
            both = len(np.intersect1d(shingles, found[other], assume_unique=True))
            similarity = both / (size + theirs - both)
            if similarity >= similar:
                twin = NearText(number, other, similarity)
                break
        if twin is not None:
            yield twin
            continue
        for key in prefix:
            firsts.setdefault(key, []).append(number)
