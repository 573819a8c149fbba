"""The pages of a run that has no folder, in a temporary file that is gone with it.

It takes what the WARC files of a run take (``write``) and gives it back (``read``). Only the last
answer of a fetch is kept: nobody replays a run that is gone with its process.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from typing import BinaryIO

import zstandard

from sonde.errors import InputError
from sonde.net.exchange import Exchange
from sonde.store.warcreader import Archived, split_response

_PACKER = zstandard.ZstdCompressor(level=1)


class MemoryPages:
    """Answers, packed, one behind the other. Use ``close()`` at the end."""

    def __init__(self) -> None:
        self._file: BinaryIO | None = None
        self._end = 0

    def write(self, hops: Sequence[Exchange], cut: str = "") -> str:
        """Keep the last answer; its place."""
        last = hops[-1]
        return self._put(last.url, last.response_head, last.body)

    def write_rendered(self, url: str, html: bytes) -> str:
        """Keep what a browser made of a page; its place."""
        return self._put(url, b"HTTP/1.1 200\r\nContent-Type: text/html; charset=utf-8\r\n", html)

    def _put(self, url: str, head: bytes, body: bytes) -> str:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="sonde-")  # noqa: SIM115 (see close)
        line = json.dumps([url, len(head)]).encode() + b"\n"
        packed = _PACKER.compress(line + head + body)
        self._file.seek(self._end)
        self._file.write(packed)
        place = f"{self._end}:{len(packed)}"
        self._end += len(packed)
        return place

    def read(self, place: str) -> Archived:
        """The answer at a place."""
        if self._file is None:
            raise InputError(f"no page is kept at {place}: the run is gone")
        begin, _, length = place.partition(":")
        self._file.seek(int(begin))
        block = zstandard.ZstdDecompressor().decompress(self._file.read(int(length)))
        line, _, block = block.partition(b"\n")
        url, size = json.loads(line)
        return Archived(url, "", split_response(block[:size])[0], block[size:])

    def repaired(self) -> str:
        """Nothing is ever found again, and so nothing repaired."""
        return ""

    def close(self) -> None:
        """Let go of the file. Closing twice does nothing."""
        if self._file is not None:
            self._file.close()
            self._file = None
