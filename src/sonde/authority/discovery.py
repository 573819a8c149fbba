"""Top-k discovery: an attempt to find the most cited nodes of a static graph, and how it went.

A graph is seen only by visiting it. Ways to meet its nodes:

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

*Crawl performance* is the share of K (see ``ranking``) among the crawled nodes. *Rank performance*
is the share of K among k crawled nodes that the method itself names, by apparent in-degree: how
many crawled nodes link to a node. ``mix`` weighs each crawled node by inverse probability instead,
``two-stage`` knows the true in-degrees of those that it queried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sonde import kernels
from sonde.authority.ranking import Nodes, highest, most_cited, share, start_node
from sonde.errors import InputError, SpecError
from sonde.protocols import Floats

CRAWLERS = ("crawl-gai", "crawl-ai", "walk", "mix")
SAMPLERS = ("sample-u", "sample-i", "sample-io")
NAMES = (*CRAWLERS, *SAMPLERS, "two-stage")
PATIENCE = 1_000
"""Moves of a walk that may meet nothing new before it goes on from elsewhere."""


@dataclass(frozen=True)
class DiscoveryMethod:
    """A name and its parameter: a probability for ``mix``, a count for ``two-stage``."""

    name: str
    parameter: float | None = None

    @classmethod
    def parse(cls, text: str) -> DiscoveryMethod:
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


class LinkArrays(Protocol):
    """Anything with CSR links, such as a recorded graph."""

    @property
    def indptr(self) -> npt.NDArray[np.int64]: ...

    @property
    def targets(self) -> npt.NDArray[np.int32]: ...


def indegrees(graph: LinkArrays) -> npt.NDArray[np.int32]:
    """How many distinct nodes link to each node."""
    return np.bincount(graph.targets, minlength=len(graph.indptr) - 1).astype(np.int32)


def links_of(graph: LinkArrays, nodes: Nodes) -> tuple[Nodes, npt.NDArray[np.int64]]:
    """The targets of some nodes' links, one node after the other, and how many each has."""
    lengths = (graph.indptr[1:] - graph.indptr[:-1])[nodes]
    ends = np.cumsum(lengths)
    places = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
    return graph.targets[np.repeat(graph.indptr[nodes], lengths) + places], lengths


@dataclass(frozen=True)
class Discovery:
    """What a method crawled, in order, and by what it ranks.

    ``chances`` are the probabilities of the draws that chose each node, 0 where it was not drawn.
    """

    graph: LinkArrays
    method: DiscoveryMethod
    top: int
    start: int | None
    order: Nodes
    chances: Floats

    @cached_property
    def indegree(self) -> npt.NDArray[np.int32]:
        """The truth."""
        return indegrees(self.graph)

    @cached_property
    def targets(self) -> Nodes:
        """K."""
        return most_cited(self.indegree, self.top)

    @cached_property
    def _wanted(self) -> npt.NDArray[np.bool_]:
        wanted = np.zeros(len(self.graph.indptr) - 1, dtype=bool)
        wanted[self.targets] = True
        return wanted

    def weights(self, steps: int) -> Floats:
        """What a link of each of the first nodes counts for.

        1, but for a mixture. There each draw t gives an estimate of a node's in-degree: 1 for each
        link from the nodes crawled before, and 1 / p for one from the node that was drawn with
        probability p, which stands for all that were on the frontier. The mean over all draws
        gives each crawled node its weight. Of the 1 / p, those above their median are cut to it:
        a few draws of rarely cited nodes would outweigh all others, and the ranking be noise.
        """
        drawn = self.chances[:steps] > 0
        count = np.count_nonzero(drawn)
        if self.method.name != "mix" or not count:
            return np.ones(steps)
        later = count - np.cumsum(drawn)
        own = np.zeros(steps)
        inverse = 1.0 / self.chances[:steps][drawn]
        own[drawn] = np.minimum(inverse, np.median(inverse))
        weights: Floats = (later + own) / count
        return weights

    def apparent(self, steps: int | None = None, *, weighted: bool = False) -> Floats:
        """Every node's apparent in-degree after a number of steps."""
        nodes = self.order[:steps]
        found, lengths = links_of(self.graph, nodes)
        weights = np.repeat(self.weights(len(nodes)), lengths) if weighted else None
        size = len(self.graph.indptr) - 1
        counts: Floats = np.bincount(found, weights, size).astype(np.float64)
        return counts

    def named(self, steps: int | None = None) -> Nodes:
        """The k crawled nodes that the method takes for the most cited."""
        return highest(self.apparent(steps, weighted=True), self.top, np.sort(self.order[:steps]))

    def crawl_performance(self, steps: int | None = None) -> float:
        """The share of K that was crawled."""
        return share(self.order[:steps], self._wanted, len(self.targets))

    def rank_performance(self, steps: int | None = None) -> float:
        """The share of K among the nodes that the method names."""
        return share(self.named(steps), self._wanted, len(self.targets))


@dataclass(frozen=True)
class TwoStage(Discovery):
    """Random nodes first, then true degrees of those that they link to most.

    ``order`` is a random order of all nodes; how much of it is used depends on the budget.
    """

    def split(self, steps: int) -> tuple[int, int]:
        """How many random nodes, and how many queries."""
        if self.method.parameter is not None:
            first = min(steps, int(self.method.parameter))
        else:
            first = steps - min(steps // 2, 2 * self.top)
        return first, steps - first

    def _queried(self, steps: int | None) -> tuple[Nodes, Nodes]:
        first, queries = self.split(len(self.order) if steps is None else steps)
        counts = self.apparent(first)
        counted = np.flatnonzero(counts > 0).astype(np.int32)
        return self.order[:first], highest(counts, queries, counted)

    def named(self, steps: int | None = None) -> Nodes:
        _, queried = self._queried(steps)
        return highest(self.indegree, self.top, np.sort(queried))

    def crawled(self, steps: int | None = None) -> Nodes:
        """All nodes that a request was spent on."""
        return np.union1d(*self._queried(steps)).astype(np.int32)

    def crawl_performance(self, steps: int | None = None) -> float:
        return share(self.crawled(steps), self._wanted, len(self.targets))


def find(
    graph: LinkArrays,
    *,
    top: int,
    budget: int,
    method: str | DiscoveryMethod = "crawl-gai",
    start: int | None = None,
    seed: int = 0,
    engine: str = "compiled",
) -> Discovery:
    """Look for the `top` most cited nodes with `budget` visits.

    Crawlers begin at node `start`, by default one of the largest strongly connected component.
    """
    count = len(graph.indptr) - 1
    if top < 1:
        raise InputError(f"the number of nodes to find must be 1 or more, not {top}")
    if budget < 1:
        raise InputError(f"a budget must be 1 or more, not {budget}")
    if start is not None and not 0 <= start < count:
        raise InputError(f"there is no node number {start}")
    how = DiscoveryMethod.parse(method) if isinstance(method, str) else method
    loops = kernels.load(engine)
    dice = loops.dice.Dice(seed)
    room = min(budget, count)
    order = np.zeros(room, dtype=np.int32)
    chances = np.zeros(room)
    if how.crawls and start is None:
        start = start_node(graph.indptr, graph.targets, seed)
    if how.name == "walk":
        done = loops.expansion.walk(dice, graph.indptr, graph.targets, start, PATIENCE, order)
    elif how.crawls:
        explore = {"crawl-gai": 0.0, "crawl-ai": 1.0}.get(how.name)
        if explore is None:
            explore = 0.5 if how.parameter is None else how.parameter
        expansion = loops.expansion.Expansion(count, explore)
        done = loops.expansion.crawl(
            expansion, dice, graph.indptr, graph.targets, start, order, chances
        )
    else:
        weights, spare = loops.expansion.Weights(count), loops.expansion.Weights(count)
        weights.fill(_weights(graph, how.name))
        spare.fill(np.ones(count))
        done = loops.expansion.sample(dice, weights, spare, order)
    kind = TwoStage if how.name == "two-stage" else Discovery
    return kind(graph, how, top, start if how.crawls else None, order[:done], chances[:done])


def _weights(graph: LinkArrays, name: str) -> Floats:
    if name in ("sample-u", "two-stage"):
        return np.ones(len(graph.indptr) - 1)
    weights = indegrees(graph).astype(np.float64)
    if name == "sample-io":
        weights += np.diff(graph.indptr)
    return weights


def performance(found: Discovery, at: Sequence[int]) -> tuple[Floats, Floats]:
    """Crawl and rank performance after each number of steps."""
    crawl = np.array([found.crawl_performance(steps) for steps in at])
    rank = np.array([found.rank_performance(steps) for steps in at])
    return crawl, rank
