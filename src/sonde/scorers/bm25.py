"""The query scorer: BM25, with document statistics learned from the crawl itself.

beta is the BM25 score of the content for the words of the query; alpha that of the link's window,
without a length normalisation (windows are all about as long). How rare a word is, and how
long a page usually is, comes from the pages scored so far, this one included: the crawl is the
collection. So the order of pages matters, and the state is kept with the run.

    score = sum over words of  idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean length))
    idf = ln(1 + (pages - pages with the word + 0.5) / (pages with the word + 0.5))

Words are found as the keyword scorer finds them: whole, folded, right in French as in English.
"""

from __future__ import annotations

import math
from typing import Any

from sonde.scorers.document import Document, Scores, texts_of
from sonde.scorers.keywords import KeywordMatcher


class Bm25Scorer:
    """Scores by a query of words. Learns with every document."""

    def __init__(self, query: str, *, k1: float = 1.2, b: float = 0.75) -> None:
        self.query = query
        self.k1 = k1
        self.b = b
        self._matcher = KeywordMatcher(query.replace(",", " ").split())
        self._words = len(self._matcher.folded)
        self._pages = 0
        self._length = 0
        self._with_word = [0] * self._words

    def score(self, document: Document) -> Scores:
        content, *contexts = texts_of(document)
        counts = self._counts(content)
        length = content.count(" ") + 1
        self._pages += 1
        self._length += length
        for word, count in enumerate(counts):
            self._with_word[word] += count > 0
        rarity = self._rarity()
        return Scores(
            self._sum(rarity, counts, self.k1 * self._shape(length)),
            [self._sum(rarity, self._counts(context), self.k1) for context in contexts],
        )

    def rescore(self, document: Document) -> float:
        """The beta of a document whose content has changed, by what is known now; nothing is
        learned from it a second time."""
        damp = self.k1 * self._shape(document.content.count(" ") + 1)
        return self._sum(self._rarity(), self._counts(document.content), damp)

    def _rarity(self) -> list[float]:
        return [
            math.log(1.0 + (self._pages - known + 0.5) / (known + 0.5)) for known in self._with_word
        ]

    def _shape(self, length: int) -> float:
        return 1.0 - self.b + self.b * length * self._pages / self._length

    def _counts(self, text: str) -> list[int]:
        counts = [0] * self._words
        for _, _, word in self._matcher.spans(text):
            counts[word] += 1
        return counts

    def _sum(self, rarity: list[float], counts: list[int], damp: float) -> float:
        return sum(
            idf * count * (self.k1 + 1.0) / (count + damp)
            for idf, count in zip(rarity, counts, strict=True)
            if count
        )

    def state(self) -> dict[str, Any]:
        return {"pages": self._pages, "length": self._length, "with_word": list(self._with_word)}

    def restore(self, state: dict[str, Any]) -> None:
        self._pages = state["pages"]
        self._length = state["length"]
        self._with_word = list(state["with_word"])
