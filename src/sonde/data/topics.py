"""Keywords, counted as the live crawl counts them: in a text, and in the windows around its links.

A *topic* is what one ``--keyword`` says: a phrase, or several with commas between. Each becomes a
graph of its own, but all are looked for in one search of the text. Words count as they stand,
without their inflections, as in the papers.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sonde.errors import InputError
from sonde.scorers import KeywordMatcher, Topic, log_count
from sonde.scorers.document import within

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_NOT_NAME = re.compile(r"[^\w.-]+")


class Topics:
    """Several topics, by their numbers."""

    def __init__(self, keywords: Sequence[str]) -> None:
        if not keywords:
            raise InputError("no keyword: give at least one, as in --keyword jazz")
        self.keywords = tuple(keywords)
        topics = [_counted(keyword) for keyword in keywords]
        phrases = {phrase.key: phrase for each in topics for phrase in each.phrases}
        self._matcher = KeywordMatcher(phrases.values())
        # The topics that each phrase belongs to: there may be several.
        self._topics = [
            [topic for topic, each in enumerate(topics) if key in {p.key for p in each.phrases}]
            for key in phrases
        ]

    def __len__(self) -> int:
        return len(self.keywords)

    def __reduce__(self) -> tuple[object, tuple[tuple[str, ...]]]:
        return Topics, (self.keywords,)  # the matcher is made anew

    def count(self, text: str | bytes) -> list[int]:
        """Occurrences of each topic in a text, or its UTF-8, whose white space is collapsed."""
        return self._sums(self._matcher.spans(text))

    def counts(self, texts: Sequence[str]) -> Counts:
        """The same for many texts, a row each: one search of all is faster than one of each."""
        found = np.zeros((len(texts), len(self.keywords)), np.int64)
        # No phrase has a line end in it, or goes on over one.
        spans = self._matcher.spans("\n".join(texts))
        if spans:
            ends = np.cumsum([len(text) + 1 for text in texts])
            rows = np.searchsorted(ends, [span[0] for span in spans], side="right")
            for row, (_, _, phrase) in zip(rows.tolist(), spans, strict=True):
                for topic in self._topics[phrase]:
                    found[row, topic] += 1
        return found

    def around(
        self,
        text: str | bytes,
        links: Sequence[tuple[str, int, int]],
        window: int,
        main: Sequence[tuple[int, int]] | None = None,
    ) -> tuple[list[int], dict[int, list[float]]]:
        """Occurrences in the text, and `log_count` of those that lie whole within a link's window;
        only those in main text, where it is known where that stands.

        Links are (target, start, end); those whose window has none of any topic are left out.
        """
        spans = self._matcher.spans(text)
        if main is not None:
            spans = within(spans, main)
        alphas: dict[int, list[float]] = {}
        if spans:
            starts = [span[0] for span in spans]
            for number, (_, start, end) in enumerate(links):
                right = end + window
                low = bisect_left(starts, start - window)
                high = bisect_right(starts, right, low)
                if low < high:
                    whole = [span for span in spans[low:high] if span[1] <= right]
                    if whole:
                        alphas[number] = [log_count(count) for count in self._sums(whole)]
        return self._sums(spans), alphas

    def _sums(self, spans: Sequence[tuple[int, int, int]]) -> list[int]:
        sums = [0] * len(self.keywords)
        for _, _, phrase in spans:
            for topic in self._topics[phrase]:
                sums[topic] += 1
        return sums


def _counted(keyword: str) -> Topic:
    """A topic whose phrases are counted, as they stand."""
    topic = Topic.of(keyword, exact=True)
    if any(phrase.excluded or phrase.weight != 1.0 for phrase in topic.phrases):
        raise InputError(
            f"the keywords of a data set are counted, none excluded or weighed: {keyword!r:.200}"
        )
    return topic


def f_of(counts: npt.ArrayLike) -> Floats:
    """`log_count` of many counts: 1 + ln x for x > 0, else 0."""
    values = np.asarray(counts, dtype=np.float64)
    return np.where(values > 0, 1.0 + np.log(np.where(values > 0, values, 1.0)), 0.0)


def folder_names(labels: Sequence[str]) -> list[str]:
    """A name for a folder for each label, no two alike (also where case does not matter)."""
    names: list[str] = []
    taken: set[str] = set()
    for label in labels:
        stem = _NOT_NAME.sub("-", label.strip()).strip(".-_")[:60] or "keyword"
        name, number = stem, 1
        while name.lower() in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(name.lower())
        names.append(name)
    return names
