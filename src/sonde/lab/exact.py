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
from sonde.protocols import Floats, Numbers
from sonde.sources.graph.reachable import Reachable, within_hops


@dataclass(frozen=True)
class Exact:
    """What the solver knows: no crawl is worth more than `upper`; `nodes` is a crawl worth
    `lower`; `proven` says that the two are one."""

    upper: float
    lower: float
    nodes: Numbers
    proven: bool


def exact(part: Reachable, seconds: float) -> Exact:
    """The optimum over all crawls, or what is known of it when the time is up."""
    count, budget = len(part), part.budget
    if count == 0 or budget == 0:
        return Exact(0.0, 0.0, np.zeros(0, dtype=np.int64), True)
    optimize, sparse = (extras.scipy(name, "the exact optimum") for name in ("optimize", "sparse"))
    sources = np.repeat(np.arange(count), np.diff(part.indptr))
    targets = part.targets.astype(np.int64)
    links, entries = len(targets), part.entries
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
    order, idom = part.dominators()
    below = np.flatnonzero(idom >= 0)
    dominance = matrix(
        np.concatenate([np.arange(len(below))] * 2),
        np.concatenate([order[below], order[idom[below]]]),
        np.concatenate([ones(len(below)), -ones(len(below))]),
        len(below),
    )
    size = matrix(np.zeros(count, dtype=np.int64), np.arange(count), ones(count), 1)
    rows = [(balance, 0.0, 0.0), (size, 0.0, float(budget))]
    for matrix_rows in (through, parents, dominance):
        if matrix_rows.shape[0]:
            rows.append((matrix_rows, -np.inf, 0.0))
    found = optimize.milp(
        np.concatenate([-part.values, np.zeros(flows)]),
        constraints=[optimize.LinearConstraint(*row) for row in rows],
        integrality=np.concatenate([ones(count), np.zeros(flows)]),
        bounds=optimize.Bounds(0, np.concatenate([ones(count), np.full(flows, float(budget))])),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    taken: Numbers = np.zeros(0, dtype=np.int64)
    if found.x is not None:
        taken = _connected(part, np.flatnonzero(found.x[:count] > 0.5))
    lower = float(part.values[taken].sum())
    everything = float(np.sort(part.values)[::-1][:budget].sum())
    dual = getattr(found, "mip_dual_bound", None)
    upper = everything if dual is None else min(everything, -float(dual))
    upper = max(upper, lower)
    proven = found.status == 0 and upper - lower <= 1e-6 * max(1.0, upper)
    return Exact(lower if proven else upper, lower, part.nodes[taken].astype(np.int64), proven)


def _connected(part: Reachable, taken: Numbers) -> Numbers:
    """Those of the taken nodes that the seeds reach through taken nodes: all, but for rounding."""
    held = np.zeros(len(part), dtype=np.bool_)
    held[taken] = True
    sources = np.repeat(np.arange(len(part)), np.diff(part.indptr))
    kept = held[sources] & held[part.targets]
    # A further node stands for the seeds.
    root = len(part)
    starts = taken[taken < part.entries]
    degrees = np.append(np.bincount(sources[kept], minlength=root), len(starts))
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    targets = np.concatenate([part.targets[kept], starts]).astype(np.int32)
    order, _ = within_hops(indptr, targets, np.array([root], dtype=np.int64), root + 1)
    found: Numbers = order.astype(np.int64)
    return found
