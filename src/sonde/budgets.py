"""Budgets: how much may be spent, what is held for leases in flight, and what went.

A ``Budget`` limits requests, bytes, seconds or a cost of the user's own; ``&`` combines several,
the tighter limit of each unit holding. An ``Account`` keeps the books of one exploration: an ask
*holds* what a lease may spend at most, the outcome *settles* what it did spend. What is held
counts as spent until then, so that no schedule of asks and tells can overspend.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from sonde.errors import LeaseError, SpecError
from sonde.records import Spend

UNITS = tuple(unit.name for unit in fields(Spend))


@dataclass(frozen=True)
class Budget:
    """Upper limits; ``None`` means that a unit is not limited."""

    requests: int | None = None
    bytes: int | None = None
    seconds: float | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        for unit in UNITS:
            limit = getattr(self, unit)
            if limit is not None and not limit >= 0:
                raise SpecError(f"a budget of {limit} {unit} is not possible")

    def __and__(self, other: Budget) -> Budget:
        def tighter(unit: str) -> float | None:
            limits = [
                limit for limit in (getattr(self, unit), getattr(other, unit)) if limit is not None
            ]
            return min(limits, default=None)

        return Budget(**{unit: tighter(unit) for unit in UNITS})  # type: ignore[arg-type]


def Requests(limit: int) -> Budget:
    """At most so many requests."""
    return Budget(requests=limit)


def Bytes(limit: int) -> Budget:
    """At most so many bytes."""
    return Budget(bytes=limit)


def Seconds(limit: float) -> Budget:
    """At most so many seconds."""
    return Budget(seconds=limit)


def Cost(limit: float) -> Budget:
    """At most so much of a cost that outcomes state."""
    return Budget(cost=limit)


def budget_from(budget: int | Budget | None) -> Budget:
    """A budget from a number of requests; ``None`` for no limit."""
    if budget is None:
        return Budget()
    if isinstance(budget, Budget):
        return budget
    if not isinstance(budget, int):
        raise SpecError(f"a budget is a number of requests or a Budget, not {budget!r}")
    return Requests(budget)


class Account:
    """The books: `spent` has been settled, `held` is promised to leases in flight."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.spent = Spend()
        self.held = Spend()

    def left(self, unit: str) -> float:
        """What is neither spent nor held, of one unit."""
        limit = getattr(self.budget, unit)
        if limit is None:
            return math.inf
        return float(limit - getattr(self.spent, unit) - getattr(self.held, unit))

    @property
    def exhausted(self) -> bool:
        """Whether some unit is used up, so that nothing more may start."""
        return any(self.left(unit) <= 0 for unit in UNITS)

    def hold(self, wanted: Spend) -> bool:
        """Set this much aside, if there is that much."""
        if self.left("seconds") <= 0 or any(
            getattr(wanted, unit) > self.left(unit) for unit in UNITS
        ):
            return False
        self.held = self.held + wanted
        return True

    def settle(self, held: Spend, spent: Spend) -> None:
        """Give back what was held and book what was spent of it."""
        for unit in ("requests", "bytes", "cost"):
            if getattr(self.budget, unit) is not None and getattr(spent, unit) > getattr(
                held, unit
            ):
                raise LeaseError(
                    f"a lease that held {getattr(held, unit)} {unit} cannot spend "
                    f"{getattr(spent, unit)}: extend it before the request is sent"
                )
        self.held = self.held + Spend(-held.requests, -held.bytes, -held.seconds, -held.cost)
        self.spent = self.spent + spent

    def charge(self, spent: Spend) -> None:
        """Book what went outside any lease, such as time."""
        self.spent = self.spent + spent


def planned_requests(requests: int, per: float, duration: float) -> int:
    """What a limit of `requests` per `per` seconds allows in `duration`: n = k T / d."""
    if requests < 1 or per <= 0 or duration < 0:
        raise SpecError("a rate plan needs at least 1 request per a positive time")
    return math.floor(requests * duration / per)
