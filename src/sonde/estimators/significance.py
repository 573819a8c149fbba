"""URL significance: what URLs and hosts say of a page before it is fetched."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from sonde.errors import SpecError
from sonde.estimators.builder import AGGREGATES, KINDS, ModelBuilder, SingleEstimator, associated
from sonde.protocols import Chooser

MEASURES = ("rfu", "bfu", "id", "repeats", "hop", "arf", "rtt")
"""What the estimator is made of; each can be left out, or given a weight."""

RTT_SHARE = 0.1
"""The bonus of the quickest possible host, as a share of the mean gain so far."""

USAGE = "url or url+lnh, then :-measure to leave one out, :measure=weight to give weights"


@dataclass(frozen=True)
class UrlSignificance(SingleEstimator):
    """`url`: the fetch relevance FR, a weighted sum of URL measures; `url+lnh` has the
    neighbourhood features of `lnh` as well.

    `how` is the aggregate of these (empty for `url` alone), `without` the measures left out. With
    `given` the weights are these, and 0 for measures not named; otherwise they are learned by
    recursive least squares, as in `lnh`. `share` is what quick hosts are preferred by.
    """

    how: str = ""
    without: tuple[str, ...] = ()
    given: tuple[tuple[str, float], ...] = ()
    share: float = RTT_SHARE

    def __post_init__(self) -> None:
        if self.how and self.how not in AGGREGATES:
            raise SpecError(f"unknown aggregate {self.how!r} of 'url+lnh' (sum, max or avg)")
        known = MEASURES + (KINDS if self.how else ())
        for name in (*self.without, *(name for name, _ in self.given)):
            if name not in known:
                raise SpecError(
                    f"estimator '{self}': unknown measure {name!r} (one of: {', '.join(known)})"
                )
        if not all(map(math.isfinite, (*dict(self.given).values(), self.share))) or self.share < 0:
            raise SpecError(f"estimator '{self}': weights are finite, and rtt is 0 or more")
        if not self._terms():
            raise SpecError(f"estimator '{self}': no measure is left")

    def __str__(self) -> str:
        parts = [f"url+lnh:{self.how}" if self.how else "url"]
        parts += [f"-{name}" for name in self.without]
        parts += [f"{name}={weight:g}" for name, weight in self.given]
        if self.share != RTT_SHARE and "rtt" not in self.without:
            parts.append(f"rtt={self.share:g}")
        return ":".join(parts)

    def _terms(self) -> tuple[str, ...]:
        """The features whose weights are learned or given, in order."""
        chosen = dict(self.given) if self.given else dict.fromkeys(MEASURES + KINDS)
        taken = [name for name in chosen if name not in self.without]
        terms: list[str] = [
            name for name in ("rfu", "bfu", "id", "repeats", "hop") if name in taken
        ]
        if "arf" in taken:
            terms += associated(str(self))
        if self.how:
            terms += [f"{kind}:{self.how}" for kind in KINDS if kind in taken]
        return tuple(terms)

    @property
    def _quick(self) -> bool:
        return "rtt" not in self.without and self.share > 0

    def features(self) -> tuple[str, ...]:
        return self._terms() + (("quick",) if self._quick else ())

    def remembers(self) -> bool:
        return associated(str(self))[0] in self._terms()

    def build(self, builder: ModelBuilder) -> Chooser:
        terms = self._terms()
        leaf = builder.kernels.Relevance(
            builder.frontier,
            [builder.columns[name] for name in terms],
            [self._weight(name) for name in terms] if self.given else None,
            builder.feedback(str(self)) if self.remembers() else None,
            builder.quick_column() if self._quick else -1,
            self.share,
        )
        return builder.single(leaf)

    def _weight(self, term: str) -> float:
        weights = dict(self.given)
        if "|" in term:
            return -weights["arf"] if term.endswith("-") else weights["arf"]
        return weights[term.partition(":")[0]]


def url_significance(text: str, name: str, arguments: list[str]) -> UrlSignificance:
    """The estimator from the parts of its text."""
    how = "sum" if name == "url+lnh" else ""
    without: list[str] = []
    given: dict[str, float] = {}
    share = RTT_SHARE
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if key.startswith("-") and not equals:
            without.append(key[1:])
        elif equals:
            try:
                weight = float(value)
            except ValueError:
                raise SpecError(f"estimator {text!r}: {value!r} is not a number") from None
            if key == "rtt":
                share = weight
            else:
                given[key] = weight
        elif how and key in AGGREGATES:
            how = key
        else:
            raise SpecError(f"estimator {text!r}: {argument!r} is not understood ({USAGE})")
    return UrlSignificance(how, tuple(without), tuple(_ordered(given).items()), share)


def _ordered(given: Mapping[str, float]) -> dict[str, float]:
    """In the order of the measures; unknown names last, to be complained of."""
    return {name: given[name] for name in (*MEASURES, *KINDS) if name in given} | dict(given)
