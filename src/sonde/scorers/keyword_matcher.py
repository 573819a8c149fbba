"""The keyword matcher: where the phrases of a topic occur in a text.

Text and phrases are folded first (see ``folding``): case and accents do not matter. What a *word*
is, ``scripts`` says.

- A phrase matches whole words: ``war`` is not in *software*; *économie* is in *l'économie*, because
  an apostrophe is no letter. Between its words stands what stands in the phrase: white space or one
  hyphen for a space, in the phrase as in the text (``sea level`` is ``sea-level``), signs as they
  are (``node.js``).
- A word also matches its inflections (see ``stems``), unless it is exact; with an asterisk every
  word that begins so.
- A phrase may begin or end with signs (``.NET``, ``C++``). Neither a letter nor the same sign may
  touch them; but a digit may follow, so that ``C++`` is in *C++20*.
- A phrase with a character of a script without spaces is looked for as a string, wherever it
  stands; at an end that is a letter of another script no letter may touch it.

Each phrase counts at each place where it begins, on its own: in "sea level" the phrases
``sea level`` and ``level`` occur once each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sonde.kernels.text.lexicon import Lexicon
from sonde.scorers.folding import FOLDING, fold, fold_bytes
from sonde.scorers.scripts import UNSPACED, is_letter
from sonde.scorers.stems import FRONTED, KOREAN, STEMMERS, stem, stemmer_of
from sonde.scorers.topic import Phrase, Topic

Place = tuple[int, int, int]
"""An occurrence: start, end, number of the phrase."""

_OTHER, _NOTHING, _LETTER, _FIRST = 1, 2, 3, 4  # as the kernel has them
_DIGIT = re.compile(r"\d")


class Slot(NamedTuple):
    """A word that a phrase waits for: by its text, its beginning, or its stem, all folded.

    Words with the same stem and the same first letter are one slot.
    """

    text: str
    begins: bool = False
    stemmer: str = ""
    first: str = ""


class Pattern(NamedTuple):
    """A phrase as words: signs before the first, what stands between them, signs after the last."""

    slots: tuple[int, ...]
    gaps: tuple[str, ...]
    head: str
    tail: str


class Needle(NamedTuple):
    """A phrase as a string, and at which ends a letter may not touch it."""

    text: bytes
    left: bool
    right: bool
    phrase: int


class KeywordMatcher:
    """Finds phrases in texts of one language.

    >>> topic = Topic.of("économie, sea level, C++")
    >>> KeywordMatcher(topic.phrases).count("L'Economie and the SEA-LEVELS in C++")
    3
    """

    def __init__(self, phrases: Iterable[Phrase], language: str = "") -> None:
        self.phrases = tuple(phrases)
        self._slots: dict[Slot, int] = {}
        self._exact: dict[str, set[int]] = {}
        self._needles: list[Needle] = []
        patterns: dict[tuple[Pattern, bool], int] = {}  # those that match the same count once
        for number, phrase in enumerate(self.phrases):
            if any(UNSPACED.search(word.text) for word in phrase.words):
                self._needles.append(_needle(phrase, number))
            else:
                patterns.setdefault((self._pattern(phrase, language), phrase.excluded), number)
        self._alone: dict[int, list[int]] = {}  # phrases that are one word and nothing else
        self._firsts: dict[int, list[tuple[Pattern, int]]] = {}  # the others, by their first word
        for (pattern, _), number in patterns.items():
            if len(pattern.slots) == 1 and not pattern.head and not pattern.tail:
                self._alone.setdefault(pattern.slots[0], []).append(number)
            else:
                self._firsts.setdefault(pattern.slots[0], []).append((pattern, number))
        self._begins = [(slot.text, number) for slot, number in self._slots.items() if slot.begins]
        self._stemmers = sorted({slot.stemmer for slot in self._slots if slot.stemmer})
        self._initials = {text[0] for text in self._exact}
        self._fronted = not FRONTED.isdisjoint(self._stemmers)
        # What a text's word is wanted for: a set of slots, numbered as they are met.
        self._labels: dict[tuple[int, ...], int] = {(): 0}
        self._wanted: list[tuple[int, ...]] = [()]
        self._lexicon = Lexicon(self._classify, self._define) if self._slots else None

    def _pattern(self, phrase: Phrase, language: str) -> Pattern:
        """A phrase taken apart into words and what stands between them."""
        slots: list[int] = []
        gaps: list[str] = []
        gap = ""
        for place, word in enumerate(phrase.words):
            gap += " " if place else ""
            runs = _runs(word.text)
            whole = len(runs) == 1  # and so no signs are in it
            for number, run in enumerate(runs):
                if not is_letter(run[0]):
                    gap += run
                    continue
                slot = Slot(run, begins=word.begins and number == len(runs) - 1)
                if whole and not word.exact and (name := stemmer_of(word.spelt, language)):
                    slot = _inflected(run, word.spelt, name)
                slots.append(self._slots.setdefault(slot, len(self._slots)))
                self._exact.setdefault(run, set()).add(slots[-1])
                gaps.append(gap)
                gap = ""
        return Pattern(tuple(slots), tuple(gaps[1:]), gaps[0], gap)

    def _classify(self, character: str) -> int:
        """What a character is to the kernel."""
        folded = fold(character)
        if not folded:
            return _NOTHING
        if not is_letter(folded[0]):
            return _OTHER
        return _FIRST if self._fronted or folded[0] in self._initials else _LETTER

    def _define(self, word: str) -> int:
        """What a text's word is wanted for."""
        folded = fold(word)
        slots = set(self._exact.get(folded, ()))
        slots.update(slot for text, slot in self._begins if folded.startswith(text))
        for stemmer in self._stemmers:
            slot = self._slots.get(_inflected(folded, word, stemmer))
            if slot is not None:
                slots.add(slot)
        found = tuple(sorted(slots))
        label = self._labels.setdefault(found, len(self._labels))
        if label == len(self._wanted):
            self._wanted.append(found)
        return label

    # -- finding -------------------------------------------------------------------------------

    def count(self, text: str) -> int:
        """Occurrences of all phrases in a text, which may have white space of any kind."""
        return len(self.spans(" ".join(text.split())))

    def spans(self, text: str | bytes) -> list[Place]:
        """Where the phrases occur in a text whose white space is collapsed, by their starts.

        Each occurrence is (start, end, number of the phrase), in characters, also of a text that
        is given in UTF-8.
        """
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        found: list[Place] = []
        if self._lexicon is not None and (words := self._lexicon.find(data)):
            found = self._assembled(words, text)
        if self._needles:
            folded = fold_bytes(data)
            for needle in self._needles:
                found += _strings(needle, data, folded)
        found.sort()
        return found

    def _assembled(self, words: list[Place], text: str | bytes) -> list[Place]:
        """The phrases that wanted words make."""
        wanted, alone, firsts = self._wanted, self._alone, self._firsts
        found = [
            (start, end, number)
            for start, end, label in words
            for slot in wanted[label]
            if slot in alone
            for number in alone[slot]
        ]
        if firsts:
            whole = text if isinstance(text, str) else text.decode("utf-8", "surrogatepass")
            for at, (_, _, label) in enumerate(words):
                for slot in wanted[label]:
                    for pattern, number in firsts.get(slot, ()):
                        place = self._placed(pattern, words, at, whole)
                        if place is not None:
                            found.append((*place, number))
        return found

    def _placed(
        self, pattern: Pattern, words: list[Place], at: int, text: str
    ) -> tuple[int, int] | None:
        """Where a phrase stands whose first word is this one, if the rest of it follows."""
        start, end, _ = words[at]
        rest = words[at + 1 : at + len(pattern.slots)]
        if len(rest) + 1 < len(pattern.slots):
            return None
        for (begin, stop, label), slot, gap in zip(
            rest, pattern.slots[1:], pattern.gaps, strict=True
        ):
            if slot not in self._wanted[label] or fold(text[end:begin]) != gap:
                return None
            end = stop
        if pattern.head:
            start = _signs_before(text, start, pattern.head)
        if pattern.tail:
            end = _signs_after(text, end, pattern.tail)
        return None if start < 0 or end < 0 else (start, end)

    def worth(self, found: Sequence[Place]) -> float:
        """What occurrences count together: their weights, and nothing where one is excluded."""
        total = 0.0
        for _, _, number in found:
            phrase = self.phrases[number]
            if phrase.excluded:
                return 0.0
            total += phrase.weight
        return total


class TopicMatcher:
    """Finds the phrases of a topic, inflected as the language of each text wants it."""

    def __init__(self, topic: Topic) -> None:
        self.topic = topic
        self.weighed = any(each.excluded or each.weight != 1.0 for each in topic.phrases)
        """Whether occurrences are more than counted: see ``KeywordMatcher.worth``."""
        self._matchers: dict[str, KeywordMatcher] = {}

    def speaking(self, language: str) -> KeywordMatcher:
        """The matcher for texts of a language, such as ``pt-BR``; empty where it is not known."""
        code = language.replace("_", "-").partition("-")[0].lower()
        if code not in STEMMERS:
            code = ""
        matcher = self._matchers.get(code)
        if matcher is None:
            matcher = self._matchers[code] = KeywordMatcher(self.topic.phrases, code)
        return matcher


# -- phrases as words ------------------------------------------------------------------------------


def _inflected(folded: str, word: str, stemmer: str) -> Slot:
    """The slot of a word and its inflections."""
    if stemmer == KOREAN:
        return Slot(folded, begins=True)
    first = "" if stemmer in FRONTED else folded[0]
    return Slot(stem(word, stemmer), stemmer=stemmer, first=first)


def _runs(text: str) -> list[str]:
    """A text taken apart into runs of letters and of other characters."""
    runs: list[str] = []
    for character in text:
        if runs and is_letter(character) == is_letter(runs[-1][0]):
            runs[-1] += character
        else:
            runs.append(character)
    return runs


def _signs_before(text: str, at: int, signs: str) -> int:
    """Where signs begin that end here, if they stand alone; else -1."""
    left = signs
    while left:
        if at == 0:
            return -1
        at -= 1
        folded = fold(text[at])
        if not left.endswith(folded):
            return -1
        left = left[: len(left) - len(folded)]
    before = _next(text, at - 1, -1)
    return -1 if before and (before == signs[0] or is_letter(before)) else at


def _signs_after(text: str, at: int, signs: str) -> int:
    """Where signs end that begin here, if they stand alone; else -1."""
    left = signs
    while left:
        folded = fold(text[at : at + 1])
        if at == len(text) or not left.startswith(folded):
            return -1
        left = left[len(folded) :]
        at += 1
    after = _next(text, at, 1)
    if after and (after == signs[-1] or (is_letter(after) and not _DIGIT.match(after))):
        return -1
    return at


def _next(text: str, at: int, step: int) -> str:
    """The folded character here, or the next one that folds to anything; empty at the end."""
    while 0 <= at < len(text):
        if folded := fold(text[at]):
            return folded[0]
        at += step
    return ""


# -- phrases as strings ----------------------------------------------------------------------------


def _needle(phrase: Phrase, number: int) -> Needle:
    text = " ".join(word.text for word in phrase.words)
    right = is_letter(text[-1]) and not phrase.words[-1].begins
    return Needle(text.encode("utf-8", "surrogatepass"), is_letter(text[0]), right, number)


def _strings(needle: Needle, data: bytes, folded: bytes) -> list[Place]:
    """Where a string stands in a folded text, as places of the text as it was given."""
    places = []
    at = folded.find(needle.text)
    while at >= 0:
        end = at + len(needle.text)
        if not (needle.left and _letter_before(folded, at)) and not (
            needle.right and _letter_at(folded, end)
        ):
            places.append((at, end))
        at = folded.find(needle.text, at + 1)
    if not places:
        return []
    begins = FOLDING.places(data)
    starts = np.searchsorted(begins, [place[0] for place in places], side="right") - 1
    ends = np.searchsorted(begins, [place[1] for place in places], side="left")
    return [
        (start, end, needle.phrase)
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]


def _letter_before(text: bytes, at: int) -> bool:
    begin = at - 1
    while begin > 0 and text[begin] & 0xC0 == 0x80:
        begin -= 1
    return at > 0 and _is_letter(text[begin:at])


def _letter_at(text: bytes, at: int) -> bool:
    end = at + 1
    while end < len(text) and text[end] & 0xC0 == 0x80:
        end += 1
    return at < len(text) and _is_letter(text[at:end])


@lru_cache(1_024)
def _is_letter(character: bytes) -> bool:
    return is_letter(character.decode("utf-8", "surrogatepass"))
