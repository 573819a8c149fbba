"""Word salad: hosts whose words follow each other as if they were drawn by dice.

Who makes text without end takes words from a list, and then pairs of neighbouring words come as
often as chance makes them: where two words of two pages are the same with probability p, two pairs
of neighbours are with p squared. In any language they are many times as often, since words have
their company: "of the", "such as". So of the first pages of a host, without the formulas that a
third of them have, it is counted how many pairs two pages have in common, and how many they would
have by chance. Up to six times as many, and the text is *drawn*; nine times as many, and it is
*written* (on 23 real sites 38 to 190 times as many). Where chance makes hardly any (a list of
names), nothing can be said.

A host that was not named and seems drawn twice, by different pages, is under suspicion as long as
another host is written: where everything is drawn, as in a test, that is how things are. New hosts
are looked at together too, by their first pages: a farm has many hosts, and few pages of each are
seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sonde.kernels.text.shingles import words_of
from sonde.net.urls import group_of
from sonde.sources.main_text import MainText

_WORDS = 200  # of a page
_FEWEST = 6  # pages
_MOST = 16
_FIRST = 2  # pages of a new host that count for all new hosts
_ENOUGH = 3.0
_DRAWN, _WRITTEN = 6.0, 9.0
_HOSTS = 256  # remembered at one time
_NEW = ""
_STEP = 2
_TIMES = np.uint64(0x9E3779B97F4A7C15)

Words = NDArray[np.uint64]


def company(pages: list[Words]) -> tuple[float, float]:
    """How many pairs of pairs of neighbouring words are the same, and how many by chance."""
    pages = _without_formulas(pages)
    words = [np.unique(page) for page in pages]
    pairs = [np.unique(_joined(page, 2)) for page in pages]
    alike = _same(np.concatenate(words)) / max(1.0, _chances(words))
    return _same(np.concatenate(pairs)), _chances(pairs) * alike * alike


def _joined(page: Words, width: int) -> Words:
    """The runs of so many words."""
    found = page[: max(0, len(page) - width + 1)].copy()
    for step in range(1, width):
        found = found * _TIMES ^ page[step : step + len(found)]
    return found


def _without_formulas(pages: list[Words]) -> list[Words]:
    """The pages without the runs of three words that a third of them have: what a template says."""
    runs = [_joined(page, 3) for page in pages]
    found, counts = np.unique(np.concatenate([np.unique(run) for run in runs]), return_counts=True)
    formulas = found[counts * 3 >= len(pages)]
    left = []
    for page, run in zip(pages, runs, strict=True):
        kept = np.ones(len(page), dtype=bool)
        for at in np.flatnonzero(np.isin(run, formulas)):
            kept[at : at + 3] = False
        left.append(page[kept])
    return left


def _chances(pages: list[Words]) -> float:
    """How many pairs there are of which one is on one page and one on another."""
    sizes = [len(page) for page in pages]
    return (sum(sizes) ** 2 - sum(size * size for size in sizes)) / 2


def _same(numbers: Words) -> float:
    _, counts = np.unique(numbers, return_counts=True)
    return float((counts * (counts - 1) // 2).sum())


class WordSalad:
    """What hosts' words are like."""

    def __init__(self, seeds: Iterable[str] = ()) -> None:
        self._named = frozenset(map(group_of, seeds))
        self._pages: dict[str, list[Words]] = {}  # by host not judged yet, last visited last
        self._drawn: dict[str, int] = {}  # pages since it was seen
        self._written: dict[str, None] = {}
        self._doubted: dict[str, None] = {}  # seemed to be drawn once
        self._visits: dict[str, int] = {}  # of new hosts, up to those that count
        self._new = 0

    def observe(self, url: str, main: MainText) -> None:
        """Take in a page."""
        host = group_of(url)
        words = np.empty(_WORDS, dtype=np.uint64)
        words = words[: words_of(main.imprint, main.kept, words)].copy()
        if host not in self._named and self._visits.get(host, 0) < _FIRST:
            self._visits[host] = self._visits.get(host, 0) + 1
            self._look_at_new(words)
        if host in self._drawn:
            self._drawn[host] += 1
        elif host not in self._written and len(words) > 1:
            pages = self._pages.pop(host, [])
            pages.append(words)
            verdict = _verdict(pages)
            if verdict and host not in self._doubted:  # a folder of a site may be odd: look again
                self._doubted[host] = None
                self._pages[host] = []
            elif verdict is not None:
                self._judged(host, verdict)
            elif len(pages) < _MOST:
                self._pages[host] = pages
                if len(self._pages) > _HOSTS:
                    del self._pages[next(iter(self._pages))]

    def _judged(self, host: str, drawn: bool) -> None:
        if drawn:
            self._drawn[host] = 0
        else:
            self._written[host] = None

    def _look_at_new(self, words: Words) -> None:
        pages = self._pages.setdefault(_NEW, [])
        if len(words) > 1:
            pages.append(words)
        del pages[:-_MOST]
        verdict = _verdict(pages)
        if verdict is not None:
            self._new = self._new + _STEP if verdict else self._new // 2

    def bits(self, group: str) -> int:
        """How many times the share of a host's URLs that are let through is halved."""
        if not self._written:
            return 0
        if group in self._named:
            return 0
        found = self._drawn.get(group)
        if found is not None:
            return _STEP * (found + 1)
        return 0 if group in self._written else self._new

    def state(self) -> dict[str, Any]:
        """Everything, as plain data."""
        return {
            "pages": {
                host: [page.tolist() for page in pages] for host, pages in self._pages.items()
            },
            "drawn": self._drawn,
            "written": list(self._written),
            "doubted": list(self._doubted),
            "visits": self._visits,
            "new": self._new,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Become what ``state`` described."""
        self._pages = {
            host: [np.array(page, dtype=np.uint64) for page in pages]
            for host, pages in state["pages"].items()
        }
        self._drawn = dict(state["drawn"])
        self._written = dict.fromkeys(state["written"])
        self._doubted = dict.fromkeys(state["doubted"])
        self._visits = dict(state["visits"])
        self._new = state["new"]


def _verdict(pages: list[Words]) -> bool | None:
    """Whether the words of these pages were drawn; ``None`` where that cannot be said."""
    if len(pages) < _FEWEST:
        return None
    same, chance = company(pages)
    if chance < _ENOUGH:
        return None
    return True if same < _DRAWN * chance else False if same >= _WRITTEN * chance else None
