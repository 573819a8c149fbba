"""Fingerprints of text, in bytes: the votes of a simhash, and the pairs of neighbouring words."""

from __future__ import annotations

import cython
from cython.cimports.sonde.kernels import byte
from cython.cimports.sonde.kernels.byte import GOLDEN, MASK, SPLITMIX, eight_bytes


def majority_of(
    raw: cython.const[cython.uchar][::1],
    words_only: cython.bint,
    sampled: cython.bint,
    planes: cython.ulonglong[::1],
):
    """Which of the hash's 64 bits are set in more than half of the runs of eight bytes; 0 where no
    run is taken.

    `words_only` takes the runs after a space, `sampled` one in four by its own hash. All 64 counts
    are added to at once: bit b of plane p is bit p of the count of b. `planes` are 64 zeros.
    """
    if not cython.compiled:
        raw, planes = memoryview(raw), memoryview(planes)
    if planes.shape[0] < 64:
        raise ValueError("a count of 64 bits takes 64 planes")
    taken: cython.longlong = 0
    count: cython.longlong
    at: cython.longlong
    bit: cython.int
    one: cython.ulonglong = 1
    majority: cython.ulonglong = 0
    plane: cython.longlong
    carried: cython.ulonglong
    digest: cython.ulonglong
    with cython.nogil:
        for at in range(1 if words_only else 0, raw.shape[0] - 7):
            if words_only and raw[at - 1] != byte.SPACE:
                continue
            digest = (eight_bytes(raw, at) * GOLDEN) & MASK
            digest ^= digest >> 29
            digest = (digest * SPLITMIX) & MASK
            if sampled and (digest >> 40) & 3 != 0:
                continue
            digest ^= digest >> 32
            taken += 1
            plane = 0
            while digest:
                carried = planes[plane] & digest
                planes[plane] ^= digest
                digest = carried
                plane += 1
        for bit in range(64):
            count = 0
            for plane in range(40):
                count += cython.cast(cython.longlong, (planes[plane] >> bit) & 1) << plane
            if 2 * count > taken:  # the bytes in their order, the first in front
                majority |= one << (8 * (7 - bit // 8) + bit % 8)
    return 0 if taken == 0 else majority or 1


def pair(raw: cython.const[cython.uchar][::1], clean: cython.uchar[::1], pairs: cython.uint[::1]):
    """Hash the pairs of neighbouring words into `pairs`; how many there are.

    A run of ASCII digits is a space. A word counts by its first eight bytes. `clean` is room to
    work in, nine bytes more than `raw`; `pairs` must have room for half as many as `raw`.
    """
    if not cython.compiled:
        raw, clean, pairs = memoryview(raw), memoryview(clean), memoryview(pairs)
    if clean.shape[0] < raw.shape[0] + 9 or pairs.shape[0] < raw.shape[0] // 2:
        raise ValueError(f"{raw.shape[0]} bytes need more room for their words and pairs")
    size: cython.longlong = 1
    at: cython.longlong
    count: cython.longlong = -1  # of words before this one
    digits: cython.bint = False
    word: cython.ulonglong
    before: cython.ulonglong = 0
    with cython.nogil:
        clean[0] = byte.SPACE
        for at in range(raw.shape[0]):
            if byte.is_digit(raw[at]):
                if digits:
                    continue
                digits = True
                clean[size] = byte.SPACE
            else:
                digits = False
                clean[size] = raw[at]
            size += 1
        for at in range(size, size + 8):
            clean[at] = byte.SPACE
        for at in range(1, size):
            if clean[at] == byte.SPACE or clean[at - 1] != byte.SPACE:
                continue
            word = (eight_bytes(clean, at) * GOLDEN) & MASK
            word ^= word >> 29
            if count >= 0:
                pairs[count] = cython.cast(cython.uint, (((before * SPLITMIX) & MASK) ^ word) >> 32)
            before = word
            count += 1
    return max(count, 0)


def distinct(pairs: cython.uint[::1]):
    """Move the different ones of sorted numbers to the front; how many there are."""
    if not cython.compiled:
        pairs = memoryview(pairs)
    kept: cython.longlong = 0
    at: cython.longlong
    for at in range(pairs.shape[0]):
        if kept == 0 or pairs[at] != pairs[kept - 1]:
            pairs[kept] = pairs[at]
            kept += 1
    return kept


def merge(known: cython.uint[::1], found: cython.uint[::1], merged: cython.uint[::1]):
    """Merge two sorted runs of different numbers; how many of those found were not known."""
    if not cython.compiled:
        known, found, merged = memoryview(known), memoryview(found), memoryview(merged)
    if merged.shape[0] < known.shape[0] + found.shape[0]:
        raise ValueError(f"{merged.shape[0]} places cannot hold all that is merged")
    size: cython.longlong = 0
    at: cython.longlong = 0
    news: cython.longlong = 0
    number: cython.longlong
    for number in range(found.shape[0]):
        while at < known.shape[0] and known[at] < found[number]:
            merged[size] = known[at]
            size += 1
            at += 1
        if at == known.shape[0] or known[at] != found[number]:
            merged[size] = found[number]
            size += 1
            news += 1
    while at < known.shape[0]:
        merged[size] = known[at]
        size += 1
        at += 1
    return news
