"""Graphs made from a seed, for benchmarks and demonstrations.

What matters to a focused crawl is made on purpose. Communities lie on a ring, and most links
stay in their community or go to a near one; some of a community's nodes are far more linked to
than others, and some nodes link far more than others. The wanted topic is warm around one place
of the ring and cools quickly with distance, and pages on the topic prefer to link to each other,
so that a visit tells something about what lies behind it. Link scores tell something too, but
noisily: most links to wanted nodes do not say so, and some to unwanted ones do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sonde.errors import GraphError
from sonde.sources.graph.graph import Graph
from sonde.sources.graph.loading import EdgeList

CHUNK = 1 << 20
"""Links drawn at a time. Another value would be another graph for the same seed."""

STAY, NEAR = 0.6, 0.15  # a link stays in its community, goes to a near one, or else to any
LIKE_MINDED = 0.3  # how often a node on the topic insists on a target on the topic
SILENT = 0.25  # the share of nodes off the topic that link to nothing
POPULARITY = 2.0  # 1 would make all nodes of a community equally popular
DEGREE_SPREAD = 1.2  # of the logarithm of out-degrees
WARM, COLD = 0.03, 0.004  # the width of the topic on the ring; its warmth far from there
TELLING, NOISE = 0.4, 0.03  # how often a link scores if its target is on the topic; if it is not


def topical(nodes: int, edges: int, *, seed: int, topics: int = 50, share: float = 0.03) -> Graph:
    """A graph with exactly these numbers of nodes and edges, and integer names from 0.

    `topics` is the number of communities, `share` the share of nodes with a positive score. From
    any such node nearly every node with a link to it can be reached.
    """
    if nodes < 100 or not nodes <= edges <= nodes * nodes // 50:
        raise GraphError(
            f"cannot generate {nodes:,} nodes and {edges:,} edges: at least 100 nodes, and from one"
            " edge a node to one for every 50 pairs"
        )
    if not 1 <= topics <= nodes // 50 or not 0 < share <= 0.5:
        raise GraphError(
            f"cannot generate {topics:,} topics and a share of {share}: from one topic to one for"
            " every 50 nodes, and a share above 0 and up to 0.5"
        )
    dice = np.random.default_rng(seed)
    society = _society(dice, nodes, topics, share)
    indptr, targets = _links(dice, society, edges)
    scores = np.zeros(nodes)
    counts = np.minimum(dice.zipf(2.0, int(society.wanted.sum())), 10_000)
    scores[society.wanted] = 1 + np.log(counts)
    return Graph(
        indptr=indptr,
        targets=targets,
        link_scores=_link_scores(dice, society, targets),
        scores=scores,
        names=pa.array(np.arange(nodes)),
    )


@dataclass(frozen=True)
class _Society:
    """Who belongs where. List c of `members` is community c, list `topics + c` the wanted of it."""

    topics: int
    community: npt.NDArray[np.int32]
    wanted: npt.NDArray[np.bool_]
    members: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]


def _society(dice: np.random.Generator, nodes: int, topics: int, share: float) -> _Society:
    weights = 1 + dice.pareto(2.5, topics)
    community = dice.choice(topics, nodes, p=weights / weights.sum()).astype(np.int32)
    distance = np.minimum(np.arange(topics), topics - np.arange(topics))
    warmth = np.exp(-distance / (WARM * topics)) + COLD
    # The smallest of exponential waiting times: a weighted draw without replacement.
    waiting = dice.exponential(size=nodes) / warmth[community]
    wanted = np.zeros(nodes, np.bool_)
    wanted[np.argpartition(waiting, round(share * nodes))[: max(1, round(share * nodes))]] = True
    # A random order within each community: a place in it is what makes a node popular.
    order = dice.permutation(nodes).astype(np.int32)
    order = order[np.argsort(community[order], kind="stable")]
    fans = order[wanted[order]]
    sizes = np.concatenate(
        [np.bincount(community[listed], minlength=topics) for listed in (order, fans)]
    )
    return _Society(
        topics=topics,
        community=community,
        wanted=wanted,
        members=np.concatenate([order, fans]),
        starts=np.cumsum(sizes) - sizes,
        sizes=sizes,
    )


def _links(
    dice: np.random.Generator, society: _Society, edges: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Draw somewhat too many links, merge the parallel ones, and thin out what is left over."""
    surplus = 1.08
    while True:
        drawn = EdgeList(round(surplus * edges), keep_rows=False)
        degrees = _degrees(dice, society, round(surplus * edges))
        for sources, firsts in _chunks(degrees):
            targets = _targets(dice, society, sources, firsts)
            drawn.append(sources, targets, np.zeros(len(sources)))
        drawn.merge(drawn.sort(len(degrees)))
        if drawn.count >= edges:
            return _thinned(dice, drawn.indptr, drawn.targets, drawn.count - edges)
        surplus *= 1.3


def _degrees(dice: np.random.Generator, society: _Society, total: int) -> npt.NDArray[np.int64]:
    nodes = len(society.wanted)
    linking = society.wanted | (dice.random(nodes) >= SILENT)
    appetite = np.where(linking, dice.lognormal(sigma=DEGREE_SPREAD, size=nodes), 0.0)
    ends = np.cumsum(appetite)
    ends *= (total - int(linking.sum())) / ends[-1]
    degrees: npt.NDArray[np.int64] = linking + np.diff(np.rint(ends).astype(np.int64), prepend=0)
    return degrees


def _chunks(
    degrees: npt.NDArray[np.int64],
) -> Iterator[tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]]:
    """The sources of all links in order, and which links are their source's first."""
    ends = np.cumsum(degrees)
    cuts = np.searchsorted(ends, np.arange(CHUNK, ends[-1] + CHUNK, CHUNK), side="left") + 1
    start = 0
    for stop in np.minimum(cuts, len(degrees)):
        counts = degrees[start:stop]
        sources = np.repeat(np.arange(start, stop, dtype=np.int32), counts)
        yield sources, np.diff(sources, prepend=-1) != 0
        start = int(stop)


def _targets(
    dice: np.random.Generator,
    society: _Society,
    sources: npt.NDArray[np.int32],
    firsts: npt.NDArray[np.bool_],
) -> npt.NDArray[np.int32]:
    topics, count = society.topics, len(sources)
    where = dice.random(count)
    # Each node's first link goes anywhere, so that no community is an island.
    where[firsts] = 1.0
    listed = society.community[sources].astype(np.int64)
    near = np.flatnonzero((where >= STAY) & (where < STAY + NEAR))
    steps = dice.geometric(0.5, len(near)) * dice.choice((-1, 1), len(near))
    listed[near] = (listed[near] + steps) % topics
    anywhere = np.flatnonzero(where >= STAY + NEAR)
    listed[anywhere] = society.community[dice.integers(0, len(society.community), len(anywhere))]
    picky = society.wanted[sources] & (dice.random(count) < LIKE_MINDED)
    picky &= society.sizes[topics + listed] > 0
    listed[picky] += topics
    # A community may have stayed without members; the source's own has one.
    empty = np.flatnonzero(society.sizes[listed] == 0)
    listed[empty] = society.community[sources[empty]]
    places = (dice.random(count) ** POPULARITY * society.sizes[listed]).astype(np.int64)
    targets: npt.NDArray[np.int32] = society.members[society.starts[listed] + places]
    return targets


def _thinned(
    dice: np.random.Generator,
    indptr: npt.NDArray[np.int64],
    targets: npt.NDArray[np.int32],
    surplus: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Drop surplus links at random, but nobody's first one, which holds the graph together."""
    firsts = indptr[:-1][np.diff(indptr) > 0]
    drawn = np.sort(dice.choice(len(targets) - len(firsts), surplus, replace=False, shuffle=False))
    # The k-th first link has `firsts[k] - k` others before it.
    dropped = drawn + np.searchsorted(firsts - np.arange(len(firsts)), drawn, side="right")
    kept = np.ones(len(targets), np.bool_)
    kept[dropped] = False
    return indptr - np.searchsorted(dropped, indptr, side="left"), targets[kept]


def _link_scores(
    dice: np.random.Generator,
    society: _Society,
    targets: npt.NDArray[np.int32],
) -> npt.NDArray[np.float64]:
    scores = np.zeros(len(targets))
    for start in range(0, len(targets), CHUNK):
        part = slice(start, start + CHUNK)
        chance = np.where(society.wanted[targets[part]], TELLING, NOISE)
        scoring = start + np.flatnonzero(dice.random(len(chance)) < chance)
        scores[scoring] = 1 + np.log(dice.geometric(0.5, len(scoring)))
    return scores
