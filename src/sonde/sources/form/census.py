"""The census (capture and recapture): how many records a database has, from what its searches
returned.

Each keyword is a capture: a sample of records. Records that were captured once and twice say how
many were never captured (Chao's estimator for incidence, bias-corrected):

    N = S + (m - 1)/m * q1 (q1 - 1) / (2 (q2 + 1))

with S distinct records in m captures, q1 of them captured exactly once, q2 exactly twice. Keywords
do not return every record with the same chance, and Chao's N is then a lower bound on average: the
share siphoned so far is, if anything, smaller than it says. The interval is his log-normal one, at
95 %.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

ENOUGH = 30
"""Below so many records nothing is said about shares."""


class Size(NamedTuple):
    """An estimate of a number of records, with the ends of its interval."""

    records: float
    low: float
    high: float


class Census:
    """Records and words, counted."""

    def __init__(self) -> None:
        self.captures = 0
        self.times: dict[str, int] = {}  # by record: how many keywords returned it
        self.holding: Counter[str] = Counter()  # by word: how many records have it
        self._once = 0
        self._twice = 0

    def new(self, records: Iterable[str]) -> int:
        """How many of the records were never returned before."""
        return sum(record not in self.times for record in records)

    def capture(self, records: Sequence[str]) -> None:
        """A keyword has returned these, each once."""
        if not records:
            return
        self.captures += 1
        for record in records:
            times = self.times[record] = self.times.get(record, 0) + 1
            self._once += (times == 1) - (times == 2)
            self._twice += (times == 2) - (times == 3)

    def describe(self, words: Iterable[str]) -> None:
        """A record that was new has these words, each once."""
        self.holding.update(words)

    def share_with(self, word: str) -> float:
        """The share of the records that have a word, as far as seen; 0 while that is too few."""
        return self.holding[word] / len(self.times) if len(self.times) >= ENOUGH else 0.0

    def size(self) -> Size | None:
        """How many records there are; ``None`` until records have come twice."""
        seen, once, twice = len(self.times), self._once, self._twice
        if self.captures < 2 or seen == once:
            return None
        part = (self.captures - 1) / self.captures
        unseen = part * once * (once - 1) / (2 * (twice + 1))
        if unseen <= 0:
            return Size(seen, seen, seen)
        variance = _variance(once, twice, part)
        spread = math.exp(1.96 * math.sqrt(math.log(1 + variance / unseen**2)))
        return Size(seen + unseen, seen + unseen / spread, seen + unseen * spread)


def _variance(once: int, twice: int, part: float) -> float:
    if twice:
        ratio = once / twice
        return twice * (part / 2 * ratio**2 + part**2 * ratio**3 + part**2 / 4 * ratio**4)
    linear = part * once * (once - 1) / 2
    return linear + part**2 * once * (2 * once - 1) ** 2 / 4
