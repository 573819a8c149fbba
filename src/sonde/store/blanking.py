"""Records of a WARC file made empty where they stand.

Each record is a gzip member of its own. In the place of one that should go stands another of the
same length: an empty ``metadata`` record, filled up by the comment that a gzip header may have. So
all other records keep their places, and the file is still one that any archive tool reads.
"""

from __future__ import annotations

import os
import re
import struct
import uuid
import zlib
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from sonde.errors import InputError

_CHUNK = 65_536
_HEAD = 16_384  # of a record: more than enough for its headers
_COMMENT = 16  # the flag of a gzip header that has one
_URI = re.compile(rb"^WARC-(?:Refers-To-)?Target-URI:\s*<?([^\s>]+)", re.IGNORECASE | re.MULTILINE)


def blank(folder: Path, urls: Collection[str]) -> list[str]:
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
                os.fsync(file.fileno())
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
