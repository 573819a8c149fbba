"""Turns (rate limiting by host): whose request may go to its host now, on the clock.

The driver of a crawl asks ``ready`` before it asks the explorer, and ``reserve`` takes a host's
turn for the lease that it got (``protocols.Pace``). Whatever a visit needs further (the page after
its robots.txt, the target of a redirect) waits in ``turn``; those who wait go before new leases.
They are served by a timer, so that nobody need look: a program without a driver uses ``arrive``,
``turn`` and ``finished`` alone. ``Hosts`` keeps the rules; here is the clock, and the addresses
that names stand for.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping

from sonde.net.guard import GuardedResolver
from sonde.net.hosts import Host, Hosts
from sonde.records import Group

_MOST_QUEUED = 2
"""Visits that wait for one host's turn at a time, with what they hold."""


class Turns:
    """The turns of all hosts. ``wake`` is called when the driver should look again."""

    def __init__(self, hosts: Hosts, resolver: GuardedResolver | None = None) -> None:
        """Without a `resolver` (behind a proxy) addresses are not told apart."""
        self.hosts = hosts
        self.wake: Callable[[], None] = lambda: None
        self._resolver = resolver
        self._opening = 0  # hosts that are
        self._queued: dict[str, Host] = {}  # hosts that somebody waits for
        self._timer: asyncio.TimerHandle | None = None  # for those who wait

    # -- for the driver ------------------------------------------------------------------------

    @property
    def closed(self) -> Mapping[Group, str]:
        """Hosts that are not asked any more, and why: their budget is used up, or they ask for
        longer pauses than the crawl waits."""
        return self.hosts.closed

    def know(self, group: Group) -> None:
        """A host that nodes wait for."""
        assert isinstance(group, str)
        host = self.hosts.add(group, time.monotonic())
        if (spent := self.hosts.exhausted(group)) is not None:
            self.hosts.close(host, spent)

    def ready(self, waiting: dict[Group, int]) -> Collection[Group] | None:
        """The hosts that may be asked now, of those with nodes waiting; ``None`` for all."""
        now = time.monotonic()
        ready = self.hosts.ready(now)
        if self._queued:
            self._serve(now)
        chosen = [group for group in ready if waiting.get(group)]
        if self._opening or self.hosts.closed:
            return self.hosts.offered(group for group in chosen if not self._shut(group))
        chosen = self.hosts.offered(chosen)
        return None if len(chosen) == len(waiting) else chosen

    def soon(self, waiting: Mapping[Group, int], within: float) -> dict[Group, float]:
        """The hosts with nodes waiting that may be asked within so many seconds, and in how many
        (see ``crawling.patience``)."""
        found = self.hosts.soon(time.monotonic(), within)
        return {group: wait for group, wait in found if waiting.get(group)}

    def _shut(self, group: str) -> bool:
        host = self.hosts.get(group)
        return host is not None and (host.opening or host.closed)

    def reserve(self, group: Group) -> None:
        """A lease was given for this host."""
        assert isinstance(group, str)
        now = time.monotonic()
        host = self.hosts.add(group, now)
        if self._resolver is not None and not host.resolved:
            self._open(host)
        else:
            self.hosts.started(host, now)
            host.reserved += 1

    def next_time(self) -> float | None:
        """When to look again, if nothing happens before."""
        return self.hosts.next_time()

    # -- for visits ----------------------------------------------------------------------------

    async def arrive(self, group: str) -> Host:
        """The first request of a visit: its turn was reserved, if a driver has leased it and the
        address of the host is known; otherwise wait for one."""
        host = self.hosts.add(group, time.monotonic())
        if host.reserved:
            host.reserved -= 1
            return host
        try:
            await self._resolve(host)
        finally:
            self._opened(host)
        await self._wait(host)
        return host

    def give_back(self, group: str) -> None:
        """A lease that sends nothing: its reserved turn goes to the next."""
        host = self.hosts.add(group, time.monotonic())
        if host.reserved:
            host.reserved -= 1
            self.finished(host, trouble=None)
        else:
            self._opened(host)
            self.wake()

    async def turn(self, group: str) -> Host:
        """Wait until a further request to this host may start, and start it."""
        host = self.hosts.add(group, time.monotonic())
        await self._resolve(host)
        await self._wait(host)
        return host

    def waits_long(self, group: str, seconds: float) -> bool:
        """Whether a further request to this host would have to wait for longer than this, or behind
        others."""
        now = time.monotonic()
        host = self.hosts.add(group, now)
        behind = 0 if host.queue is None else len(host.queue)
        return behind >= _MOST_QUEUED or self.hosts.wait(host, now) > seconds

    def finished(
        self, host: Host, *, trouble: bool | None = False, retry_after: float | None = None
    ) -> None:
        """A request to this host has ended; ``trouble`` is ``None`` where none was sent."""
        self.hosts.finished(host, time.monotonic(), trouble=trouble, retry_after=retry_after)
        if self._queued:
            self._look()

    def _open(self, host: Host) -> None:
        if not host.opening:
            host.opening = True
            self._opening += 1

    def _opened(self, host: Host) -> None:
        if host.opening:
            host.opening = False
            self._opening -= 1

    async def _resolve(self, host: Host) -> None:
        now = time.monotonic()
        if self._resolver is None or now < host.fresh_until:
            return
        name = host.name if host.name.endswith("]") else host.name.rpartition(":")[0] or host.name
        try:
            address = (await self._resolver.addresses(name))[0]
        except OSError:
            return  # the client will say what is wrong with it
        host.resolved, host.fresh_until = True, now + self._resolver.ttl
        self.hosts.add(host.name, time.monotonic(), address)

    async def _wait(self, host: Host) -> None:
        now = time.monotonic()
        if host.queue is None and host.name in self.hosts.ready(now):
            self.hosts.started(host, now)
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if host.queue is None:
            host.queue = deque()
            self._queued[host.name] = host
        host.queue.append(turn)
        self._look()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it came, and nobody is there to use it
                self.finished(host, trouble=None)
            raise

    def _look(self) -> None:
        """Serve those who wait, now and when the next host may be asked."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        now = time.monotonic()
        self._serve(now)
        soonest = self.hosts.next_time()
        if self._queued and soonest is not None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(max(0.0, soonest - now), self._look)
        self.wake()

    def _serve(self, now: float) -> None:
        ready = self.hosts.ready(now)
        for host in list(self._queued.values()):
            queue = host.queue
            assert queue is not None
            while queue and (host.name in ready or queue[0].done()):
                turn = queue.popleft()
                if not turn.done():
                    self.hosts.started(host, now)
                    turn.set_result(None)
            if not queue:
                host.queue = None
                del self._queued[host.name]
