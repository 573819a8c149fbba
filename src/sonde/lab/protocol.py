"""A protocol says how an experiment starts and how long it goes; a setting is a protocol as far as
one graph supports it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from sonde.errors import InputError
from sonde.metrics import checked_threshold
from sonde.protocols import Numbers
from sonde.simulation import draw_seeds
from sonde.sources.graph import Graph
from sonde.sources.graph.reachable import reachable

MILESTONES = (100, 1_000, 10_000)


@dataclass(frozen=True)
class Protocol:
    """The number of seed graphs, of nodes in each that score above a threshold, and of steps."""

    sets: int = 10
    seed_nodes: int = 50
    above: float = 0.0
    steps: int = 100_000
    seed: int = 0
    threshold: float = 0.0  # scores above it count as finds

    def __post_init__(self) -> None:
        if min(self.sets, self.seed_nodes, self.steps) < 1:
            raise InputError("an experiment needs 1 or more seed graphs, seed nodes and steps")
        checked_threshold(self.threshold)


@dataclass(frozen=True)
class CrawlSetting:
    """What became of a protocol on one graph."""

    graph: str
    fingerprint: str
    sets: int
    seed_nodes: int
    above: float
    steps: int
    seed: int
    notes: tuple[str, ...]
    threshold: float = 0.0

    def seeds(self, graph: Graph, number: int) -> Numbers:
        """The seed nodes of one seed graph."""
        return draw_seeds(graph, self.seed_nodes, self.seed + number, self.above)

    @property
    def marks(self) -> Numbers:
        """The steps at which curves are kept."""
        return marks(self.steps)


def marks(steps: int) -> Numbers:
    """Steps for a curve that can be read on a plain and on a logarithmic scale."""
    kept = np.concatenate(
        [
            np.geomspace(1, steps, 30),
            np.linspace(0, steps, 31)[1:],
            [stone for stone in MILESTONES if stone <= steps],
        ]
    )
    return np.unique(np.maximum(np.rint(kept).astype(np.int64), 1))


def fit(name: str, graph: Graph, protocol: Protocol) -> CrawlSetting:
    """The protocol on this graph: at most half the eligible nodes as seeds, and at most half the
    nodes within reach as steps. The notes say what was scaled down."""
    eligible = int(np.count_nonzero(graph.scores > protocol.above))
    if eligible < 1:
        raise InputError(f"{name}: no node scores above {protocol.above:g}")
    notes = []
    seed_nodes = min(protocol.seed_nodes, max(1, eligible // 2))
    if seed_nodes < protocol.seed_nodes:
        notes.append(
            f"{seed_nodes:,} seed nodes instead of {protocol.seed_nodes:,}: "
            f"{eligible:,} nodes score above {protocol.above:g}"
        )
    within = min(
        len(reachable(graph, draw_seeds(graph, seed_nodes, protocol.seed + number, protocol.above)))
        for number in range(protocol.sets)
    )
    if within < 1:
        raise InputError(
            f"{name}: a seed graph of {seed_nodes:,} nodes links to nothing (try another --seed, "
            f"or more --seed-nodes)"
        )
    steps = min(protocol.steps, max(1, within // 2))
    if steps < protocol.steps:
        notes.append(f"{steps:,} steps instead of {protocol.steps:,}: {within:,} nodes in reach")
    return CrawlSetting(
        graph=name,
        fingerprint=fingerprint(graph),
        sets=protocol.sets,
        seed_nodes=seed_nodes,
        above=protocol.above,
        steps=steps,
        seed=protocol.seed,
        notes=tuple(notes),
        threshold=protocol.threshold,
    )


def fingerprint(graph: Graph) -> str:
    """What tells this graph's links and scores from any other's."""
    digest = hashlib.blake2b(digest_size=8)
    for array in (graph.indptr, graph.targets, graph.link_scores, graph.scores):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
