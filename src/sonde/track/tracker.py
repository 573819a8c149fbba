"""The live tracker: chooses, visits, learns and ranks, one request after the other.

Each visit is chosen when the rate allows its first request. With probability ``share`` it expands
the frontier; otherwise it goes to a page that was visited before. While lists (feeds, sitemaps)
are due or have announced pages, every other one of those goes to them.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sonde.crawling.setup import Session, opened_run
from sonde.errors import SondeError, StoreError
from sonde.net.exchange import FetchOutcome
from sonde.net.urls import group_of
from sonde.store.citations import Citations, Tracked
from sonde.track.charge import Charge
from sonde.track.clock import Clock
from sonde.track.intake import take_in
from sonde.track.learning import Learning
from sonde.track.mind import Mind
from sonde.track.plan import Plan
from sonde.track.rate import Rate
from sonde.track.web import TrackedKind, TrackedWeb

_LOG = logging.getLogger("sonde.track")

STOPS = {
    "budget": "the budget is spent",
    "time": "the time is up",
    "nothing": "there is nothing to visit",
    "interrupted": "stopped by the user; the visit in flight was finished",
    "cut": "stopped by the user at once",
}
"""All reasons for which a tracker ends, in words."""


_LEFT = "SELECT 1 FROM tracked WHERE state IN ('frontier', 'visited', 'list') LIMIT 1"


@dataclass(frozen=True, slots=True)
class Looked:
    """A visit has ended. ``fresh`` links were not there before."""

    url: str
    why: str
    outcome: str
    status: int | None
    fresh: int
    requests: int
    at: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """The ranking was brought up to date."""

    at: float
    entered: tuple[str, ...]
    left: tuple[str, ...]


class LiveTracker:
    """Tracks one run. ``changes`` are settings of the plan, and of the crawl as on resume."""

    def __init__(
        self,
        path: str | Path,
        *,
        duration: float | None = None,
        clock: Clock | None = None,
        on_event: Callable[[Looked | Ranked], None] = lambda event: None,
        plan: dict[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        self.path = path
        self.clock = Clock() if clock is None else clock
        self.requests = 0
        self._duration = math.inf if duration is None else duration
        self._on_event = on_event
        self._plan = plan or {}
        self._settings = settings
        self._stopping = asyncio.Event()
        self._cutting = False
        self._visiting: asyncio.Task[None] | None = None
        self._ranked = -math.inf

    def stop(self) -> None:
        """Finish the visit in flight, then end."""
        self._stopping.set()

    def cut(self) -> None:
        """End at once; what is in flight counts as spent."""
        self._cutting = True
        self._stopping.set()
        if self._visiting is not None:
            self._visiting.cancel()

    # -- running ---------------------------------------------------------------------------------

    async def run(self) -> str:
        """Track until the time is up, the budget is spent, or somebody stops it; why it ended."""
        begun = opened_run(self.path, TrackedKind(), self._settings)
        failed = False
        try:
            self._open(begun)
            reason = await self._loop()
            self._rank()
            with self.store.change():
                self.store.remember("track_stop", reason)
                self.store.remember("track_open", False)
            return reason
        except StoreError:
            failed = True
            raise
        finally:
            await begun.hooks.close()
            if failed:
                begun.run.abandon()
            else:
                begun.run.close()

    def _open(self, begun: Session) -> None:
        self._begun = begun
        assert isinstance(begun.hooks.source, TrackedWeb)
        self.source = begun.hooks.source
        self.store = store = Citations(begun.run.database)
        self.plan = plan = Plan.of(store.recall("track"), self._plan)
        state = store.recall("track_state") or {}
        self.clock.not_before(state.get("now", 0.0))
        now = self.clock.now()
        with store.change():
            store.remember("track", plan.as_data())
            store.remember("track_stop", None)
            store.remember("track_open", True)  # until then, the last to write was a crawl
        take_in(store, now, plan.window)
        self._recollect(state)
        self.rate = Rate(plan.per_hour, store.charges(plan.per_hour))
        self.requests = store.spent
        self._until = now + self._duration
        self._rank()

    def _recollect(self, state: dict[str, Any]) -> None:
        """Make the mind anew from what the store says."""
        self.mind = Mind(self.plan, state)
        self.mind.load(self.store)
        self.learning = Learning(self.store, self.mind, self.source)

    async def _loop(self) -> str:
        while True:
            await self._rest(self.rate.wait(self.clock.now()))
            if self._stopping.is_set():
                return "cut" if self._cutting else "interrupted"
            if self.clock.now() >= self._until:
                return "time"
            if self.plan.budget is not None and self.requests >= self.plan.budget:
                return "budget"
            choice = self._choose()
            if choice is None:
                if self.store.value(_LEFT) is None:
                    return "nothing"
                await self._rest(3600.0 / self.plan.per_hour)
                continue
            self._visiting = asyncio.create_task(self._visit(*choice))
            try:
                await self._visiting
            except asyncio.CancelledError:
                if not self._cutting:
                    raise
            if self.clock.now() - self._ranked >= self.plan.window / 168:
                self._rank()

    async def _rest(self, seconds: float) -> None:
        """Wait, unless somebody stops it."""
        seconds = min(seconds, max(0.0, self._until - self.clock.now()))
        if seconds <= 0:
            return
        sleeping = asyncio.ensure_future(self.clock.sleep(seconds))
        stopping = asyncio.ensure_future(self._stopping.wait())
        await asyncio.wait({sleeping, stopping}, return_when=asyncio.FIRST_COMPLETED)
        for task in (sleeping, stopping):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    # -- choosing --------------------------------------------------------------------------------

    def _choose(self) -> tuple[int, str] | None:
        """A node to visit now, and why."""
        now = self.clock.now()
        mind, dice = self.mind, self.mind.dice
        with self.store.change():
            self.learning.bring_back(now)
        for _ in range(1000):
            number, why = -1, "expand"
            if dice.uniform() < self.plan.share:
                number = mind.expansion.pick(dice)
            if number < 0:
                number, why = self._again(now)
            if number < 0:
                number, why = mind.expansion.pick(dice), "expand"
            if number < 0:
                return None
            if self._allowed(number):
                return number, why
        return None

    def _again(self, now: float) -> tuple[int, str]:
        listed = self._listed(now)
        if listed is not None and self.mind.dice.uniform() < 0.5:
            return listed
        number = self.mind.recrawl.pick(self.mind.dice)
        if number < 0 and listed is not None:
            return listed
        return number, "recrawl"

    def _listed(self, now: float) -> tuple[int, str] | None:
        """A list that is due, or a page that a list announced."""
        due = self.store.value(
            "SELECT id FROM tracked WHERE state = 'list' AND retry IS NULL"
            " AND (last IS NULL OR last + elapsed <= ?) ORDER BY last LIMIT 1",
            now,
        )
        if due is not None:
            return due, "list"
        announced = self.store.value(
            "SELECT id FROM tracked WHERE announced AND retry IS NULL ORDER BY dated DESC LIMIT 1"
        )
        return None if announced is None else (announced, "announced")

    def _allowed(self, number: int) -> bool:
        """Whether robots.txt, as far as it is known, allows a node; one that is not is dropped."""
        url = self.store.value("SELECT url FROM tracked WHERE id = ?", number)
        if self.source.hosts.allowed(url, group_of(url), time.time()) is not False:
            return True
        self.mind.leave(number)
        with self.store.change():
            self.store.update(number, state="dropped", why="robots", announced=0)
        return False

    # -- visiting --------------------------------------------------------------------------------

    async def _visit(self, number: int, why: str) -> None:
        node = self.store.node(number)
        left = math.inf if self.plan.budget is None else self.plan.budget - self.requests
        charge = Charge(self.store, node.url, why, left, self._charged)
        if node.last is None:
            self.mind.expansion.take(number)
        answer = await self.source.look(
            node.url,
            charge,
            self._wait,
            etag=node.etag if node.last is not None else None,
            modified=node.modified if node.last is not None else None,
        )
        now = self.clock.now()
        try:
            outcome = self._take_in(node, answer, charge, now)
        except SondeError:
            raise
        except Exception:  # one page that nobody foresaw must not end what runs for weeks
            _LOG.exception("what came of %r cannot be used", node.url)
            self._recollect(self.mind.state())
            outcome = self._take_in(node, None, charge, now)
        self._commit()
        fresh, status = self.learning.fresh, _status(answer)
        self._on_event(Looked(node.url, why, outcome, status, fresh, answer.requests, now))

    def _take_in(
        self, node: Tracked, answer: FetchOutcome | None, charge: Charge, now: float
    ) -> str:
        """Learn from an answer, or from one that cannot be used; what came of it, in a word."""
        with self.store.change():
            if answer is None:
                outcome = self.learning.set_aside(node, "error", now)
            else:
                outcome = self.learning.learn(node, answer, now)
            if charge.visit is not None:
                fresh, status = self.learning.fresh, _status(answer)
                self.store.settle(charge.visit, outcome, status, charge.received, fresh)
            self._remember(now)
        return outcome

    async def _wait(self) -> None:
        """Until the rate allows another request."""
        while (seconds := self.rate.wait(self.clock.now())) > 0:
            await self.clock.sleep(seconds)

    def _charged(self) -> float:
        now = self.clock.now()
        self.rate.charge(now)
        self.requests += 1
        self._commit()
        return now

    def _commit(self) -> None:
        """What the source has learned of hosts and robots."""
        self.source.before_commit()
        self._begun.run.journal.commit()

    def _remember(self, now: float) -> None:
        state = {"now": now, "ranked": self._ranked, **self.mind.state()}
        self.store.remember("track_state", state)

    # -- ranking ---------------------------------------------------------------------------------

    def _rank(self) -> None:
        now = self._ranked = self.clock.now()
        with self.store.change():
            entered, left = self.store.rank(now, self.plan.window, self.plan.top)
            if self.mind.known >= self.plan.most:
                for number in self.store.forget(now - self.plan.window):
                    self.mind.forget(number)
            self._remember(now)
        self._on_event(Ranked(now, tuple(entered), tuple(left)))


def _status(answer: FetchOutcome | None) -> int | None:
    return answer.hops[-1].status if answer is not None and answer.hops else None


def track_live(path: str | Path, **arguments: Any) -> str:
    """Track a run to the end, from a program that has no event loop; why it ended."""
    from sonde.crawling.crawler import new_loop

    loop = new_loop()
    try:
        return loop.run_until_complete(LiveTracker(path, **arguments).run())
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
