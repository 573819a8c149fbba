"""Ways to meet the nodes of a graph that is seen only by visiting it.

    crawl-gai      greedy: the frontier node with the highest apparent in-degree
    crawl-ai       a frontier node drawn in proportion to its apparent in-degree
    walk           a random walk along links
    mix[:e]        crawl-ai with probability e (0.5), else crawl-gai; ranks by in-degree weighted
                   by inverse probabilities
    sample-u       idealised: nodes drawn evenly, without replacement
    sample-i       idealised: in proportion to in-degree
    sample-io      idealised: in proportion to in-degree + out-degree
    two-stage[:n]  for services that give random nodes and true degrees: n random nodes (by
                   default what a query of the 2 k most counted leaves, and at least half of the
                   budget), then queries of the nodes that these link to most

Crawlers start from one node. A walk pays for a node once: to pass through it again costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from sonde.errors import SpecError

CRAWLERS = ("crawl-gai", "crawl-ai", "walk", "mix")
SAMPLERS = ("sample-u", "sample-i", "sample-io")
NAMES = (*CRAWLERS, *SAMPLERS, "two-stage")


@dataclass(frozen=True)
class Method:
    """A name and its parameter: a probability for ``mix``, a count for ``two-stage``."""

    name: str
    parameter: float | None = None

    @classmethod
    def parse(cls, text: str) -> Method:
        """``crawl-gai``, ``mix:0.3``, ``two-stage:700``."""
        name, colon, rest = text.strip().partition(":")
        if name not in NAMES or (colon and name not in ("mix", "two-stage")):
            raise SpecError(f"unknown method {text!r} (one of: {', '.join(NAMES)})")
        if not colon:
            return cls(name)
        try:
            value = float(rest) if name == "mix" else float(int(rest))
        except ValueError:
            raise SpecError(f"{text!r}: {rest!r} is not a number") from None
        if not (0.0 < value < 1.0 if name == "mix" else value >= 1):
            raise SpecError(f"{text!r}: {'between 0 and 1' if name == 'mix' else 'at least 1'}")
        return cls(name, value)

    def __str__(self) -> str:
        return self.name if self.parameter is None else f"{self.name}:{self.parameter:g}"

    @property
    def crawls(self) -> bool:
        """Whether it needs a start node."""
        return self.name in CRAWLERS
