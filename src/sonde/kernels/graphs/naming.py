"""Names to numbers, in order of first appearance: the loops behind `sonde.sources.graph.names`.

An open-addressing hash table of 64-bit entries: 31 bits of the name's hash above the 32 bits of
its number, -1 where free. The hash bits in the entry settle nearly every comparison without a
look at the name itself, which would be one more cache miss. How names hash decides only how fast
they are found, never which number they get.

What the lookup of a text costs is waiting for memory, one read after the other. So texts are taken
in blocks, and each block is walked twice: first just to fetch what its lookups will read, a walk
in which the processor waits for many rows at once, then to look up. Integers, which take fewer
reads, gain nothing by it.
"""

from __future__ import annotations

import cython
from cython.cimports.sonde.kernels.byte import GOLDEN, MASK, eight_bytes

BLOCK = cython.declare(cython.longlong, 128)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def integer_hash(key: cython.longlong) -> cython.longlong:
    spread: cython.ulonglong = (cython.cast(cython.ulonglong, key) & MASK) * GOLDEN & MASK
    return cython.cast(cython.longlong, spread >> 33)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def text_hash(
    data: cython.const[cython.uchar][::1], start: cython.longlong, stop: cython.longlong
) -> cython.longlong:
    digest: cython.ulonglong = cython.cast(cython.ulonglong, stop - start) * GOLDEN & MASK
    word: cython.ulonglong
    at: cython.longlong = start
    byte: cython.int
    while at + 8 <= stop:
        digest = (digest ^ eight_bytes(data, at)) * GOLDEN & MASK
        digest ^= digest >> 29  # a product's low bits know little of the word's high ones
        at += 8
    word = 0
    for byte in range(stop - at):
        word |= cython.cast(cython.ulonglong, data[at + byte]) << (8 * byte)
    digest = (digest ^ word) * GOLDEN & MASK
    digest ^= digest >> 32
    digest = digest * GOLDEN & MASK
    return cython.cast(cython.longlong, digest >> 33)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def same_text(
    data: cython.const[cython.uchar][::1],
    start: cython.longlong,
    stop: cython.longlong,
    pool: cython.const[cython.uchar][::1],
    pool_start: cython.longlong,
    pool_stop: cython.longlong,
) -> cython.bint:
    at: cython.longlong
    shift: cython.longlong = pool_start - start
    if stop - start != pool_stop - pool_start:
        return False
    for at in range(start, stop):
        if data[at] != pool[at + shift]:
            return False
    return True


def fill_integers(names: cython.const[cython.longlong][::1], table: cython.longlong[::1]):
    """Enter distinct names, numbered by their place, into an empty table."""
    if not cython.compiled:
        names, table = memoryview(names), memoryview(table)
    mask: cython.longlong = len(table) - 1
    number: cython.longlong
    hashed: cython.longlong
    slot: cython.longlong
    with cython.nogil:
        for number in range(names.shape[0]):
            hashed = integer_hash(names[number])
            slot = hashed & mask
            while table[slot] != -1:
                slot = (slot + 1) & mask
            table[slot] = (hashed << 32) | number


def fill_texts(
    pool: cython.const[cython.uchar][::1],
    offsets: cython.const[cython.longlong][::1],
    table: cython.longlong[::1],
):
    """Enter distinct names, numbered by their place, into an empty table."""
    if not cython.compiled:
        pool, offsets, table = memoryview(pool), memoryview(offsets), memoryview(table)
    mask: cython.longlong = len(table) - 1
    number: cython.longlong
    hashed: cython.longlong
    slot: cython.longlong
    with cython.nogil:
        for number in range(offsets.shape[0] - 1):
            hashed = text_hash(pool, offsets[number], offsets[number + 1])
            slot = hashed & mask
            while table[slot] != -1:
                slot = (slot + 1) & mask
            table[slot] = (hashed << 32) | number


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def integer_slot(
    key: cython.longlong,
    hashed: cython.longlong,
    names: cython.const[cython.longlong][::1],
    table: cython.longlong[::1],
) -> cython.longlong:
    """The slot of the table that holds the key, or the free one where it belongs."""
    mask: cython.longlong = table.shape[0] - 1
    slot: cython.longlong = hashed & mask
    while table[slot] != -1 and (
        table[slot] >> 32 != hashed or names[table[slot] & 0x7FFFFFFF] != key
    ):
        slot = (slot + 1) & mask
    return slot


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def text_slot(
    data: cython.const[cython.uchar][::1],
    start: cython.longlong,
    stop: cython.longlong,
    hashed: cython.longlong,
    pool: cython.const[cython.uchar][::1],
    offsets: cython.const[cython.longlong][::1],
    table: cython.longlong[::1],
) -> cython.longlong:
    """The slot of the table that holds the text, or the free one where it belongs."""
    mask: cython.longlong = table.shape[0] - 1
    slot: cython.longlong = hashed & mask
    number: cython.longlong
    while table[slot] != -1:
        number = table[slot] & 0x7FFFFFFF
        if table[slot] >> 32 == hashed and same_text(
            data, start, stop, pool, offsets[number], offsets[number + 1]
        ):
            break
        slot = (slot + 1) & mask
    return slot


def number_integers(
    keys: cython.const[cython.longlong][::1],
    names: cython.longlong[::1],
    table: cython.longlong[::1],
    count: cython.longlong,
    numbers: cython.int[::1],
):
    """Number the keys in order; new ones join `names`, which like `table` must have room.

    Gives the count of names afterwards.
    """
    if not cython.compiled:
        keys, names, table = memoryview(keys), memoryview(names), memoryview(table)
        numbers = memoryview(numbers)
    at: cython.longlong
    key: cython.longlong
    hashed: cython.longlong
    slot: cython.longlong
    with cython.nogil:
        for at in range(keys.shape[0]):
            key = keys[at]
            hashed = integer_hash(key)
            slot = integer_slot(key, hashed, names, table)
            if table[slot] == -1:
                names[count] = key
                table[slot] = (hashed << 32) | count
                count += 1
            numbers[at] = cython.cast(cython.int, table[slot] & 0x7FFFFFFF)
    return count


def number_texts(
    data: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    stops: cython.const[cython.longlong][::1],
    pool: cython.uchar[::1],
    offsets: cython.longlong[::1],
    table: cython.longlong[::1],
    count: cython.longlong,
    hashes: cython.longlong[::1],
    numbers: cython.int[::1],
):
    """As `number_integers`, for the texts `data[starts[i]:stops[i]]`, none of them empty.

    The names known so far are `pool[offsets[k]:offsets[k + 1]]`, so that the two arrays are an
    Arrow string array as they stand. `hashes` is room to work in, one place a text.
    """
    if not cython.compiled:
        data, starts, stops = memoryview(data), memoryview(starts), memoryview(stops)
        pool, offsets, table = memoryview(pool), memoryview(offsets), memoryview(table)
        hashes, numbers = memoryview(hashes), memoryview(numbers)
    mask: cython.longlong = len(table) - 1
    at: cython.longlong
    ahead: cython.longlong
    start: cython.longlong
    stop: cython.longlong
    end: cython.longlong
    byte: cython.longlong
    slot: cython.longlong
    with cython.nogil:
        for at in range(starts.shape[0]):
            hashes[at] = text_hash(data, starts[at], stops[at])
        for at in range(starts.shape[0]):
            if at % BLOCK == 0:
                for ahead in range(at, min(at + BLOCK, starts.shape[0])):
                    slot = hashes[ahead] & mask
                    if table[slot] != -1:  # the value is of no use, the fetching is
                        numbers[ahead] = pool[offsets[table[slot] & 0x7FFFFFFF]]
            start = starts[at]
            stop = stops[at]
            slot = text_slot(data, start, stop, hashes[at], pool, offsets, table)
            if table[slot] == -1:
                end = offsets[count]
                for byte in range(start, stop):
                    pool[end + byte - start] = data[byte]
                offsets[count + 1] = end + stop - start
                table[slot] = (hashes[at] << 32) | count
                count += 1
            numbers[at] = cython.cast(cython.int, table[slot] & 0x7FFFFFFF)
    return count


def find_integers(
    keys: cython.const[cython.longlong][::1],
    names: cython.const[cython.longlong][::1],
    table: cython.longlong[::1],
    numbers: cython.int[::1],
):
    """The numbers of the keys, -1 for those that have none."""
    if not cython.compiled:
        keys, names, table = memoryview(keys), memoryview(names), memoryview(table)
        numbers = memoryview(numbers)
    at: cython.longlong
    slot: cython.longlong
    with cython.nogil:
        for at in range(keys.shape[0]):
            slot = integer_slot(keys[at], integer_hash(keys[at]), names, table)
            if table[slot] == -1:
                numbers[at] = -1
            else:
                numbers[at] = cython.cast(cython.int, table[slot] & 0x7FFFFFFF)


def find_texts(
    data: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    stops: cython.const[cython.longlong][::1],
    pool: cython.const[cython.uchar][::1],
    offsets: cython.const[cython.longlong][::1],
    table: cython.longlong[::1],
    numbers: cython.int[::1],
):
    """As `find_integers`, for the texts `data[starts[i]:stops[i]]`."""
    if not cython.compiled:
        data, starts, stops = memoryview(data), memoryview(starts), memoryview(stops)
        pool, offsets, table = memoryview(pool), memoryview(offsets), memoryview(table)
        numbers = memoryview(numbers)
    at: cython.longlong
    slot: cython.longlong
    hashed: cython.longlong
    with cython.nogil:
        for at in range(starts.shape[0]):
            hashed = text_hash(data, starts[at], stops[at])
            slot = text_slot(data, starts[at], stops[at], hashed, pool, offsets, table)
            if table[slot] == -1:
                numbers[at] = -1
            else:
                numbers[at] = cython.cast(cython.int, table[slot] & 0x7FFFFFFF)
