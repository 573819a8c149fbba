"""The protocols at sonde's seams: what a class must offer to take part."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from sonde.records import Group, Lease, Node, Outcome, Visit

Floats: TypeAlias = npt.NDArray[np.float64]
"""An array of doubles."""


@runtime_checkable
class CustomEstimator(Protocol):
    """An estimator of the user's own: features in, predictions out, learning from each visit.

    ``features`` names the columns it wants (see ``sonde.estimators.FEATURES``).
    """

    features: Sequence[str]

    def predict(self, features: Floats) -> Floats:
        """One finite prediction for each row of `features`."""
        ...

    def learn(self, features: Floats, gain: float) -> None:
        """A node that had these features when it was asked has brought this gain."""
        ...


@runtime_checkable
class Objective(Protocol):
    """What a set of visits is worth: monotone, and given incrementally."""

    def gain(self, node: Node, visit: Visit) -> float:
        """What this visit would add to the visits so far (never negative)."""
        ...

    def add(self, node: Node, visit: Visit) -> None:
        """Count this visit in."""
        ...


class Allowance(Protocol):
    """What may be spent: every request is taken before it is sent."""

    def take(self) -> bool:
        """Take one request before it is sent; ``False`` when the budget has none left.

        Once this returns ``True`` the request counts as spent, whatever becomes of it.
        """
        ...

    def receive(self, size: int) -> None:
        """So many bytes came back."""
        ...


class VisitAllowance(Allowance, Protocol):
    """What one visit may spend. A lease holds one request; whatever needs more takes more."""

    @property
    def lease(self) -> Lease:
        """The lease that the visit settles."""
        ...

    @property
    def depth(self) -> int:
        """How many links the node is away from a seed."""
        ...


@runtime_checkable
class Source(Protocol):
    """Where nodes come from: one method that visits a node."""

    async def visit(self, node: Node, allowance: VisitAllowance) -> Outcome:
        """Visit a node: a ``Visit``, a ``Failure`` or a ``Skip``.

        A source that calls ``allowance.take()`` is charged for what it took; for one that never
        does, the outcome's own ``spent`` counts, which may not exceed the one request held.
        """
        ...


class Pace(Protocol):
    """Which groups of nodes may be asked now: what a source with limits tells the driver."""

    wake: Callable[[], None]
    """Set by the driver: to be called when it should look again."""

    @property
    def closed(self) -> Collection[Group]:
        """Groups that are not asked any more."""
        ...

    def know(self, group: Group) -> None:
        """A group that nodes wait for, told once."""
        ...

    def ready(self, waiting: dict[Group, int]) -> Collection[Group] | None:
        """The groups that may be asked now, of those with nodes waiting; ``None`` for all."""
        ...

    def reserve(self, group: Group) -> None:
        """A lease was given for this group."""
        ...

    def next_time(self) -> float | None:
        """When to look again (on the monotonic clock), if nothing happens before."""
        ...


class Keeper(Protocol):
    """What a source may leave with its run, and find there when the run is taken up again."""

    def recalled(self, part: str) -> bytes | None:
        """What was last kept under this name; ``None`` in a run where nothing was."""
        ...

    def visits(self) -> Iterator[tuple[Node, Visit]]:
        """What was visited before, in the order of the log."""
        ...

    def keep(self, part: str, state: bytes) -> None:
        """Keep this from the next commit on, in place of what was kept before."""
        ...

    def commit(self) -> None:
        """Make safe now what was kept: before something is sent that rests on it."""
        ...
