"""bzip2 files decompressed block by block, on several threads or by other processes.

A bzip2 stream is a string of bits: a head, *blocks* of up to 900 kB each of which begins with the
same 48-bit *mark*, and an end mark. Blocks do not depend on one another, and a block between a head
and an end of its own is a stream that any decompressor reads. So the file is cut at its marks,
wherever in a byte they stand, the blocks are decompressed at the same time, and come out in their
order. It makes no difference whether the file is one stream or many.

It is exact: each block is checked against its checksum, and bits that look like a mark within a
block (which happens once in some 30 terabytes) are noticed because the block before them cannot be
decompressed without them. What is damaged is counted and left out, and everything after it is read:
a *hole* stands in its place, so that what was before it and what is after it do not become one.
"""

from __future__ import annotations

import bz2
from collections import Counter, deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import BinaryIO, NamedTuple

import numpy as np

HOLE = b"\n\0\n"
"""Neither a page nor a row goes on over it."""

STEP = 1 << 20
"""Compressed bytes looked through at a time."""

_BLOCK, _END = 0x314159265359, 0x177245385090
_MARK_BITS = 48
_CHECKSUM_BITS = 32
_MOST_BITS = 1 << 23  # no block is longer: 900 kB that cannot be compressed, and their tables
_GROUP_BITS = 5_000_000  # three blocks or so of a dump, some 2.5 MB of text
_AHEAD = 2  # blocks for each thread that wait or are worked on
_SPAN = 7  # bytes in which a mark fits, wherever it begins


class Piece(NamedTuple):
    """The bits from one mark, or from the beginning of the file, to the next one."""

    mark: int  # _BLOCK, _END, or 0 for the beginning of the file
    bits: int
    length: int

    def joined(self, other: Piece) -> Piece:
        return Piece(self.mark, self.bits << other.length | other.bits, self.length + other.length)


class Group(NamedTuple):
    """Pieces that follow one another; ``last`` are those at the end of the file."""

    pieces: list[Piece]
    last: bool


def groups(raw: BinaryIO) -> Iterator[Group]:
    """The pieces of a file, some blocks at a time."""
    pieces: list[Piece] = []
    length = 0
    for piece in _pieces(raw):
        if length >= _GROUP_BITS:
            yield Group(pieces, False)
            pieces, length = [], 0
        pieces.append(piece)
        length += piece.length
    if pieces:
        yield Group(pieces, True)


def opened(group: Group) -> bytes | None:
    """The blocks of a group; None if anything is damaged, cut short or falsely marked."""
    found: list[bytes] = []
    for place, piece in enumerate(group.pieces, 1):
        final = group.last and place == len(group.pieces)
        if piece.mark == _BLOCK:
            block = _block(piece)
            if block is None or final:
                return None
            found.append(block)
        elif not _is_border(piece, final):
            return None
    return b"".join(found)


def decompressed(
    raw: BinaryIO, problems: Counter[str], threads: int = 1
) -> Generator[bytes, None, None]:
    """The blocks of a file."""
    return joined(_pieces(raw), problems, threads)


def joined(
    source: Iterator[Piece], problems: Counter[str], threads: int = 1
) -> Generator[bytes, None, None]:
    """The blocks of pieces, down to the end of the file."""
    with ThreadPoolExecutor(threads, "bzip2") as pool:
        waiting: deque[tuple[Piece, Future[bytes | None] | None]] = deque()
        pieces = (
            (piece, pool.submit(_block, piece) if piece.mark == _BLOCK else None)
            for piece in source
        )
        room = threads * _AHEAD + 1
        waiting.extend(islice(pieces, room))
        last = 0
        try:
            while waiting:
                piece, future = waiting.popleft()
                waiting.extend(islice(pieces, room - len(waiting)))
                last = piece.mark
                if future is None:
                    if not _is_border(piece, final=not waiting):
                        problems["damaged compressed blocks"] += 1
                        yield HOLE
                    continue
                found = future.result() or _over_false_marks(piece, waiting)
                if found:
                    yield found
                elif waiting:  # at the end of a file it is only not all there
                    problems["damaged compressed blocks"] += 1
                    yield HOLE
            if last == _BLOCK:
                problems["truncated compressed files"] += 1
        finally:
            for _, future in waiting:
                if future is not None:
                    future.cancel()


def _block(piece: Piece) -> bytes | None:
    """A block decompressed, or None if its bits are not those of one block."""
    checksum = piece.bits >> max(0, piece.length - _MARK_BITS - _CHECKSUM_BITS)
    checksum &= (1 << _CHECKSUM_BITS) - 1
    bits = (piece.bits << _MARK_BITS | _END) << _CHECKSUM_BITS | checksum
    length = piece.length + _MARK_BITS + _CHECKSUM_BITS
    size = (length + 7) // 8
    reader = bz2.BZ2Decompressor()
    try:
        found = reader.decompress(b"BZh9" + (bits << (8 * size - length)).to_bytes(size, "big"))
    except (OSError, ValueError):
        return None
    return found if reader.eof and not reader.unused_data else None


def _over_false_marks(
    piece: Piece, waiting: deque[tuple[Piece, Future[bytes | None] | None]]
) -> bytes | None:
    """The block that goes on after bits that look like a mark; None if there is no such block."""
    for count, (other, _) in enumerate(waiting, 1):
        piece = piece.joined(other)
        if piece.length > _MOST_BITS:
            break
        found = _block(piece)
        if found:
            for _ in range(count):
                waiting.popleft()
            return found
    return None


def _is_border(piece: Piece, final: bool) -> bool:
    """Whether nothing but the end of a stream and the head of the next one is in a piece."""
    length = piece.length
    if piece.mark == _END:
        length -= _MARK_BITS + _CHECKSUM_BITS
    rest = piece.bits & ((1 << max(0, length)) - 1)
    if final:
        return piece.mark == _END and length >= 0 and not rest
    head = rest & 0xFFFFFFFF
    between = rest >> 32  # filled up to whole bytes with zeros
    return length >= 32 and not between and head >> 8 == 0x425A68 and 0x31 <= head & 0xFF <= 0x39


def _pieces(raw: BinaryIO) -> Iterator[Piece]:
    data = b""
    begun, mark = 0, 0  # where in the data, in bits, the present piece began
    searched = 0
    while more := raw.read(STEP):
        data += more
        for place, found in _marks(data, searched):
            yield _cut(data, begun, place, mark)
            begun, mark = place, found
        if 8 * len(data) - begun > 2 * _MOST_BITS:  # that is no block, and must not be held
            yield _cut(data, begun, 8 * (len(data) - _SPAN), mark)
            begun, mark = 8 * (len(data) - _SPAN), 0
        past = begun // 8
        searched = max(0, len(data) - _SPAN + 1 - past)
        data, begun = data[past:], begun - 8 * past
    if begun < 8 * len(data):
        yield _cut(data, begun, 8 * len(data), mark)


def _cut(data: bytes, begin: int, end: int, mark: int) -> Piece:
    last = (end + 7) // 8
    bits = int.from_bytes(data[begin // 8 : last], "big") >> (8 * last - end)
    return Piece(mark, bits & ((1 << (end - begin)) - 1), end - begin)


def _marks(data: bytes, since: int) -> Iterator[tuple[int, int]]:
    """The places of marks, in bits, that begin at this byte or later and are all there."""
    codes = np.frombuffer(data, np.uint8)[since + 1 : max(0, len(data) - _SPAN + 3)]
    if len(codes) < 2:
        return
    pairs = codes[:-1].astype(np.uint16)
    pairs <<= 8
    pairs |= codes[1:]
    # Few bytes are followed by what may be the second and the third byte of a mark.
    for at in (np.flatnonzero(_FAMILIAR[pairs]) + since).tolist():
        window = int.from_bytes(data[at : at + _SPAN], "big")
        for shift in range(8):
            found = window >> (8 - shift) & ((1 << _MARK_BITS) - 1)
            if found in (_BLOCK, _END):
                yield 8 * at + shift, found


def _familiar() -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    found = np.zeros(1 << 16, np.bool_)
    for mark in (_BLOCK, _END):
        for shift in range(8):
            found[(mark << (8 - shift)) >> 32 & 0xFFFF] = True
    return found


_FAMILIAR = _familiar()
