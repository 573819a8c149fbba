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

NEAR = 3
"""Fingerprints that differ in at most so many bits belong to nearly the same text."""

_SHORTEST = 64
_LONG = 2_048
_MIX_1 = np.uint64(0x9E3779B97F4A7C15)
_MIX_2 = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(29)
_HIGH = np.uint64(40)
_FOLD = np.uint64(32)
_SAMPLE = np.uint64(0x3)
_SPACED = 16
_NUMBERS = re.compile(r"\d+")


def simhash(text: str) -> int:
    """The fingerprint of a text; 0 when there is too little of it."""
    raw = text.encode("utf-8", "replace")
    if len(raw) < _SHORTEST:
        return 0
    runs = np.ndarray((len(raw) - 7,), dtype="<u8", buffer=raw, strides=(1,))
    long = len(raw) >= _LONG
    if long:
        starts = np.flatnonzero(np.frombuffer(raw, np.uint8)[:-8] == ord(" ")) + 1
        if len(starts) * _SPACED >= len(raw):  # a script that puts spaces between its words
            runs = runs[starts]
    hashes = runs * _MIX_1
    hashes ^= hashes >> _SHIFT
    hashes *= _MIX_2
    sample = hashes[(hashes >> _HIGH) & _SAMPLE == 0] if long else hashes
    if len(sample) == 0:  # a long text that repeats one run for ever
        return 0
    sample ^= sample >> _FOLD
    bits = np.unpackbits(sample.view(np.uint8).reshape(-1, 8), axis=1)
    votes = np.add.reduce(bits, axis=0, dtype=np.int32) * 2 > len(sample)
    return int.from_bytes(np.packbits(votes).tobytes(), "big") or 1


def word_pairs(text: str) -> NDArray[np.uint32]:
    """The pairs of neighbouring words of a text, hashed, sorted, each once; numbers are left out.

    A word counts by its first eight bytes. White space must be collapsed.
    """
    raw = b" " + _NUMBERS.sub(" ", text).encode("utf-8", "replace") + b" " * 8
    gaps = np.frombuffer(raw, np.uint8)[:-7] == ord(" ")
    starts = np.flatnonzero(gaps[:-1] & ~gaps[1:]) + 1
    words = np.ndarray((len(raw) - 7,), dtype="<u8", buffer=raw, strides=(1,))[starts] * _MIX_1
    words ^= words >> _SHIFT
    pairs = (words[:-1] * _MIX_2) ^ words[1:]
    return np.unique((pairs >> _FOLD).astype(np.uint32))


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
