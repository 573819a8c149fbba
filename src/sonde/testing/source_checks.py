"""The contract of a source."""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from sonde.errors import SourceError
from sonde.protocols import Source
from sonde.records import Failure, Lease, Link, Skip, Spend, Visit

NOWHERE = "sonde-check-there-is-no-such-node"
"""The node that no source has."""
BLOCKED = 2.0
"""Seconds for which a visit may keep everything else from happening."""

_PACE = ("closed", "know", "ready", "reserve", "next_time")


def check_source(source: Source, nodes: Sequence[str], *, patience: float = 30.0) -> None:
    """Raise ``SourceError`` if the source breaks its contract.

    ``nodes`` are some that exist; each is visited a few times, with budget and without, and once
    a node that does not exist. Every visit must end within ``patience`` seconds. At the end the
    source is closed, if it can be.
    """
    if isinstance(source, type):
        raise SourceError(f"{source.__name__} is a class: give an instance of it")
    name = type(source).__name__
    if not hasattr(source, "visit"):
        raise SourceError(f"{name} has no visit method")
    if not inspect.iscoroutinefunction(source.visit):
        raise SourceError(
            f"{name}.visit must be a coroutine: async def visit(self, node, allowance)"
        )
    if isinstance(nodes, str) or not nodes:
        raise SourceError(f"give some nodes that exist to check {name} on, in a list")
    asyncio.run(_Check(source, name, patience).run(list(nodes)))


class _Allowance:
    """So many requests, and what became of them."""

    depth = 0

    def __init__(self, node: str, granted: int) -> None:
        self.lease = Lease(1, node, None, None, "seed", -1)
        self.granted = granted
        self.taken = 0
        self.refused = 0
        self.received = 0

    def take(self) -> bool:
        if self.taken == self.granted:
            self.refused += 1
            return False
        self.taken += 1
        return True

    def receive(self, size: int) -> None:
        self.received += size


class _Check:
    """One source under examination."""

    def __init__(self, source: Source, name: str, patience: float) -> None:
        self.source = source
        self.name = name
        self.patience = patience

    async def run(self, nodes: list[str]) -> None:
        self._members()
        watch = asyncio.create_task(self._watch())
        try:
            outcomes = [await self._outcome(node, 10_000) for node in nodes]
            if not any(isinstance(outcome, Visit) for outcome in outcomes):
                reasons = ", ".join(getattr(outcome, "reason", "") for outcome in outcomes)
                raise SourceError(f"{self.name} could visit none of the nodes given ({reasons})")
            await self._outcome(NOWHERE, 10_000)
            for granted in (0, 1):
                await self._outcome(nodes[0], granted)
            await asyncio.gather(*(self._outcome(node, 10_000) for node in nodes[:2] * 2))
            await self._cancelled(nodes[0])
        finally:
            watch.cancel()
            with suppress(asyncio.CancelledError):
                await watch
        await self._end()

    # -- visits --------------------------------------------------------------------------------

    async def _outcome(self, node: str, granted: int) -> object:
        """Visit a node, and judge what comes of it."""
        allowance = _Allowance(node, granted)
        call = f"{self.name}.visit({node!r})"
        await asyncio.sleep(0.02)  # so that the watch has looked
        try:
            async with asyncio.timeout(self.patience):
                outcome = await self.source.visit(node, allowance)
        except TimeoutError:
            raise SourceError(
                f"{call} did not end within {self.patience:g} seconds: put a time limit on it"
                + (", and end it when take() says no" if allowance.refused else "")
            ) from None
        except Exception as error:
            raise SourceError(
                f"{call} raised {error!r}: what cannot be visited is a Failure, not an error"
            ) from error
        if not isinstance(outcome, Visit | Failure | Skip):
            raise SourceError(
                f"{call} returned {type(outcome).__name__}, not a Visit, a Failure or a Skip"
            )
        self._spend(call, allowance, outcome.spent)
        if isinstance(outcome, Visit):
            if allowance.refused and not allowance.taken:
                raise SourceError(f"{call} went on and returned a Visit after take() had said no")
            self._visit(call, outcome)
        elif not isinstance(outcome.reason, str) or not outcome.reason:
            raise SourceError(f"{call} returned a {type(outcome).__name__} without a reason")
        return outcome

    def _spend(self, call: str, allowance: _Allowance, spent: Spend) -> None:
        if allowance.taken == 0 and spent.requests > 1:
            raise SourceError(
                f"{call} says that it spent {spent.requests} requests and took none: call"
                " allowance.take() before each request"
            )

    def _visit(self, call: str, visit: Visit) -> None:
        self._number(f"{call}: the score", visit.score)
        for link in visit.links:
            if not isinstance(link, Link):
                raise SourceError(f"{call}: {link!r} among the links is not a Link")
            if not isinstance(link.target, str) or not link.target:
                raise SourceError(
                    f"{call}: the link to {link.target!r}: a run keeps nodes as text; use str()"
                )
            if link.group is not None and not isinstance(link.group, str):
                raise SourceError(f"{call}: the group {link.group!r} is not a text")
            if not isinstance(link.text, str) or not isinstance(link.url, str | None):
                raise SourceError(
                    f"{call}: the link to {link.target!r}: its text and its URL are texts"
                )
            self._number(f"{call}: the score of the link to {link.target!r}", link.score)
        for record in visit.records:
            if not isinstance(record, str | int | float):
                raise SourceError(f"{call}: the record {record!r} is not a text or a number")

    def _number(self, what: str, value: object) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise SourceError(f"{what} is {value!r}, not a number")
        if not 0 <= value < math.inf:
            raise SourceError(f"{what} is {value!r}, not a finite number of 0 or more")

    # -- behaviour -----------------------------------------------------------------------------

    async def _cancelled(self, node: str) -> None:
        """A crawl that is stopped cancels its visits, and they must let it."""
        task = asyncio.ensure_future(self.source.visit(node, _Allowance(node, 10_000)))
        await asyncio.sleep(0)
        if task.done():
            return  # it never waits for anything
        task.cancel()
        done, _ = await asyncio.wait([task], timeout=self.patience)
        if not done or not task.cancelled():
            raise SourceError(
                f"{self.name}.visit({node!r}) goes on when it is cancelled: let"
                " asyncio.CancelledError through (catch Exception, not BaseException)"
            )

    async def _watch(self) -> None:
        """Notice when nothing else can happen for too long."""
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.01)
            if (went := time.monotonic() - before) > BLOCKED:
                raise SourceError(
                    f"{self.name}.visit blocked everything else for {went:.1f} seconds: await"
                    " what takes time, or hand it to asyncio.to_thread"
                )

    # -- what a source may have besides --------------------------------------------------------

    def _members(self) -> None:
        for member in ("recall", "before_commit", "facts", "leave", "close"):
            if not callable(getattr(self.source, member, print)):
                raise SourceError(f"{self.name}.{member} is not a method")
        pace: Any = getattr(self.source, "pace", None)
        for member in () if pace is None else _PACE:
            if not hasattr(pace, member):
                raise SourceError(f"{self.name}.pace has no {member} (see sonde.protocols.Pace)")

    async def _end(self) -> None:
        if hasattr(self.source, "facts"):
            try:
                json.dumps(dict(self.source.facts()))
            except (TypeError, ValueError) as error:
                raise SourceError(
                    f"{self.name}.facts must give plain data by label: {error}"
                ) from None
        if hasattr(self.source, "close"):
            closing = self.source.close()
            if inspect.isawaitable(closing):
                await closing
