"""A tracked run as it can be read, also while the tracker is writing it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sonde.errors import InputError
from sonde.store.reader import RunReader

EVIDENCE = 5
"""Citing pages that are shown for each node, the latest first."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A page that cites; ``dated`` is what a feed or a sitemap says of the link."""

    source: str
    first_seen: float
    last_seen: float
    dated: float | None


@dataclass(frozen=True, slots=True)
class RankedPage:
    """A node of the ranking."""

    rank: int
    url: str
    title: str
    cited: int
    entered: float
    state: str
    last_visit: float | None
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A node that entered the ranking, or left it; ``why`` is gone or moved where that is so."""

    time: float
    change: str
    url: str
    rank: int
    cited: int
    why: str


@dataclass(frozen=True, slots=True)
class Status:
    """The tracker in numbers. Times are those of its own clock."""

    settings: dict[str, Any]
    at: float | None
    stop: str | None
    ranked_at: float | None
    requests: int
    requests_last_hour: int
    visits: int
    unchanged: int
    known: int
    states: dict[str, int]
    links: int
    links_in_window: int
    outcomes: dict[str, int]
    entered: int
    left: int


class TrackedRun:
    """What a tracked run has to say."""

    def __init__(self, run: RunReader) -> None:
        self._run = run
        settings = run.meta("track")
        if settings is None:
            raise InputError(f"{run.folder}: not tracked yet: sonde track {run.folder}")
        self.settings: dict[str, Any] = settings
        self._state: dict[str, Any] = run.meta("track_state") or {}

    @property
    def _since(self) -> float:
        return float(self._state.get("now", 0.0)) - float(self.settings["window"])

    def status(self) -> Status:
        """Where it stands."""
        run = self._run
        now = self._state.get("now")
        states = dict(run.rows("SELECT state, count(*) FROM tracked GROUP BY state"))
        outcomes = {
            outcome or "cut off or in flight": count
            for outcome, count in run.rows(
                "SELECT outcome, count(*) FROM sent GROUP BY outcome ORDER BY count(*) DESC"
            )
        }
        changes = dict(
            run.rows(
                "SELECT change, count(*) FROM ranking_changes WHERE time > ? GROUP BY change",
                self._since,
            )
        )
        return Status(
            settings=self.settings,
            at=now,
            stop=run.meta("track_stop"),
            ranked_at=self._state.get("ranked"),
            requests=run.count("SELECT sum(requests) FROM sent"),
            requests_last_hour=run.count(
                "SELECT sum(requests) FROM sent WHERE charged > ?", (now or 0.0) - 3600.0
            ),
            visits=run.count("SELECT count(*) FROM sent"),
            unchanged=run.count("SELECT count(*) FROM sent WHERE outcome = 'unchanged'"),
            known=sum(states.values()),
            states=states,
            links=run.count("SELECT count(*) FROM citations"),
            links_in_window=run.count(
                "SELECT count(*) FROM citations WHERE coalesce(dated, last) > ?", self._since
            ),
            outcomes=outcomes,
            entered=changes.get("entered", 0),
            left=changes.get("left", 0),
        )

    def ranking(self, evidence: int = EVIDENCE) -> list[RankedPage]:
        """The ranking as it was last brought up to date, with who cites each."""
        rows = list(
            self._run.rows(
                "SELECT ranked.rank, url, title, cited, entered, state, last, id"
                " FROM ranked JOIN tracked ON id = node ORDER BY ranked.rank"
            )
        )
        return [
            RankedPage(
                rank, url, title, cited, entered, state, last, self._evidence(number, evidence)
            )
            for rank, url, title, cited, entered, state, last, number in rows
        ]

    def _evidence(self, number: int, count: int) -> tuple[Evidence, ...]:
        return tuple(
            Evidence(*row)
            for row in self._run.rows(
                "SELECT url, citations.first, citations.last, citations.dated FROM citations"
                " JOIN tracked ON id = source WHERE target = ?"
                " AND coalesce(citations.dated, citations.last) > ?"
                " ORDER BY coalesce(citations.dated, citations.last) DESC, source LIMIT ?",
                number,
                self._since,
                count,
            )
        )

    def changes(self) -> list[Change]:
        """What entered and what left within the last window, the latest first."""
        return [
            Change(*row)
            for row in self._run.rows(
                "SELECT time, change, url, rank, cited, why FROM ranking_changes"
                " WHERE time > ? ORDER BY time DESC, change, rank",
                self._since,
            )
        ]

    def as_json(self) -> dict[str, Any]:
        """The ranking, what entered and left, and the evidence, as plain data."""
        changes = [asdict(change) for change in self.changes()]
        return {
            "at": self._state.get("ranked"),
            "window": self.settings["window"],
            "ranking": [asdict(page) for page in self.ranking()],
            "entered": [change for change in changes if change["change"] == "entered"],
            "left": [change for change in changes if change["change"] == "left"],
        }
