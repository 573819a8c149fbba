"""Main text: what a page says itself, beside what its site says on many pages.

Of a site that is not known yet, a page's own markup decides: navigation, header, footer and aside
are no main text. ``Sites`` learns the rest while pages are read, host by host (``boilerplate`` has
how): what many pages of a host repeat is not a page's own. What is found is a function of the pages
of the host in their order, and of nothing else.

``MainText`` is the finding for one page: the words that are kept, where they stand, their shingles,
and where its links stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sonde.kernels.text.boilerplate import Imprint, Site, positions, spans
from sonde.kernels.text.shingles import digest, shingled
from sonde.kernels.text.utf8 import characters_before
from sonde.net.urls import group_of
from sonde.sources.page import Page, PageLink, Spans

MOST_SITES = 256
"""Hosts that are remembered at one time: those visited last."""

MENU, CONTENT, FOOTER = range(3)
"""Where a link stands: outside of main text, in it, or after the last of it."""


@dataclass(frozen=True)
class MainText:
    """The words of a page (its ``imprint``) that are main text: ``kept`` has 1 for each of them."""

    text: str
    imprint: Imprint
    kept: NDArray[np.uint8]

    @cached_property
    def _places(self) -> NDArray[np.intc]:
        found: NDArray[np.intc] = spans(self.imprint, self.kept)
        if not self.text.isascii():
            characters_before(self.text.encode("utf-8", "replace"), found)
        return found

    @property
    def spans(self) -> Spans | None:
        """Where it stands in the page's text; ``None`` for all of it."""
        if self.kept.all():
            return None
        return tuple(map(tuple, self._places.tolist()))

    def shingles(self, *, numbers: bool = True, links: bool = True) -> NDArray[np.uint64]:
        """The hashes of its runs of three words, sorted, each once; without numbers or words in
        links, if these are not wanted."""
        found = np.empty(self.imprint.words, dtype=np.uint64)
        count: int = shingled(self.imprint, self.kept, found, numbers, links)
        return np.unique(found[:count])

    def digest(self, *, numbers: bool = True, links: bool = True) -> tuple[int, int]:
        """A hash of its words in their order, and how many they are."""
        found: tuple[int, int] = digest(self.imprint, self.kept, numbers, links)
        return found

    def positions(self, links: Sequence[PageLink]) -> list[int]:
        """Where each link stands: ``MENU``, ``CONTENT`` or ``FOOTER``."""
        found: list[int] = positions(self._places, links)
        return found


class Sites:
    """What the hosts of a crawl have said, by host; those visited last are remembered."""

    def __init__(self) -> None:
        self._sites: dict[str, Site] = {}

    def judge(self, page: Page) -> tuple[Page, MainText]:
        """Learn from a page, and find its main text: the page with it."""
        host = group_of(page.url)
        site = self._sites.pop(host, None)
        if site is None:
            if len(self._sites) >= MOST_SITES:
                del self._sites[next(iter(self._sites))]
            site = Site()
        self._sites[host] = site
        site.learn(page.imprint)
        return _judged(page, site)


def judged_alone(page: Page) -> tuple[Page, MainText]:
    """The main text of a page whose site is not known."""
    return Sites().judge(page)


def _judged(page: Page, site: Site) -> tuple[Page, MainText]:
    kept = np.empty(page.imprint.words, dtype=np.uint8)
    site.main(page.imprint, kept)
    found = MainText(page.text, page.imprint, kept)
    return replace(page, main=found.spans), found
