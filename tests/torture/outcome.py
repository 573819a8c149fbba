"""What a part of the campaign brings: what was tried, how much of it held, and figures."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Part:
    """One part. ``broken`` says of each thing that did not hold what happened."""

    name: str
    promise: str
    tried: int = 0
    figures: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    @property
    def held(self) -> int:
        """How many of those tried held."""
        return self.tried - len(self.broken)

    def check(self, holds: bool, otherwise: str) -> None:
        """One more was tried."""
        self.tried += 1
        if not holds:
            self.broken.append(otherwise)

    def rows(self) -> list[str]:
        """As rows of a table, and what was broken."""
        figures = "; ".join(self.figures)
        return [f"| {self.name} | {self.promise} | {self.tried:,} | {self.held:,} | {figures} |"]


HEAD = ["| part | what is promised | tried | held | figures |", "|---|---|---:|---:|---|"]
