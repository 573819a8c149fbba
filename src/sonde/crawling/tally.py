"""How a crawl is doing: rates, the harvest so far and lately, the best finds."""

from __future__ import annotations

import heapq
import sqlite3
import time
from collections import deque
from typing import Any

from sonde.crawling.events import Progress, Settled
from sonde.explorer import Explorer

_BEST = 10
_RATE_OVER = 10.0  # seconds


class Tally:
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
            entry = (settled.score, -settled.lease, settled)
            if len(self._best) < _BEST:
                heapq.heappush(self._best, entry)
            elif entry > self._best[0]:
                heapq.heapreplace(self._best, entry)
        if len(self._times) > 100_000 or now - self._times[0][0] > 2 * _RATE_OVER:
            self._forget(now)
        return self._add_recent(settled.requests, settled.gain)

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

    def _forget(self, now: float) -> None:
        while self._times and now - self._times[0][0] > _RATE_OVER:
            self._times.popleft()

    def recall(self, database: sqlite3.Connection) -> None:
        """Take in what a run settled before."""
        for outcome, requests, gain in database.execute(
            "SELECT outcome, requests, coalesce(gain, 0.0) FROM leases"
            " WHERE outcome IS NOT NULL ORDER BY settled, number"
        ):
            self.failures += outcome in ("failure", "interrupt")
            self.skips += outcome == "skip"
            self._add_recent(requests, gain)
        for score, number, url, title in database.execute(
            "SELECT score, leases.number, url, coalesce(title, '') FROM leases"
            " JOIN nodes ON nodes.number = leases.node LEFT JOIN pages"
            " ON pages.lease = leases.number WHERE outcome = 'visit'"
            f" ORDER BY score DESC, leases.number LIMIT {_BEST}"
        ):
            settled = Settled(number, url, "visit", score=score, title=title)
            heapq.heappush(self._best, (score, -number, settled))

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
