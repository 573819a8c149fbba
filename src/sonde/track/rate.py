"""Rate limiting: at most N requests in any hour, evenly spaced, on a clock that does not go back.

The clock is the time of day at its start, then the machine's own count of seconds. A step of the
wall clock while it runs changes nothing; one while it does not can make it start late, but never
before the time at which it stopped. So what was seen first stays first, and no hour is counted
twice.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterable

HOUR = 3600.0


class Rate:
    """Knows when the last requests of an hour's worth were charged."""

    def __init__(self, per_hour: int, charged: Iterable[float] = ()) -> None:
        self.per_hour = per_hour
        self._times: deque[float] = deque(charged, maxlen=per_hour)

    def wait(self, now: float) -> float:
        """Seconds until the next request may leave."""
        if not self._times:
            return 0.0
        earliest = self._times[-1] + HOUR / self.per_hour
        if len(self._times) == self.per_hour:
            earliest = max(earliest, self._times[0] + HOUR)
        return max(0.0, earliest - now)

    def charge(self, now: float) -> None:
        """A request leaves."""
        self._times.append(now)


def _steady() -> float:
    """Seconds that no one can set; on Linux they go on while the machine sleeps."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


class Clock:
    """Seconds since 1970, never going back."""

    def __init__(self) -> None:
        self._origin = time.time()
        self._began = _steady()

    def not_before(self, moment: float) -> None:
        """Go on from a moment that was reached before, if the wall clock is behind it."""
        self._origin += max(0.0, moment - self.now())

    def now(self) -> float:
        """The time."""
        return self._origin + (_steady() - self._began)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
