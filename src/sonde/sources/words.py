"""The words of a link, as numbers: of its anchor, of its target's address, and of its window.

Words are hashed to 16 bits, so that an estimator can count them in tables of a fixed size and a run
can keep them in two bytes each. Two words that share a number are told apart by the others beside
them. Words of addresses have numbers of their own: `jazz` in a path is another sign than in a text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from zlib import crc32

MOST = 24
"""How many words of a link count, the anchor's first."""

_WORD = re.compile(r"[^\W_]{2,}")


@lru_cache(maxsize=1 << 16)
def word_number(word: str) -> int:
    """The number of a word, from 0 to 65,535."""
    return crc32(word.encode("utf-8", "replace")) & 0xFFFF


@lru_cache(maxsize=1 << 14)
def _of_text(text: str) -> tuple[int, ...]:
    return tuple([word_number(word) for word in _WORD.findall(text.lower())])


@lru_cache(maxsize=1 << 14)
def _of_address(target: str) -> tuple[int, ...]:
    path = "/".join(target.partition("?")[0].split("/")[-2:])
    stem, dot, ending = path.rpartition(".")
    if dot and "/" not in ending:
        path = stem
    return tuple([word_number(f"/{word}") for word in _WORD.findall(path.lower())])


def link_words(anchor: str, target: str, window: str = "") -> tuple[int, ...]:
    """The distinct words of a link, in order: of the anchor, of the last two parts of the target's
    address, of the window."""
    numbers = dict.fromkeys(_of_text(anchor))
    numbers.update(dict.fromkeys(_of_address(target)))
    numbers.update(dict.fromkeys(_of_text(window)))
    return tuple(numbers)[:MOST]
