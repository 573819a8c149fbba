"""Words that stand in every text of a language, and say nothing of what it is about.

Of English, French, German, Spanish, Italian, Portuguese and Dutch. What is said of them here is as
it is written; ``FOLDED`` has them as scorers compare words.
"""

from __future__ import annotations

from sonde.scorers.folding import fold

_ENGLISH = """a about above after again against all also am an and any are as at be because been
before being below between both but by can cannot could did do does doing down during each few for
from further had has have having he her here hers herself him himself his how however i if in into
is it its itself just many may me might more most much must my myself no nor not now of off on
once one only or other our ours ourselves out over own same see shall she should since so some
such than that the their theirs them themselves then there these they this those through thus to
too under until up upon us use used using very was we were what when where whether which while who
whom whose why will with within without would you your yours yourself yourselves"""
_FRENCH = """alors au aucun aussi autre aux avant avec avoir bien car ce cela ces cet cette ceux
chaque combien comme comment dans de depuis des donc dont du elle elles en encore entre est et eu
faire fait il ils je la le les leur leurs lors lui mais me mes moins mon même ne non nos notre
nous on ont ou où par parce pas peu peut plus pour pourquoi quand que quel quelle quelles quels
qui quoi sa sans se ses si son sont sous sur ta te tes toi ton tous tout toute très tu un une vos
votre vous être"""
_GERMAN = """aber alle als also am an auch auf aus bei bin bis bist da das dass dein dem den der
des die dies diese dieser dieses doch dort du durch ein eine einem einen einer eines er es euer
für hat hatte ihr ihre im in ist ja jede jeder jedes kann kein keine können man mehr mein mit muss
nach nicht noch nur ob oder ohne sehr sein seine sich sie sind so um und uns unser unter vom von
vor wann war waren warum was weil welche welcher welches wenn wer werden wie wir wird wo zu zum
zur über"""
_SPANISH = """al como con cual cuales cuando cuanto cuál cuánto del donde dónde el ella ellos en
entre es esta este ha hay la las lo los muy más no para pero por porque que quien quién qué se ser
si sin son su sus un una uno unos y"""
_ITALIAN = """che chi come cosa cui da dal della delle di dove e gli ha i il in la le lo ma nel
non o per perché più quale quali quando quanto se si sono sua sul suo tra un una"""
_PORTUGUESE = """ao aos com como da das de do dos e em entre foi mais mas na nas no nos o os ou
para pela pelo por quais qual quando que quem se sem ser seu sua um uma"""
_DUTCH = """aan bij dat de een en het hoe in is met naar niet om op te tot uit van voor waar
waarom wanneer wat welke wie wordt zijn"""

STOP_WORDS = frozenset(
    " ".join((_ENGLISH, _FRENCH, _GERMAN, _SPANISH, _ITALIAN, _PORTUGUESE, _DUTCH)).split()
)
FOLDED = frozenset(map(fold, STOP_WORDS))
