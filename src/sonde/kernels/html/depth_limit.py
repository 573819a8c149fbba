"""How much of a page is safe to parse: HTML as it came, measured in one pass over its UTF-8."""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.sonde.kernels import byte
from cython.cimports.sonde.kernels.html import tags
from cython.cimports.sonde.kernels.html.tags import Names

PLACES = cython.declare(cython.longlong, 1024)  # of names of elements that are open
TRIES = cython.declare(cython.longlong, 16)  # places that a name may have


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def parts(code: cython.uint) -> cython.bint:
    """Whether it stands between attributes: HTML's white space, and the slash."""
    return byte.is_blank(code) or code == byte.SLASH


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def raw_end(
    codes: cython.const[cython.uchar][::1],
    at: cython.longlong,
    start: cython.longlong,
    stop: cython.longlong,
) -> cython.longlong:
    """Where the next end tag that begins with the name at `start` stands; the end for none."""
    size: cython.longlong = codes.shape[0]
    width: cython.longlong = stop - start
    while True:
        at = byte.found(codes, at, byte.LESS)
        if at + 2 + width > size:
            return size
        if codes[at + 1] == byte.SLASH and byte.same_name(codes, at + 2, start, width):
            return at
        at += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def counted(
    keys: cython.ulonglong[::1],
    counts: cython.int[::1],
    key: cython.ulonglong,
    ends: cython.bint,
) -> cython.bint:
    """Count an element that is opened or closed by its name; whether an end tag closes one that is
    open. A name for which there is no place is not counted, so that none is ever taken for closed
    that is not."""
    first: cython.longlong = cython.cast(cython.longlong, (key >> 20) & (PLACES - 1))
    place: cython.longlong
    free: cython.longlong = -1
    step: cython.longlong
    for step in range(TRIES):
        place = (first + step) & (PLACES - 1)
        if keys[place] == key:
            if not ends:
                counts[place] += 1
                return False
            if counts[place] == 0:
                return False
            counts[place] -= 1
            return True
        if free < 0 and counts[place] == 0:
            free = place
    if not ends and free >= 0:
        keys[free] = key
        counts[free] = 1
    return False


def safe_length(
    codes: cython.const[cython.uchar][::1],
    elements: Names,
    formatting: Names,
    most_depth: cython.longlong,
    most_attributes: cython.longlong,
    most_pairs: cython.longlong,
    most_steps: cython.longlong,
    most_copies: cython.longlong,
):
    """How far HTML may be parsed before it nests deeper, or has more attributes, than allowed.

    Attributes are counted per tag, and, squared (a parser compares each with each), in all. An end
    tag that closes nothing makes nothing less deep, and a parser looks for what it closes through
    all that is open: those are its *steps*. Formatting elements (`b`, `font`) that are left open
    are opened again in the next paragraph, all of them: those are its *copies*.
    """
    if not cython.compiled:
        codes = memoryview(codes)
    size: cython.longlong = codes.shape[0]
    at: cython.longlong = 0
    begin: cython.longlong
    start: cython.longlong
    stop: cython.longlong
    depth: cython.longlong = 0
    pairs: cython.longlong = 0
    count: cython.longlong
    ends: cython.bint
    code: cython.uint
    key: cython.ulonglong
    action: cython.int
    styled: cython.bint
    closed: cython.bint
    styles: cython.longlong = 0  # formatting elements that are open
    steps: cython.longlong = 0
    copies: cython.longlong = 0
    keys: cython.ulonglong[::1] = np.zeros(PLACES, dtype=np.uint64)
    counts: cython.int[::1] = np.zeros(PLACES, dtype=np.intc)
    with cython.nogil:
        while True:
            at = byte.found(codes, at, byte.LESS)
            if at + 1 >= size:
                break
            begin = at
            at += 1
            ends = codes[at] == byte.SLASH
            if ends:
                at += 1
            if at >= size or not byte.is_letter(codes[at]):
                continue
            start = at
            key = byte.FNV_START
            while at < size and not byte.ends_name(codes[at]):
                code = codes[at]
                if byte.CAPITAL_A <= code <= byte.CAPITAL_Z:
                    code |= byte.SMALL
                key = byte.hashed(key, code)
                at += 1
            stop = at
            action = elements.number(key)
            count = 0
            while at < size and codes[at] != byte.GREATER:
                if parts(codes[at]):
                    at += 1
                    continue
                count += 1
                at += 1  # a name has one character at least, and that may be anything
                while at < size and not byte.ends_name(codes[at]) and codes[at] != byte.EQUALS:
                    at += 1
                while at < size and byte.is_blank(codes[at]):
                    at += 1
                if at < size and codes[at] == byte.EQUALS:
                    at += 1
                    while at < size and byte.is_blank(codes[at]):
                        at += 1
                    if at < size and (codes[at] == byte.QUOTE or codes[at] == byte.APOSTROPHE):
                        at = byte.found(codes, at + 1, codes[at]) + 1
                    else:
                        while at < size and codes[at] != byte.GREATER and codes[at] > byte.SPACE:
                            at += 1
            pairs += count * count
            if count > most_attributes or pairs > most_pairs:
                size = begin
                break
            styled = formatting.number(key) != 0
            if ends:
                steps += depth + styles
            else:
                copies += styles
            if steps > most_steps or copies > most_copies:
                size = begin
                break
            if action & tags.FLAT and not styled:
                continue
            closed = counted(keys, counts, key, ends)
            if styled:
                if closed:
                    styles -= 1
                elif not ends:
                    styles += 1
            if action & tags.FLAT:
                continue
            if ends:
                if closed:
                    depth -= 1
                continue
            depth += 1
            if depth > most_depth:
                size = begin
                break
            if action & tags.RAW:
                at = raw_end(codes, at, start, stop)
    return size
