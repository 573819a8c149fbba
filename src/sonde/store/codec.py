"""How a run keeps what a visit brought: links, their words and places, texts, spends (a codec).

Links are columns: the numbers of their targets as little-endian int32, their scores as float64.
Words are two bytes each: first how many each link has, in the order of the links, then all of
them; nothing is kept where no link has any. Places are records of RFU and BFU, float64, and further
links to the same target, int32. A text is packed with zstd.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import zstandard

from sonde.kernels.model.significance import packed as pack_places
from sonde.records import Spend

__all__ = [
    "pack_places",
    "pack_targets",
    "pack_text",
    "pack_words",
    "spend_of",
    "units_of",
    "unpack_measures",
    "unpack_text",
    "unpack_words",
]

_PACKER = zstandard.ZstdCompressor(level=1)
_WORDS = "<u2"
_PLACES = np.dtype([("rfu", "<f8"), ("bfu", "<f8"), ("repeats", "<i4")])
_NO_PLACE = (-1.0, -1.0, -1)

# -- texts -----------------------------------------------------------------------------------------


def pack_text(text: str) -> bytes:
    """Pack a text."""
    return _PACKER.compress(text.encode("utf-8", "replace"))


def unpack_text(blob: bytes) -> str | None:
    """The text of a blob; ``None`` where it is damaged."""
    try:
        return zstandard.ZstdDecompressor().decompress(blob).decode("utf-8")
    except (zstandard.ZstdError, UnicodeDecodeError):
        return None


# -- links -----------------------------------------------------------------------------------------


def pack_targets(targets: Sequence[int], scores: Sequence[float]) -> tuple[bytes, bytes]:
    """The numbers of the targets, and the scores of the links."""
    return np.array(targets, dtype="<i4").tobytes(), np.array(scores, dtype="<f8").tobytes()


def pack_words(lists: Sequence[bytes]) -> bytes | None:
    """The words of links, or ``None`` where there are none."""
    words = b"".join(lists)
    if not words:
        return None
    return (np.array(list(map(len, lists))) // 2).astype(_WORDS).tobytes() + words


def unpack_words(packed: bytes | None, links: int) -> list[bytes]:
    """The words of each of N links."""
    if not packed:
        return [b""] * links
    words = []
    place = 2 * links
    for count in np.frombuffer(packed, dtype=_WORDS, count=links).tolist():
        words.append(packed[place : place + 2 * count])
        place += 2 * count
    return words


def unpack_measures(packed: bytes) -> list[tuple[float, float, int] | None]:
    """RFU, BFU and repeats of each link; ``None`` for one that has no place."""
    measures = np.frombuffer(packed, dtype=_PLACES).tolist()
    return [None if told == _NO_PLACE else told for told in measures]


# -- spends ----------------------------------------------------------------------------------------


def spend_of(units: dict[str, Any] | None) -> Spend:
    """The units as the log writes them; one request where it writes nothing."""
    return Spend(requests=1) if not units else Spend(**units)


def units_of(spend: Spend) -> dict[str, Any] | None:
    """What the log writes for a spend: only what is not 0, nothing for one request."""
    if spend == Spend(requests=1):
        return None
    units = {
        unit: value
        for unit in ("requests", "bytes", "seconds", "cost")
        if (value := getattr(spend, unit))
    }
    return units or {"requests": 0}
