"""Which URLs are nodes of the tracked graph, and how they become known."""

from __future__ import annotations

from collections.abc import Iterable

from sonde.net.urls import group_of
from sonde.store.citations import Citations
from sonde.track.mind import Mind
from sonde.track.web import TrackedWeb


class Places:
    """Finds nodes by their URLs, and makes new ones while there is room."""

    def __init__(self, store: Citations, mind: Mind, source: TrackedWeb) -> None:
        self.store = store
        self.mind = mind
        self.source = source

    def node(self, url: str, now: float) -> tuple[int, str] | None:
        """The number and the state of the node that a URL stands for; a new one where it belongs
        to the crawl and nobody knew it; ``None`` where it is no node."""
        name = self.source.duplicates.stands_for(url)
        found = self.store.find(name)
        if found is not None:
            return found
        group = group_of(name)
        if not self.source.scope.has(name, group) or self.source.traps.verdict(name, group):
            return None
        return self.new(name, "frontier", now)

    def new(self, url: str, state: str, now: float) -> tuple[int, str] | None:
        """A new node; ``None`` where there is no room until something is forgotten."""
        if self.mind.known >= self.mind.plan.most:
            return None
        number = self.store.add(url, state, now, self.mind.free.pop() if self.mind.free else None)
        self.mind.room(number)
        self.mind.known += 1
        return number, state

    def cited(self, never: Iterable[int], states: dict[int, str]) -> None:
        """Nodes that are cited by a link never seen before. What was given up on comes back."""
        expansion = self.mind.expansion
        for target in never:
            if states[target] in ("gone", "dropped"):
                self.store.update(target, state="frontier", why="", misses=0, retry=None)
                expansion.state[target] = 0
            expansion.cite(target)
