"""How far from the best possible: bounds that hold for every crawl of a known graph.

Finding the best crawl is NP-hard; bounding it from above is not. Three upper bounds hold at any
size, and each of them is valid at every step of its own improvement:

* ``best``: the n highest values within reach.
* ``dominators``: a crawl that holds a node holds all its dominators, so that its nodes are closed
  upwards in the dominator tree. With a price for every node instead of the budget, the best
  closed set is found in one pass; the best price by bisection.
* ``parents``: a visited node has a visited parent or is linked from a seed. With a multiplier on
  each of these rules, the best n nodes are those of the highest reduced values; multipliers are
  improved by subgradients.

On graphs small enough for it integer programming finds the best crawl itself (``exact``).

From below: the better of two crawls that know the truth, oracle-greedy and path-greedy.
All values are of the visits alone, the seeds left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sonde import extras
from sonde.errors import InputError
from sonde.protocols import Floats, Numbers
from sonde.simulation import simulate
from sonde.sources.graph import Graph
from sonde.sources.graph.reachable import DominatorTree, Reachable, within_hops


@dataclass(frozen=True)
class Bounds:
    """What is known about the best crawl: values by the name of the bound, and seconds."""

    reachable: int
    links: int
    budget: int
    uppers: dict[str, float]
    lowers: dict[str, float]
    optimum: float | None
    seconds: dict[str, float]

    @property
    def upper(self) -> float:
        return min(self.uppers.values())

    @property
    def lower(self) -> float:
        return max(self.lowers.values())

    def gap(self, gain: float) -> float:
        """By how many percent of the best possible a crawl of this gain may fall short, at most."""
        return max(0.0, 100.0 * (1.0 - gain / self.upper)) if self.upper > 0 else 0.0

    def as_json(self) -> dict[str, Any]:
        return {
            "reachable": self.reachable,
            "links": self.links,
            "budget": self.budget,
            "upper": self.upper,
            "lower": self.lower,
            "optimum": self.optimum,
            "at_most_percent_from_optimal": self.gap(self.lower),
            "uppers": self.uppers,
            "lowers": self.lowers,
            "seconds": self.seconds,
        }


def bound(
    graph: Graph,
    seeds: Numbers,
    budget: int,
    *,
    objective: str = "sum",
    longest: int = 3,
    rounds: int = 200,
    exact_seconds: float = 0.0,
    exact_links: int = 2_000,
) -> Bounds:
    """Bound the best crawl of `budget` visits from these seeds (numbers of nodes).

    `longest` is how many nodes path-greedy adds at once, `rounds` the number of subgradients. The
    exact optimum is looked for when `exact_seconds` is positive and no more than `exact_links`
    links are within reach.
    """
    if budget < 1 or longest < 1 or rounds < 0:
        raise InputError("a bound needs a budget and paths of 1 or more, and rounds of 0 or more")
    seconds: dict[str, float] = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = work()
        seconds[name] = round(time.perf_counter() - start, 3)
        return result

    part: Reachable = timed("reach", lambda: Reachable.of(graph, seeds, budget, objective))
    lowers = {
        "oracle": timed("oracle", lambda: oracle_greedy(graph, seeds, budget, objective)),
        "paths": timed("paths", lambda: path_greedy(part, longest)),
    }
    uppers = {
        "best": timed("best", lambda: best_values(part)),
        "dominators": timed("dominators", lambda: dominator_bound(part)),
        "parents": timed("parents", lambda: parent_bound(part, max(lowers.values()), rounds)),
        "joint": timed("joint", lambda: joint_bound(part, max(lowers.values()), rounds)),
    }
    optimum = None
    if exact_seconds > 0 and len(part.targets) <= exact_links:
        found = timed("exact", lambda: exact(part, exact_seconds))
        uppers["exact"] = found.upper
        lowers["exact"] = found.lower
        optimum = found.lower if found.proven else None
    return Bounds(
        reachable=len(part),
        links=len(part.targets),
        budget=budget,
        uppers=uppers,
        lowers=lowers,
        optimum=optimum,
        seconds=seconds,
    )


def best_values(part: Reachable) -> float:
    """The highest values within reach, as many as the budget."""
    return float(np.sort(part.values)[::-1][: part.budget].sum())


def dominator_bound(part: Reachable) -> float:
    """The Lagrangian bound on the dominator tree, at the best price found."""
    return DominatorTree(part).bound(part.values)[0] if len(part) else 0.0


class Descent:
    """Multipliers on "a visited node has a visited parent", improved by subgradients."""

    def __init__(self, part: Reachable, target: float) -> None:
        self.part = part
        self.target = target  # a crawl of this value is known
        self.multipliers = np.zeros(len(part))
        self.reduced = np.array(part.values)
        self.lowest = np.inf
        self._pace, self._since = 1.0, 0

    def slack(self, chosen: Numbers) -> Floats:
        """By how much each node's rule is kept or broken by a choice."""
        surplus = self.part.parent_surplus(chosen)
        surplus[: self.part.entries] = 0.0  # the seeds are their parents
        return surplus

    def step(self, value: float, surplus: Floats) -> bool:
        """Take in a bound and the slack of its choice, and move; False when there is no more."""
        self._since += 1
        if value < self.lowest:
            self._since = self._since if self.lowest - value < 1e-4 * self.lowest else 0
            self.lowest = value
        if self._since >= 8:
            self._pace, self._since = self._pace / 2, 0
        surplus[(self.multipliers <= 0.0) & (surplus > 0.0)] = 0.0
        length = float(surplus @ surplus)
        if length == 0.0 or value <= self.target or self._pace < 1e-3:
            return False
        self.multipliers -= self._pace * (value - self.target) / length * surplus
        np.maximum(self.multipliers, 0.0, out=self.multipliers)
        self.part.price_in(self.multipliers, self.reduced)
        return True


def parent_bound(part: Reachable, target: float, rounds: int = 200) -> float:
    """The predecessor Lagrangian after a number of subgradients, aimed at a known crawl's value."""
    budget = part.budget
    if not len(part) or not budget:
        return 0.0
    descent = Descent(part, target)
    for _ in range(rounds + 1):
        reduced = descent.reduced
        chosen = np.argpartition(-reduced, budget - 1)[:budget]
        chosen = np.sort(chosen[reduced[chosen] > 0])
        if not descent.step(float(reduced[chosen].sum()), descent.slack(chosen)):
            break
    return float(descent.lowest)


def joint_bound(part: Reachable, target: float, rounds: int = 50) -> float:
    """Both at once: the dominator-tree bound on the values that the multipliers leave.

    Its choice at the best price has the budget's size only between two prices, one that takes too
    many nodes and one that takes few enough: the subgradient lies in the same place between theirs.
    """
    if not len(part) or not part.budget:
        return 0.0
    descent, tree = Descent(part, target), DominatorTree(part)
    for _ in range(rounds + 1):
        value, low, high = tree.bound(descent.reduced, 1e-6)
        few = tree.chosen(descent.reduced, high)
        many = tree.chosen(descent.reduced, low)
        surplus = descent.slack(few)
        if len(many) > len(few):
            between = (part.budget - len(few)) / (len(many) - len(few))
            surplus += np.clip(between, 0.0, 1.0) * (descent.slack(many) - surplus)
        if not descent.step(value, surplus):
            break
    return float(descent.lowest)


def oracle_greedy(graph: Graph, seeds: Numbers, budget: int, objective: str) -> float:
    """The gain of the crawl that always takes the frontier's best node."""
    crawl = simulate(
        graph, seed_numbers=seeds, estimator="oracle", objective=objective, budget=budget
    )
    return float(crawl.gains.sum())


def path_greedy(part: Reachable, longest: int) -> float:
    """The gain of the crawl that always adds the path with the best mean value."""
    return float(part.values[part.path_greedy(longest)].sum())


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
