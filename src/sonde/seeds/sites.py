"""One selection for many sites: seeds shared out by importance, each site on its own.

A site's importance is the sum of its positive values. Seeds are shared out by largest remainder
(whole shares first, then one each to the largest fractions, ties to the site that comes first).
Links between sites are left out: a crawler budgets and restarts sites one by one, and a seed that
is to cover a neighbour would leave that site without one of its own. So what the seeds truly
cover together on the whole graph can only be more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from sonde.errors import InputError
from sonde.interruption import interruptible
from sonde.pool import as_finished
from sonde.seeds.amounts import Amounts
from sonde.seeds.known_graph import Sites
from sonde.seeds.methods import Method
from sonde.seeds.network import LinkNetwork, Nodes
from sonde.seeds.selection import Selection, select

_WORTH_A_PROCESS = 200_000  # links, below which starting processes takes longer than the work


@dataclass(frozen=True, eq=False)
class SitePart:
    """The nodes of one site, in the whole graph's numbers, and the links among them."""

    nodes: Nodes
    network: LinkNetwork


def allot(importance: Sequence[int], k: int) -> list[int]:
    """How many of k seeds each site gets."""
    if k < 0:
        raise InputError(f"the number of seeds must be at least 0, not {k}")
    total = sum(importance)
    if total <= 0:
        return [0] * len(importance)
    shares = [Fraction(k * weight, total) for weight in importance]
    seeds = [int(share) for share in shares]
    by_remainder = sorted(range(len(shares)), key=lambda site: seeds[site] - shares[site])
    for site in by_remainder[: k - sum(seeds)]:
        seeds[site] += 1
    return seeds


def split(network: LinkNetwork, sites: Sites) -> list[SitePart]:
    """The sites' own networks, in one pass over the links."""
    labels, count = sites.labels, len(sites.names)
    nodes = np.argsort(labels, kind="stable").astype(np.int32)
    sizes = np.bincount(labels, minlength=count)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    number = np.empty(network.nodes, dtype=np.int32)
    number[nodes] = np.arange(network.nodes, dtype=np.int32) - np.repeat(starts[:-1], sizes)
    sources = np.repeat(np.arange(network.nodes, dtype=np.int32), network.degrees)
    inside = np.flatnonzero(labels[sources] == labels[network.targets])
    inside = inside[np.argsort(labels[sources[inside]], kind="stable")]
    owner = labels[sources[inside]]
    ends = np.searchsorted(owner, np.arange(count + 1))
    parts = []
    for site in range(count):
        links = inside[ends[site] : ends[site + 1]]
        indptr = np.zeros(sizes[site] + 1, dtype=np.int64)
        np.cumsum(np.bincount(number[sources[links]], minlength=sizes[site]), out=indptr[1:])
        own = LinkNetwork(indptr, number[network.targets[links]])
        parts.append(SitePart(nodes[starts[site] : starts[site + 1]], own))
    return parts


@dataclass(frozen=True, eq=False)
class _Job:
    network: LinkNetwork
    amounts: Amounts
    k: int
    hops: int
    method: Method
    seed: int

    def run(self) -> Selection:
        return select(
            self.network,
            self.k,
            hops=self.hops,
            method=self.method,
            values=self.amounts,
            seed=self.seed,
        )


def select_by_site(
    network: LinkNetwork,
    sites: Sites,
    k: int,
    *,
    hops: int,
    method: str | Method,
    amounts: Amounts,
    seed: int = 0,
    workers: int | None = None,
) -> list[Selection]:
    """A selection for every site, in site order, its seeds in the whole graph's node numbers."""
    method = Method.parse(method) if isinstance(method, str) else method
    parts = split(network, sites)
    worth = [amounts.at(part.nodes) for part in parts]
    shares = allot([each.positive for each in worth], k)
    jobs = [
        _Job(part.network, own, share, hops, method, seed)
        for part, own, share in zip(parts, worth, shares, strict=True)
    ]
    small = len(network.targets) < _WORTH_A_PROCESS
    with interruptible():
        found = dict(as_finished(_Job.run, jobs, 1 if small else workers))
    return [
        replace(
            one,
            seeds=tuple(replace(seed, node=int(part.nodes[seed.node])) for seed in one.seeds),
        )
        for one, part in ((found[site], part) for site, part in enumerate(parts))
    ]
