"""Compressed files read as far as they can be read.

A truncated or damaged file ends where it can no longer be decompressed; what was lost is counted,
not raised. A ``.bz2``, as large dumps are, goes on at the next block (see ``bzip``).
"""

from __future__ import annotations

import io
import lzma
import queue
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Protocol

import zstandard

from sonde.data import bzip
from sonde.errors import InputError

STEP = 1 << 16
"""Compressed bytes taken at a time."""

SUFFIXES = (".bz2", ".gz", ".xz", ".zst")

_AHEAD = 8  # pieces that wait

_DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError)


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


_MAKERS: dict[str, Callable[[], _Decompressor]] = {
    ".gz": lambda: zlib.decompressobj(31),
    ".xz": lambda: lzma.LZMADecompressor(lzma.FORMAT_AUTO),
    ".zst": lambda: zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj(),
}


def open_raw(path: Path) -> BinaryIO:
    """The file as it is, or an ``InputError``."""
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


def chunks(raw: BinaryIO, suffix: str, problems: Counter[str], threads: int = 1) -> Iterator[bytes]:
    """The decompressed bytes, in pieces; ``suffix`` says how the file is compressed, if at all.

    Threads help with bzip2 alone: the others are one chain, and many times as fast.
    """
    if suffix == ".bz2":
        yield from bzip.decompressed(raw, problems, threads)
        return
    maker = _MAKERS.get(suffix)
    if maker is None:
        yield from iter(lambda: raw.read(STEP), b"")
        return
    stream: _Decompressor | None = None
    pending = b""
    while True:
        data = pending or raw.read(STEP)
        pending = b""
        if not data:
            break
        if stream is None:
            data = data.lstrip(b"\0")  # padding between streams
            if not data:
                continue
            stream = maker()
        try:
            out = stream.decompress(data)
        except _DAMAGE:
            problems["damaged compressed streams"] += 1
            return
        if out:
            yield out
        if stream.eof:
            pending, stream = stream.unused_data, None
    if stream is not None:
        problems["truncated compressed files"] += 1


def ahead(pieces: Iterator[bytes]) -> Generator[bytes, None, None]:
    """The same pieces, made by a thread that is a few of them ahead.

    Decompressors let other threads run, so that the time they take is not lost to anything else.
    """
    waiting: queue.Queue[bytes | BaseException | None] = queue.Queue(_AHEAD)
    stopped = threading.Event()

    def put(item: bytes | BaseException | None) -> None:
        while not stopped.is_set():
            with suppress(queue.Full):
                waiting.put(item, timeout=0.1)
                return

    def work() -> None:
        try:
            for piece in pieces:
                put(piece)
                if stopped.is_set():
                    return
            put(None)
        except BaseException as error:
            put(error)

    thread = threading.Thread(target=work, name="decompression", daemon=True)
    thread.start()
    try:
        while (item := waiting.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stopped.set()
        thread.join()


class Stream(io.RawIOBase):
    """The same bytes as a file object, for readers that want one."""

    def __init__(self, raw: BinaryIO, suffix: str, problems: Counter[str], threads: int) -> None:
        self._chunks = ahead(chunks(raw, suffix, problems, threads))
        self._left = b""

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._chunks.close()
        super().close()

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        if not self._left:
            self._left = next(self._chunks, b"")
        piece = self._left[: len(view)]
        view[: len(piece)] = piece
        self._left = self._left[len(piece) :]
        return len(piece)
