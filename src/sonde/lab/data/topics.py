"""Keywords, counted as the live crawl counts them: in a text, and in the windows around its links.

A *topic* is what one ``--keyword`` says: a phrase, or several with commas between. Each becomes a
graph of its own, but all are looked for in one search of the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sonde.errors import InputError
from sonde.scorers import KeywordMatcher, f
from sonde.scorers.keywords import phrases_of

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_NOT_NAME = re.compile(r"[^\w.-]+")


class Topics:
    """Several topics. ``count`` and ``around`` have a row a text or a link, a column a topic."""

    def __init__(self, keywords: Sequence[str]) -> None:
        if not keywords:
            raise InputError("no keyword: give at least one, as in --keyword jazz")
        self.keywords = tuple(keywords)
        matchers = [KeywordMatcher(phrases_of(keyword)) for keyword in keywords]
        self._matcher = KeywordMatcher([p for each in matchers for p in each.phrases])
        # Which topics a phrase belongs to: a phrase may be in several.
        self._belongs = np.array(
            [[phrase in each.folded for each in matchers] for phrase in self._matcher.folded],
            dtype=np.int64,
        )

    def __len__(self) -> int:
        return len(self.keywords)

    def __reduce__(self) -> tuple[object, tuple[tuple[str, ...]]]:
        return _made, (self.keywords,)  # a worker makes them once, not once a task

    def count(self, text: str) -> Counts:
        """Occurrences of each topic in a text whose white space is collapsed."""
        return self._sums(self._matcher.spans(text))

    def around(
        self, text: str, starts: Sequence[int], ends: Sequence[int], window: int
    ) -> tuple[Counts, Floats]:
        """Occurrences in the text, and f of those that lie whole within each link's window."""
        spans = self._matcher.spans(text)
        alphas = np.zeros((len(starts), len(self)))
        if spans and len(starts):
            found = np.array(spans, dtype=np.int64)
            self._fill(alphas, found, np.asarray(starts) - window, np.asarray(ends) + window)
        return self._sums(spans), alphas

    def _sums(self, spans: list[tuple[int, int, int]]) -> Counts:
        if not spans:
            return np.zeros(len(self), dtype=np.int64)
        phrases = np.bincount([span[2] for span in spans], minlength=len(self._belongs))
        return np.asarray(phrases @ self._belongs, dtype=np.int64)

    def _fill(self, alphas: Floats, spans: Counts, lefts: Counts, rights: Counts) -> None:
        lows = np.searchsorted(spans[:, 0], lefts, side="left")
        highs = np.searchsorted(spans[:, 0], rights, side="right")
        for link in np.flatnonzero(highs > lows).tolist():
            near = spans[lows[link] : highs[link]]
            phrases = near[near[:, 1] <= rights[link], 2]
            for topic, count in enumerate(self._belongs[phrases].sum(axis=0).tolist()):
                alphas[link, topic] = f(count)


@lru_cache(maxsize=8)
def _made(keywords: tuple[str, ...]) -> Topics:
    return Topics(keywords)


def f_of(counts: npt.ArrayLike) -> Floats:
    """f of many counts: 1 + ln x for x > 0, else 0."""
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
