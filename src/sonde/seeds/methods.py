"""The methods by name, as the command line spells them: ``maxweight:2``, ``greedy``, ..."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sonde.errors import SpecError
from sonde.seeds.components import MaxScc, RootScc
from sonde.seeds.coverage import Coverage
from sonde.seeds.greedy import Greedy
from sonde.seeds.network import Nodes
from sonde.seeds.sketch import SIZE, Sketch
from sonde.seeds.weights import MaxOut, MaxWeight, at_random, by_outdegree, by_pagerank

BASELINES = ("random", "pagerank", "outdegree")
_DEEP = ("maxweight", "maxscc", "rootscc")
NAMES = (*BASELINES, "maxout", *_DEEP, "greedy", "sketch")
ALL = (*BASELINES, "maxout", "maxweight:2", "maxweight:3", "maxscc", "rootscc", "greedy", "sketch")


class SeedChooser(Protocol):
    """One method at work on one graph: asked for the next seed, told what it newly covered."""

    def next(self) -> int | None:
        """The next seed, or none when nothing is worth choosing any more."""

    def update(self, fresh: Nodes) -> None:
        """The last seed was taken and covered these nodes for the first time."""

    def bound(self) -> int | None:
        """A ceiling, in units, on what any k seeds can cover, where the method knows one."""


@dataclass(frozen=True)
class Method:
    """A method and its parameter: the depth of a weight, or the size of a sketch."""

    name: str
    parameter: int | None = None

    @classmethod
    def parse(cls, text: str) -> Method:
        name, colon, rest = text.partition(":")
        if name not in NAMES:
            raise SpecError(f"no seed method {name!r}; there are {', '.join(NAMES)}")
        default = 2 if name in _DEEP else SIZE if name == "sketch" else None
        if not colon:
            return cls(name, default)
        if default is None:
            raise SpecError(f"the seed method {name!r} takes no parameter, so not {text!r}")
        least = 3 if name == "sketch" else 0
        if not rest.isascii() or not rest.isdigit() or int(rest) < least:
            raise SpecError(f"{text!r}: after the colon comes a whole number of at least {least}")
        return cls(name, int(rest))

    def __str__(self) -> str:
        if self.name in _DEEP or (self.name == "sketch" and self.parameter != SIZE):
            return f"{self.name}:{self.parameter}"
        return self.name

    def start(self, coverage: Coverage, k: int, seed: int) -> SeedChooser:
        """Sets the method to work on a graph that may be covered in part already."""
        parameter = self.parameter or 0
        match self.name:
            case "random":
                return at_random(coverage, seed)
            case "pagerank":
                return by_pagerank(coverage)
            case "outdegree":
                return by_outdegree(coverage)
            case "maxout":
                return MaxOut(coverage)
            case "maxweight":
                return MaxWeight(coverage, parameter)
            case "maxscc":
                return MaxScc(coverage, parameter)
            case "rootscc":
                return RootScc(coverage, parameter)
            case "greedy":
                return Greedy(coverage, k)
            case _:
                return Sketch(coverage, k, parameter, seed)
