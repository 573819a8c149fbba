"""Polite fetch: a URL fetched as a guest should, and every request charged before it leaves.

``PoliteFetch`` asks robots.txt first (and fetches it where it must), waits for the turn of each
host, follows redirects, gives each turn back with what the server said about being asked again, and
takes every request from the allowance of whoever asks. What differs between those who fetch is
given with the call: their allowance, a gate for the URLs that redirects lead to, a rate of their
own.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from sonde.errors import ResourceError
from sonde.net.client import Client, FetchTally, Wanted
from sonde.net.exchange import FetchOutcome, FetchProblem, Limits
from sonde.net.hosts import Host
from sonde.net.retries import TROUBLE, retry_after
from sonde.net.robots import RobotsRecord, robots_url
from sonde.net.secret import Secret
from sonde.net.turns import Turns
from sonde.net.urls import group_of, host_of, normalise, origin_of
from sonde.protocols import Allowance

_HELD = 5.0  # seconds that a visit waits for a turn in its midst: who waits holds a place
_ROBOTS_SECONDS = 30.0
_ROBOTS_SIZE = 512 * 1024
_ROBOTS_REDIRECTS = 5  # as RFC 9309 asks


Gate = Callable[[str, str, bool], str | None]
"""Given a URL, its group and whether a redirect led to it: why it is not asked for, or ``None``."""

Wait = Callable[[], Awaitable[None]]
"""Awaited in a host's turn, before each request: returns when the caller's own rate allows it."""

OnRobots = Callable[[FetchOutcome, RobotsRecord | None], None]
"""Told what fetching a robots.txt brought, and what it means; ``None`` for nothing."""


class PoliteFetch:
    """Fetches URLs. Without ``turns`` there is neither waiting nor robots.txt: for an API whose
    operator says by other means how it wants to be asked."""

    def __init__(
        self,
        client: Client,
        turns: Turns | None = None,
        *,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
        on_robots: OnRobots = lambda answer, record: None,
    ) -> None:
        self.client = client
        self.turns = turns
        self.limits = limits
        self.on_robots = on_robots
        self.robots_limits = replace(
            limits,
            total=min(_ROBOTS_SECONDS, limits.total),
            body=min(_ROBOTS_SIZE, limits.body),
            redirects=_ROBOTS_REDIRECTS,
        )
        self._asking_robots: dict[str, asyncio.Future[None]] = {}  # by origin

    async def fetch(
        self,
        url: str,
        allowance: Allowance,
        *,
        gate: Gate | None = None,
        wait: Wait | None = None,
        wanted: Wanted | None = None,
        etag: str | None = None,
        last_modified: str | None = None,
        headers: Mapping[str, str | Secret] | None = None,
        form: bytes | None = None,
        robots: bool = True,
        further: bool = False,
    ) -> FetchOutcome:
        """Fetch a URL, following redirects.

        ``wanted`` is asked with the media type before a body is read. ``etag`` and
        ``last_modified`` are those of an earlier answer and make the request conditional.
        ``headers`` are for the host of the URL alone, also after redirects. With ``form``, fields
        as a browser encodes them, the request is a POST; a redirect is followed as browsers do:
        307 and 308 repeat it, others turn it into a GET. A ``further`` request of a visit waits for
        a turn of its own: the one that was reserved with the lease is used. Without ``robots`` the
        robots.txt of its host is not asked: for what a user wants done himself.

        A host that asks for longer pauses than ``Hosts.longest_delay`` is closed (``crawl-delay``);
        one whose turn comes long after its robots.txt was fetched, or after a redirect has led to
        it, is for ``later``: whoever asks has other things to do meanwhile.

        Whatever forbids it (the gate, robots.txt, a host's own budget) is a ``FetchProblem`` with
        the reason ``not-allowed``, whose detail says what. Its ``trips`` include that of a
        robots.txt which had to be fetched.
        """
        start = normalise(url)
        if start is None:
            return FetchProblem("bad-url", "", url)
        fetch = _Fetch(self, start, allowance, gate, wait, further)
        own: dict[str, str | Secret] = dict(headers or {})
        if etag:
            own["If-None-Match"] = etag
        if last_modified:
            own["If-Modified-Since"] = last_modified
        try:
            return await fetch.page(wanted, own, form, robots)
        finally:
            fetch.end()


class _Fetch:
    """One fetch. It always knows which host's turn it holds, so that the turn is given back
    whatever happens."""

    __slots__ = (
        "_allowance",
        "_arrived",
        "_asking",
        "_first",
        "_gate",
        "_polite",
        "_refused",
        "_trips",
        "_turn",
        "_turns",
        "_url",
        "_wait",
    )

    def __init__(
        self,
        polite: PoliteFetch,
        url: str,
        allowance: Allowance,
        gate: Gate | None,
        wait: Wait | None,
        further: bool,
    ) -> None:
        self._polite = polite
        self._turns = polite.turns
        self._allowance = allowance
        self._gate = gate
        self._wait = wait
        self._url = url
        self._first = group_of(url)  # whose turn may have been reserved
        self._arrived = further
        self._turn: Host | None = None  # the one that is held
        self._asking: Host | None = None  # whom the next request goes to
        self._refused = ""  # a host's own budget
        self._trips: tuple[tuple[str, float], ...] = ()  # to robots.txt

    def end(self) -> None:
        """The fetch is over, in whatever way."""
        self._release()
        if self._turns is not None and not self._arrived:
            self._arrived = True
            self._turns.give_back(self._first)

    # -- requests ------------------------------------------------------------------------------

    async def page(
        self,
        wanted: Wanted | None,
        own: Mapping[str, str | Secret],
        form: bytes | None,
        robots: bool,
    ) -> FetchOutcome:
        """The page itself, with whatever has to be fetched before it."""
        admitted = self._admitted if robots else self._gated
        answer = await self._followed(
            self._url, self._first, admitted, self._polite.limits, wanted, own, form
        )
        if isinstance(answer, FetchProblem) and answer.reason == "budget" and self._refused:
            answer = replace(answer, reason="not-allowed", detail=self._refused)
        return replace(answer, trips=self._trips + answer.trips) if self._trips else answer

    async def _followed(
        self,
        url: str,
        group: str,
        admitted: Callable[[str, str, bool], Awaitable[str | None]],
        limits: Limits,
        wanted: Wanted | None = None,
        own: Mapping[str, str | Secret] | None = None,
        form: bytes | None = None,
    ) -> FetchOutcome:
        """What is at a URL, or where its redirects end."""
        tally = FetchTally(self._take)
        first, start = url, group
        seen = {url}
        got: FetchOutcome | str = url
        for hop in range(limits.redirects + 1):
            why = await admitted(url, group, hop > 0)
            if why is not None:
                reason = "budget" if why == "budget" else "not-allowed"
                got = tally.problem(reason, why, url)
                break
            # Secrets go to the host of the URL, whatever its port.
            headers = own if group == start or host_of(url) == host_of(first) else None
            got = await self._requested(url, group, tally, limits, wanted, headers, form)
            if not isinstance(got, str):
                break
            self._release()
            if tally.hops[-1].status not in (307, 308):
                form = None
            url, group = got, group_of(got)
            if url in seen:
                got = tally.problem("redirect-loop", "", url)
                break
            seen.add(url)
        if isinstance(got, str):
            got = tally.problem("too-many-redirects", f"more than {limits.redirects}", url)
        self._release(got)
        self._allowance.receive(got.received)
        return got

    async def _requested(
        self,
        url: str,
        group: str,
        tally: FetchTally,
        limits: Limits,
        wanted: Wanted | None,
        own: Mapping[str, str | Secret] | None,
        form: bytes | None,
    ) -> FetchOutcome | str:
        """One request, with what it says of the host."""
        received, trips = tally.received, len(tally.trips)
        try:
            got = await self._polite.client.request(url, group, tally, limits, wanted, own, form)
        except ResourceError:  # it has not left
            if self._turns is not None and self._asking is not None:
                self._turns.hosts.charge(self._asking, -1)
            raise
        if self._turns is not None and self._asking is not None:
            rtt = tally.trips[-1][1] if len(tally.trips) > trips else None
            self._turns.hosts.answered(self._asking, rtt, tally.received - received)
        return got

    def _take(self) -> bool:
        """Take a unit from every budget that the next request falls under."""
        host = self._asking
        if self._turns is None or host is None:
            return self._allowance.take()
        hosts = self._turns.hosts
        spent = hosts.exhausted(host.name)
        if spent is not None:
            hosts.close(host, spent)
            self._refused = spent
            return False
        hosts.charge(host)
        if not self._allowance.take():
            hosts.charge(host, -1)
            return False
        if (spent := hosts.exhausted(host.name)) is not None:
            hosts.close(host, spent)
        return True

    # -- robots.txt ----------------------------------------------------------------------------

    async def _admitted(self, url: str, group: str, redirected: bool) -> str | None:
        """Why a URL may not be asked for; returns once it is its turn."""
        if self._gate is not None and (why := self._gate(url, group, redirected)) is not None:
            return why
        if self._turns is None:
            return None
        hosts = self._turns.hosts
        if hosts.closed.get(group) == "crawl-delay":
            return "crawl-delay"
        allowed = hosts.allowed(url, group, time.time())
        if allowed is None:
            why = await self._learn_robots(url, group)
            if why is not None:
                return why
            if hosts.closed.get(group) == "crawl-delay":
                return "crawl-delay"
            allowed = hosts.allowed(url, group, time.time())
            if allowed and self._turns.waits_long(group, _HELD):
                return "later"
        elif allowed and redirected and self._turns.waits_long(group, _HELD):
            return "later"
        if not allowed:
            record = hosts.robots_of(origin_of(url), group)
            unreachable = record is not None and record.verdict == "disallow"
            return "robots-unreachable" if unreachable else "robots"
        await self._take_turn(group)
        return None

    async def _gated(self, url: str, group: str, redirected: bool) -> str | None:
        """The same without robots.txt."""
        if self._gate is not None and (why := self._gate(url, group, redirected)) is not None:
            return why
        if self._turns is not None:
            await self._take_turn(group)
        return None

    async def _learn_robots(self, url: str, group: str) -> str | None:
        """Make the rules of a URL's origin known; why that is impossible, if it is."""
        assert self._turns is not None
        polite, hosts = self._polite, self._turns.hosts
        origin = origin_of(url)
        while (other := polite._asking_robots.get(origin)) is not None:
            await asyncio.shield(other)
            if hosts.allowed(url, group, time.time()) is not None:
                return None
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        polite._asking_robots[origin] = done
        try:
            answer = await self._followed(
                robots_url(url), group, self._in_turn, polite.robots_limits
            )
            self._trips += answer.trips
            host = hosts.add(group, time.monotonic())
            record = hosts.note_robots(host, origin, answer, time.time(), time.monotonic())
            polite.on_robots(answer, record)
            return None if record is not None else self._refused or "budget"
        finally:
            del polite._asking_robots[origin]
            done.set_result(None)

    async def _in_turn(self, url: str, group: str, redirected: bool) -> str | None:
        """Wait for the turn of a robots.txt. Nothing forbids it but this: where private addresses
        may be asked, a redirect must not lead to others than those that the crawl is about."""
        if redirected and self._gate is not None and self._polite.client.guard.allow_private:
            why = self._gate(url, group, redirected)
            if why is not None:
                return why
        await self._take_turn(group)
        return None

    # -- turns ---------------------------------------------------------------------------------

    async def _take_turn(self, group: str) -> None:
        assert self._turns is not None
        if not self._arrived and group == self._first:
            self._arrived = True
            self._turn = self._asking = await self._turns.arrive(group)
        else:
            self._turn = self._asking = await self._turns.turn(group)
        if self._wait is not None:
            await self._wait()

    def _release(self, answer: FetchOutcome | None = None) -> None:
        """Give the turn back, with what the server said about being asked again."""
        host, self._turn = self._turn, None
        if host is None:
            return
        assert self._turns is not None
        problem = answer if isinstance(answer, FetchProblem) else None
        trouble = problem is not None and problem.reason in TROUBLE
        response = problem.response if problem is not None else None
        wait = None
        if trouble and response is not None:
            wait = retry_after(response.headers.get("Retry-After"), time.time())
        self._turns.finished(host, trouble=trouble, retry_after=wait)
