"""A topic, as it is written: phrases with commas between, and what can be said of each.

    tide gauge          the phrase, its words in any inflection
    "tide gauges"       the phrase as it stands
    corout*             every word that begins so
    tide^2              counts twice (or half, with ^0.5)
    -jazz, -"new wave"  a text that has this scores 0

An exclusion stands alone or behind a phrase, after white space. What is in quotes has no further
meaning: ``"A*"``, ``"-1"``. A hyphen within a word, or with white space on either side, is white
space. Upper and lower case and accents never matter (see ``folding``).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from sonde.errors import InputError
from sonde.scorers.folding import fold

_QUOTES = str.maketrans("“”„‟＂", '"' * 5)
_PIECE = re.compile(r'-?"[^"]*"(?:\^[^\s",]*)?|[^\s",]+|\s+|,|"')
_LEAST = 2  # characters before an asterisk
_MEANS = re.compile(r"\w")


@dataclass(frozen=True)
class Word:
    """One word of a phrase, folded. It may have signs in it: ``c++``, ``node.js``."""

    text: str
    exact: bool = False
    begins: bool = False
    """Whether every word that begins so will do."""
    spelt: str = ""
    """As it was written, for the stemmer."""


@dataclass(frozen=True)
class Phrase:
    """What is looked for."""

    words: tuple[Word, ...]
    weight: float = 1.0
    excluded: bool = False
    quoted: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        """What makes it the same phrase as another."""
        return (self.excluded, *((word.text, word.exact, word.begins) for word in self.words))

    @property
    def spelt(self) -> str:
        """Its words as they were written, without signs that say anything of them."""
        return " ".join(word.spelt for word in self.words)


@dataclass(frozen=True)
class Topic:
    """The phrases of a topic, each once."""

    phrases: tuple[Phrase, ...]

    @classmethod
    def of(cls, text: str, *, exact: bool = False) -> Topic:
        """Read a topic. ``exact`` takes every phrase as if it were in quotes, but for asterisks."""
        phrases: dict[tuple[object, ...], Phrase] = {}
        for written in _items(text.translate(_QUOTES)):
            for phrase in _phrases(written, exact):
                phrases.setdefault(phrase.key, phrase)
        if all(phrase.excluded for phrase in phrases.values()):
            why = "only what is not" if phrases else "no phrase with a letter or a digit"
            raise InputError(f"a topic says what is wanted: {text!r:.200} has {why}")
        return cls(tuple(phrases.values()))

    @property
    def wanted(self) -> tuple[Phrase, ...]:
        """Without what is excluded."""
        return tuple(phrase for phrase in self.phrases if not phrase.excluded)


def exact_phrase(text: str) -> Phrase:
    """A text taken as a phrase as it stands, whatever signs are in it."""
    words = _exact(text)
    if not any(_MEANS.search(word.text) for word in words):
        raise InputError(f"a phrase needs a letter or a digit: {text!r:.200}")
    return Phrase(words)


def _items(text: str) -> list[list[str]]:
    """The pieces between commas: words, texts in quotes, white space."""
    items: list[list[str]] = [[]]
    for piece in _PIECE.findall(text):
        if piece == '"':
            raise InputError(f"topic: a quote is not closed in {text!r:.200}")
        if piece == ",":
            items.append([])
        else:
            items[-1].append(" " if piece.isspace() else piece)
    return items


def _phrases(pieces: list[str], exact: bool) -> list[Phrase]:
    """The phrase of an item, and what is excluded behind it."""
    words: list[Word] = []
    found: list[Phrase] = []
    weight = 1.0
    weighed = ""
    gap = True
    for piece in pieces:
        if piece == " ":
            gap = True
            continue
        if weighed and not piece.startswith("-"):
            raise InputError(f"topic: a weight ends a phrase: {weighed!r:.100} is followed by more")
        if piece.startswith("-") and gap and fold(piece).strip():
            found.append(Phrase(_excluded(piece, exact), excluded=True))
        elif found:
            raise InputError(
                f"topic: {piece!r:.100} follows what is excluded: put a comma before it, or quotes"
                ' around a phrase, as in -"sea level"'
            )
        else:
            text, mark, number = piece.rpartition("^") if _weighed(piece) else (piece, "", "")
            words += _words(text, exact)
            if mark:
                weighed, weight = piece, _weight(piece, number)
        gap = False
    if any(_MEANS.search(word.text) for word in words):
        quoted = any(piece.startswith('"') for piece in pieces)
        return [Phrase(tuple(words), weight, quoted=quoted), *found]
    if words or weighed:
        raise InputError(f"topic: {''.join(pieces)!r:.100} has no letter and no digit")
    return found


def _weighed(piece: str) -> bool:
    return "^" in (piece.rpartition('"')[2] if piece.startswith('"') else piece)


def _weight(piece: str, number: str) -> float:
    try:
        weight = float(number)
    except ValueError:
        weight = math.nan
    if not 0.0 < weight < math.inf:
        raise InputError(f"topic: {piece!r:.100}: a weight is a number above 0, as in tide^2")
    return weight


def _excluded(piece: str, exact: bool) -> tuple[Word, ...]:
    rest = piece[1:]
    if rest.startswith("-") or _weighed(rest):
        raise InputError(f'topic: {piece!r:.100}: what is excluded is -word or -"a phrase"')
    words = tuple(_words(rest, exact))
    if not any(_MEANS.search(word.text) for word in words):
        raise InputError(f"topic: {piece!r:.100} excludes no word")
    return words


def _words(text: str, exact: bool) -> list[Word]:
    """The words of a piece: in quotes as they stand, else with what an asterisk says."""
    if text.startswith('"'):
        return list(_exact(text.strip('"')))
    begins = text.endswith("*")
    stem = text[:-1] if begins else text
    if "*" in stem or (begins and len(_MEANS.findall(stem)) < _LEAST):
        raise InputError(
            f"topic: {text!r:.100}: an asterisk ends a word of {_LEAST} letters or more, as in"
            " corout* (quotes take it as it stands)"
        )
    words = [Word(fold(part), exact, spelt=part) for part in _parts(stem)]
    if begins and words:
        words[-1] = Word(words[-1].text, True, True, words[-1].spelt)
    return words


def _exact(text: str) -> tuple[Word, ...]:
    return tuple(Word(fold(part), exact=True, spelt=part) for part in _parts(text))


def _parts(text: str) -> list[str]:
    """The words of a text: apart by white space, or by what folds to it."""
    spaced = "".join(" " if fold(character) == " " else character for character in text)
    return [part for part in spaced.split() if fold(part)]
