"""Choosing seeds again as the known graph grows, without losing what the old ones brought.

The good pages that the old seeds cover (those of positive value, on the graph as it is known now)
are kept first, and as much new value as possible is covered with the seeds that are then left.
There are two ways to keep them: with the old seeds, less those that the others make superfluous,
or with new ones, chosen by the method for nothing but those pages. Both are tried, and the one is
taken that keeps more, or, where both keep all, that covers more in the end. As long as k allows
for the old seeds that are needed, all good pages are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sonde.errors import SpecError
from sonde.seeds.amounts import Amounts
from sonde.seeds.coverage import Coverage
from sonde.seeds.methods import BASELINES, Method
from sonde.seeds.network import Flags, LinkNetwork
from sonde.seeds.selection import Seed, Selection, continue_on


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
