"""Whose turn it is: hosts that may be asked now, and visits that wait for one.

The driver asks ``ready`` before it asks the explorer, and ``reserve`` takes a host's turn for the
lease that it got. Whatever a visit needs further (the page after its robots.txt, the target of a
redirect) waits in ``turn``; those who wait go before new leases. They are served by a timer: the
driver does not look for ready hosts while all its places are taken, or once it is stopping.
``Politeness`` keeps the rules; here is the clock, and the addresses that names stand for.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Collection

from sonde.records import Group
from sonde.sources.web.guard import GuardedResolver
from sonde.sources.web.politeness import Politeness


class NoPace:
    """Everything is always ready."""

    def __init__(self) -> None:
        self.wake: Callable[[], None] = lambda: None
        self.closed: set[Group] = set()

    def know(self, group: Group) -> None:
        pass

    def ready(self, waiting: dict[Group, int]) -> Collection[Group] | None:
        return None

    def reserve(self, group: Group) -> None:
        pass

    def next_time(self) -> float | None:
        return None


class HostPace:
    """Politeness on the clock. ``wake`` is called when the driver should look again."""

    def __init__(self, politeness: Politeness, resolver: GuardedResolver | None) -> None:
        self.politeness = politeness
        self.wake: Callable[[], None] = lambda: None
        self.closed: set[Group] = set()
        """Hosts that are not asked any more: their budget is used up."""
        self._resolver = resolver
        self._addresses: dict[Group, str | None] = {}
        self._opening: set[Group] = set()  # leased, but their address is not known yet
        self._reserved: dict[Group, int] = {}  # turns taken for leases that have not arrived
        self._queues: dict[Group, deque[asyncio.Future[None]]] = {}
        self._timer: asyncio.TimerHandle | None = None  # for those who wait in the queues

    # -- for the driver ------------------------------------------------------------------------

    def ready(self, waiting: dict[Group, int]) -> Collection[Group] | None:
        now = time.monotonic()
        ready = self.politeness.ready(now)
        if self._queues:
            self._serve(now)
        chosen = [group for group in ready if waiting.get(group)]
        if self._opening or self.closed:
            shut = self._opening | self.closed
            return [group for group in chosen if group not in shut]
        return None if len(chosen) == len(waiting) else chosen

    def know(self, group: Group) -> None:
        """A host that nodes wait for."""
        assert isinstance(group, str)
        self.politeness.add(group, time.monotonic())

    def reserve(self, group: Group) -> None:
        assert isinstance(group, str)
        if self._resolver is not None and group not in self._addresses:
            self._opening.add(group)
        else:
            self.politeness.started(group, self._addresses.get(group), time.monotonic())
            self._reserved[group] = self._reserved.get(group, 0) + 1

    def next_time(self) -> float | None:
        return self.politeness.next_time()

    # -- for visits ----------------------------------------------------------------------------

    async def arrive(self, group: str) -> None:
        """The first request of a lease: its turn was reserved, unless the address was unknown."""
        if self._reserved.get(group):
            self._reserved[group] -= 1
            return
        try:
            await self._resolve(group)
        finally:
            self._opening.discard(group)
        await self._queue(group)

    def give_back(self, group: str) -> None:
        """A lease that sends nothing: its reserved turn goes to the next."""
        if self._reserved.get(group):
            self._reserved[group] -= 1
            self.finished(group)
        else:
            self._opening.discard(group)
            self.wake()

    async def turn(self, group: str) -> None:
        """Wait until a further request to this host may start, and start it."""
        self.know(group)
        await self._resolve(group)
        await self._queue(group)

    def finished(
        self, group: str, *, trouble: bool = False, retry_after: float | None = None
    ) -> None:
        """A request to this host has ended."""
        self.politeness.finished(group, time.monotonic(), trouble=trouble, retry_after=retry_after)
        if self._queues:
            self._look()

    async def _resolve(self, group: str) -> None:
        if self._resolver is None:
            self._addresses[group] = None
            return
        host = group if group.endswith("]") else group.rpartition(":")[0] or group
        try:
            address = (await self._resolver.addresses(host))[0]
        except OSError:
            return  # the client will say what is wrong with it
        self._addresses[group] = address
        self.politeness.add(group, time.monotonic(), address)

    async def _queue(self, group: str) -> None:
        now = time.monotonic()
        if group not in self._queues and group in self.politeness.ready(now):
            self.politeness.started(group, self._addresses.get(group), now)
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(group, deque()).append(turn)
        self._look()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it came, and nobody is there to use it
                self.finished(group)
            raise

    def _look(self) -> None:
        """Serve those who wait, now and when the next host may be asked."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        now = time.monotonic()
        self._serve(now)
        soonest = self.politeness.next_time()
        if self._queues and soonest is not None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(max(0.0, soonest - now), self._look)
        self.wake()

    def _serve(self, now: float) -> None:
        ready = self.politeness.ready(now)
        for group in list(self._queues):
            queue = self._queues[group]
            while queue and (group in ready or queue[0].done()):
                turn = queue.popleft()
                if not turn.done():
                    assert isinstance(group, str)
                    self.politeness.started(group, self._addresses.get(group), now)
                    turn.set_result(None)
            if not queue:
                del self._queues[group]
