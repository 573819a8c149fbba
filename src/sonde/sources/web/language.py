"""Languages that a user reads, and what a crawl learns of where the others are.

A page's language is what it declares, else what its text shows (``language_detection``); a page
with too little text for that is taken. What is refused was paid for. So the crawl remembers what
refused pages had in their URLs: a mark (``url_languages``) with this language, marks of this kind
whatever the language, the directory. When so many pages were refused and hardly any was taken,
other URLs of the kind are refused unseen, but for a sample that gets ever thinner, so that an
error heals.

Which URLs are samples follows from the URL and from the tallies, so that a page which every page
links to is not drawn again and again. Tallies are kept with the run as they change: a run that is
taken up again goes on as one that was not stopped.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sonde.language_detection import detected
from sonde.net.urls import group_of
from sonde.protocols import Keeper
from sonde.sources.page import Page
from sonde.url_languages import marks, primary, speaks

_ENOUGH = {"mark": 3, "kind": 4, "directory": 8}
"""Pages refused that convict URLs of a sort, where none was taken."""

_AGAINST = 9  # further ones for each page that was taken


@dataclass(slots=True)
class _Tally:
    refused: int = 0
    taken: int = 0


class Languages:
    """Decides on pages and URLs. Without wanted languages everything is welcome."""

    def __init__(self, wanted: Sequence[str], keeper: Keeper) -> None:
        self.wanted = tuple(wanted)
        self._keeper = keeper
        self._codes = frozenset(map(primary, wanted))
        self._tallies: dict[str, _Tally] = {}
        self._convicted = False

    @property
    def accepted(self) -> str:
        """What to ask servers for, as the value of Accept-Language."""
        return ", ".join([*self.wanted, "*;q=0.1"])

    def recall(self) -> None:
        """Take in what the run has learned."""
        for name, refused, taken in self._keeper.rows("languages"):
            self._tallies[str(name)] = _Tally(int(refused or 0), int(taken or 0))
        self._convicted = bool(self._tallies)

    def of(self, page: Page) -> str:
        """The language of a page; empty where nobody can say. Nothing is looked for in the text
        unless a language is wanted."""
        if page.language or not self.wanted:
            return page.language
        return detected(page.content) or ""

    def welcome(self, language: str, *urls: str) -> bool:
        """Whether a page is wanted, which these URLs led to; they are learned from."""
        if not self.wanted or not language:
            return True
        welcome = any(speaks(language, wanted) for wanted in self.wanted)
        for sort in {sort: None for url in urls for sort, _ in self._sorts(url)}:
            tally = self._tallies.setdefault(sort, _Tally())
            if welcome:
                tally.taken += 1
            else:
                tally.refused += 1
                self._convicted = True
            self._keeper.write("languages", [(sort, tally.refused, tally.taken)])
        return welcome

    def unlikely(self, url: str) -> str | None:
        """Why a normalised URL is not worth its request; ``None`` also for a sample."""
        if not self._convicted:
            return None
        worst, most = "", 0
        for sort, level in self._sorts(url):
            tally = self._tallies.get(sort)
            if tally is not None and tally.refused >= _ENOUGH[level] + _AGAINST * tally.taken:
                worst, most = max((worst, most), (sort, tally.refused), key=lambda pair: pair[1])
        if not worst or zlib.crc32(url.encode()) % most**3 == 0:
            return None
        return f"language: {worst}"

    def _sorts(self, url: str) -> Iterator[tuple[str, str]]:
        """What a URL has in common with others, and how far that goes."""
        group = group_of(url)
        marked = False
        for mark in marks(url):
            marked = True
            if mark.language not in self._codes:
                yield f"{group} {mark.kind} {mark.language}", "mark"
                yield f"{group} {mark.kind} of any language", "kind"
        if not marked:
            path = url.partition("?")[0].split("/", 4)
            yield f"{group}/{path[3]}/" if len(path) > 4 else f"{group}/", "directory"
