"""At most so many requests in any hour, evenly spaced."""

from __future__ import annotations

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
