"""The keyword scorer: how often does a page say the words, and a link's window?

beta = log_count(occurrences in the main text), alpha = log_count(occurrences in the window that are
in the main text), where log_count(x) = 1 + ln x for x > 0 and 0 otherwise. So a link of a menu
promises nothing because of the words of the menu.

What an occurrence is. Text and phrases are folded first (see ``folding``): case and accents do not
matter. A phrase matches whole words: no letter, digit or underscore may touch it on either side,
so ``war`` is not in *software*, and *économie* is in *l'économie* because an apostrophe is not a
letter. The words of a phrase may stand apart by white space or by one hyphen, in the phrase as in
the text: ``sea level`` and ``sea-level`` are the same phrase, and match both spellings.
Each phrase counts at each place where it begins, on its own: in "sea level" the phrases
``sea level`` and ``level`` occur once each.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable

import numpy as np
from ahocorasick_rs import BytesAhoCorasick, Implementation, MatchKind

from sonde.errors import InputError
from sonde.scorers.document import Document, Scores, within
from sonde.scorers.folding import FOLDING, fold, fold_bytes

_WORD = re.compile(r"\w")


def log_count(occurrences: int) -> float:
    """1 + ln x for x > 0, else 0: the tenth mention says less than the first."""
    return 1.0 + math.log(occurrences) if occurrences > 0 else 0.0


def phrases_of(topic: str) -> list[str]:
    """The phrases of a topic: separated by commas, white space around them left out."""
    return [phrase for part in topic.split(",") if (phrase := " ".join(part.split()))]


class KeywordMatcher:
    """Counts phrases in text.

    >>> KeywordMatcher(["économie", "sea level"]).count("L'Economie and the SEA-LEVEL")
    2
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        self.phrases = tuple(phrases)
        folded = dict.fromkeys(" ".join(fold(phrase).split()) for phrase in self.phrases)
        folded.pop("", None)
        if not folded:
            raise InputError("no keywords: give at least one phrase with a letter or a digit")
        for phrase in folded:
            if not (_WORD.match(phrase[0]) and _WORD.match(phrase[-1])):
                raise InputError(
                    f"a keyword must begin and end with a letter or a digit: {phrase!r}"
                )
        self.folded = tuple(folded)
        self._automaton = BytesAhoCorasick(
            [phrase.encode("utf-8", "surrogatepass") for phrase in self.folded],
            matchkind=MatchKind.Standard,
            implementation=Implementation.DFA,
        )

    def count(self, text: str) -> int:
        """Occurrences of all phrases in a text, which may have white space of any kind."""
        return len(self.spans(" ".join(text.split())))

    def spans(self, text: str | bytes) -> list[tuple[int, int, int]]:
        """Where the phrases occur in a text whose white space is collapsed, by their starts.

        Each occurrence is (start, end, number of the phrase among the folded ones), in characters,
        also of a text that is given in UTF-8.
        """
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        folded = fold_bytes(data)
        found = self._automaton.find_matches_as_indexes(folded, overlapping=True)
        if not found:
            return []
        whole = [
            (start, end, phrase)
            for phrase, start, end in found
            if not _word_before(folded, start) and not _word_after(folded, end)
        ]
        if whole and not data.isascii():  # back to the places of the text as it was given
            places = FOLDING.places(data)
            starts = np.searchsorted(places, [span[0] for span in whole], side="right") - 1
            ends = np.searchsorted(places, [span[1] for span in whole], side="left")
            phrases = [span[2] for span in whole]
            whole = list(zip(starts.tolist(), ends.tolist(), phrases, strict=True))
        whole.sort()
        return whole


_WORD_BYTES = bytes(code < 128 and bool(_WORD.match(chr(code))) for code in range(256))


def _word_before(text: bytes, at: int) -> bool:
    """Whether a letter, a digit or an underscore ends here."""
    if at == 0 or (last := text[at - 1]) < 0x80:
        return at > 0 and _WORD_BYTES[last] > 0
    begin = at - 1
    while text[begin] & 0xC0 == 0x80:
        begin -= 1
    return _is_word(text[begin:at])


def _word_after(text: bytes, at: int) -> bool:
    """Whether one begins here."""
    if at == len(text) or (first := text[at]) < 0x80:
        return at < len(text) and _WORD_BYTES[first] > 0
    end = at + 1
    while end < len(text) and text[end] & 0xC0 == 0x80:
        end += 1
    return _is_word(text[at:end])


def _is_word(character: bytes) -> bool:
    return _WORD.match(character.decode("utf-8", "surrogatepass")) is not None


class KeywordScorer:
    """Scores by the occurrences of a topic's phrases.

    The text is searched once; a link's alpha counts the occurrences that lie whole in its window.
    """

    def __init__(self, topic: str | Iterable[str]) -> None:
        self.phrases = tuple(phrases_of(topic) if isinstance(topic, str) else topic)
        self.matcher = KeywordMatcher(self.phrases)

    def score(self, document: Document) -> Scores:
        spans = self.matcher.spans(document.text)
        if document.main is not None:
            spans = within(spans, document.main)
            own = len(spans)
        elif document.content is document.text:
            own = len(spans)
        else:
            own = len(self.matcher.spans(document.content))
        if not spans:
            return Scores(log_count(own), [0.0] * len(document.links))
        return Scores(log_count(own), self._alphas(spans, document))

    def rescore(self, document: Document) -> float:
        """The beta of a document whose main text has changed since it was scored."""
        return self.score(document).beta

    def _alphas(self, spans: list[tuple[int, int, int]], document: Document) -> list[float]:
        starts = [start for start, _, _ in spans]
        longest = max(end - start for start, end, _ in spans)
        alphas = []
        window = document.window
        for link in document.links:
            left, right = link.start - window, link.end + window
            low = bisect_left(starts, left)
            high = bisect_right(starts, right)
            count = high - low
            if count:  # those that begin near the right edge may end beyond it
                near = bisect_right(starts, right - longest, low, high)
                count -= sum(end > right for _, end, _ in spans[near:high])
            alphas.append(log_count(count))
        return alphas
