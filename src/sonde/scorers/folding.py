"""Text made comparable: lower case, no accents, ligatures spelt out, hyphens as spaces.

- Case: full Unicode case folding (ß is ss).
- Accents: combining diacritical marks are dropped after canonical decomposition, in Latin, Greek
  and Cyrillic alike. Vowel signs of other scripts are letters and stay.
- Letters that no decomposition reaches: œ oe, æ ae, ø o, ł l, đ ð d, þ th, ı i, and ligatures
  such as ﬁ.
- The wide Latin letters, digits and signs of East Asian texts are the plain ones, narrow kana the
  wide ones.
- Typographic apostrophes are ``'``. Hyphens and dashes are a space. Soft hyphens and zero-width
  characters disappear.
- Characters beyond the Basic Multilingual Plane, ideographs and Hangul stay as they are.

A character folds by itself, whatever stands around it. ``kernels.text.folding`` does it, in UTF-8,
by a table that fills as characters are met.
"""

from __future__ import annotations

import unicodedata

from sonde.kernels.text.folding import Folding

_SPELT = {
    "œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i",
    "ŀ": "l", "ŉ": "n", "ĸ": "k", "ŋ": "ng", "ħ": "h", "ŧ": "t",
}  # fmt: skip
_SPACES = "-\u00a0\u058a\u05be\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u202f\u2007"
_APOSTROPHES = "\u2018\u2019\u201b\u02bc\u02b9\u2032\uff07"
NOTHING = "\u00ad\u200b\u200c\u200d\u2060\ufeff"

# Ranges of the BMP in which something folds: before the ideographs, the Latin, Cherokee and other
# letters after them, the presentation forms.
_RANGES = (range(0x3000), range(0xA640, 0xAC00), range(0xF900, 0x10000))
_ASCII = bytes(32 if code == 0x2D else code for code in bytes(range(256)).lower())


def fold(text: str) -> str:
    """Fold a text."""
    if text.isascii():
        return text.lower().replace("-", " ")
    return fold_bytes(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")


def fold_bytes(text: bytes) -> bytes:
    """The same for UTF-8."""
    return text.translate(_ASCII) if text.isascii() else FOLDING.fold(text)


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
    if character in NOTHING:
        return ""
    folded = character
    if "\ufb00" <= character <= "\ufb06" or "\uff01" <= character <= "\uff9f":
        folded = unicodedata.normalize("NFKD", character)
        if folded == "-":
            return " "
    decomposed = unicodedata.normalize("NFD", unicodedata.normalize("NFD", folded).casefold())
    return "".join(_SPELT.get(c, c) for c in decomposed if not "\u0300" <= c <= "\u036f")


FOLDING = Folding(_folded)
"""``FOLDING.places`` says where each character of a text in UTF-8 begins once it is folded."""
