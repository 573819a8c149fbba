"""The content-seen test (Heydon and Najork's name for it): what of a page has been said before.

It asks ``twins`` for an earlier page that says nearly the same, ``staleness`` for what is new in
the page's place, and tells ``variants`` which names are of one page. All of it follows from the
visits in the order of the log: ``recall`` takes them in again, and gives the same state.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sonde.net.urls import group_of
from sonde.protocols import Keeper, KeptPage
from sonde.sources.main_text import MainText
from sonde.sources.web.copied_hosts import CopiedHosts
from sonde.sources.web.staleness import Finding, Staleness, is_sampled
from sonde.sources.web.twins import FEWEST, NOTHING, Print, Twin, Twins, printed, printed_alone
from sonde.sources.web.variants import PageNames
from sonde.sources.web.word_salad import WordSalad

_APART = frozenset(("feed", "redirect"))  # what is no page


class ContentFinding(NamedTuple):
    """What came of comparing a page with those before it."""

    page: Print
    twin: Twin | None
    finding: Finding


class ContentSeen:
    """What the pages of a run have said, and under which names."""

    def __init__(
        self, keeper: Keeper, seeds: Sequence[str], allowed: Callable[[str], bool]
    ) -> None:
        """``allowed`` says which URLs are no traps whatever is found."""
        self.names = PageNames(seeds)
        self.staleness = Staleness()
        self.hosts = CopiedHosts(seeds)
        self._salad = WordSalad(seeds)
        self.pages = 0
        self.kept = 0  # pages in what was kept last
        self._twins = Twins(keeper.sketch)
        self._keeper = keeper
        self.allowed = allowed

    def compare(self, final_url: str, main: MainText, left: int | None) -> ContentFinding:
        """Compare a page that is visited now, with so many requests left."""
        page = printed(main)
        twin = self._twins.find(page)
        if twin is None and page.count < FEWEST < main.imprint.words:
            twin = self._twins.find(printed_alone(main))
        finding = self.staleness.observe(final_url, main, left)
        self._salad.observe(final_url, main)
        if twin is not None and group_of(twin.name) != group_of(final_url):
            finding = finding._replace(copied=True)
        return ContentFinding(page, twin, finding)

    def add(
        self,
        url: str,
        lease: int,
        final_url: str,
        canonical: str | None,
        found: ContentFinding | None,
    ) -> bool | None:
        """The page was visited: those after it are compared with it, too. Whether its host seems
        to be a copy of another; ``None`` where that was known before. A page that may not be
        compared (``found`` is ``None``) has names all the same."""
        page, twin, finding = (NOTHING, None, Finding.of(None)) if found is None else found
        content = self._twins.add(url, lease, page, None if twin is None else twin.number)
        self.names.visited(url, final_url, canonical, content, None if twin is None else twin.name)
        self.pages += 1
        return self.hosts.observe(final_url, finding)

    def verdict(self, url: str, group: str) -> str | None:
        """Why a URL is left out as a trap, or ``None`` where it is not."""
        why = self.staleness.verdict(url) or self.hosts.verdict(url, group)
        if why is None and not is_sampled(
            url if self.hosts.knows(group) else group, self._salad.bits(group)
        ):
            why = f"words as if drawn by dice at {group}"
        return None if why is None or self.allowed(url) else why

    def keep(self) -> None:
        """Keep what the log does not hold: the words that places have said."""
        state = {
            "pages": self.pages,
            "staleness": self.staleness.state(),
            "salad": self._salad.state(),
        }
        self._keeper.keep("staleness", zlib.compress(json.dumps(state).encode(), 1))
        self.kept = self.pages

    def recall(self, main_of: Callable[[KeptPage], MainText | None]) -> None:
        """Take in the run's pages again. What places had said is in what was kept last; of later
        pages ``main_of`` has it."""
        kept = self._keeper.recalled("staleness")
        if kept is not None:
            state = json.loads(zlib.decompress(kept))
            self.kept = state["pages"]
            self.staleness.restore(state["staleness"])
            self._salad.restore(state["salad"])
        numbers: dict[int, int] = {}
        for page in self._keeper.pages():
            if not _APART.isdisjoint(page.flags.split()):
                continue
            number = None if page.twin is None else numbers.get(page.twin)
            numbers[page.lease] = self.pages
            known = Print.unpacked(page.sketch)
            content = self._twins.add(page.node, page.lease, known, number, whole=False)
            self.pages += 1
            if not page.final_url.startswith("http"):  # what it was is forgotten
                continue
            twin = None if number is None else self._twins.name(number)
            self.names.visited(page.node, page.final_url, page.canonical, content, twin)
            finding = Finding.of(page.stale)
            self.hosts.observe(page.final_url, finding)
            if self.pages > self.kept:
                main = main_of(page)
                if "noindex" in page.flags.split():
                    continue
                if main is not None:
                    self._salad.observe(page.final_url, main)
                self.staleness.told(page.final_url, main, finding)
