"""The way to a page: turns, robots.txt, redirects, and the units that each request takes.

One ``Approach`` belongs to one visit. It always knows which host's turn it holds, so that the turn
is given back whatever happens.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from sonde.protocols import Allowance
from sonde.sources.web.address import group_of, origin_of
from sonde.sources.web.exchange import FetchProblem, Outcome
from sonde.sources.web.politeness import retry_after
from sonde.sources.web.robots import robots_url

if TYPE_CHECKING:
    from sonde.crawling.web import WebSource

_TROUBLE = frozenset(("timeout", "connect", "disconnected", "slow", "http-429", "http-503"))


class Approach:
    """One visit's dealings with hosts."""

    def __init__(self, source: WebSource, allowance: Allowance, url: str) -> None:
        self.refused = ""
        self._source = source
        self._allowance = allowance
        self._url = url
        self._group: str | None = None  # whose turn is held
        self._asking = group_of(url)  # whom the next request goes to
        self._arrived = False
        self._hops = 0

    # -- what the client calls -----------------------------------------------------------------

    def take(self) -> bool:
        """Take a unit from every budget that the next request falls under."""
        hosts = self._source.hosts
        spent = hosts.exhausted(self._asking)
        if spent is not None:
            self._source.pace.closed.add(self._asking)
            self.refused = spent
            return False
        hosts.take(self._asking)
        if not self._allowance.take():
            hosts.take(self._asking, -1)
            return False
        if hosts.exhausted(self._asking) is not None:
            self._source.pace.closed.add(self._asking)
        return True

    async def allow(self, url: str) -> str | None:
        """Called before each hop of the page: may it be asked for? Returns once it is its turn."""
        source = self._source
        group = group_of(url)
        self._hops += 1
        if self._hops > 1:
            self._release()
            if url not in source.scope:
                return "scope"
            if source.known_elsewhere(url):
                return "duplicate"
            if source.memory.traps.verdict(url) is not None:
                return "trap"
        allowed = source.robots.allowed(url, time.time())
        if allowed is None:
            why = await self._learn_robots(url)
            if why is not None:
                return why
            allowed = source.robots.allowed(url, time.time())
        if not allowed:
            record = source.robots.record(origin_of(url))
            unreachable = record is not None and record.verdict == "disallow"
            return "robots-unreachable" if unreachable else "robots"
        await self._take_turn(group)
        return None

    # -- robots.txt ----------------------------------------------------------------------------

    async def _learn_robots(self, url: str) -> str | None:
        """Make the rules of a URL's origin known; why that is impossible, if it is."""
        source = self._source
        origin = origin_of(url)
        while (other := source.fetching_robots.get(origin)) is not None:
            await asyncio.shield(other)
            if source.robots.allowed(url, time.time()) is not None:
                return None
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        source.fetching_robots[origin] = done
        try:
            answer = await source.client.fetch(
                robots_url(url),
                take=self.take,
                allow=self._allow_robots,
                limits=source.robots_limits,
            )
            self.answered(answer)
            source.archive(answer)
            record = source.robots.note(origin, answer, time.time())
            if record is None:
                return self.refused or "budget"
            source.book.journal.add(
                "robots",
                (origin, record.verdict, record.text, record.fetched, record.expires, record.why),
            )
            delay = source.robots.delay(origin)
            if delay is not None:
                source.pace.politeness.slow_down(group_of(url), delay, time.monotonic())
                source.hosts[group_of(url)].delay = delay
            return None
        finally:
            del source.fetching_robots[origin]
            done.set_result(None)

    async def _allow_robots(self, url: str) -> str | None:
        self._release()
        await self._take_turn(group_of(url))
        return None

    # -- turns ---------------------------------------------------------------------------------

    async def _take_turn(self, group: str) -> None:
        self._asking = group
        if self._group is not None:
            return
        pace = self._source.pace
        if not self._arrived and group == group_of(self._url):
            self._arrived = True
            await pace.arrive(group)
        else:
            await pace.turn(group)
        self._group = group

    def _release(self, answer: Outcome | None = None) -> None:
        """Give the turn back, with what the server said about being asked again."""
        group, self._group = self._group, None
        if group is None:
            return
        problem = answer if isinstance(answer, FetchProblem) else None
        trouble = problem is not None and problem.reason in _TROUBLE
        response = problem.response if problem is not None else None
        wait = None
        if trouble and response is not None:
            wait = retry_after(response.headers.get("Retry-After"), time.time())
        host = self._source.hosts[group]
        host.troubles = host.troubles + 1 if trouble else 0
        self._source.pace.finished(group, trouble=trouble, retry_after=wait)

    def answered(self, answer: Outcome) -> None:
        """A fetch has ended: note what it says about the host, and give its turn back."""
        host = self._source.hosts[self._asking]
        host.bytes += answer.received
        self._allowance.receive(answer.received)
        for url, seconds in answer.trips:
            group = group_of(url)
            self._source.hosts[group].answered(seconds)
            self._source.book.clock(self._allowance.lease, group, seconds)
        self._release(answer)

    def end(self) -> None:
        """The visit is over, in whatever way."""
        self._release()
        if not self._arrived:
            self._arrived = True
            self._source.pace.give_back(group_of(self._url))
