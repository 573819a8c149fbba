"""Choosing k seeds, and choosing them again as the known graph grows.

When they are chosen again, the good pages that the old seeds cover (those of positive value, on the
graph as it is known now) are kept first, and as much new value as possible is covered with the
seeds that are then left. There are two ways to keep them: with the old seeds, less those that the
others make superfluous, or with new ones, chosen by the method for nothing but those pages. Both
are tried, and the one is taken that keeps more, or, where both keep all, that covers more in the
end. As long as k allows for the old seeds that are needed, all good pages are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sonde.errors import InputError, SpecError
from sonde.seeds.amounts import Amounts
from sonde.seeds.coverage import Coverage
from sonde.seeds.methods import BASELINES, Method
from sonde.seeds.network import Flags, Linked, LinkNetwork


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


@dataclass(frozen=True)
class Refreshed:
    """A selection, what it kept of the old seeds' good pages, and what it added to them."""

    selection: Selection
    old_value: float
    kept_value: float
    new_value: float
    dropped: tuple[int, ...]


def refresh(
    network: LinkNetwork,
    amounts: Amounts,
    old: Sequence[int],
    k: int,
    *,
    hops: int,
    method: str | Method = "maxweight:2",
    seed: int = 0,
) -> Refreshed:
    """Up to k seeds that keep the good pages of the old ones and cover as much more as they can."""
    method = Method.parse(method) if isinstance(method, str) else method
    if method.name in (*BASELINES, "maxout"):
        raise SpecError(f"{method} does not look at values, so it cannot refresh seeds")
    good = _covered(network, amounts, old, hops) & (amounts.units > 0)
    keep = Amounts(np.where(good, amounts.units, 0), amounts.unit)
    plans = [
        _needed(network, keep, old, k, hops),
        continue_on(Coverage(network, keep, hops), k, method, seed).nodes,
    ]
    finished = [_finish(network, amounts, good, plan, k, hops, method, seed) for plan in plans]
    best = max(finished, key=lambda one: (one.kept_value, one.selection.value))
    kept = set(best.selection.nodes)
    dropped = tuple(node for node in dict.fromkeys(old) if node not in kept)
    return Refreshed(
        best.selection, keep.value(keep.positive), best.kept_value, best.new_value, dropped
    )


def _covered(network: LinkNetwork, amounts: Amounts, seeds: Sequence[int], hops: int) -> Flags:
    coverage = Coverage(network, amounts, hops)
    for node in seeds:
        coverage.take(node)
    return coverage.covered


def _needed(
    network: LinkNetwork, keep: Amounts, old: Sequence[int], k: int, hops: int
) -> list[int]:
    """The old seeds, most useful first, until they keep everything or k of them are taken."""
    coverage = Coverage(network, keep, hops)
    open_seeds = sorted(set(old))
    needed: list[int] = []
    while open_seeds and len(needed) < k:
        gains, _ = coverage.weigh(np.array(open_seeds, dtype=np.int32), hops)
        best = int(np.argmax(gains))
        if gains[best] <= 0:
            break
        needed.append(open_seeds.pop(best))
        coverage.take(needed[-1])
    return needed


def _finish(
    network: LinkNetwork,
    amounts: Amounts,
    good: Flags,
    plan: Sequence[int],
    k: int,
    hops: int,
    method: Method,
    seed: int,
) -> Refreshed:
    """Takes the planned seeds and lets the method choose the rest."""
    coverage = Coverage(network, amounts, hops)
    seeds = []
    for node in plan:
        fresh, gain = coverage.take(node)
        seeds.append(Seed(node, amounts.value(gain), len(fresh)))
    rest = continue_on(coverage, k - len(plan), method, seed)
    selection = Selection(
        method,
        coverage.hops,
        (*seeds, *rest.seeds),
        amounts.value(coverage.gained),
        rest.positive,
    )
    kept = int(amounts.units[good & coverage.covered].sum())
    return Refreshed(selection, 0.0, amounts.value(kept), amounts.value(coverage.gained - kept), ())
