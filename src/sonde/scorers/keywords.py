"""The keyword scorer: how often does a page say the words, and a link's window?

beta = log_count(occurrences in the main text), alpha = log_count(occurrences in the window that are
in the main text), where log_count(x) = 1 + ln x for x >= 1 and x below. A link of a menu promises
nothing because of the words of the menu. What an occurrence is, ``keyword_matcher`` says. An
occurrence of a phrase with a weight counts that much; where an excluded phrase occurs, in the main
text or in the window, all others there count nothing.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right

from sonde.scorers.document import Document, Scores, within
from sonde.scorers.keyword_matcher import KeywordMatcher, Place, TopicMatcher
from sonde.scorers.silence import Silence
from sonde.scorers.topic import Topic


def log_count(occurrences: float) -> float:
    """1 + ln x for x >= 1, else x: the tenth mention says less than the first."""
    return 1.0 + math.log(occurrences) if occurrences >= 1 else float(occurrences)


class KeywordScorer:
    """Scores by the occurrences of a topic's phrases.

    The text is searched once; a link's alpha counts the occurrences that lie whole in its window.
    """

    def __init__(self, topic: str | Topic, *, exact: bool = False) -> None:
        self.topic = Topic.of(topic, exact=exact) if isinstance(topic, str) else topic
        self.matcher = TopicMatcher(self.topic)
        self.silence = Silence()

    def score(self, document: Document) -> Scores:
        matcher = self.matcher.speaking(document.language)
        spans, own = _occurrences(matcher, document)
        if not self.silence.broken:
            self.silence.hear(document.content, bool(own))
        alphas = self._alphas(matcher, spans, document) if spans else [0.0] * len(document.links)
        return Scores(self._beta(matcher, own), alphas)

    def rescore(self, document: Document) -> float:
        """The beta of a document whose main text has changed since it was scored."""
        matcher = self.matcher.speaking(document.language)
        return self._beta(matcher, _occurrences(matcher, document)[1])

    def _beta(self, matcher: KeywordMatcher, own: list[Place]) -> float:
        return log_count(matcher.worth(own) if self.matcher.weighed else len(own))

    def _alphas(
        self, matcher: KeywordMatcher, spans: list[Place], document: Document
    ) -> list[float]:
        starts = [start for start, _, _ in spans]
        longest = max(end - start for start, end, _ in spans)
        alphas = []
        window = document.window
        for link in document.links:
            left, right = link.start - window, link.end + window
            low = bisect_left(starts, left)
            high = bisect_right(starts, right)
            count: float = high - low
            if count and self.matcher.weighed:
                count = matcher.worth([span for span in spans[low:high] if span[1] <= right])
            elif count:  # those that begin near the right edge may end beyond it
                near = bisect_right(starts, right - longest, low, high)
                count -= sum(end > right for _, end, _ in spans[near:high])
            alphas.append(log_count(count))
        return alphas


def _occurrences(matcher: KeywordMatcher, document: Document) -> tuple[list[Place], list[Place]]:
    """The occurrences in a document's text that count for its links, and those that count for the
    document itself. Both lie in the main text, where that is known."""
    spans = matcher.spans(document.text)
    if document.main is not None:
        spans = within(spans, document.main)
        return spans, spans
    return spans, spans if document.content is document.text else matcher.spans(document.content)
