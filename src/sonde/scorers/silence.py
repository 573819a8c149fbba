"""The silence of a topic: what documents say instead, while none of them says a word of it.

Scorers that look for a topic have one, ``silence``.
"""

from __future__ import annotations

import math
import re
from collections import Counter

from sonde.scorers.folding import fold
from sonde.scorers.scripts import UNSPACED
from sonde.scorers.stop_words import FOLDED

EARLY = 20
"""Documents without a word of the topic, after which that is worth saying."""

_WORD = re.compile(r"[^\W\d_]{4,30}")
_STRING = re.compile(f"{UNSPACED.pattern}{{2,8}}")
_LONGEST = 100_000  # characters of a document that are looked at


class Silence:
    """Counts the words of the first documents. Ends with the first that has a word of the topic."""

    def __init__(self) -> None:
        self.documents = 0
        self.broken = False
        self._counts: Counter[str] = Counter()
        self._having: Counter[str] = Counter()

    def hear(self, text: str, found: bool) -> None:
        """Take in a document's content, and whether the topic was found in it."""
        if found:
            self.broken = True
            self._counts.clear()
            self._having.clear()
        elif text and self.documents < EARLY:
            self.documents += 1
            folded = fold(text[:_LONGEST])
            words = Counter(_WORD.findall(folded) if not UNSPACED.search(folded) else _both(folded))
            self._counts.update(words)
            self._having.update(words.keys())

    def frequent(self, most: int = 8) -> list[str]:
        """The words that tell these documents from others: frequent, and not in every one; none
        once the topic was heard."""
        weights = {
            word: (count * math.log(self.documents / self._having[word]), count)
            for word, count in self._counts.items()
            if word not in FOLDED and (self._having[word] > 1 or self.documents == 1)
        }
        best = sorted(weights, key=lambda word: (*(-each for each in weights[word]), word))
        return best[:most]


def _both(folded: str) -> list[str]:
    """Words, and strings of scripts without spaces between other characters."""
    return [
        *(word for word in _WORD.findall(folded) if not UNSPACED.search(word)),
        *_STRING.findall(folded),
    ]
