"""What a crawl says while it runs. Nothing is said before it is committed."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from sonde.records import Node

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
