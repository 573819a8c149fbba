"""Choosing k seeds, and the record of what was chosen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sonde.errors import InputError
from sonde.seeds.amounts import Amounts
from sonde.seeds.coverage import Coverage
from sonde.seeds.methods import Method
from sonde.seeds.network import Linked, LinkNetwork


@dataclass(frozen=True)
class Seed:
    """One seed: its node, what it newly covered, and how many nodes that were."""

    node: int
    gain: float
    pages: int


@dataclass(frozen=True)
class Selection:
    """The seeds in the order chosen, and what they cover together, counted once each.

    ``value`` is the true value covered, negative values included; ``positive`` the sum of all
    positive values, which nothing can exceed; ``bound``, from `greedy` and `sketch`, a lower
    ceiling on what any k seeds could cover (for `sketch` at 99 % confidence).
    """

    method: Method
    hops: int
    seeds: tuple[Seed, ...]
    value: float
    positive: float
    bound: float | None = None

    @property
    def nodes(self) -> list[int]:
        return [seed.node for seed in self.seeds]

    @property
    def pages(self) -> int:
        """How many nodes are covered."""
        return sum(seed.pages for seed in self.seeds)


def select(
    graph: Linked | LinkNetwork,
    k: int,
    *,
    hops: int,
    method: str | Method = "maxweight:2",
    values: npt.ArrayLike | Amounts | None = None,
    seed: int = 0,
) -> Selection:
    """Chooses up to k seeds whose neighbourhoods within some hops cover the most value.

    Without values every node is worth 1. Fewer than k seeds come back when nothing is left that
    the method would gain by.
    """
    network = LinkNetwork.of(graph)
    method = Method.parse(method) if isinstance(method, str) else method
    coverage = Coverage(network, amounts_of(values, network.nodes), hops)
    return continue_on(coverage, k, method, seed)


def amounts_of(values: npt.ArrayLike | Amounts | None, nodes: int) -> Amounts:
    """The values as amounts; one a node if there are none."""
    if isinstance(values, Amounts):
        return values
    return Amounts.of(np.ones(nodes) if values is None else values)


def continue_on(coverage: Coverage, k: int, method: Method, seed: int) -> Selection:
    """Chooses k more seeds on a graph that may be covered in part already."""
    if k < 0:
        raise InputError(f"the number of seeds must be at least 0, not {k}")
    amounts, before = coverage.amounts, coverage.gained
    seeds: list[Seed] = []
    ceiling = None
    if k:
        chooser = method.start(coverage, k, seed)
        while len(seeds) < k and (node := chooser.next()) is not None:
            fresh, gain = coverage.take(node)
            chooser.update(fresh)
            seeds.append(Seed(node, amounts.value(gain), len(fresh)))
        ceiling = chooser.bound()
    return Selection(
        method,
        coverage.hops,
        tuple(seeds),
        amounts.value(coverage.gained - before),
        amounts.value(amounts.positive),
        None if ceiling is None else amounts.value(ceiling),
    )


def covered_by(
    graph: Linked | LinkNetwork,
    nodes: Iterable[int],
    *,
    hops: int,
    values: npt.ArrayLike | Amounts | None = None,
) -> float:
    """The value that some nodes cover together as seeds."""
    network = LinkNetwork.of(graph)
    coverage = Coverage(network, amounts_of(values, network.nodes), hops)
    for node in nodes:
        coverage.take(node)
    return coverage.amounts.value(coverage.gained)
