"""One peer's share of a query's budget: the messages that it was handed, and whom it sends them.

It decides and does nothing else, like the explorer that it holds: real peers and the lab's
simulation drive the same share. Its explorer sees what this peer knows (its own score, its
neighbours, what it remembers of them) and what comes back, nothing more; its account keeps the
books, so that what is handed on is held until it is accounted for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sonde.explorer import Explorer
from sonde.records import Failure, Lease, Link, Spend, Visit
from sonde.sources.peers.messages import SpreadAnswer

WIDTH = 2
"""Neighbours that a peer hands shares to at the same time, unless the query says otherwise."""


class Handover(NamedTuple):
    """A message to a neighbour, and the messages that it hands over."""

    name: str
    messages: int


class Share:
    """``messages`` to spend on neighbours that the query has not met (``known``)."""

    def __init__(
        self,
        messages: int,
        me: str,
        score: float,
        neighbours: Iterable[tuple[str, float]],
        *,
        known: Iterable[str] = (),
        estimator: str = "e",
        width: int = WIDTH,
    ) -> None:
        self.sent = 0
        self.lost = 0
        self.answers: dict[str, tuple[float, tuple[str, ...]]] = {}
        self.known = dict.fromkeys([*known, me])  # in the order in which they were met
        self._width = width
        self._open: dict[str, Lease] = {}
        self._explorer = Explorer(estimator, budget=messages, free_seeds=True)
        self._explorer.add_seeds([me])
        (here,) = self._explorer.ask()
        fresh = [Link(name, promise) for name, promise in neighbours if name not in self.known]
        self._explorer.tell(here, Visit(score, fresh, spent=Spend()))

    @property
    def left(self) -> int:
        """Messages that are neither sent nor handed on."""
        return int(self._explorer.driver.account.left("requests"))

    @property
    def over(self) -> bool:
        """Whether nothing is waited for. Ask for ``handovers`` first."""
        return not self._open

    def handovers(self) -> list[Handover]:
        """What to send now: to the best neighbours there are places for, each with its part of
        what is left, in proportion to what is expected of them."""
        leases = self._explorer.ask(max(0, self._width - len(self._open)))
        parts = _parts(self.left, [lease.predicted for lease in leases])
        handovers = []
        for lease, part in zip(leases, parts, strict=True):
            self._explorer.extend(lease, Spend(requests=part))
            name = str(lease.node)
            self._open[name] = lease
            self.known[name] = None
            handovers.append(Handover(name, part))
        return handovers

    def answered(self, name: str, spread: SpreadAnswer) -> None:
        """A neighbour accounts for its share; no answers mean that the query had been there."""
        lease = self._open.pop(name)
        self.sent += 1 + spread.sent
        self.lost += spread.lost
        spent = Spend(requests=1 + spread.sent + spread.lost)
        own = [score for answerer, score, _ in spread.answers if answerer == name]
        if own:
            self._explorer.tell(lease, Visit(own[0], spent=spent))
        else:
            self._explorer.tell(lease, Failure("seen", spent=spent))
        for answerer, score, records in spread.answers:
            self.answers.setdefault(answerer, (score, records))
            self.known.setdefault(answerer)

    def failed(self, name: str, *, delivered: bool) -> None:
        """A neighbour does not answer. If it may have got its share, that share is lost."""
        lease = self._open.pop(name)
        held = self._explorer.driver.held(lease).requests
        self.sent += 1
        if delivered:
            self.lost += held - 1
        self._explorer.tell(lease, Failure("lost", spent=Spend(requests=held if delivered else 1)))

    def close(self) -> None:
        """The time is up: whatever is still waited for is lost."""
        for name in list(self._open):
            self.failed(name, delivered=True)


def _parts(total: int, expected: list[float | None]) -> list[int]:
    """A whole number divided in proportion; equally where nothing is expected of anybody.

    What rounding leaves over goes to the largest remainders, the earlier of equal ones.
    """
    weights = [1.0 if value is None else max(0.0, value) for value in expected]
    if not sum(weights) > 0:
        weights = [1.0] * len(weights)
    scale = max(weights, default=1.0)  # so that neither the sum nor the products overflow
    weights = [weight / scale for weight in weights]
    exact = [total * weight / sum(weights) for weight in weights]
    parts = [int(value) for value in exact]
    order = sorted(range(len(parts)), key=lambda place: (parts[place] - exact[place], place))
    for place in order[: total - sum(parts)]:
        parts[place] += 1
    return parts
