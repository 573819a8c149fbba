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
    words = [word for link in links for word in link.words]
    if not words:
        return None
    return np.array([*(len(link.words) for link in links), *words], dtype=_NUMBER).tobytes()


def unpack(packed: bytes | None, links: int) -> list[tuple[int, ...]]:
    """The words of each of so many links."""
    if not packed:
        return [()] * links
    numbers = np.frombuffer(packed, dtype=_NUMBER).tolist()
    words = []
    place = links
    for count in numbers[:links]:
        words.append(tuple(numbers[place : place + count]))
        place += count
    return words
