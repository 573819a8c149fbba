"""Files that may be compressed, read as one stream of bytes."""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

COMPRESSIONS = (".gz", ".xz", ".zst")

UNREADABLE = (OSError, EOFError, lzma.LZMAError, pa.ArrowException, UnicodeDecodeError)
"""What reading a missing, truncated or corrupt file raises, whichever library reads it."""


def open_stream(path: Path) -> BinaryIO:
    """The bytes of a file, decompressed as its suffix says."""
    if path.suffix == ".xz":
        return cast("BinaryIO", lzma.open(path))
    codec = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix)
    return cast("BinaryIO", pa.input_stream(str(path), compression=codec))


def in_one_line(error: BaseException) -> str:
    """What an error says, fit for the end of a one-line message."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(text.split())[:200]
