"""Pages that say nearly the same: a 64-bit fingerprint, an index that finds close ones, word pairs.

The fingerprint is Charikar's simhash over the runs of eight bytes. Of a long text only those at
the starts of words count (all of them in scripts without spaces), and of these one in four,
chosen by its own hash, so that the choice does not move when text is inserted elsewhere. Two
texts that differ in a few words differ in a few bits. A text too short to carry a fingerprint
(under 64 bytes) gets 0, which is near nothing.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from sonde.kernels.text import simhash as kernel

NEAR = 3
"""Fingerprints that differ in at most so many bits belong to nearly the same text."""

_SHORTEST = 64
_LONG = 2_048
_SPACED = 16
_ASCII = bytes(range(128))
_NUMBERS = re.compile(r"\d+")


def simhash(text: str) -> int:
    """The fingerprint of a text; 0 when there is too little of it."""
    raw = text.encode("utf-8", "replace")
    if len(raw) < _SHORTEST:
        return 0
    long = len(raw) >= _LONG
    # A script that puts spaces between its words?
    spaced = long and raw.count(b" ", 0, -8) * _SPACED >= len(raw)
    found: int = kernel.majority_of(raw, spaced, long, np.zeros(64, dtype=np.uint64))
    return found  # 0 for a long text that repeats one run for ever


def word_pairs(text: str) -> NDArray[np.uint32]:
    """The pairs of neighbouring words of a text, hashed, sorted, each once; numbers are left out.

    A word counts by its first eight bytes. White space must be collapsed.
    """
    raw = text.encode("utf-8", "replace")
    if not text.isascii() and any(map(str.isdecimal, raw.translate(None, _ASCII).decode())):
        raw = _NUMBERS.sub(" ", text).encode("utf-8", "replace")
    pairs = np.empty(len(raw) // 2 + 1, dtype=np.uint32)
    count: int = kernel.pair(raw, np.empty(len(raw) + 9, dtype=np.uint8), pairs)
    pairs = np.sort(pairs[:count])
    return pairs[: kernel.distinct(pairs)]


def distance(one: int, other: int) -> int:
    """In how many bits two fingerprints differ."""
    return (one ^ other).bit_count()


class NearDuplicates:
    """Finds a fingerprint within ``NEAR`` bits among those added, the earliest first.

    Four bands of 16 bits: two fingerprints that differ in at most three bits agree on one band
    whole. A band that very many pages share (an empty template) is only looked through for its
    earliest ``_DEEPEST`` members, so that one look-up stays cheap.
    """

    _DEEPEST = 256

    def __init__(self) -> None:
        self._bands: dict[int, list[tuple[int, str]]] = {}

    def find(self, fingerprint: int) -> str | None:
        """The name under which a near fingerprint was first added."""
        if fingerprint == 0:
            return None
        for band in _bands(fingerprint):
            for known, name in self._bands.get(band, ()):
                if distance(known, fingerprint) <= NEAR:
                    return name
        return None

    def add(self, fingerprint: int, name: str) -> None:
        """Remember a fingerprint. Adding in the order of the log restores the index."""
        if fingerprint == 0:
            return
        for band in _bands(fingerprint):
            members = self._bands.setdefault(band, [])
            if len(members) < self._DEEPEST:
                members.append((fingerprint, name))


def _bands(fingerprint: int) -> tuple[int, int, int, int]:
    return (
        fingerprint & 0xFFFF,
        0x10000 | (fingerprint >> 16) & 0xFFFF,
        0x20000 | (fingerprint >> 32) & 0xFFFF,
        0x30000 | (fingerprint >> 48),
    )
