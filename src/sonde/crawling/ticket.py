"""What one visit may spend, and what it has spent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonde.records import Lease

if TYPE_CHECKING:
    from sonde.crawling.driver import Driver


class Ticket:
    """The allowance of one visit: the lease, and what it took."""

    __slots__ = ("_driver", "began", "depth", "given", "lease", "received", "taken")

    def __init__(self, driver: Driver, lease: Lease, depth: int) -> None:
        self._driver = driver
        self.lease = lease
        self.depth = depth
        self.given = 1
        self.taken = 0
        self.received = 0
        self.began = 0.0

    def take(self) -> bool:
        """Take a request; the first one came with the lease, others are committed first."""
        if self._driver.cutting:
            return False
        if self.taken == self.given:
            if not self._driver.logbook.extend(self.lease):
                return False
            self.given += 1
            self._driver.commit()
        self.taken += 1
        return True

    def receive(self, size: int) -> None:
        """So many bytes came back."""
        self.received += size
