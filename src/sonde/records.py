"""The frozen records that cross the ask/tell seam.

A driver *asks* for leases, does whatever a visit means for its source, and *tells* an outcome:
a ``Visit`` (what was found), a ``Failure`` (the node could not be visited) or a ``Skip`` (the
driver chose not to). Each outcome carries what it cost, so that the budget can be settled.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

Node: TypeAlias = Hashable
"""Whatever names a node: a URL, an account, a keyword, a number."""

Group: TypeAlias = Hashable
"""What nodes share when they share a limit: for web pages the host."""


@dataclass(frozen=True, slots=True)
class Spend:
    """What went, in the units of every budget."""

    requests: int = 0
    bytes: int = 0
    seconds: float = 0.0
    cost: float = 0.0

    def __add__(self, other: Spend) -> Spend:
        return Spend(
            self.requests + other.requests,
            self.bytes + other.bytes,
            self.seconds + other.seconds,
            self.cost + other.cost,
        )


ONE_REQUEST = Spend(requests=1)


class Link(NamedTuple):
    """A directed edge seen on a visit; ``score`` says how promising its context looks.

    ``text`` is what it is called and ``url`` where it leads, for estimators that read them.
    """

    target: Node
    score: float = 0.0
    group: Group = None
    text: str = ""
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Visit:
    """The node was visited: its score, its links in their order, the records it returned."""

    score: float
    links: Sequence[Link] = ()
    records: Sequence[Hashable] = ()
    spent: Spend = field(default_factory=lambda: Spend(requests=1))


@dataclass(frozen=True, slots=True)
class Failure:
    """The node could not be visited. With ``retry`` it goes back to the frontier."""

    reason: str
    retry: bool = False
    spent: Spend = field(default_factory=lambda: Spend(requests=1))


@dataclass(frozen=True, slots=True)
class Skip:
    """The driver chose not to visit the node (scope, robots, no budget left)."""

    reason: str
    retry: bool = False
    spent: Spend = field(default_factory=Spend)


Outcome: TypeAlias = Visit | Failure | Skip


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to visit one node, with budget held for it until an outcome settles it.

    ``predicted`` is the estimate at the time of asking (``None`` for seeds and for `random`),
    ``chooser`` the estimator that picked the node, and ``arm`` its number (-1 for seeds).
    """

    number: int
    node: Node
    group: Group
    predicted: float | None
    chooser: str
    arm: int
