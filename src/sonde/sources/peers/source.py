"""Visits of peers: one message each, and nothing believed without bounds."""

from __future__ import annotations

from collections.abc import Iterable

from sonde.errors import InputError
from sonde.protocols import Allowance
from sonde.records import Failure, Link, Node, Outcome, Skip, Visit
from sonde.sources.peers.wire import Answer, Trouble, answer_from, exchange, reach_of

TIMEOUT = 5.0
DOUBTS = 3
"""A peer is doubted once so many more than this times those that answered, of the neighbours that
it named, were not there: see ``Standing``."""


class Standing:
    """Who named whom, and how that turned out.

    A peer may call anything its neighbour. One whose neighbours are not there is doubted, and those
    whom only doubted peers name are left alone: a list of inventions costs a few messages, not all.
    """

    def __init__(self) -> None:
        self._informers: dict[str, list[str]] = {}
        self._answered: dict[str, int] = {}
        self._failed: dict[str, int] = {}

    def named(self, neighbour: str, informer: str) -> None:
        """A peer calls another its neighbour."""
        self._informers.setdefault(neighbour, []).append(informer)

    def heard(self, name: str, *, answered: bool) -> None:
        """Somebody was asked, and was there or was not."""
        counts = self._answered if answered else self._failed
        for informer in self._informers.get(name, ()):
            counts[informer] = counts.get(informer, 0) + 1

    def doubtful(self, name: str) -> bool:
        """Whether nobody vouches for a peer who can be believed. Seeds need nobody."""
        informers = self._informers.get(name, ())
        return bool(informers) and all(map(self._doubted, informers))

    def _doubted(self, informer: str) -> bool:
        return self._failed.get(informer, 0) >= DOUBTS * (1 + self._answered.get(informer, 0))


class PeerSource:
    """Asks peers for a topic. ``seeds`` say which networks may be asked: those that they are in."""

    def __init__(self, topic: str, seeds: Iterable[str], *, timeout: float = TIMEOUT) -> None:
        if not topic.strip(" ,"):
            raise InputError("peers are asked for a topic: phrases separated by commas")
        self.topic = topic
        self.timeout = timeout
        self.standing = Standing()
        self.within = set()
        for seed in seeds:
            reach = reach_of(seed)
            if reach == "nowhere":
                raise InputError(f"not a peer: {seed!r:.100} (an IP address and a port)")
            self.within.add(reach)

    async def visit(self, node: Node, allowance: Allowance) -> Outcome:
        """Ask one peer what it has, and whom it knows."""
        name = str(node)
        if self.standing.doubtful(name):
            return Skip("doubtful")
        if not allowance.take():
            return Skip("budget", retry=True)
        try:
            request = {"ask": "relevance", "topic": self.topic}
            answer = answer_from(await exchange(name, request, timeout=self.timeout))
        except Trouble as trouble:
            self.standing.heard(name, answered=False)
            return Failure(trouble.reason)
        self.standing.heard(name, answered=True)
        return Visit(answer.score, self._links(name, answer), answer.records)

    def _links(self, name: str, answer: Answer) -> list[Link]:
        links = []
        for neighbour, promise in answer.neighbours:
            if reach_of(neighbour) in self.within and neighbour != name:
                self.standing.named(neighbour, name)
                links.append(Link(neighbour, promise))
        return links
