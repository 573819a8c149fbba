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
from sonde.kernels.dominance import dominators, relaxed
from sonde.kernels.multipliers import price_in, slack
from sonde.kernels.paths import Walker
from sonde.lab.crawls import Crawl
from sonde.lab.exact import exact
from sonde.lab.territory import Numbers, Territory
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
        return 100.0 * (1.0 - gain / self.upper) if self.upper > 0 else 0.0

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
        "parents": timed(
            "parents", lambda: parent_bound(territory, max(lowers.values()), rounds)
        ),
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


def dominator_bound(territory: Territory, halvings: int = 60) -> float:
    """The Lagrangian bound on the dominator tree, at the best price found."""
    if not len(territory):
        return 0.0
    order, idom = dominators(territory.indptr, territory.targets, territory.entries)
    values = np.ascontiguousarray(territory.values[order])
    worth, sizes = np.zeros(len(values)), np.zeros(len(values), dtype=np.int64)
    lowest, low, high = np.inf, 0.0, float(values.max())
    price = 0.0
    for _ in range(halvings):
        total, size = relaxed(idom, values, price, worth, sizes)
        lowest = min(lowest, price * territory.budget + total)
        # The bound is convex in the price, and falls while the choice exceeds the budget.
        if size > territory.budget:
            low = price
        else:
            high = price
        price = (low + high) / 2
        if high - low <= 1e-12 * high:
            break
    return float(lowest)


def parent_bound(territory: Territory, target: float, rounds: int = 200) -> float:
    """The predecessor Lagrangian after so many subgradients, aimed at a known crawl's value."""
    lowest = best_values(territory)
    budget = territory.budget
    if not len(territory) or not budget:
        return lowest
    multipliers = np.zeros(len(territory))
    reduced, surplus = np.zeros(len(territory)), np.zeros(len(territory))
    pace, since = 1.0, 0
    for _ in range(rounds):
        price_in(
            territory.indptr, territory.targets, territory.values, multipliers, reduced
        )
        chosen = np.argpartition(-reduced, budget - 1)[:budget]
        chosen = np.sort(chosen[reduced[chosen] > 0])
        value = float(reduced[chosen].sum())
        since += 1
        if value < lowest:
            since = since if lowest - value < 1e-4 * lowest else 0
            lowest = value
        if since >= 8:
            pace, since = pace / 2, 0
        slack(territory.indptr, territory.targets, chosen, surplus)
        surplus[: territory.entries] = 0.0  # the seeds are their parents
        surplus[(multipliers <= 0.0) & (surplus > 0.0)] = 0.0
        length = float(surplus @ surplus)
        if length == 0.0 or value <= target or pace < 1e-3:
            break
        multipliers -= pace * (value - target) / length * surplus
        np.maximum(multipliers, 0.0, out=multipliers)
    return lowest


def oracle_greedy(graph: Graph, seeds: Numbers, budget: int, objective: str) -> float:
    """The gain of the crawl that always takes the frontier's best node."""
    gains, _ = Crawl("oracle", objective=objective).gains(graph, seeds, budget, seed=0)
    return float(gains.sum())


def path_greedy(territory: Territory, longest: int) -> float:
    """The gain of the crawl that always adds the path with the best mean value."""
    if not len(territory):
        return 0.0
    by_value, targets = territory.by_value()
    walker = Walker(territory.indptr, targets, territory.values, by_value)
    order = walker.crawl(territory.entries, territory.budget, longest)
    return float(territory.values[order].sum())
