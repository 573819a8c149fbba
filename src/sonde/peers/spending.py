"""Sending what a purse orders, and taking in what comes back."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from sonde.errors import SpecError
from sonde.estimators import estimator_from
from sonde.peers.purse import WIDTH, Order, Purse
from sonde.sources.peers.wire import LONGEST, Spread, exchange, spread_from, texts_from

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
class Handed:
    """A query as it comes to a peer: with a share, a time, and who has met it."""

    query: Query
    share: int
    patience: float
    known: tuple[str, ...]


def handed_from(message: dict[str, Any]) -> Handed:
    """A ``spread`` request, checked; ``ValueError`` says what is wrong with it."""
    share, width = message.get("share"), message.get("width", WIDTH)
    patience: Any = message.get("patience")
    texts = [message.get(name) for name in ("query", "topic", "estimator")]
    if not all(isinstance(text, str) and 0 < len(text) <= LONGEST for text in texts):
        raise ValueError("a spread has texts for query, topic and estimator")
    if type(share) is not int or not 0 <= share <= MOST_SHARE:
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
    return Handed(Query(topic, estimator, width, identity), share, float(patience), known)


def met(known: Collection[str]) -> list[str]:
    """Whom a message says the query has met: the last of those, who are the nearest."""
    return list(known)[-KNOWN:]


async def spend(
    purse: Purse,
    query: Query,
    patience: float,
    note: Callable[[str], None] = lambda name: None,
) -> None:
    """Send orders and settle them until the purse has nothing more to do, or the time is up.

    ``note`` is told of each message before it is sent.
    """
    until = time.monotonic() + patience
    waiting: dict[asyncio.Task[Spread], str] = {}
    try:
        while (left := until - time.monotonic()) > 0:
            for order in purse.orders():
                note(order.name)
                task = asyncio.create_task(_hand(order, query, met(purse.known), left))
                waiting[task] = order.name
            if purse.over:
                return
            done, _ = await asyncio.wait(waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            for task in [task for task in waiting if task in done]:
                _settle(purse, waiting.pop(task), task)
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for task, name in waiting.items():
            _settle(purse, name, task)


async def _hand(order: Order, query: Query, known: list[str], left: float) -> Spread:
    request = {
        "ask": "spread",
        "query": query.identity,
        "topic": query.topic,
        "share": order.share,
        "estimator": query.estimator,
        "width": query.width,
        "known": known,
        "patience": left * _HANDED_ON,
    }
    return spread_from(await exchange(order.name, request, timeout=left), order.share)


def _settle(purse: Purse, name: str, task: asyncio.Task[Spread]) -> None:
    """What came of an order. One that was cut off may have arrived."""
    error = None if task.cancelled() else task.exception()
    if error is None and not task.cancelled():
        purse.answered(name, task.result())
    else:
        purse.failed(name, delivered=getattr(error, "delivered", True))
