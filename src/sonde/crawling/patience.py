"""Patience: which of the groups that are ready are worth asking now, and when to wait instead.

A crawl under a budget of requests pays for every request, and not for waiting. So where the best
node that is ready is expected to bring little, and a better one waits for its host's turn, the two
are weighed by their value a second: what is ready brings its value within the time that a request
takes (all in all, pauses included), what is not brings its own within that time and the wait.
Nobody is waited for longer than the user's patience, nor again who did not come then, until it
brings something; and nothing is waited for where time is scarcer than requests.

An estimator may expect much of nodes whose host has never kept a promise: their links look like all
others. So what each group was expected to bring is kept beside what it brought. A *poor* group is
one that keeps less than a quarter of what groups keep on the whole; what is expected of it counts
for as much less, and while others are better it is not offered.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from sonde.explorer import Explorer
from sonde.protocols import Pace
from sonde.records import Group

_SMOOTHED = 16  # visits
_ENOUGH = 5  # visits to a group before it is judged
_POOR = 0.25
_DOUBT = 2.0  # visits' worth of expectations that a new group is trusted with
_LOOKED_AT = 8  # poor groups at a time

Soon = Callable[[Mapping[Group, int], float], dict[Group, float]]
"""Given the nodes that wait by group, the groups that may be asked within so many seconds, and in
how many."""


class GroupRecord(NamedTuple):
    """What visits to a group were expected to bring, and what they brought."""

    visits: int = 0
    expected: float = 0.0
    brought: float = 0.0

    def plus(self, visits: int, expected: float, brought: float) -> GroupRecord:
        """With more visits."""
        return GroupRecord(self.visits + visits, self.expected + expected, self.brought + brought)


class Patience:
    """Weighs waiting against asking. ``longest`` is in seconds; 0 for none."""

    def __init__(self, longest: float, explorer: Explorer, pace: Pace) -> None:
        self._longest = longest
        self._driver = explorer.driver
        self._soon: Soon | None = getattr(pace, "soon", None)
        self._visit = 0.0  # seconds that a visit takes
        self._visits = 0
        self._since: float | None = None  # when the present wait began
        self._groups: dict[Group, GroupRecord] = {}
        self._all = GroupRecord()
        self._poor: set[Group] = set()
        self._awaited: set[Group] = set()  # by the present wait
        self._vain: set[Group] = set()  # those that did not come

    # -- what it learns from -------------------------------------------------------------------

    def recall(self, records: Iterable[tuple[Group, int, float, float]]) -> None:
        """Take in what a run knows of its groups."""
        for group, visits, expected, brought in records:
            self._learn(group, visits, expected, brought)

    def took(self, seconds: float) -> None:
        """A visit has taken so long."""
        self._visits += 1
        self._visit += (seconds - self._visit) / min(self._visits, _SMOOTHED)

    def brought(self, group: Group, expected: float | None, gain: float) -> None:
        """A node of a group was expected to bring so much, and has brought so much."""
        self._vain.discard(group)
        if expected is not None:
            self._learn(group, 1, max(expected, 0.0), gain)

    def _learn(self, group: Group, visits: int, expected: float, brought: float) -> None:
        record = self._groups.get(group, GroupRecord()).plus(visits, expected, brought)
        self._groups[group] = record
        self._all = self._all.plus(visits, expected, brought)
        if record.visits >= _ENOUGH and self.kept(group) < _POOR:
            self._poor.add(group)
        else:
            self._poor.discard(group)

    def kept(self, group: Group) -> float:
        """How much of what is expected of a group it keeps, against groups on the whole."""
        record, every = self._groups.get(group), self._all
        if record is None or not every.expected or not every.brought:
            return 1.0
        trust = _DOUBT * every.expected / every.visits
        share = every.brought / every.expected
        return (record.brought / share + trust) / (record.expected + trust)

    def asked(self) -> None:
        """Somebody was asked after all."""
        self._since = None
        self._awaited.clear()

    def until(self) -> float:
        """When the present wait is over, on the monotonic clock."""
        return math.inf if self._since is None else self._since + self._longest

    # -- what it says --------------------------------------------------------------------------

    def offered(
        self,
        ready: Collection[Group] | None,
        waiting: Mapping[Group, int],
        now: float,
        pace: float,
    ) -> Collection[Group] | None:
        """Those of the groups that are ready (``None`` for all) which should be asked now: none of
        them, to wait. ``waiting`` has the nodes that wait by group; ``pace`` is how many seconds a
        request takes at present."""
        if now >= self.until():  # who was waited for did not come, and may never come
            self._vain.update(self._awaited)
            return ready
        if not self._weighs(pace) or not (self._poor if ready is None else ready):
            return ready
        groups = [group for group, count in waiting.items() if count] if ready is None else ready
        fine = [group for group in groups if group not in self._poor]
        here, _ = self._driver.expected(fine)
        best = max(0.0, here) if fine and not math.isnan(here) else 0.0
        poor = self._best_of_poor(groups) if len(fine) < len(groups) else 0.0
        if fine and math.isnan(here):  # chance has no opinion
            return ready
        if self._better_soon(waiting, max(best, poor), max(pace, self._visit)):
            if self._since is None:
                self._since = now
            return ()
        if len(fine) == len(groups) or poor > best or not fine:
            return ready
        return fine

    def _weighs(self, pace: float) -> bool:
        """Whether there is anything to weigh: requests are what is scarce."""
        if self._soon is None or not self._longest or not self._visits:
            return False
        account = self._driver.account
        if account.budget.requests is None or self._driver.seeds_wait:
            return False
        return account.left("seconds") >= account.left("requests") * pace

    def _best_of_poor(self, groups: Collection[Group]) -> float:
        best, seen = 0.0, 0
        for group in groups:
            if group in self._poor:
                value, _ = self._driver.expected([group])
                if value > 0.0:
                    best = max(best, value * self.kept(group))
                seen += 1
                if seen == _LOOKED_AT:
                    break
        return best

    def _better_soon(self, waiting: Mapping[Group, int], here: float, seconds: float) -> bool:
        """Whether a group that is not ready brings more a second than `here` in so many."""
        assert self._soon is not None
        soon = {
            group: wait
            for group, wait in self._soon(waiting, self._longest).items()
            if group not in self._poor and group not in self._vain
        }
        if not soon:
            return False
        there, group = self._driver.expected(soon)
        if there > here and there * seconds > here * (soon[group] + seconds):
            self._awaited.add(group)
            return True
        return False
