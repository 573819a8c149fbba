"""Query words: the words of a text that can be keywords, neither short nor stop words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
SHORTEST, LONGEST = 3, 40

_ENGLISH = """a about above after again against all also am an and any are as at be because been
before being below between both but by can cannot could did do does doing down during each few for
from further had has have having he her here hers herself him himself his how however i if in into
is it its itself just may me might more most must my myself no nor not now of off on once one only
or other our ours ourselves out over own same see shall she should since so some such than that the
their theirs them themselves then there these they this those through thus to too under until up
upon us use used using very was we were what when where which while who whom why will with within
without would you your yours yourself yourselves"""
_FRENCH = """alors au aucun aussi autre aux avant avec avoir bien car ce cela ces cet cette ceux
chaque comme comment dans de des depuis donc dont du elle elles en encore entre est et
être eu fait faire il ils je la le les leur leurs lors lui mais me même mes moins mon
ne non nos notre nous on ont ou où par parce pas peu peut plus pour pourquoi quand que
quel quelle qui sa sans se ses si son sont sous sur ta te tes toi ton tous tout toute
très tu un une vos votre vous"""
_GERMAN = """aber alle als also am an auch auf aus bei bin bis bist da das dass dein dem den der
des die dies diese dieser dieses doch dort du durch ein eine einem einen einer eines er es euer für
hat hatte ihr ihre im in ist ja jede jeder jedes kann kein keine können man mehr mein mit muss nach
nicht noch nur ob oder ohne sehr sein seine sich sie sind so über um und uns unser unter vom von vor
war waren was weil wenn wer werden wie wir wird wo zu zum zur"""
STOP_WORDS = frozenset(f"{_ENGLISH} {_FRENCH} {_GERMAN}".split())
"""Words that stand in every text of a language: English, French, German."""


def words_of(text: str) -> list[str]:
    """The keywords of a text, in order, with repeats.

    >>> words_of("The tide-gauge at Brest, and 3 others' tides")
    ['tide-gauge', 'brest', 'others', 'tides']
    """
    found = (word.lower() for word in _WORD.findall(text))
    return [word for word in found if SHORTEST <= len(word) <= LONGEST and word not in STOP_WORDS]


def counted(texts: Iterable[str]) -> Counter[str]:
    """How often each keyword occurs, in order of first occurrence."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(words_of(text))
    return counts
