"""Text made comparable: lower case, no accents, ligatures spelt out, hyphens as spaces.

- Case: full Unicode case folding (ß is ss).
- Accents: combining diacritical marks are dropped after canonical decomposition, in Latin, Greek
  and Cyrillic alike. Vowel signs of other scripts are letters and stay.
- Letters that no decomposition reaches: œ oe, æ ae, ø o, ł l, đ ð d, þ th, ı i, and ligatures
  such as ﬁ.
- Typographic apostrophes are ``'``. Hyphens and dashes are a space. Soft hyphens and zero-width
  characters disappear.
- Characters beyond the Basic Multilingual Plane, ideographs and Hangul stay as they are.

ASCII text, the usual case, takes a short way, and text that is ASCII but for a few characters a
way nearly as short. Other text goes through a table with NumPy: most
characters map to one character, so that places in the text stay what they were; where a
character maps to none or several, ``Folded.places`` says what moved where.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_SPELT = {
    "œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i",
    "ŀ": "l", "ŉ": "'n", "ĸ": "k", "ŋ": "ng", "ħ": "h", "ŧ": "t",
}  # fmt: skip
_SPACES = "-\u00a0\u058a\u05be\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u202f\u2007"
_APOSTROPHES = "\u2018\u2019\u201b\u02bc\u02b9\u2032\uff07"
_NOTHING = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_FOREIGN = re.compile("[^\x00-\x7f]")
_FEW = 200  # bytes more than characters: so few foreign ones are folded one by one
_WIDEST = 3  # no character folds to more

# Ranges of the BMP in which something folds: before the ideographs, the Latin, Cherokee and other
# letters after them, the presentation forms.
_RANGES = (range(0x3000), range(0xA640, 0xAC00), range(0xF900, 0x10000))


class Folded(NamedTuple):
    """Folded text. ``places[i]`` is where the character ``i`` of the original went.

    ``places`` is ``None`` where every character stayed in its place.
    """

    text: str
    places: NDArray[np.int64] | None


def fold(text: str) -> Folded:
    """Fold a text and keep track of places."""
    if text.isascii():
        return Folded(text.lower().replace("-", " "), None)
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) - len(text) < _FEW:
        try:  # bytes are lowered where they are ASCII
            lowered = raw.lower().replace(b"-", b" ").decode("utf-8", "surrogatepass")
            return Folded(_FOREIGN.sub(_in_place, lowered), None)
        except _Moved:
            pass
    table = _table()
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    mapped = table.first.take(codes, mode="clip")
    widths = table.width.take(codes, mode="clip")
    if int(codes.max()) > 0xFFFF:
        np.copyto(mapped, codes, where=codes > 0xFFFF)
    if (widths == 1).all():
        return Folded(_text(mapped), None)
    out = np.repeat(mapped, widths)
    places = np.zeros(len(codes) + 1, dtype=np.int64)
    np.cumsum(widths, out=places[1:])
    for nth in range(1, _WIDEST):
        wide = np.flatnonzero(widths > nth)
        out[places[wide] + nth] = table.rest[nth - 1].take(codes[wide])
    return Folded(_text(out), places)


class _Moved(Exception):
    """A character folds to none or several, or stays as it is in either case."""


def _in_place(match: re.Match[str]) -> str:
    folded = _folded(match[0])
    if len(folded) != 1 or folded > "\uffff":
        raise _Moved
    return folded


def _text(codes: NDArray[np.uint32]) -> str:
    return codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


@lru_cache(maxsize=4_096)
def _folded(character: str) -> str:
    """What one character folds to, as the table has it."""
    code = ord(character)
    return fold_character(character) if any(code in codes for codes in _RANGES) else character


def fold_character(character: str) -> str:
    """What one character folds to: the definition that the table is made from."""
    if character in _SPACES:
        return " "
    if character in _APOSTROPHES:
        return "'"
    if character in _NOTHING:
        return ""
    folded = character
    if "\ufb00" <= character <= "\ufb06":
        folded = unicodedata.normalize("NFKD", character)
    decomposed = unicodedata.normalize("NFD", unicodedata.normalize("NFD", folded).casefold())
    return "".join(_SPELT.get(c, c) for c in decomposed if not "\u0300" <= c <= "\u036f")


class _Table(NamedTuple):
    """By code: the first folded character, how many there are, and those after the first.

    One entry past the plane stands for all codes beyond it: width 1, identity put in by ``fold``.
    """

    first: NDArray[np.uint32]
    width: NDArray[np.uint8]
    rest: NDArray[np.uint32]


@lru_cache(maxsize=1)
def _table() -> _Table:
    size = 0x10001
    first = np.arange(size, dtype=np.uint32)
    width = np.ones(size, dtype=np.uint8)
    rest = np.zeros((_WIDEST - 1, size), dtype=np.uint32)
    for codes in _RANGES:
        for code in codes:
            folded = fold_character(chr(code))
            width[code] = len(folded)
            for nth, character in enumerate(folded):
                (first if nth == 0 else rest[nth - 1])[code] = ord(character)
    return _Table(first, width, rest)
