"""How much of a page is safe to parse: HTML as it came, measured in one pass over its UTF-8."""

from __future__ import annotations

import cython
from cython.cimports.sonde.kernels import byte
from cython.cimports.sonde.kernels.html import tags
from cython.cimports.sonde.kernels.html.tags import Names


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
    stop: cython.longlong
    depth: cython.longlong = 0
    pairs: cython.longlong = 0
    count: cython.longlong
    ends: cython.bint
    code: cython.uint
    key: cython.ulonglong
    action: cython.int
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
            if action & tags.FLAT:
                continue
            if ends:
                if depth > 0:
                    depth -= 1
                continue
            depth += 1
            if depth > most_depth:
                size = begin
                break
            if action & tags.RAW:
                at = raw_end(codes, at, start, stop)
    return size
