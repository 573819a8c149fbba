"""Which URLs are nodes of the tracked graph, and how they become known."""

from __future__ import annotations

from collections.abc import Iterable

from sonde.net.urls import group_of
from sonde.sources.web.source import WebAccess
from sonde.track.citations import Citations
from sonde.track.policy import Policy


class Nodes:
    """Finds nodes by their URLs, and makes new ones while there is room."""

    def __init__(self, store: Citations, policy: Policy, web: WebAccess) -> None:
        self.store = store
        self.policy = policy
        self.web = web

    def node(self, url: str, now: float) -> tuple[int, str] | None:
        """The number and the state of the node that a URL stands for; a new one where it belongs
        to the crawl and nobody knew it; ``None`` where it is no node."""
        name = self.web.duplicates.stands_for(url)
        found = self.store.find(name)
        if found is None and self._refusal(name, group_of(name)) is None:
            found = self.new(name, "frontier", now)
        return found

    def gate(self, url: str, group: str, redirected: bool) -> str | None:
        """Why a fetch does not go to a URL. A redirect to a page that is known is followed: what
        matters is where the page has gone."""
        return self._refusal(url, group) if redirected else None

    def _refusal(self, url: str, group: str) -> str | None:
        if not self.web.scope.has(url, group):
            return "scope"
        return None if self.web.traps.verdict(url, group) is None else "trap"

    def new(self, url: str, state: str, now: float) -> tuple[int, str] | None:
        """A new node; ``None`` where there is no room until something is forgotten."""
        if self.policy.known >= self.policy.plan.most:
            return None
        number = self.store.add(
            url, state, now, self.policy.free.pop() if self.policy.free else None
        )
        self.policy.room(number)
        self.policy.known += 1
        return number, state

    def cited(self, never: Iterable[int], states: dict[int, str]) -> None:
        """Nodes that are cited by a link never seen before. What was given up on comes back."""
        expansion = self.policy.expansion
        for target in never:
            if states[target] in ("gone", "dropped"):
                self.store.update(target, state="frontier", why="", misses=0, retry=None)
                expansion.state[target] = 0
            expansion.cite(target)
