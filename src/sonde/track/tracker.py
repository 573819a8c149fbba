"""The live tracker: chooses, visits, learns and ranks, one request after the other, at a rate.

Each visit is chosen (``policy``) when the rate allows its first request. Time is a clock that does
not go back: the time of day at its start, then the machine's own count of seconds. A step of the
wall clock while it runs changes nothing; one while it does not can make it start late, but never
before the time at which it stopped. So what was seen first stays first, and no hour is counted
twice.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sonde.crawling import open_run
from sonde.crawling.crawler import new_loop
from sonde.errors import InputError, SondeError, StoreError
from sonde.net.exchange import FetchOutcome
from sonde.net.urls import group_of
from sonde.sources.web.kind import Web
from sonde.store.run import Run
from sonde.track.citations import Citations, TrackedNode
from sonde.track.import_run import connected, take_in
from sonde.track.policy import Policy, TrackPlan
from sonde.track.update import GraphUpdate

_LOG = logging.getLogger("sonde.track")

STOPS = {
    "budget": "the budget is spent",
    "time": "the time is up",
    "nothing": "there is nothing to visit",
    "interrupted": "stopped by the user; the visit in flight was finished",
    "cut": "stopped by the user at once",
}
"""All reasons for which a tracker ends, in words."""


@dataclass(frozen=True, slots=True)
class TrackedVisit:
    """A visit has ended. ``fresh`` links were not there before."""

    url: str
    why: str
    outcome: str
    status: int | None
    fresh: int
    requests: int
    at: float


@dataclass(frozen=True, slots=True)
class RankingUpdated:
    """The ranking was brought up to date."""

    at: float
    entered: tuple[str, ...]
    left: tuple[str, ...]


HOUR = 3600.0


class Rate:
    """Knows when the last requests of an hour's worth were charged."""

    def __init__(self, per_hour: int, charged: Iterable[float] = ()) -> None:
        self.per_hour = per_hour
        self._times: deque[float] = deque(charged, maxlen=per_hour)

    def wait(self, now: float) -> float:
        """Seconds until the next request may leave."""
        if not self._times:
            return 0.0
        earliest = self._times[-1] + HOUR / self.per_hour
        if len(self._times) == self.per_hour:
            earliest = max(earliest, self._times[0] + HOUR)
        return max(0.0, earliest - now)

    def charge(self, now: float) -> None:
        """A request leaves."""
        self._times.append(now)


def _steady() -> float:
    """Seconds that no one can set; on Linux they go on while the machine sleeps."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


class Clock:
    """Seconds since 1970, never going back."""

    def __init__(self) -> None:
        self._origin = time.time()
        self._began = _steady()

    def not_before(self, moment: float) -> None:
        """Go on from a moment that was reached before, if the wall clock is behind it."""
        self._origin += max(0.0, moment - self.now())

    def now(self) -> float:
        """The time."""
        return self._origin + (_steady() - self._began)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class _Charge:
    """The allowance of one visit: each request is on the disk before it leaves.

    ``visit`` is its number in the ledger, once it has sent one.
    """

    def __init__(self, tracker: LiveTracker, url: str, why: str) -> None:
        self.visit: int | None = None
        self.received = 0
        self._tracker = tracker
        self._url = url
        self._why = why

    def take(self) -> bool:
        """Charge a request; ``False`` where the budget has none left."""
        tracker = self._tracker
        if tracker.spent:
            return False
        now = tracker.clock.now()
        tracker.rate.charge(now)
        tracker.requests += 1
        with tracker.store.change(durable=True):
            tracker.web.before_commit()
            if self.visit is None:
                self.visit = tracker.store.begin(self._url, self._why, now)
            else:
                tracker.store.charge(self.visit, now)
        return True

    def receive(self, size: int) -> None:
        """`size` bytes came back."""
        self.received += size


class LiveTracker:
    """Tracks one run. ``plan`` is what is told anew of its ``TrackPlan``; ``settings`` are those of
    the crawl that may change on resume."""

    def __init__(
        self,
        path: str | Path,
        *,
        duration: float | None = None,
        clock: Clock | None = None,
        on_event: Callable[[TrackedVisit | RankingUpdated], None] = lambda event: None,
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

    @property
    def spent(self) -> bool:
        """Whether the budget has no request left."""
        return self.plan.budget is not None and self.requests >= self.plan.budget

    # -- running ---------------------------------------------------------------------------------

    async def run(self) -> str:
        """Track until the time is up, the budget is spent, or somebody stops it; why it ended."""
        opened = open_run(self.path, Web.name, self._settings)
        run, failed = opened.run, False
        try:
            if run.power_lost and not run.meta("track_open"):
                raise InputError(
                    f"{self.path}: the machine went down during the crawl: resume it first, so"
                    " that the requests that may have left are booked"
                )
            async with connected(opened) as self.web:
                self._open(run, opened.settings.nofollow)
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
            if failed:
                run.abandon()
            else:
                run.close()

    def _open(self, run: Run, nofollow: bool) -> None:
        self._nofollow = nofollow
        self.store = store = Citations(run)
        self.plan = plan = TrackPlan.of(store.recall("track"), self._plan)
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
        """Make the policy anew from what the store says."""
        self.policy = Policy(self.plan, self.store, state)
        self.update = GraphUpdate(self.store, self.policy, self.web, nofollow=self._nofollow)

    async def _loop(self) -> str:
        while True:
            await self._rest(self.rate.wait(self.clock.now()))
            if self._stopping.is_set():
                return "cut" if self._cutting else "interrupted"
            if self.clock.now() >= self._until:
                return "time"
            if self.spent:
                return "budget"
            choice = self._choose()
            if choice is None:
                if self.store.over:
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
        with self.store.change():
            self.policy.bring_back(now)
        return self.policy.choose(now, self._allowed)

    def _allowed(self, number: int) -> bool:
        """Whether robots.txt, as far as it is known, allows a node; one that is not is dropped."""
        url = self.store.value("SELECT url FROM tracked WHERE id = ?", number)
        if self.web.hosts.allowed(url, group_of(url), time.time()) is not False:
            return True
        self.policy.leave(number)
        with self.store.change():
            self.store.update(number, state="dropped", why="robots", announced=0)
        return False

    # -- visiting --------------------------------------------------------------------------------

    async def _visit(self, number: int, why: str) -> None:
        node = self.store.node(number)
        charge = _Charge(self, node.url, why)
        if node.last is None:
            self.policy.expansion.take(number)
        again = node.last is not None
        answer = await self.web.polite.fetch(
            node.url,
            charge,
            gate=self._gate,
            wait=self._wait,
            wanted=self.web.wanted,
            etag=node.etag if again else None,
            last_modified=node.modified if again else None,
        )
        now = self.clock.now()
        try:
            outcome = self._take_in(node, answer, charge, now)
        except SondeError:
            raise
        except Exception:  # one page that nobody foresaw must not end what runs for weeks
            _LOG.exception("what came of %r cannot be used", node.url)
            self._recollect(self.policy.state())
            outcome = self._take_in(node, None, charge, now)
        fresh, status = self.update.fresh, _status(answer)
        self._on_event(TrackedVisit(node.url, why, outcome, status, fresh, answer.requests, now))

    def _take_in(
        self, node: TrackedNode, answer: FetchOutcome | None, charge: _Charge, now: float
    ) -> str:
        """Learn from an answer, or from one that cannot be used; what came of it, in a word."""
        with self.store.change():
            if answer is None:
                outcome = self.update.set_aside(node, "error", now)
            else:
                outcome = self.update.learn(node, answer, now)
            if charge.visit is not None:
                fresh, status = self.update.fresh, _status(answer)
                self.store.settle(charge.visit, outcome, status, charge.received, fresh)
            self.web.before_commit()
            self._remember(now)
        return outcome

    def _gate(self, url: str, group: str, redirected: bool) -> str | None:
        """Why a redirect is not followed. One to a page that is known is: what matters is where
        the page has gone."""
        return self.web.refusal(url, group) if redirected else None

    async def _wait(self) -> None:
        """Until the rate allows another request."""
        while (seconds := self.rate.wait(self.clock.now())) > 0:
            await self.clock.sleep(seconds)

    def _remember(self, now: float) -> None:
        state = {"now": now, "ranked": self._ranked, **self.policy.state()}
        self.store.remember("track_state", state)

    # -- ranking ---------------------------------------------------------------------------------

    def _rank(self) -> None:
        now = self._ranked = self.clock.now()
        with self.store.change():
            entered, left = self.store.rank(now, self.plan.window, self.plan.top)
            if self.policy.known >= self.plan.most:
                for number in self.store.forget(now - self.plan.window):
                    self.policy.forget(number)
            self._remember(now)
        self._on_event(RankingUpdated(now, tuple(entered), tuple(left)))


def _status(answer: FetchOutcome | None) -> int | None:
    return answer.hops[-1].status if answer is not None and answer.hops else None


def track_live(path: str | Path, **arguments: Any) -> str:
    """Track a run to the end, from a program that has no event loop; why it ended."""
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(LiveTracker(path, **arguments).run())
