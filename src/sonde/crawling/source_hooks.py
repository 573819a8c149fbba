"""Source hooks: what a source may have besides ``visit``, whether it has it or not.

Only ``visit`` is asked of a source. What else the crawl calls, each on its own:

``pace``             which groups may be asked now (``protocols.Pace``); everything, without one
``recall()``         take in what the run knows, on resume; what had to be repaired, in words
``allowed_now()``    nodes that had been left out and may be asked now, on resume
``refill()``         further nodes to begin with, each with its group, when the frontier has run dry
``before_commit()``  hand over what belongs with what is about to be committed
``facts()``          how it stands, as plain data by label: for displays, and kept with the run
``leave()``          keep what the source wants to find again, at the end of a crawl
``close()``          let go of connections and files; a coroutine
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from sonde.crawling.keeper import RunArchive
from sonde.protocols import Pace, Source
from sonde.records import Group
from sonde.sources.facts import PageFacts
from sonde.store.forgetting import Forgotten
from sonde.store.journal import Journal
from sonde.store.memory_pages import MemoryPages
from sonde.store.page_content import PageContent, Reads

_FACTS_EVERY = 1.0  # seconds


class NoPace:
    """Everything is always ready."""

    closed: Mapping[Group, str] = MappingProxyType({})

    def __init__(self) -> None:
        self.wake: Callable[[], None] = lambda: None

    def know(self, group: Group) -> None:
        pass

    def ready(self, waiting: dict[Group, int]) -> Collection[Group] | None:
        return None

    def reserve(self, group: Group) -> None:
        pass

    def next_time(self) -> float | None:
        return None


class SourceHooks:
    """A source and its optional members, with the archive that it writes to."""

    def __init__(
        self,
        source: Source,
        journal: Journal,
        forgotten: Forgotten | None,
        archive: RunArchive | MemoryPages | None = None,
        reading: Reads = lambda archived, media_type, main: None,
    ) -> None:
        self.source = source
        self.forgotten = forgotten
        self.pace: Pace = getattr(source, "pace", None) or NoPace()
        self._journal = journal
        self._archive = archive
        self._reading = reading
        self._facts: Callable[[], dict[str, Any]] | None = getattr(source, "facts", None)
        self._told = 0.0
        self._hook: Callable[[], None] = getattr(source, "before_commit", _nothing)
        self.before_commit = self._hook if self._facts is None else self._with_facts
        """Called by the driver before each commit."""

    def content(self, facts: PageFacts) -> PageContent:
        """What a page said, read when it is asked for."""
        read = None if self._archive is None else self._archive.read
        return PageContent(
            facts.text, facts.warc, facts.main, facts.media_type, facts.flags, read, self._reading
        )

    def recall(self) -> str:
        """Let the source take in what the run knows; what had to be repaired, in words."""
        recall = getattr(self.source, "recall", None)
        said = [str(recall() or "")] if recall is not None else []
        if self._archive is not None:
            said.append(self._archive.repaired())
        return "; ".join(filter(None, said))

    def allowed_now(self) -> Iterable[str]:
        """Nodes that the source had left out, and that the user wants now."""
        allowed = getattr(self.source, "allowed_now", None)
        return () if allowed is None else list(allowed())

    def _with_facts(self) -> None:
        self._hook()
        if self._facts is not None and time.monotonic() - self._told >= _FACTS_EVERY:
            self._told = time.monotonic()
            self._journal.meta("facts", self._facts())

    def refill(self) -> Iterable[tuple[str, Group]]:
        """Further nodes to begin with, when the frontier has run dry."""
        refill: Callable[[], Iterable[tuple[str, Group]]] | None
        refill = getattr(self.source, "refill", None)
        return () if refill is None else refill()

    def facts(self) -> dict[str, Any]:
        """How the source stands."""
        return {} if self._facts is None else dict(self._facts())

    def leave(self) -> None:
        """Leave the run with what the source wants to find again."""
        if self._facts is not None:
            self._journal.meta("facts", self._facts())
        getattr(self.source, "leave", _nothing)()

    async def close(self) -> None:
        """Let go of the source, then of the archive."""
        try:
            close = getattr(self.source, "close", None)
            if close is not None:
                closing = close()
                if inspect.isawaitable(closing):
                    await closing
        finally:
            if isinstance(self._archive, RunArchive):
                self._archive.close()


def _nothing() -> None:
    """What a source does that lacks a hook."""
