"""Strategies turn predictions into the next node: `greedy`, or `altered:q,zeta`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sonde.errors import SpecError


@dataclass(frozen=True)
class Strategy:
    """With probability `certain` the argmax, otherwise uniformly among the nodes whose estimate
    is within `slack` of the maximum, as a share of its magnitude."""

    certain: float = 1.0
    slack: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.certain <= 1:
            raise SpecError(f"strategy {self}: q must be between 0 and 1, not {self.certain:g}")
        if not (self.slack >= 0 and math.isfinite(self.slack)):
            raise SpecError(f"strategy {self}: zeta must be 0 or more, not {self.slack:g}")

    def __str__(self) -> str:
        if self.certain == 1.0:
            return "greedy"
        return f"altered:{self.certain:g},{self.slack:g}"


GREEDY = Strategy()


def strategy_from(text: str | Strategy) -> Strategy:
    """A strategy from its text: ``greedy`` or ``altered:q,zeta``."""
    if isinstance(text, Strategy):
        return text
    name, _, arguments = text.partition(":")
    if name == "greedy" and not arguments:
        return GREEDY
    if name == "altered":
        try:
            certain, slack = (float(part) for part in arguments.split(","))
        except ValueError:
            raise SpecError(
                f"strategy {text!r}: altered takes two numbers, as in altered:0.9,0.1"
            ) from None
        return Strategy(certain, slack)
    raise SpecError(f"unknown strategy {text!r} (greedy, or altered:q,zeta)")
