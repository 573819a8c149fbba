"""A question: what a text says about it, in facts that can be counted and passages to be quoted.

The *terms* of a question are its words without those that only make it a question, each with what
ends alike (gauge and gauges). A *passage* is some sentences in a row, about a hundred words. It
speaks of the question when it has at least half of its terms. A *fact* of such a passage is a term
together with another word of the same sentence: two pages that say the same share their facts, so
that the facts which nobody has said before are what a page adds. A fact is a number, the hash of
the two.

In scripts that have no spaces, pairs of characters are words.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from sonde.errors import InputError
from sonde.scorers.folding import fold
from sonde.scorers.scripts import UNSPACED
from sonde.scorers.stop_words import FOLDED

WORDS = 100
"""Of a passage, about."""

_MOST_TERMS = 24
_PAIRS = 1_000
_MOST_FACTS = 1_000  # of one text
_LONGEST = 400  # words of a sentence: beyond, it is cut
_MOST_TEXT = 250_000  # characters of a text that are looked at
_SENTENCE = re.compile(r"(?<=[.!?。！？।])[\"'”’)\]]*\s+|(?<=[。！？])|\n+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


class Excerpt(NamedTuple):
    """Where a passage stands in its text, how often it has each term (and, from ``_PAIRS`` on, each
    beside the one before it), its facts, and how many words it has."""

    start: int
    end: int
    counts: dict[int, int]
    facts: frozenset[int]
    words: int


class Question:
    """A question, taken apart."""

    def __init__(self, text: str) -> None:
        self.text = " ".join(text.split())
        found = list(dict.fromkeys(word for word in _words(self.text)))
        telling = [word for word in found if word not in FOLDED] or found
        self.words = tuple(telling[:_MOST_TERMS])
        """What it asks about, in order."""
        if not self.words:
            raise InputError(f"there are no words in the question {text!r:.200}")
        self._terms: dict[str, int] = {}
        for number, word in enumerate(self.words):
            self._terms.setdefault(_stem(word), number)
        self._needed = (len(self._terms) + 1) // 2

    @property
    def topic(self) -> str:
        """The words as a topic."""
        return ", ".join(self.words)

    def facts(self, text: str) -> tuple[int, ...]:
        """The facts that a text has, each once."""
        found: dict[int, None] = {}
        for passage in self.passages(text):
            found |= dict.fromkeys(sorted(passage.facts))
            if len(found) >= _MOST_FACTS:
                break
        return tuple(found)[:_MOST_FACTS]

    def passages(self, text: str) -> Iterator[Excerpt]:
        """The passages of a text that speak of the question, in order."""
        counts: dict[int, int] = {}
        facts: set[int] = set()
        words, start, end = 0, -1, 0
        for begin, stop in _sentences(text[:_MOST_TEXT]):
            said = list(_words(text[begin:stop]))[:_LONGEST]
            if start >= 0 and words + len(said) > 1.5 * WORDS:
                yield from self._passage(start, end, counts, facts, words)
                counts, facts, words, start = {}, set(), 0, -1
            start = begin if start < 0 else start
            end = stop
            words += len(said)
            self._take(said, counts, facts)
            if words >= WORDS:
                yield from self._passage(start, end, counts, facts, words)
                counts, facts, words, start = {}, set(), 0, -1
        if start >= 0:
            yield from self._passage(start, end, counts, facts, words)

    def _passage(
        self, start: int, end: int, counts: dict[int, int], facts: set[int], words: int
    ) -> Iterator[Excerpt]:
        if sum(number < _PAIRS for number in counts) >= self._needed:
            yield Excerpt(start, end, counts, frozenset(facts), words)

    def _take(self, said: list[str], counts: dict[int, int], facts: set[int]) -> None:
        """Count the terms of a sentence, and take its facts."""
        stems = [_stem(word) for word in said]
        terms = {self._terms[stem] for stem in stems if stem in self._terms}
        if not terms:
            return
        before = -2
        for stem in stems:
            number = self._terms.get(stem, -2)
            if number >= 0:
                counts[number] = counts.get(number, 0) + 1
                if number == before + 1:  # side by side as in the question
                    counts[_PAIRS + number] = counts.get(_PAIRS + number, 0) + 1
            before = number
        others = {
            stem
            for word, stem in zip(said, stems, strict=True)
            if stem not in self._terms and word not in FOLDED
        }
        for number in terms:
            facts.update(
                zlib.crc32(f"{number} {stem}".encode("utf-8", "replace")) for stem in others
            )


BYTES_A_TOKEN = 3
"""A token has more bytes than this in nearly any language, by any tokenizer in use."""


def tokens_of(text: str) -> int:
    """How many tokens a text has at most, as far as can be said without a model's tokenizer.

    >>> tokens_of("The tide gauge of the harbour.")
    10
    """
    return -(-len(text.encode("utf-8", "replace")) // BYTES_A_TOKEN)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    place = 0
    for between in _SENTENCE.finditer(text):
        if text[place : between.start()].strip():
            yield place, between.start()
        place = between.end()
    if text[place:].strip():
        yield place, len(text)


def _words(text: str) -> Iterator[str]:
    """The words of a text, folded."""
    for found in _WORD.finditer(text):
        word = fold(found[0])
        if UNSPACED.search(word) is not None and len(word) > 2:
            yield from (word[place : place + 2] for place in range(len(word) - 1))
        else:
            yield word


def _stem(word: str) -> str:
    """A word without what only says how many."""
    if len(word) > 4 and word.endswith(("es", "s")) and not word.endswith("ss"):
        return word[:-1].removesuffix("e") if word.endswith("es") else word[:-1]
    return word.removesuffix("e") if len(word) > 4 else word
