"""The query scorer: BM25, with document statistics learned from the crawl itself.

beta is the BM25 score of the content for the words of the query; alpha that of the link's window,
without a length normalisation (windows are all about as long). How rare a word is, and how
long a page usually is, comes from the pages scored so far, this one included: the crawl is the
collection. So the order of pages matters, and the state is kept with the run.

    score = sum over words of  idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean length))
    idf = ln(1 + (pages - pages with the word + 0.5) / (pages with the word + 0.5))

Words are found as the keyword scorer finds them (see ``keyword_matcher``). A phrase of the topic is
a word of the query for each of its words, a phrase in quotes is one itself. A weight multiplies
what its words bring, and a text that has what is excluded scores 0.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from sonde.scorers.document import Document, Scores, texts_of
from sonde.scorers.keyword_matcher import KeywordMatcher, TopicMatcher
from sonde.scorers.silence import Silence
from sonde.scorers.topic import Phrase, Topic


class Bm25Scorer:
    """Scores by a query of words. Learns with every document."""

    def __init__(self, query: str | Topic, *, k1: float = 1.2, b: float = 0.75) -> None:
        self.query = Topic.of(query) if isinstance(query, str) else query
        self.k1 = k1
        self.b = b
        words = {word.key: word for phrase in self.query.phrases for word in _words_of(phrase)}
        self._matcher = TopicMatcher(Topic(tuple(words.values())))
        self._words = len(words)
        self.silence = Silence()
        self._pages = 0
        self._length = 0
        self._with_word = [0] * self._words

    def score(self, document: Document) -> Scores:
        content, *contexts = texts_of(document)
        matcher = self._matcher.speaking(document.language)
        counts = self._counts(matcher, content)
        if not self.silence.broken:
            self.silence.hear(content, any(counts))
        length = content.count(" ") + 1
        self._pages += 1
        self._length += length
        for word, count in enumerate(counts):
            self._with_word[word] += count > 0
        rarity = self._rarity()
        return Scores(
            self._sum(rarity, counts, self.k1 * self._shape(length)),
            [self._sum(rarity, self._counts(matcher, context), self.k1) for context in contexts],
        )

    def rescore(self, document: Document) -> float:
        """The beta of a document whose content has changed, by what is known now; nothing is
        learned from it a second time."""
        counts = self._counts(self._matcher.speaking(document.language), document.content)
        damp = self.k1 * self._shape(document.content.count(" ") + 1)
        return self._sum(self._rarity(), counts, damp)

    def _rarity(self) -> list[float]:
        return [
            math.log(1.0 + (self._pages - known + 0.5) / (known + 0.5)) for known in self._with_word
        ]

    def _shape(self, length: int) -> float:
        return 1.0 - self.b + self.b * length * self._pages / self._length

    def _counts(self, matcher: KeywordMatcher, text: str) -> list[int]:
        counts = [0] * self._words
        for _, _, word in matcher.spans(text):
            counts[word] += 1
        return counts

    def _sum(self, rarity: list[float], counts: list[int], damp: float) -> float:
        total = 0.0
        for phrase, idf, count in zip(self._matcher.topic.phrases, rarity, counts, strict=True):
            if count and phrase.excluded:
                return 0.0
            if count:
                total += phrase.weight * idf * count * (self.k1 + 1.0) / (count + damp)
        return total

    def state(self) -> dict[str, Any]:
        return {"pages": self._pages, "length": self._length, "with_word": list(self._with_word)}

    def restore(self, state: dict[str, Any]) -> None:
        self._pages = state["pages"]
        self._length = state["length"]
        self._with_word = list(state["with_word"])


def _words_of(phrase: Phrase) -> list[Phrase]:
    """The words of a phrase, each on its own, where that is what is meant."""
    if phrase.quoted or phrase.excluded:
        return [phrase]
    return [replace(phrase, words=(word,)) for word in phrase.words]
