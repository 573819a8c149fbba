"""What a crawl says while it runs: what was settled, and how it is doing (rates, the harvest so far
and lately, the best finds). Nothing is said before it is committed."""

from __future__ import annotations

import heapq
import time
from collections import deque
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from sonde.crawling.retelling import Entry, Nodes
from sonde.explorer import Explorer
from sonde.records import Failure, Node, Skip, Visit
from sonde.store.log import Arrays, facts_from_array, facts_to_array

if TYPE_CHECKING:
    from sonde.store.page_content import PageContent


def _plain(event: Settled | Progress, without: str) -> dict[str, Any]:
    """The fields of an event but one."""
    names = (each.name for each in fields(event))
    return {name: getattr(event, name) for name in names if name != without}


@dataclass(frozen=True, slots=True)
class Settled:
    """A lease was settled: ``outcome`` is visit, failure, skip or interrupt.

    ``predicted`` is as of the time of asking. What the page said is read when it is asked for.
    """

    lease: int
    node: Node
    outcome: str
    reason: str = ""
    retry: bool = False
    score: float = 0.0
    gain: float = 0.0
    predicted: float | None = None
    chooser: str = ""
    requests: int = 0
    bytes: int = 0
    seconds: float = 0.0
    depth: int = 0
    url: str = ""  # after redirects
    title: str = ""
    flags: str = ""
    content: PageContent | None = field(default=None, repr=False, compare=False)

    @property
    def text(self) -> str | None:
        """The text of the page, without navigation; ``None`` where the run keeps none."""
        return None if self.content is None else self.content.text

    @property
    def markdown(self) -> str | None:
        """The same as Markdown; ``None`` where the run keeps no pages."""
        return None if self.content is None else self.content.markdown

    @property
    def html(self) -> str | None:
        """The body as it came, decoded; ``None`` where the run keeps no pages."""
        return None if self.content is None else self.content.html

    def as_json(self) -> dict[str, Any]:
        """For ``--json``: all but what the page said."""
        return {"event": self.outcome, **_plain(self, "content")}


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a crawl stands. ``recent`` is the gain per request over the last settled ones."""

    requests: int
    budget: int | None
    visits: int
    failures: int
    skips: int
    total: float
    recent: float
    frontier: int
    in_flight: int
    known: int
    hosts: int
    elapsed: float
    pages_per_second: float
    requests_per_second: float
    seconds_left: float | None
    bytes: int
    facts: dict[str, Any] = field(default_factory=dict)  # what the source says of itself
    best: tuple[Settled, ...] = field(default=())

    @property
    def harvest(self) -> float:
        """The gain per request so far."""
        return self.total / self.requests if self.requests else 0.0

    @property
    def eta(self) -> float | None:
        """Seconds until the budget is spent at the present rate."""
        times = []
        if self.budget is not None and self.requests_per_second > 0:
            times.append((self.budget - self.requests) / self.requests_per_second)
        if self.seconds_left is not None:
            times.append(self.seconds_left)
        return min(times, default=None)

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        told = _plain(self, "best")
        return {"event": "progress", "harvest": self.harvest, "eta": self.eta, **told}


@dataclass(frozen=True, slots=True)
class Stopped:
    """The crawl has ended, and why."""

    reason: str
    requests: int
    visits: int
    total: float

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {"event": "stopped", **asdict(self)}


STOPS = {
    "budget": "the budget is spent",
    "time": "the time is up",
    "frontier": "nothing is left to visit",
    "host-budget": "every host that is left has used up its own budget",
    "crawl-delay": "every host that is left asks for longer pauses than --longest-delay",
    "harvest": "the harvest fell below the limit",
    "saturated": "new pages add next to nothing to what is known",
    "interrupted": "stopped by the user; what was in flight was finished",
    "cut": "stopped by the user at once",
}
"""All reasons for which a crawl ends, in words."""


_BEST = 10
_RATE_OVER = 10.0  # seconds


class ProgressMeter:
    """Counts what was settled. ``over`` requests make the recent harvest."""

    def __init__(self, explorer: Explorer, over: int) -> None:
        self.explorer = explorer
        self.failures = 0
        self.skips = 0
        self.began = time.monotonic()
        self._over = over
        self._recent: deque[tuple[int, float]] = deque()
        self._recent_requests = 0
        self._recent_gain = 0.0
        self._best: list[tuple[float, int, Settled]] = []
        self._times: deque[tuple[float, int, int]] = deque()  # when, requests, visits

    def add(self, settled: Settled) -> float | None:
        """Take in one settled lease; the recent gain per request once there are enough."""
        now = time.monotonic()
        visit = settled.outcome == "visit"
        self.failures += settled.outcome in ("failure", "interrupt")
        self.skips += settled.outcome == "skip"
        self._times.append((now, settled.requests, visit))
        if visit:
            self._add_best(settled)
        if len(self._times) > 100_000 or now - self._times[0][0] > 2 * _RATE_OVER:
            self._forget(now)
        return self._add_recent(settled.requests, settled.gain)

    def _add_best(self, settled: Settled) -> None:
        entry = (settled.score, -settled.lease, settled)
        if len(self._best) < _BEST:
            heapq.heappush(self._best, entry)
        elif entry > self._best[0]:
            heapq.heapreplace(self._best, entry)

    def correct(self, lease: int, score: float) -> None:
        """The score of a visit is another one. What it brought lately stays what was told."""
        for place, (_, _, settled) in enumerate(self._best):
            if settled.lease == lease:
                self._best[place] = (score, -lease, replace(settled, score=score))
                heapq.heapify(self._best)
                return

    def _add_recent(self, requests: int, gain: float) -> float | None:
        recent = self._recent
        recent.append((requests, gain))
        self._recent_requests += requests
        self._recent_gain += gain
        while recent and self._recent_requests - recent[0][0] >= self._over:
            requests, gain = recent.popleft()
            self._recent_requests -= requests
            self._recent_gain -= gain
        if self._recent_requests < self._over:
            return None
        return max(0.0, self._recent_gain) / self._recent_requests

    def begin_harvest(self) -> None:
        """Look only at what comes from here on, when the recent harvest is judged."""
        self._recent.clear()
        self._recent_requests = 0
        self._recent_gain = 0.0

    def _forget(self, now: float) -> None:
        while self._times and now - self._times[0][0] > _RATE_OVER:
            self._times.popleft()

    # -- found again -----------------------------------------------------------------------------

    def capture(self) -> Arrays:
        """The counts, what came lately, and the best."""
        best = [[each.lease, each.node, each.score, each.title] for _, _, each in self._best]
        facts = {
            "failures": self.failures,
            "skips": self.skips,
            "recent": list(self._recent),
            "recent_gain": self._recent_gain,
            "best": best,
        }
        return {"facts": facts_to_array(facts)}

    def restore(self, arrays: Arrays, nodes: Nodes) -> bool:
        """Take on what was captured."""
        facts = facts_from_array(arrays["facts"])
        self.failures, self.skips = facts["failures"], facts["skips"]
        for requests, gain in facts["recent"]:
            self._add_recent(requests, gain)
        self._recent_gain = facts["recent_gain"]  # to the last bit: it was added up otherwise
        for lease, node, score, title in facts["best"]:
            self._add_best(Settled(lease, node, "visit", score=score, title=title))
        return True

    def hear(self, entry: Entry) -> None:
        """Take in what the log says of a lease that was settled."""
        lease, outcome = entry.lease, entry.outcome
        if entry.kind == "harvest":
            self.begin_harvest()
        if lease is not None and entry.kind == "correct":
            self.correct(lease.number, entry.data["score"])
        if lease is None or outcome is None:
            return
        self.failures += isinstance(outcome, Failure)
        self.skips += isinstance(outcome, Skip)
        self._add_recent(outcome.spent.requests, entry.gain)
        if isinstance(outcome, Visit):
            score, title = outcome.score, entry.title
            self._add_best(Settled(lease.number, lease.node, "visit", score=score, title=title))

    def progress(self, hosts: int, facts: dict[str, Any]) -> Progress:
        """Where the crawl stands now; `facts` are the source's own."""
        now = time.monotonic()
        self._forget(now)
        span = min(now - self.began, _RATE_OVER) or 1.0
        account = self.explorer.driver.account
        left = account.left("seconds")
        recent = self._recent_requests
        return Progress(
            requests=account.spent.requests + account.held.requests,
            budget=account.budget.requests,
            visits=self.explorer.visits,
            failures=self.failures,
            skips=self.skips,
            total=self.explorer.total,
            recent=max(0.0, self._recent_gain) / recent if recent else 0.0,
            frontier=self.explorer.frontier_size,
            in_flight=self.explorer.in_flight,
            known=self.explorer.driver.known,
            hosts=hosts,
            elapsed=now - self.began,
            pages_per_second=sum(visit for _, _, visit in self._times) / span,
            requests_per_second=sum(requests for _, requests, _ in self._times) / span,
            seconds_left=None if account.budget.seconds is None else max(0.0, left),
            bytes=account.spent.bytes,
            facts=facts,
            best=tuple(entry[2] for entry in sorted(self._best, reverse=True)),
        )
