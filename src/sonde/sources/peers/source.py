"""Visits of peers: one message each, and nothing believed without bounds."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sonde.errors import InputError
from sonde.protocols import Allowance, Keeper
from sonde.records import Failure, Link, Node, Outcome, Skip
from sonde.scorers.topic import Topic
from sonde.sources.context import SourceContext
from sonde.sources.facts import PageFacts, PageVisit
from sonde.sources.kind import Kind, NoOptions
from sonde.sources.peers.messages import (
    ANSWER,
    LONGEST,
    REASONS,
    ExchangeError,
    PeerAnswer,
    answer_from,
    exchange,
    reach_of,
)

TIMEOUT = 5.0
DOUBTS = 5
"""A peer is doubted once it has named this many neighbours that were not there for each that was,
and one more time as many: see ``Reputation``."""


class Reputation:
    """Who named whom, and how that turned out.

    A peer may call anything its neighbour. One whose neighbours are not there is doubted, and those
    whom only doubted peers name are left alone: a list of inventions costs a few messages, not all.
    Somebody who answers late or talks nonsense is there all the same.
    """

    def __init__(self) -> None:
        self._informers: dict[str, list[str]] = {}
        self._found: dict[str, int] = {}
        self._missed: dict[str, int] = {}

    def named(self, neighbour: str, informer: str) -> None:
        """A peer calls another its neighbour."""
        self._informers.setdefault(neighbour, []).append(informer)

    def asked(self, name: str, *, there: bool) -> None:
        """Somebody was asked, and was there or was not."""
        counts = self._found if there else self._missed
        for informer in self._informers.get(name, ()):
            counts[informer] = counts.get(informer, 0) + 1

    def doubtful(self, name: str) -> bool:
        """Whether nobody vouches for a peer who can be believed. Seeds need nobody."""
        informers = self._informers.get(name, ())
        return bool(informers) and all(map(self._doubted, informers))

    def counts(self) -> dict[str, Any]:
        """How those who were named turned out, by who named them."""
        return {"found": self._found, "missed": self._missed}

    def recall(self, counts: dict[str, Any]) -> None:
        """Take in what was counted before; who named whom is told anew."""
        self._found, self._missed = counts["found"], counts["missed"]

    def _doubted(self, informer: str) -> bool:
        return self._missed.get(informer, 0) >= DOUBTS * (1 + self._found.get(informer, 0))


class Peers(Kind[NoOptions]):
    """Peers that share files, asked one by one."""

    name = "peers"
    summary = "peers that share files, from addresses such as 127.0.0.1:7001"
    nouns = ("peer", "peers")
    heeds = ("topic", "timeout")
    needs = ("topic",)
    defaults = {"timeout": TIMEOUT}  # noqa: RUF012
    reasons = REASONS

    def seeds(self, options: NoOptions, topic: str | None) -> list[str]:
        raise InputError("a crawl of peers needs at least one address, such as 127.0.0.1:7001")

    def spelt(self, options: NoOptions, seed: str) -> str:
        return peer_named(seed)

    def make(self, options: NoOptions, context: SourceContext) -> PeerSource:
        return PeerSource(
            context.settings.topic or "",
            context.seeds,
            timeout=context.limits.total,
            limit=min(ANSWER, context.limits.body),
            keeper=context.keeper,
        )


def peer_named(text: str) -> str:
    """The name of a peer that can be asked."""
    if reach_of(text) == "nowhere":
        raise InputError(f"not a peer: {text!r:.100} (an IP address and a port: 127.0.0.1:7001)")
    return text


class PeerSource:
    """Asks peers for a topic. ``seeds`` say which networks may be asked: those that they are in."""

    def __init__(
        self,
        topic: str,
        seeds: Iterable[str],
        *,
        timeout: float = TIMEOUT,
        limit: int = ANSWER,
        keeper: Keeper | None = None,
    ) -> None:
        if not topic.strip(" ,") or len(topic) > LONGEST:
            raise InputError(f"peers are asked for a topic of at most {LONGEST} characters")
        Topic.of(topic, exact=True)  # what peers would not understand is said now
        self.topic = topic
        self.timeout = timeout
        self.limit = limit
        self.reputation = Reputation()
        self.within = {reach_of(peer_named(seed)) for seed in seeds}
        self._keeper = keeper
        self._changed = False

    def recall(self) -> str:
        """Take in how those who were named have turned out."""
        assert self._keeper is not None
        kept = self._keeper.recalled("reputation")
        if kept is not None:
            self.reputation.recall(json.loads(kept))
        for node, visit in self._keeper.visits():
            for link in visit.links:
                self.reputation.named(str(link.target), str(node))
        return ""

    def before_commit(self) -> None:
        """Keep what was counted with the outcomes that it was counted from."""
        if self._changed and self._keeper is not None:
            self._changed = False
            self._keeper.keep("reputation", json.dumps(self.reputation.counts()).encode())

    async def visit(self, node: Node, allowance: Allowance) -> Outcome:
        """Ask one peer what it has, and whom it knows."""
        name = str(node)
        if self.reputation.doubtful(name):
            return Skip("doubtful")
        if not allowance.take():
            return Skip("budget", retry=True)
        request = {"ask": "relevance", "topic": self.topic}
        try:
            message = await exchange(
                name,
                request,
                timeout=self.timeout,
                limit=self.limit,
                receive=allowance.receive,
            )
            answer = answer_from(message)
        except ExchangeError as trouble:
            self._asked(name, there=trouble.delivered)
            return Failure(trouble.reason)
        self._asked(name, there=True)
        facts = PageFacts(name, title=", ".join(answer.files)[:500])
        links = self._links(name, answer)
        return PageVisit(answer.score, links, answer.records, facts=facts)

    def _asked(self, name: str, *, there: bool) -> None:
        self.reputation.asked(name, there=there)
        self._changed = True

    def _links(self, name: str, answer: PeerAnswer) -> list[Link]:
        links = []
        for neighbour, promise in answer.neighbours:
            if reach_of(neighbour) in self.within and neighbour != name:
                self.reputation.named(neighbour, name)
                links.append(Link(neighbour, promise))
        return links
