"""The pace of an API: a node may be asked when a window has room for its first request."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping

from sonde.records import Group
from sonde.sources.social.windows import WindowPlace, Windows


class WindowPace:
    """Windows on the clock. Groups are endpoints: that of a node's first request.

    A lease takes its place when it is given out (``reserve``) and the visit finds it there; whoever
    needs a further request waits in line, before new leases.
    """

    def __init__(self, windows: Windows) -> None:
        self.windows = windows
        self.wake: Callable[[], None] = lambda: None
        self.closed: Mapping[Group, str] = {}
        self._reserved: dict[str, deque[WindowPlace]] = {
            name: deque() for name in windows.endpoints
        }
        self._line: deque[tuple[str, asyncio.Future[WindowPlace]]] = deque()

    # -- for the driver ------------------------------------------------------------------------

    def know(self, group: Group) -> None:
        """Endpoints are known from the description."""

    def ready(self, waiting: dict[Group, int]) -> Collection[Group] | None:
        self._serve()
        now = time.time()
        wanted = {endpoint for endpoint, _ in self._line}
        ready = [
            endpoint
            for endpoint in waiting
            if waiting[endpoint]
            and str(endpoint) not in wanted
            and self.windows.free(str(endpoint), now)
        ]
        return None if len(ready) == len(waiting) else ready

    def reserve(self, group: Group) -> None:
        place = self.windows.take(str(group), time.time())
        assert place is not None  # the driver asked among those that are ready
        self._reserved[place.endpoint].append(place)

    def next_time(self) -> float | None:
        now = time.time()
        times = [
            when
            for endpoint in self.windows.endpoints
            if (when := self.windows.next_time(endpoint, now)) is not None
        ]
        # Rounded up a little: a timer that fires early finds nothing.
        return time.monotonic() + min(times) - now + 0.001 if times else None

    # -- for visits ----------------------------------------------------------------------------

    async def place(self, endpoint: str, *, first: bool) -> WindowPlace:
        """A place for a request; the first one of a visit was reserved with its lease."""
        if first and self._reserved[endpoint]:
            return self._reserved[endpoint].popleft()
        now = time.time()
        if not any(waiting == endpoint for waiting, _ in self._line):
            place = self.windows.take(endpoint, now)
            if place is not None:
                return place
        turn: asyncio.Future[WindowPlace] = asyncio.get_running_loop().create_future()
        self._line.append((endpoint, turn))
        self.wake()
        try:
            while not turn.done():
                soonest = self.windows.next_time(endpoint, time.time())
                pause = 0.25 if soonest is None else max(0.001, soonest - time.time() + 0.001)
                await asyncio.wait([turn], timeout=min(pause, 1.0))
                self._serve()
            return turn.result()
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.windows.give_back(turn.result())
            else:
                turn.cancel()
            raise

    def unused(self, endpoint: str) -> None:
        """A visit that sends nothing: its reserved place goes to the next."""
        if self._reserved[endpoint]:
            self.windows.give_back(self._reserved[endpoint].popleft())
            self.wake()

    def _serve(self) -> None:
        """Give places to those in line, in their order for each endpoint."""
        now = time.time()
        full: set[str] = set()
        for _ in range(len(self._line)):
            endpoint, turn = self._line.popleft()
            if turn.done():
                continue
            place = None if endpoint in full else self.windows.take(endpoint, now)
            if place is None:
                full.add(endpoint)
                self._line.append((endpoint, turn))
            else:
                turn.set_result(place)
