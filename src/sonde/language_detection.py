"""Language detection: in which language a text is, where it does not say so itself.

By py3langid: deterministic, the same for the same text on every machine. A text of fewer than
``LEAST`` letters is not judged, nor one that could be in another language almost as well: names,
code and menus look like any.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

LEAST = 60
"""Letters that a text needs; of a script that writes a word in a sign or two, a third of that."""

_CLEARLY = 15.0  # by so much the log-likelihood of a language is ahead of the next
_NONE = ("zxx", "und")
_READ = 2_000  # characters: more change little
_DENSE = 0x2E80  # from here on a sign is a syllable or a word


@lru_cache(maxsize=1)
def _classifier() -> Any:
    import py3langid  # half a second for its model

    return py3langid.rank


def detected(text: str) -> str | None:
    """The language of a text as a code of ISO 639-1; ``None`` where there is too little of it.

    >>> detected("Le marégraphe mesure la hauteur de la mer au-dessus d'un repère, jour et nuit.")
    'fr'
    """
    head = text[:_READ]
    letters = sum(3 if ord(sign) >= _DENSE else 1 for sign in head if sign.isalpha())
    if letters < LEAST:
        return None
    (language, likely), (_, next_likely), *_ = _classifier()(head)
    if language in _NONE or likely - next_likely < _CLEARLY:
        return None
    return str(language)
