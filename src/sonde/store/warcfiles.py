"""The WARC files of a run: names, places in them, whether their end is whole, and redaction.

Every record is one gzip member, so a record can be read from its offset alone, and a file that
ends with a whole member ends with a whole record. A place is written ``name:offset``.

Redaction makes records empty where they stand: in the place of one that should go stands another of
the same length, an empty ``metadata`` record, filled up by the comment that a gzip header may have.
So all other records keep their places, and the file is still one that any archive tool reads.
"""

from __future__ import annotations

import re
import struct
import uuid
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple

from sonde.errors import InputError
from sonde.system import sync_file

_NAME = re.compile(r"pages-(\d{5,})\.warc\.gz")
_CHUNK = 65_536
_HEAD = 16_384  # of a record: more than enough for its headers
_COMMENT = 16  # the flag of a gzip header that has one
_URI = re.compile(rb"^WARC-(?:Refers-To-)?Target-URI:\s*<?([^\s>]+)", re.IGNORECASE | re.MULTILINE)


class RecordPlace(NamedTuple):
    """Where a record begins."""

    name: str
    offset: int

    def __str__(self) -> str:
        return f"{self.name}:{self.offset}"

    @classmethod
    def parse(cls, text: str) -> RecordPlace:
        """The place that a database names; nothing but a file of the folder itself."""
        name, _, offset = text.rpartition(":")
        if not _NAME.fullmatch(name) or not (offset.isascii() and offset.isdigit()):
            raise InputError(f"{text!r:.100} is not a place in a WARC file")
        return cls(name, int(offset))


@dataclass(frozen=True, slots=True)
class Tail:
    """How a file ends. ``end`` is where the last whole record ends; ``damage`` says what follows:
    nothing, a record that was ``cut`` short, or bytes that are no record (``corrupt``)."""

    end: int
    size: int
    damage: str = ""


def file_name(number: int) -> str:
    """The name of the n-th file."""
    return f"pages-{number:05d}.warc.gz"


def numbered(folder: Path) -> list[int]:
    """The numbers of the files in a folder, in order."""
    names = (_NAME.fullmatch(path.name) for path in folder.iterdir())
    return sorted(int(name[1]) for name in names if name is not None)


def tail_of(path: Path, start: int = 0) -> Tail:
    """How a file ends, read from `start`, which must be the beginning of a record."""
    size = path.stat().st_size
    if start > size:  # what the database knew is not there any more
        start = 0
    end = place = start
    member = None
    with path.open("rb") as file:
        file.seek(start)
        while chunk := file.read(_CHUNK):
            while chunk:
                if member is None:
                    member = zlib.decompressobj(31)
                try:
                    member.decompress(chunk)
                except zlib.error:
                    return Tail(end, size, "corrupt")
                place += len(chunk) - len(member.unused_data)
                chunk = member.unused_data
                if member.eof:
                    end, member = place, None
    return Tail(end, size, "" if end == size else "cut")


# -- redaction -------------------------------------------------------------------------------------


def redact(folder: Path, urls: Collection[str]) -> list[str]:
    """Empty all records of these URLs, and those that refer to them; their places."""
    wanted = {url.encode() for url in urls}
    places = []
    for path in sorted(folder.glob("*.warc.gz")):
        try:
            with path.open("r+b") as file:
                for offset, length, head in _members(file):
                    if wanted & set(_URI.findall(head)):
                        file.seek(offset)
                        file.write(_empty(length, path))
                        places.append(f"{path.name}:{offset}")
                file.flush()
                sync_file(file.fileno())
        except (OSError, zlib.error) as error:
            raise InputError(f"{path}: cannot be changed: {error}") from None
    return places


def _members(file: BinaryIO) -> Iterator[tuple[int, int, bytes]]:
    """Offset, length and the headers of each record."""
    offset = 0
    while True:
        file.seek(offset)
        member = zlib.decompressobj(31)
        head = b""
        length = 0
        while not member.eof:
            chunk = file.read(_CHUNK)
            if not chunk:
                return  # the end, or a record that was cut off by a crash
            text = member.decompress(chunk)
            if len(head) < _HEAD:
                head += text[: _HEAD - len(head)]
            length += len(chunk) - len(member.unused_data)
        yield offset, length, head.partition(b"\r\n\r\n")[0]
        offset += length


def _empty(length: int, path: Path) -> bytes:
    """A member of exactly this length that says nothing."""
    date = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    record = (
        f"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:uuid:{uuid.uuid4()}>\r\n"
        f"WARC-Date: {date}\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
    ).encode()
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(record) + packer.flush()
    filling = length - 10 - 1 - len(packed) - 8
    if filling < 0:
        raise InputError(f"{path}: a record of {length} bytes is too short to be emptied")
    header = struct.pack("<2sBBIBB", b"\x1f\x8b", 8, _COMMENT, 0, 2, 255)
    tail = struct.pack("<II", zlib.crc32(record), len(record))
    return header + b"-" * filling + b"\0" + packed + tail
