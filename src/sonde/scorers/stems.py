"""The stem of a word: what its inflections have in common.

Stems are those of Snowball, of the stemmer for the page's language where that is declared, has one,
and is written in the word's script; else of the one for the script: English for Latin, Russian for
Cyrillic, and so on. Stems are folded (see ``folding``), so that accents never matter.

Two words are inflections of one another when their stems are equal and they begin with the same
letter. In a language that inflects at the front of a word the letter need not be the same.
Korean has no stemmer here: its particles stand behind a word, so that a word of Hangul that begins
with another is taken for an inflection of it.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from Stemmer import Stemmer

from sonde.scorers.folding import NOTHING, fold

STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque",
    "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian", "no": "norwegian",
    "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "st": "sesotho", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""The stemmers by language."""

FRONTED = frozenset(("arabic", "dutch", "indonesian", "irish", "persian", "sesotho"))
"""Those that take something from the front of a word."""

KOREAN = "korean"
"""No stemmer: what is behind a word of Hangul does not matter."""

_SCRIPTS = {
    "LATIN": "english", "CYRILLIC": "russian", "GREEK": "greek", "ARABIC": "arabic",
    "DEVANAGARI": "hindi", "ARMENIAN": "armenian", "TAMIL": "tamil", "HANGUL": KOREAN,
}  # fmt: skip
_WRITTEN = {
    "arabic": "ARABIC", "armenian": "ARMENIAN", "greek": "GREEK", "hindi": "DEVANAGARI",
    "nepali": "DEVANAGARI", "persian": "ARABIC", "russian": "CYRILLIC", "tamil": "TAMIL",
    "yiddish": "HEBREW",
}  # fmt: skip
_BOTH = {"serbian": ("LATIN", "CYRILLIC")}
_SHORTEST = 3  # letters of a word that is inflected
_NOTHING = dict.fromkeys(map(ord, NOTHING))


def script_of(word: str) -> str:
    """The script of a word's first letter, as Unicode calls it; empty where it has none."""
    for character in word:
        if character.isalpha():
            return unicodedata.name(character, "").partition(" ")[0]
    return ""


def stemmer_of(word: str, language: str) -> str:
    """Which stemmer a topic's word wants on a page of a language; empty for none."""
    script = script_of(word)
    if len(word) < (1 if script == "HANGUL" else _SHORTEST) or not all(
        character.isalpha() or unicodedata.category(character)[0] == "M" for character in word
    ):
        return ""
    declared = STEMMERS.get(language.replace("_", "-").partition("-")[0].lower(), "")
    written = _BOTH.get(declared, (_WRITTEN.get(declared, "LATIN"),))
    return declared if declared and script in written else _SCRIPTS.get(script, "")


@cache
def _stemmer(name: str) -> Stemmer:
    return Stemmer(name, 0)  # words are remembered elsewhere


def stem(word: str, stemmer: str) -> str:
    """The folded stem of a word."""
    lower = unicodedata.normalize("NFC", word).translate(_NOTHING).lower()
    return fold(_stemmer(stemmer).stemWord(lower))
