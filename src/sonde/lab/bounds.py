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

From below: the better of two crawls that know the truth, oracle-greedy and path-greedy.
All values are of the visits alone, the seeds left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sonde.errors import InputError
from sonde.kernels.graphs.dominance import dominators
from sonde.kernels.graphs.lagrangian import closed, price_in, relaxed, slack
from sonde.kernels.graphs.paths import Walker
from sonde.lab.crawls import Crawl
from sonde.lab.exact import exact
from sonde.lab.territory import Numbers, Territory
from sonde.protocols import Floats
from sonde.sources.graph import Graph


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

    territory: Territory = timed("reach", lambda: Territory.of(graph, seeds, budget, objective))
    lowers = {
        "oracle": timed("oracle", lambda: oracle_greedy(graph, seeds, budget, objective)),
        "paths": timed("paths", lambda: path_greedy(territory, longest)),
    }
    uppers = {
        "best": timed("best", lambda: best_values(territory)),
        "dominators": timed("dominators", lambda: dominator_bound(territory)),
        "parents": timed("parents", lambda: parent_bound(territory, max(lowers.values()), rounds)),
        "joint": timed("joint", lambda: joint_bound(territory, max(lowers.values()), rounds)),
    }
    optimum = None
    if exact_seconds > 0 and len(territory.targets) <= exact_links:
        found = timed("exact", lambda: exact(territory, exact_seconds))
        uppers["exact"] = found.upper
        lowers["exact"] = found.lower
        optimum = found.lower if found.proven else None
    return Bounds(
        reachable=len(territory),
        links=len(territory.targets),
        budget=budget,
        uppers=uppers,
        lowers=lowers,
        optimum=optimum,
        seconds=seconds,
    )


def best_values(territory: Territory) -> float:
    """The highest values within reach, as many as the budget."""
    return float(np.sort(territory.values)[::-1][: territory.budget].sum())


def dominator_bound(territory: Territory) -> float:
    """The Lagrangian bound on the dominator tree, at the best price found."""
    return DominatorTree(territory).bound(territory.values)[0] if len(territory) else 0.0


class DominatorTree:
    """The dominator tree of a territory, and the best choice closed in it at a price a node."""

    def __init__(self, territory: Territory) -> None:
        count = len(territory)
        self.budget = territory.budget
        self.order, self.idom = dominators(territory.indptr, territory.targets, territory.entries)
        self._worth, self._sizes = np.zeros(count), np.zeros(count, dtype=np.int64)
        self._held = np.zeros(count, dtype=np.int8)

    def bound(self, values: Floats, precision: float = 1e-12) -> tuple[float, float, float]:
        """The lowest bound over prices, and the prices just below and above the best one."""
        values = np.ascontiguousarray(values[self.order])
        lowest, low, high, price = np.inf, 0.0, max(float(values.max()), 0.0), 0.0
        while True:
            total, size = relaxed(self.idom, values, price, self._worth, self._sizes)
            lowest = min(lowest, price * self.budget + total)
            # The bound is convex in the price, and falls while the choice exceeds the budget.
            if size > self.budget:
                low = price
            elif price == 0.0:
                return float(lowest), 0.0, 0.0
            else:
                high = price
            if high - low <= precision * high:
                return float(lowest), low, high
            price = (low + high) / 2

    def chosen(self, values: Floats, price: float) -> Numbers:
        """The nodes of the best closed choice at this price."""
        relaxed(
            self.idom, np.ascontiguousarray(values[self.order]), price, self._worth, self._sizes
        )
        closed(self.idom, self._worth, self._held)
        found: Numbers = self.order[np.flatnonzero(self._held)].astype(np.int64)
        return found


class Descent:
    """Multipliers on "a visited node has a visited parent", improved by subgradients."""

    def __init__(self, territory: Territory, target: float) -> None:
        self.territory = territory
        self.target = target  # a crawl of this value is known
        self.multipliers = np.zeros(len(territory))
        self.reduced = np.array(territory.values)
        self.lowest = np.inf
        self._pace, self._since = 1.0, 0

    def slack(self, chosen: Numbers) -> Floats:
        """By how much each node's rule is kept or broken by a choice."""
        surplus = np.zeros(len(self.territory))
        slack(self.territory.indptr, self.territory.targets, chosen, surplus)
        surplus[: self.territory.entries] = 0.0  # the seeds are their parents
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
        price_in(
            self.territory.indptr,
            self.territory.targets,
            self.territory.values,
            self.multipliers,
            self.reduced,
        )
        return True


def parent_bound(territory: Territory, target: float, rounds: int = 200) -> float:
    """The predecessor Lagrangian after so many subgradients, aimed at a known crawl's value."""
    budget = territory.budget
    if not len(territory) or not budget:
        return 0.0
    descent = Descent(territory, target)
    for _ in range(rounds + 1):
        reduced = descent.reduced
        chosen = np.argpartition(-reduced, budget - 1)[:budget]
        chosen = np.sort(chosen[reduced[chosen] > 0])
        if not descent.step(float(reduced[chosen].sum()), descent.slack(chosen)):
            break
    return float(descent.lowest)


def joint_bound(territory: Territory, target: float, rounds: int = 50) -> float:
    """Both at once: the dominator-tree bound on the values that the multipliers leave.

    Its choice at the best price has the budget's size only between two prices, one that takes too
    many nodes and one that takes few enough: the subgradient lies in the same place between theirs.
    """
    if not len(territory) or not territory.budget:
        return 0.0
    descent, tree = Descent(territory, target), DominatorTree(territory)
    for _ in range(rounds + 1):
        value, low, high = tree.bound(descent.reduced, 1e-6)
        few = tree.chosen(descent.reduced, high)
        many = tree.chosen(descent.reduced, low)
        surplus = descent.slack(few)
        if len(many) > len(few):
            part = (territory.budget - len(few)) / (len(many) - len(few))
            surplus += np.clip(part, 0.0, 1.0) * (descent.slack(many) - surplus)
        if not descent.step(value, surplus):
            break
    return float(descent.lowest)


def oracle_greedy(graph: Graph, seeds: Numbers, budget: int, objective: str) -> float:
    """The gain of the crawl that always takes the frontier's best node."""
    gains, _ = Crawl("oracle", objective=objective).gains(graph, seeds, budget, seed=0)
    return float(gains.sum())


def path_greedy(territory: Territory, longest: int) -> float:
    """The gain of the crawl that always adds the path with the best mean value."""
    if not len(territory):
        return 0.0
    by_value, targets = territory.by_value()
    walker: Any = Walker(territory.indptr, targets, territory.values, by_value)
    order = walker.crawl(territory.entries, territory.budget, longest)
    return float(territory.values[order].sum())
