"""The plan: what a tracker is told, and what it may cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from sonde.authority.tracking import DAY, check_policies
from sonde.errors import InputError, SpecError

EXPANSIONS = ("crawl-gai", "crawl-ai")


@dataclass(frozen=True)
class TrackPlan:
    """``per_hour`` requests are shared by expansion (a ``share`` of the visits) and recrawl.

    ``budget`` is the most that the tracker may spend on the run in all, ``most`` the most nodes
    that it keeps in memory.
    """

    top: int = 500
    window: float = 7 * DAY
    per_hour: int = 200
    expand: str = "crawl-gai"
    recrawl: str = "bandit"
    share: float = 0.5
    budget: int | None = None
    seed: int = 0
    most: int = 1_000_000

    def __post_init__(self) -> None:
        check_policies(self.expand, EXPANSIONS, self.recrawl, self.share)
        for name in ("top", "window", "per_hour", "most"):
            if not getattr(self, name) > 0:
                raise SpecError(f"{name} must be above 0, not {getattr(self, name)}")
        if self.budget is not None and self.budget < 0:
            raise SpecError(f"a budget of {self.budget} requests is not possible")

    def as_data(self) -> dict[str, Any]:
        """As it is kept with the run."""
        return asdict(self)

    @classmethod
    def of(cls, kept: dict[str, Any] | None, changes: dict[str, Any]) -> TrackPlan:
        """What was kept, with what is told now."""
        known = {field.name for field in fields(cls)}
        unknown = sorted(changes.keys() - known)
        if unknown:
            raise InputError(f"unknown setting {unknown[0]!r} (known: {', '.join(sorted(known))})")
        old = {name: value for name, value in (kept or {}).items() if name in known}
        return cls(**{**old, **changes})
