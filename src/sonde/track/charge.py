"""What one visit of the tracker may spend: each request is on the disk before it leaves."""

from __future__ import annotations

from collections.abc import Callable

from sonde.records import Lease
from sonde.track.citations import Citations


class Charge:
    """The allowance of one visit. ``visit`` is its number in the ledger, once it has sent one."""

    depth = 0

    def __init__(
        self, store: Citations, url: str, why: str, left: float, charged: Callable[[], float]
    ) -> None:
        self.lease = Lease(0, url, None, None, "track", -1)
        self.visit: int | None = None
        self.received = 0
        self._store = store
        self._url = url
        self._why = why
        self._left = left
        self._charged = charged

    def take(self) -> bool:
        """Charge a request; ``False`` where the budget has none left."""
        if self._left < 1:
            return False
        self._left -= 1
        now = self._charged()
        with self._store.change(durable=True):
            if self.visit is None:
                self.visit = self._store.begin(self._url, self._why, now)
            else:
                self._store.charge(self.visit, now)
        return True

    def receive(self, size: int) -> None:
        """So many bytes came back."""
        self.received += size
