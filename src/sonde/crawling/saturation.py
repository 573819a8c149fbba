"""Saturation: whether new pages still add to what is known of a question.

A crawl for a question counts facts, each once (see ``scorers.question``). It has enough when the
last ``OVER`` requests brought less than ``SHARE`` of all facts, or when hardly anything can be
left: by Good and Turing, the chance that the next fact is a new one is the share of those that were
met once, and the *coverage* is the rest.

All of this follows from the log: a crawl that was killed and resumed stops where it would have.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence

from sonde.crawling.retelling import Entry, Nodes
from sonde.records import Visit
from sonde.store.log import Arrays, facts_from_array, facts_to_array

OVER = 40
"""Requests that are looked back upon."""
SHARE = 0.02
"""Of all facts: less than that is nothing new."""
COVERED = 0.98
"""The coverage from which on hardly anything can be left."""
_LEAST = 20  # pages with facts before coverage is believed


class Saturation:
    """Counts facts (a ``Part``)."""

    def __init__(self) -> None:
        self.total = 0.0
        self._times: dict[Hashable, int] = {}
        self._once = 0
        self._all = 0
        self._pages = 0
        self._recent: deque[tuple[int, float]] = deque()
        self._requests = 0

    @property
    def coverage(self) -> float:
        """The chance that the next fact is one that is known."""
        return 1.0 - self._once / self._all if self._all else 0.0

    @property
    def reached(self) -> bool:
        """Whether new pages have stopped adding."""
        if self._pages >= _LEAST and self.coverage >= COVERED:
            return True
        lately = sum(gain for _, gain in self._recent)
        return self.total > 0 and self._requests >= OVER and lately < SHARE * self.total

    def add(self, requests: int, gain: float, facts: Sequence[Hashable]) -> bool:
        """A lease was settled: what it cost, what it added, which facts its page has; whether that
        is enough."""
        self.total += gain
        self._pages += bool(facts)
        for fact in facts:
            times = self._times[fact] = self._times.get(fact, 0) + 1
            self._once += (times == 1) - (times == 2)
            self._all += 1
        self._recent.append((requests, gain))
        self._requests += requests
        while self._recent and self._requests - self._recent[0][0] >= OVER:
            self._requests -= self._recent.popleft()[0]
        return self.reached

    def look_again(self) -> None:
        """Go on although it was enough: judge by what comes from now on."""
        self._recent.clear()
        self._requests = 0
        self._pages = 0

    # -- found again ---------------------------------------------------------------------------

    def capture(self) -> Arrays:
        """What was counted."""
        state = {
            "total": self.total,
            "pages": self._pages,
            "recent": list(self._recent),
            "times": list(self._times.items()),
        }
        return {"facts": facts_to_array(state)}

    def restore(self, arrays: Arrays, nodes: Nodes) -> bool:
        """Take on what was captured."""
        state = facts_from_array(arrays["facts"])
        self.total, self._pages = state["total"], state["pages"]
        self._recent = deque((requests, gain) for requests, gain in state["recent"])
        self._requests = sum(requests for requests, _ in self._recent)
        self._times = dict(state["times"])
        self._once = sum(times == 1 for times in self._times.values())
        self._all = sum(self._times.values())
        return True

    def hear(self, entry: Entry) -> None:
        """Take in what the log says: of a lease, or that somebody wants more."""
        if entry.kind == "budget":
            self.look_again()
        elif entry.outcome is not None:
            facts = entry.outcome.records if isinstance(entry.outcome, Visit) else ()
            self.add(entry.outcome.spent.requests, entry.gain, facts)
