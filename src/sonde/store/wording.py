"""The words of a visit's links, as a run keeps them: two bytes for each number.

First how many words each link has, in the order of the links, then all words. Nothing is kept where
no link has any.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sonde.records import Link

_NUMBER = "<u2"


def pack(links: Sequence[Link]) -> bytes | None:
    """The words of links, or ``None`` where there are none."""
    lists = [link.words for link in links]
    words = b"".join(lists)
    if not words:
        return None
    return (np.array(list(map(len, lists))) // 2).astype(_NUMBER).tobytes() + words


def unpack(packed: bytes | None, links: int) -> list[bytes]:
    """The words of each of so many links."""
    if not packed:
        return [b""] * links
    words = []
    place = 2 * links
    for count in np.frombuffer(packed, dtype=_NUMBER, count=links).tolist():
        words.append(packed[place : place + 2 * count])
        place += 2 * count
    return words
