"""The pace of a single site: so long between requests, so many at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection

from ...records import Group
from ..web.politeness import Politeness


class Spacing:
    """Politeness towards one host, on the clock."""

    def __init__(self, politeness: Politeness, host: str) -> None:
        self.politeness = politeness
        self.host = host
        self.wake: Callable[[], None] = lambda: None
        self.closed: frozenset[Group] = frozenset()
        self._line = asyncio.Lock()
        self._freed = asyncio.Event()
        politeness.add(host, time.monotonic())

    # -- for the driver ------------------------------------------------------------------------

    def know(self, group: Group) -> None:
        """There is one."""

    def ready(self, waiting: dict[Group, int]) -> Collection[Group] | None:
        return None if self._ready() and not self._line.locked() else []

    def reserve(self, group: Group) -> None:
        """A visit waits for its turn before each request."""

    def next_time(self) -> float | None:
        return self.politeness.next_time()

    # -- for visits ----------------------------------------------------------------------------

    def _ready(self) -> bool:
        return self.host in self.politeness.ready(time.monotonic())

    async def turn(self) -> None:
        """Wait until a request may start, and start it."""
        async with self._line:
            while not self._ready():
                self._freed.clear()
                soonest = self.politeness.next_time()
                pause = None if soonest is None else max(0.0, soonest - time.monotonic())
                try:
                    async with asyncio.timeout(pause):
                        await self._freed.wait()
                except TimeoutError:
                    pass
            self.politeness.started(self.host, None, time.monotonic())

    def finished(self, *, trouble: bool = False, retry_after: float | None = None) -> None:
        """A request has ended."""
        self.politeness.finished(
            self.host, time.monotonic(), trouble=trouble, retry_after=retry_after
        )
        self._freed.set()
        self.wake()
