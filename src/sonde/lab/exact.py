"""The best crawl there is, by integer programming, on graphs small enough for it.

A node is taken or not (x). Each taken node consumes one unit of a flow that starts at the seeds
and may pass through taken nodes only, so that what is taken hangs together with the seeds. Two
implied rows make the relaxation tight: a taken node has a taken parent, and a taken dominator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sonde import extras
from sonde.kernels.graphs.dominance import dominators, reach
from sonde.lab.territory import Numbers, Territory
from sonde.protocols import Floats


@dataclass(frozen=True)
class Exact:
    """What the solver knows: no crawl is worth more than `upper`; `nodes` is a crawl worth
    `lower`; `proven` says that the two are one."""

    upper: float
    lower: float
    nodes: Numbers
    proven: bool


def exact(territory: Territory, seconds: float) -> Exact:
    """The optimum over all crawls, or what is known of it when the time is up."""
    count, budget = len(territory), territory.budget
    if count == 0 or budget == 0:
        return Exact(0.0, 0.0, np.zeros(0, dtype=np.int64), True)
    optimize, sparse = (extras.scipy(part, "the exact optimum") for part in ("optimize", "sparse"))
    sources = np.repeat(np.arange(count), np.diff(territory.indptr))
    targets = territory.targets.astype(np.int64)
    links, entries = len(targets), territory.entries
    flows = links + entries  # along links, then from the seeds to entries
    columns = count + flows
    link_columns = count + np.arange(links)
    entry_columns = count + links + np.arange(entries)

    def matrix(rows: Numbers, places: Numbers, numbers: Floats, height: int) -> Any:
        return sparse.csr_array((numbers, (rows, places)), shape=(height, columns))

    ones = np.ones
    balance = matrix(
        np.concatenate([targets, np.arange(entries), sources, np.arange(count)]),
        np.concatenate([link_columns, entry_columns, link_columns, np.arange(count)]),
        np.concatenate([ones(links), ones(entries), -ones(links), -ones(count)]),
        count,
    )
    through = matrix(
        np.concatenate([np.arange(links)] * 2),
        np.concatenate([link_columns, sources]),
        np.concatenate([ones(links), np.full(links, -float(budget))]),
        links,
    )
    inner = np.flatnonzero(targets >= entries)
    parents = matrix(
        np.concatenate([np.arange(entries, count), targets[inner]]) - entries,
        np.concatenate([np.arange(entries, count), sources[inner]]),
        np.concatenate([ones(count - entries), -ones(len(inner))]),
        count - entries,
    )
    order, idom = dominators(territory.indptr, territory.targets, entries)
    below = np.flatnonzero(idom >= 0)
    dominance = matrix(
        np.concatenate([np.arange(len(below))] * 2),
        np.concatenate([order[below], order[idom[below]]]),
        np.concatenate([ones(len(below)), -ones(len(below))]),
        len(below),
    )
    size = matrix(np.zeros(count, dtype=np.int64), np.arange(count), ones(count), 1)
    rows = [(balance, 0.0, 0.0), (size, 0.0, float(budget))]
    for part in (through, parents, dominance):
        if part.shape[0]:
            rows.append((part, -np.inf, 0.0))
    found = optimize.milp(
        np.concatenate([-territory.values, np.zeros(flows)]),
        constraints=[optimize.LinearConstraint(*row) for row in rows],
        integrality=np.concatenate([ones(count), np.zeros(flows)]),
        bounds=optimize.Bounds(0, np.concatenate([ones(count), np.full(flows, float(budget))])),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    taken = np.zeros(0, dtype=np.int64)
    if found.x is not None:
        taken = _connected(territory, np.flatnonzero(found.x[:count] > 0.5))
    lower = float(territory.values[taken].sum())
    everything = float(np.sort(territory.values)[::-1][:budget].sum())
    dual = getattr(found, "mip_dual_bound", None)
    upper = everything if dual is None else min(everything, -float(dual))
    upper = max(upper, lower)
    proven = found.status == 0 and upper - lower <= 1e-6 * max(1.0, upper)
    return Exact(lower if proven else upper, lower, territory.nodes[taken].astype(np.int64), proven)


def _connected(territory: Territory, taken: Numbers) -> Numbers:
    """Those of the taken nodes that the seeds reach through taken nodes: all, but for rounding."""
    held = np.zeros(len(territory), dtype=np.bool_)
    held[taken] = True
    sources = np.repeat(np.arange(len(territory)), np.diff(territory.indptr))
    kept = held[sources] & held[territory.targets]
    # A further node stands for the seeds.
    root = len(territory)
    starts = taken[taken < territory.entries]
    degrees = np.append(np.bincount(sources[kept], minlength=root), len(starts))
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    targets = np.concatenate([territory.targets[kept], starts]).astype(np.int32)
    order, _ = reach(indptr, targets, np.array([root], dtype=np.int64), root + 1)
    found: Numbers = order.astype(np.int64)
    return found
