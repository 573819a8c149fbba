"""How much of a page is safe to parse: HTML as it came, measured in one pass over its UTF-8."""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.sonde.kernels.html.tags import Names
else:
    from sonde.kernels.html.tags import Names

RAW = cython.declare(cython.int, 32)
FLAT = cython.declare(cython.int, 128)  # as `scan` has them
FIRST = cython.declare(cython.ulonglong, 0xCBF29CE484222325)
PRIME = cython.declare(cython.ulonglong, 0x100000001B3)
MASK = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def is_letter(code: cython.uint) -> cython.bint:
    return 97 <= code <= 122 or 65 <= code <= 90


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def parts(code: cython.uint) -> cython.bint:
    """Whether it stands between attributes: HTML's white space, and the slash."""
    return code == 32 or code == 9 or code == 10 or code == 12 or code == 13 or code == 47


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def found(
    codes: cython.const[cython.uchar][::1], at: cython.longlong, code: cython.uint
) -> cython.longlong:
    """Where a code point stands next; the end where it does not."""
    size: cython.longlong = codes.shape[0]
    while at < size and codes[at] != code:
        at += 1
    return at


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def end_tag(
    codes: cython.const[cython.uchar][::1],
    at: cython.longlong,
    start: cython.longlong,
    stop: cython.longlong,
) -> cython.longlong:
    """Where the next end tag of the name at `start` stands; the end for none."""
    size: cython.longlong = codes.shape[0]
    width: cython.longlong = stop - start
    letter: cython.longlong
    while at + 2 + width <= size:
        if codes[at] == 60 and codes[at + 1] == 47:
            letter = 0
            while letter < width and (codes[at + 2 + letter] | 32) == (codes[start + letter] | 32):
                letter += 1
            if letter == width:
                return at
        at += 1
    return size


def safe_length(
    codes: cython.const[cython.uchar][::1],
    elements: Names,
    most_depth: cython.longlong,
    most_attributes: cython.longlong,
    most_pairs: cython.longlong,
):
    """How far HTML may be parsed before it nests deeper, or has more attributes, than allowed.

    Attributes are counted per tag, and, squared (a parser compares each with each), in all.
    """
    if not cython.compiled:
        codes = memoryview(codes)
    size: cython.longlong = codes.shape[0]
    at: cython.longlong = 0
    begin: cython.longlong
    start: cython.longlong
    depth: cython.longlong = 0
    pairs: cython.longlong = 0
    count: cython.longlong
    ends: cython.bint
    code: cython.uint
    key: cython.ulonglong
    action: cython.int
    with cython.nogil:
        while True:
            at = found(codes, at, 60)
            if at + 1 >= size:
                break
            begin = at
            at += 1
            ends = codes[at] == 47
            if ends:
                at += 1
            if at >= size or not is_letter(codes[at]):
                continue
            start = at
            key = FIRST
            while at < size and not parts(codes[at]) and codes[at] != 62:
                code = codes[at]
                if 65 <= code <= 90:
                    code |= 32
                key = ((key ^ code) * PRIME) & MASK
                at += 1
            action = elements.number(key)
            count = 0
            key = cython.cast(cython.ulonglong, at)  # where the name ends
            while at < size and codes[at] != 62:
                if parts(codes[at]):
                    at += 1
                    continue
                count += 1
                at += 1  # a name has one character at least, and that may be anything
                while at < size and not parts(codes[at]) and codes[at] != 62 and codes[at] != 61:
                    at += 1
                while at < size and parts(codes[at]) and codes[at] != 47:
                    at += 1
                if at < size and codes[at] == 61:
                    at += 1
                    while at < size and parts(codes[at]) and codes[at] != 47:
                        at += 1
                    if at < size and (codes[at] == 34 or codes[at] == 39):
                        at = found(codes, at + 1, codes[at]) + 1
                    else:
                        while at < size and codes[at] != 62 and codes[at] > 32:
                            at += 1
            pairs += count * count
            if count > most_attributes or pairs > most_pairs:
                size = begin
                break
            if action & FLAT:
                continue
            if ends:
                if depth > 0:
                    depth -= 1
                continue
            depth += 1
            if depth > most_depth:
                size = begin
                break
            if action & RAW:
                at = end_tag(codes, at, start, cython.cast(cython.longlong, key))
    return size
