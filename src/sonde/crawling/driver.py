"""The driver: asks the explorer, sends visits off, tells what came, and keeps the order of it.

One task holds the loop: fill the free places with leases, commit, start their visits, report what
the commit has made safe, wait for something to happen. Each visit is a task of its own, which
settles its lease in the same breath in which its source returns: no other task can come between
a page being scored and the explorer being told.

The order in all of this is: log, commit, act. A lease is committed before its visit starts; a
further request before it is sent (``LeaseAllowance.take``); an outcome before it is reported.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection
from dataclasses import replace

from sonde.crawling.logbook import Logbook
from sonde.crawling.patience import Patience
from sonde.crawling.progress import ProgressMeter, Settled
from sonde.crawling.saturation import Saturation
from sonde.crawling.source_hooks import SourceHooks
from sonde.crawling.storable_outcome import storable_outcome
from sonde.errors import ResourceError, SondeError, StoreError
from sonde.records import Failure, Group, Lease, Outcome, Skip, Spend, Visit
from sonde.scorers.scoring_process import ScoringStopped
from sonde.sources.facts import PageVisit
from sonde.store.log import brought_by_group
from sonde.system import is_starved, no_descriptors

_LOG = logging.getLogger("sonde.crawl")

_GROUPED = 0.0005  # seconds a commit waits for company, for each visit in flight
_LONGEST_GROUPED = 0.02
_TIME_CHARGED = 0.25  # seconds between two bookings of time
_LOOK_AGAIN = 1.0
_LEAST_WAIT = 0.001  # where nothing can be done, to look again at once would be work for nothing

FEW = 2
"""Places to begin with after an unclean end."""


class LeaseAllowance:
    """The allowance of one visit: its lease, and what it took."""

    __slots__ = ("_driver", "began", "counted", "depth", "given", "lease", "received", "taken")

    def __init__(self, driver: Driver, lease: Lease, depth: int) -> None:
        self._driver = driver
        self.lease = lease
        self.depth = depth
        self.given = 1
        self.taken = 0
        self.counted = False  # whether its source says what it sends
        self.received = 0
        self.began = 0.0

    def take(self) -> bool:
        """Take a request; the first one came with the lease, others are committed first."""
        self.counted = True
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

    def spent(self) -> Spend:
        """What a visit may have spent that is broken off: what it took, where its source counts;
        else all that is held."""
        held = self._driver.explorer.driver.held(self.lease)
        if not self.counted:
            return held
        return Spend(requests=self.taken, bytes=held.bytes if self.taken else 0)


class Driver:
    """Drives one exploration to its end. ``on_settled`` hears of every lease, once it is safe.

    After an unclean end it is ``careful``: it begins with few places, and each outcome adds one. A
    kill costs what is in flight, and one kill is seldom the only one.
    """

    def __init__(
        self,
        logbook: Logbook,
        hooks: SourceHooks,
        meter: ProgressMeter,
        *,
        concurrency: int,
        careful: bool = False,
        patience: float = 0.0,
        harvest_below: float | None = None,
        saturation: Saturation | None = None,
        on_settled: Callable[[Settled], None] = lambda settled: None,
    ) -> None:
        self.logbook = logbook
        self.explorer = logbook.explorer
        self.hooks = hooks
        self.source = hooks.source
        self.pace = hooks.pace
        self.concurrency = concurrency
        self._places = min(FEW, concurrency) if careful else concurrency
        self.harvest_below = harvest_below
        self.saturation = saturation
        self.on_settled = on_settled
        self.meter = meter
        self.cutting = ""
        self.stopping = ""
        self._pending: list[Settled] = []
        self._open: dict[int, LeaseAllowance] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._error: BaseException | None = None
        self._starved: ResourceError | None = None  # raised when what is in flight is finished
        self.patience = Patience(patience, logbook.explorer, hooks.pace)
        if patience:
            self.patience.recall(brought_by_group(logbook.run.database))
        self._began = 0.0
        self._first_lease = logbook.last_lease
        self._charged = 0.0
        self._committed = 0.0

    # -- from outside --------------------------------------------------------------------------

    def stop(self, reason: str = "interrupted") -> None:
        """Ask nothing more; finish what is in flight."""
        self.stopping = self.stopping or reason
        self._wake.set()

    def cut(self, reason: str = "cut") -> None:
        """End what is in flight now. It counts as spent, and its nodes stay on the frontier."""
        self.stopping = reason
        self.cutting = self.cutting or reason
        for task in self._tasks:
            task.cancel()
        self._wake.set()

    def wake(self) -> None:
        """Something has changed: look again."""
        self._wake.set()

    def commit(self) -> None:
        """Make safe all that happened, and report it."""
        self.hooks.before_commit()
        self.logbook.commit()
        self._committed = time.monotonic()
        pending, self._pending = self._pending, []
        for settled in pending:
            self.on_settled(settled)

    # -- the loop ------------------------------------------------------------------------------

    async def run(self) -> str:
        """Drive to the end; why it ended."""
        self._charged = self._began = time.monotonic()
        try:
            while True:
                self._charge_time()
                allowances = self._fill()
                try:
                    self.commit()
                except StoreError as error:
                    self._error = error
                    raise
                for allowance in allowances:
                    task = asyncio.create_task(self._visit(allowance))
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)
                if self._error is not None:
                    raise self._error
                # A visit that is cut before its first step never settles itself; _drain does.
                if not self._open or (self.cutting and not self._tasks):
                    reason = self._over()
                    if reason is not None:
                        self._charge_time(last=True)
                        self.commit()
                        if self._starved is not None:
                            raise self._starved
                        return reason
                await self._wait()
        finally:
            await self._drain()

    async def _drain(self) -> None:
        """No task outlives the driver."""
        if self._tasks:
            self.cutting = self.cutting or "cut"
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
        if isinstance(self._error, StoreError):
            return  # nothing can be written: what is open is settled when the run is resumed
        for allowance in list(self._open.values()):  # cut before it began, or broken
            self._settle(allowance, _interrupted(allowance), True)
        self.commit()

    def _fill(self) -> list[LeaseAllowance]:
        """Leases for the free places."""
        allowances: list[LeaseAllowance] = []
        if self.stopping:
            return allowances
        free = self._places - len(self._open)
        while len(allowances) < free:
            ready = self.pace.ready(self.logbook.waiting)
            if not self.logbook.again:
                ready = self._worth_asking(ready)
            if ready is not None and not ready:
                break
            lease = self.logbook.ask_again(ready) or self.logbook.ask(ready)
            if lease is None:
                break
            self.pace.reserve(lease.group)
            number = self.logbook.driver.number_of(lease.node)
            assert number is not None
            allowance = LeaseAllowance(self, lease, self.logbook.depths[number])
            self._open[lease.number] = allowance
            allowances.append(allowance)
            self.patience.asked()
        return allowances

    def _worth_asking(self, ready: Collection[Group] | None) -> Collection[Group] | None:
        """The groups to ask now of those that are ready; none, to wait for somebody better."""
        now = time.monotonic()
        asked = self.logbook.last_lease - self._first_lease
        pace = (now - self._began) / max(1, asked)
        return self.patience.offered(ready, self.logbook.waiting, now, pace)

    def _over(self) -> str | None:
        """Why nothing more can happen, now that nothing is in flight; ``None`` to go on."""
        if self.stopping:
            return self.stopping
        account = self.logbook.driver.account
        if not self.explorer.frontier_size and not self._refilled():
            return "frontier"
        if account.left("seconds") <= 0:
            return "time"
        if not account.hold(self.logbook.hold):
            return "budget"
        account.settle(self.logbook.hold, Spend())
        if self._too_late():
            return "time"
        closed = self.pace.closed
        left = [group for group, count in self.logbook.waiting.items() if count]
        if all(group in closed for group in left):
            slow = all(closed[group] == "crawl-delay" for group in left)
            return "crawl-delay" if slow else "host-budget"
        return None

    def _refilled(self) -> bool:
        """Whether the source knew where else to look, where there is anything left to spend."""
        account = self.logbook.driver.account
        if account.left("seconds") <= 0 or not account.hold(self.logbook.hold):
            return False
        account.settle(self.logbook.hold, Spend())
        self._wake.set()
        return self.logbook.add_seeds(self.hooks.refill()) > 0

    def _too_late(self) -> bool:
        """Whether nobody who is left can be asked before the time is up."""
        soonest = self.pace.next_time()
        ready = self.pace.ready(self.logbook.waiting)
        if soonest is None or ready is None or ready:
            return False
        return soonest - time.monotonic() > self.logbook.driver.account.left("seconds")

    async def _wait(self) -> None:
        """Until something happens, a host is ready, or the time is up."""
        now = time.monotonic()
        until = now + _LOOK_AGAIN
        if len(self._open) < self._places and not self.stopping:
            soonest = self.pace.next_time()
            if soonest is not None:
                until = min(until, soonest)
            if self.patience.until() > now:
                until = min(until, self.patience.until())
        left = self.logbook.driver.account.left("seconds")
        until = min(until, self._charged + left)
        try:
            async with asyncio.timeout(max(_LEAST_WAIT, until - now)):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._wake.clear()
        company = min(_GROUPED * (len(self._open) - 1), _LONGEST_GROUPED)
        if company > 0:
            await asyncio.sleep(max(0.0, self._committed + company - time.monotonic()))

    def _charge_time(self, *, last: bool = False) -> None:
        """Book the time that went, where time is limited."""
        if self.logbook.driver.account.budget.seconds is None:
            return
        now = time.monotonic()
        left = self.logbook.driver.account.left("seconds")
        elapsed = now - self._charged
        if elapsed >= _TIME_CHARGED or elapsed >= left or last:
            self.logbook.spend(Spend(seconds=elapsed))
            self._charged = now
        if self.logbook.driver.account.left("seconds") <= 0 and not self.stopping:
            self.cut("time")

    # -- one visit -----------------------------------------------------------------------------

    async def _visit(self, allowance: LeaseAllowance) -> None:
        allowance.began = time.monotonic()
        interrupt = False
        try:
            outcome = await self.source.visit(allowance.lease.node, allowance)
            outcome = storable_outcome(outcome)
            if self.hooks.forgotten is not None:
                outcome = self.hooks.forgotten.left_out(outcome)
        except asyncio.CancelledError:
            outcome = _interrupted(allowance)
            interrupt = True
        except ResourceError as error:  # the request that was taken last has not left
            allowance.taken -= 1
            self._starved = error
            self.stop()
            outcome, interrupt = _interrupted(allowance), True
        except ScoringStopped as stopped:
            _LOG.warning("%s, on %r", stopped, allowance.lease.node)
            outcome = Failure("scorer", spent=Spend(requests=allowance.taken))
        except SondeError as error:
            self._error = self._error or error
            self._wake.set()
            return
        except Exception as error:  # one page that nobody foresaw must not end a crawl of a million
            if is_starved(error):  # nor is it the page's fault
                self._starved = no_descriptors()
                self.stop()
                outcome, interrupt = _interrupted(allowance), True
            else:
                _LOG.exception("visit of %r failed", allowance.lease.node)
                outcome = Failure("error", spent=Spend(requests=allowance.taken))
        try:
            self._settle(allowance, outcome, interrupt)
        except Exception as error:
            self._error = self._error or error
        self._wake.set()

    def _settle(self, allowance: LeaseAllowance, outcome: Outcome, interrupt: bool) -> None:
        seconds = time.monotonic() - allowance.began if allowance.began else 0.0
        lease = allowance.lease
        if allowance.taken and not interrupt:
            size = allowance.received
            if self.logbook.hold.bytes:
                size = min(size, self.logbook.driver.held(lease).bytes)
            spent = Spend(allowance.taken, size, cost=outcome.spent.cost)
            if spent != outcome.spent:
                outcome = replace(outcome, spent=spent)
        gain = self.logbook.tell(lease, outcome, seconds, interrupt=interrupt)
        del self._open[lease.number]
        self._places = min(self._places + 1, self.concurrency)
        if isinstance(outcome, Visit):
            self.patience.took(seconds)
        if not interrupt and not isinstance(outcome, Skip):
            self.patience.brought(lease.group, lease.predicted, gain)
        facts = outcome.facts if isinstance(outcome, PageVisit) else None
        settled = Settled(
            lease=lease.number,
            node=lease.node,
            outcome="interrupt" if interrupt else _name(outcome),
            reason="" if isinstance(outcome, Visit) else outcome.reason,
            retry=not isinstance(outcome, Visit) and outcome.retry,
            score=outcome.score if isinstance(outcome, Visit) else 0.0,
            gain=gain,
            predicted=lease.predicted,
            chooser=lease.chooser,
            requests=outcome.spent.requests,
            bytes=outcome.spent.bytes,
            seconds=seconds,
            depth=allowance.depth,
            url=facts.final_url if facts is not None else "",
            title=facts.title if facts is not None else "",
            flags=facts.flags if facts is not None else "",
            content=self.hooks.content(facts) if facts is not None else None,
        )
        self._pending.append(settled)
        recent = self.meter.add(settled)
        if isinstance(outcome, PageVisit):
            for correction in outcome.corrections:
                self.meter.correct(correction.lease, correction.score)
        if self.harvest_below is not None and recent is not None and recent < self.harvest_below:
            self.stop("harvest")
        if self.saturation is not None:
            said = outcome.records if isinstance(outcome, Visit) else ()
            if self.saturation.add(outcome.spent.requests, gain, said):
                self.stop("saturated")


def _interrupted(allowance: LeaseAllowance) -> Failure:
    return Failure("interrupted", retry=True, spent=allowance.spent())


def _name(outcome: Outcome) -> str:
    if isinstance(outcome, Visit):
        return "visit"
    return "skip" if isinstance(outcome, Skip) else "failure"
