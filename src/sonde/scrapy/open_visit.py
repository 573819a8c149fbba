"""An open visit: a lease that Scrapy is at work on, with all that has come of it so far."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from sonde.records import Failure, Lease, Link, Outcome, Skip, Spend
from sonde.sources.facts import PageFacts, PageVisit

_SKIPS = frozenset(("budget", "duplicate", "filtered", "ignored", "not-kept", "robots", "scope"))
"""Reasons for which a request was not made, rather than made in vain."""


@dataclass
class OpenVisit:
    """One lease. Its requests are *active* from when the engine has them until they have left it,
    *read* once the spider has said all there is to say of the response, *queued* while they wait
    (a retry, a redirect, a chain). ``coming`` are requests that the spider yielded and that have
    not reached the scheduler."""

    lease: Lease
    request: Any
    depth: int = 0
    given: int = 1
    taken: int = 0
    received: int = 0
    active: set[Any] = field(default_factory=set)
    read: set[Any] = field(default_factory=set)
    coming: set[Any] = field(default_factory=set)
    followed: set[bytes] = field(default_factory=set)  # fingerprints of all its requests
    queued: int = 0
    items: int = 0
    score: float = 0.0
    links: list[tuple[int, Link]] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    facts: PageFacts | None = None
    trouble: str = ""
    began: float = field(default_factory=time.monotonic)

    @property
    def finished(self) -> bool:
        """Whether nothing more can come of it."""
        return not (self.queued or self.coming or self.active - self.read)

    def left(self, in_progress: set[Any]) -> None:
        """Forget the requests that the engine no longer has in progress."""
        self.active &= in_progress
        self.read &= self.active
        if not self.active:  # what was yielded and has not come by now was dropped on its way
            self.coming.clear()

    def outcome(self) -> Outcome:
        """What came of it, now that it is finished."""
        spent = Spend(requests=self.taken, bytes=self.received)
        facts = self.facts
        if facts is None:
            reason = self.trouble or "no-response"
            if reason in _SKIPS:
                return Skip(reason, retry=reason == "budget", spent=spent)
            return Failure(reason, spent=spent)
        if not (self.items or self.links):
            if facts.status >= 400:
                return Failure(f"http-{facts.status}", spent=spent)
            if self.trouble == "spider-error":
                return Failure(self.trouble, spent=spent)
        # Of links that promise the same the explorer takes the one that it was told first.
        links = [link for _, link in sorted(self.links, key=lambda each: -each[0])]
        return PageVisit(self.score, links, spent=spent, facts=facts, refused=self.refused)
