"""Language detection: in which language a text is, where it does not say so itself.

By py3langid: deterministic, the same for the same text on every machine. A text of fewer than
``LEAST`` letters is not judged: names and menus look like any language.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

LEAST = 60
"""Letters that a text needs; of a script that writes a word in a sign or two, a third of that."""

_READ = 2_000  # characters: more change little
_DENSE = 0x2E80  # from here on a sign is a syllable or a word


@lru_cache(maxsize=1)
def _classifier() -> Any:
    import py3langid  # half a second for its model

    return py3langid.classify


def detected(text: str) -> str | None:
    """The language of a text as a code of ISO 639-1; ``None`` where there is too little of it.

    >>> detected("Le marégraphe mesure la hauteur de la mer au-dessus d'un repère, jour et nuit.")
    'fr'
    """
    head = text[:_READ]
    letters = sum(3 if ord(sign) >= _DENSE else 1 for sign in head if sign.isalpha())
    if letters < LEAST:
        return None
    language: str = _classifier()(head)[0]
    return language
