"""The WARC files of a run: their names, the places in them, and whether their end is whole.

Every record is one gzip member, so a record can be read from its offset alone, and a file that
ends with a whole member ends with a whole record. A place is written ``name:offset``.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sonde.errors import InputError

_NAME = re.compile(r"pages-(\d{5,})\.warc\.gz")
_CHUNK = 65_536


class Place(NamedTuple):
    """Where a record begins."""

    name: str
    offset: int

    def __str__(self) -> str:
        return f"{self.name}:{self.offset}"

    @classmethod
    def parse(cls, text: str) -> Place:
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
