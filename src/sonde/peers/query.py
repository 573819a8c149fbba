"""Query forwarding: a query that peers pass on to one another, each with its share of messages.

``gossip`` starts one, with the whole budget as the first share and the seeds as its neighbours.
``forward`` sends what a share hands over, and takes in what comes back.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from sonde.errors import InputError, SpecError
from sonde.estimators import estimator_from
from sonde.explorer import Explorer
from sonde.records import Failure, Lease, Link, Spend, Visit
from sonde.sources.peers.messages import (
    LONGEST,
    SpreadAnswer,
    address_of,
    exchange,
    spread_from,
    texts_from,
)

WIDTH = 2
"""Neighbours that a peer hands shares to at the same time, unless the query says otherwise."""


class Handover(NamedTuple):
    """A message to a neighbour, and the messages that it hands over."""

    name: str
    messages: int


class Share:
    """One peer's share of a query's budget: ``messages`` to spend on neighbours that the query has
    not met (``known``).

    It decides and does nothing else, like the explorer that it holds: real peers and the lab's
    simulation drive the same share. Its explorer sees what this peer knows (its own score, its
    neighbours, what it remembers of them) and what comes back, nothing more; its account keeps the
    books, so that what is handed on is held until it is accounted for.
    """

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


MOST_SHARE = 10_000
"""The largest share that a peer takes: what it brings must fit into one answer."""
MOST_PATIENCE = 3_600.0
MOST_WIDTH = 64
KNOWN = 512
"""Peers that a message names as met, so that nobody asks them again; the last ones."""

_HANDED_ON = 0.8  # of the patience: an answer should be back before it is given up


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked, and how every peer is to go about it."""

    topic: str
    estimator: str = "e"
    width: int = WIDTH
    identity: str = ""

    @classmethod
    def new(cls, topic: str, estimator: str, width: int) -> Query:
        """A query that nobody has met."""
        return cls(topic, estimator, width, secrets.token_hex(16))


@dataclass(frozen=True, slots=True)
class HandedQuery:
    """A query as it comes to a peer: with its share of messages, a time, and who has met it."""

    query: Query
    messages: int
    patience: float
    known: tuple[str, ...]


def handed_query_from(message: dict[str, Any]) -> HandedQuery:
    """A ``spread`` request, checked; ``ValueError`` says what is wrong with it."""
    messages, width = message.get("share"), message.get("width", WIDTH)
    patience: Any = message.get("patience")
    texts = [message.get(name) for name in ("query", "topic", "estimator")]
    if not all(isinstance(text, str) and 0 < len(text) <= LONGEST for text in texts):
        raise ValueError("a spread has texts for query, topic and estimator")
    if type(messages) is not int or not 0 <= messages <= MOST_SHARE:
        raise ValueError(f"a share is 0 to {MOST_SHARE} messages")
    if type(width) is not int or not 1 <= width <= MOST_WIDTH:
        raise ValueError(f"a width is 1 to {MOST_WIDTH}")
    if type(patience) not in (int, float) or not 0 < patience <= MOST_PATIENCE:
        raise ValueError(f"patience is up to {MOST_PATIENCE:g} seconds")
    identity, topic, estimator = map(str, texts)
    try:
        estimator_from(estimator)
    except SpecError as error:
        raise ValueError(str(error)) from None
    known = texts_from(message.get("known"), KNOWN)
    return HandedQuery(Query(topic, estimator, width, identity), messages, float(patience), known)


def recently_met(known: Collection[str]) -> list[str]:
    """Whom a message says the query has met: the last of those, who are the nearest."""
    return list(known)[-KNOWN:]


async def forward(
    share: Share,
    query: Query,
    patience: float,
    note: Callable[[str], None] = lambda name: None,
) -> None:
    """Hand over messages and settle them until the share has nothing more to do, or the time is up.

    ``note`` is told of each message before it is sent.
    """
    until = time.monotonic() + patience
    waiting: dict[asyncio.Task[SpreadAnswer], str] = {}
    try:
        while (left := until - time.monotonic()) > 0:
            for handover in share.handovers():
                note(handover.name)
                task = asyncio.create_task(_hand(handover, query, recently_met(share.known), left))
                waiting[task] = handover.name
            if share.over:
                return
            done, _ = await asyncio.wait(waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            for task in [task for task in waiting if task in done]:
                _settle(share, waiting.pop(task), task)
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for task, name in waiting.items():
            _settle(share, name, task)


async def _hand(handover: Handover, query: Query, known: list[str], left: float) -> SpreadAnswer:
    request = {
        "ask": "spread",
        "query": query.identity,
        "topic": query.topic,
        "share": handover.messages,
        "estimator": query.estimator,
        "width": query.width,
        "known": known,
        "patience": left * _HANDED_ON,
    }
    return spread_from(await exchange(handover.name, request, timeout=left), handover.messages)


def _settle(share: Share, name: str, task: asyncio.Task[SpreadAnswer]) -> None:
    """What came of a handover. One that was cut off may have arrived."""
    error = None if task.cancelled() else task.exception()
    if error is None and not task.cancelled():
        share.answered(name, task.result())
    else:
        share.failed(name, delivered=getattr(error, "delivered", True))


# -- starting one -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Gossip:
    """What came of a query: ``sent`` messages for certain, and no more than ``lost`` besides, which
    were handed to peers that never accounted for them. The answers have the best first."""

    sent: int
    lost: int
    answers: tuple[tuple[str, float, tuple[str, ...]], ...]

    @property
    def total(self) -> float:
        """The sum of the scores."""
        return sum(score for _, score, _ in self.answers)

    @property
    def records(self) -> int:
        """How many different files were found."""
        return len({record for _, _, records in self.answers for record in records})


async def gossip(
    seeds: Iterable[str],
    topic: str,
    budget: int,
    *,
    estimator: str = "e",
    width: int = WIDTH,
    patience: float = 10.0,
    note: Callable[[str], None] = lambda name: None,
) -> Gossip:
    """Ask the seeds to spread a query: `budget` messages in all, within `patience` seconds."""
    names = list(dict.fromkeys(seeds))
    for name in names:
        if address_of(name) is None:
            raise InputError(f"not a peer: {name!r:.100} (an IP address and a port)")
    if not names:
        raise InputError("a query needs at least one peer to begin with")
    if not topic.strip(" ,") or len(topic) > LONGEST:
        raise InputError(f"a query has a topic of at most {LONGEST} characters")
    if not 1 <= budget <= MOST_SHARE:
        raise InputError(f"a budget is 1 to {MOST_SHARE:,} messages, not {budget}")
    if not 1 <= width <= MOST_WIDTH:
        raise InputError(f"a width is 1 to {MOST_WIDTH}, not {width}")
    if not 0 < patience <= MOST_PATIENCE:
        raise InputError(f"patience is more than 0 and up to {MOST_PATIENCE:g} s, not {patience}")
    estimator_from(estimator)
    share = Share(
        budget, "", 0.0, [(name, 0.0) for name in names], estimator="bfs", width=len(names)
    )
    await forward(share, Query.new(topic, estimator, width), patience, note)
    answers = [(name, *found) for name, found in share.answers.items()]
    answers.sort(key=lambda answer: (-answer[1], answer[0]))
    return Gossip(share.sent, share.lost, tuple(answers))
