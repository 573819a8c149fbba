"""The definitions of ``sonde authority``, written down naively."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sonde import kernels

Dice: Any = kernels.load("compiled").dice.Dice
"""The kernels are not typed."""

Links = dict[int, list[int]]


def draw(dice: Any, weights: Sequence[float]) -> int:
    """An index in proportion to its weight, by the same draw as the kernel's; -1 if all are 0.

    The kernel adds weights up in a tree: with whole numbers the sums are the same in any order.
    """
    total = math.fsum(weights)
    if total <= 0:
        return -1
    rest = dice.uniform() * total
    for index, weight in enumerate(weights):
        if weight > 0 and rest < weight:
            return index
        rest -= weight
    return max(index for index, weight in enumerate(weights) if weight > 0)


def crawl(links: Links, start: int, budget: int, explore: float, dice: Any) -> list[int]:
    """crawl-gai (explore 0), crawl-ai (explore 1) and their mixture."""
    order = [start]
    seen: list[int] = []  # in order of discovery
    while True:
        for target in links[order[-1]]:
            if target not in seen:
                seen.append(target)
        if len(order) == budget:
            return order
        apparent = {node: sum(node in links[source] for source in order) for node in links}
        frontier = [node for node in seen if node not in order]
        if not frontier:
            return order
        if explore > 0 and (explore >= 1 or dice.uniform() < explore):
            weights = [apparent[node] if node in frontier else 0 for node in sorted(links)]
            order.append(draw(dice, weights))
        else:
            order.append(max(frontier, key=lambda node: (apparent[node], -seen.index(node))))


def walk(links: Links, start: int, budget: int, patience: int, dice: Any) -> list[int]:
    order: list[int] = []
    node, idle = start, 0
    while True:
        if node not in order:
            order.append(node)
            idle = 0
        else:
            idle += 1
        reached = {target for source in order for target in links[source]}
        if len(order) == budget or not reached - set(order):
            return order
        if not links[node] or idle >= patience:
            node, idle = order[dice.below(len(order))], 0
            if not links[node]:
                continue
        node = links[node][dice.below(len(links[node]))]


def sample(weights: list[float], budget: int, dice: Any) -> list[int]:
    """Without replacement; evenly once only nodes without weight are left."""
    order: list[int] = []
    while len(order) < min(budget, len(weights)):
        left = [0.0 if node in order else weight for node, weight in enumerate(weights)]
        if not any(left):
            left = [float(node not in order) for node in range(len(weights))]
        order.append(draw(dice, left))
    return order


def most_cited(links: Links, top: int) -> set[int]:
    indegree = {node: sum(node in targets for targets in links.values()) for node in links}
    cited = [node for node in sorted(links) if indegree[node]]
    return set(sorted(cited, key=lambda node: -indegree[node])[:top])


def named(links: Links, order: list[int], top: int) -> list[int]:
    apparent = {node: sum(node in links[source] for source in order) for node in order}
    return sorted(sorted(order), key=lambda node: -apparent[node])[:top]


Arrival = tuple[int, int, float]


class Tracking:
    """The dynamic simulation, looking at all arrivals whenever it needs to know something."""

    def __init__(
        self,
        arrivals: Sequence[Arrival],
        nodes: int,
        window: float,
        rate: float,
        expand: str,
        recrawl: str,
        dice: Any,
    ) -> None:
        self.arrivals = [one for one in arrivals if one[0] != one[1]]
        self.nodes = nodes
        self.window = window
        self.rate = rate
        self.expand = expand
        self.policy = recrawl
        self.dice = dice
        self.crawls: dict[int, list[tuple[float, set[int]]]] = {}  # by node: when, links
        self.discovered: list[int] = []
        self.pool: list[int] = []
        self.members: list[int] = []
        self.score: dict[int, float] = {}

    def links(self, now: float) -> set[tuple[int, int]]:
        return {
            (source, target)
            for source, target, time in self.arrivals
            if now - self.window < time <= now
        }

    def apparent(self, node: int) -> int:
        return sum(any(node in links for _, links in crawls) for crawls in self.crawls.values())

    def frontier(self) -> list[int]:
        return [node for node in self.discovered if node not in self.crawls]

    def crawl(self, node: int, now: float) -> None:
        links = {target for source, target in self.links(now) if source == node}
        before = self.crawls.setdefault(node, [])
        fresh = links - before[-1][1] if before else links
        before.append((now, links))
        if node not in self.members:
            self.members.append(node)
        for target in sorted(links):
            if target not in self.discovered:
                self.discovered.append(target)
        self.score[node] = sum(self.apparent(target) for target in fresh)

    def step(self, now: float, share: float) -> None:
        node = -1
        if self.dice.uniform() < share:
            node = self.new()
        if node < 0:
            node = self.old(now)
        self.crawl(node, now)

    def new(self) -> int:
        frontier = self.frontier()
        if not frontier:
            return -1
        if self.expand == "crawl-gai":
            return max(frontier, key=lambda node: (self.apparent(node), -frontier.index(node)))
        weights = [self.apparent(node) if node in frontier else 0 for node in range(self.nodes)]
        return draw(self.dice, weights)

    def old(self, now: float) -> int:
        policy = self.policy
        node = -1
        if policy == "yru":
            policy = "yr" if self.dice.uniform() < 0.5 else "u"
        elif policy == "ldu" and self.dice.uniform() >= 0.5:
            policy = "u"
        if policy == "or":
            seen = {
                one: len(set().union(*(links for _, links in crawls)))
                for one, crawls in self.crawls.items()
            }
            node = draw(self.dice, [seen.get(one, 0) for one in range(self.nodes)])
        elif policy == "yr":
            node = draw(self.dice, [self.yielded(one) for one in range(self.nodes)])
        elif policy == "ldu":
            best = max(self.members, key=lambda one: (self.score[one], -self.members.index(one)))
            node = best if self.score[best] > 0 else -1
        if node < 0:
            node = self.members[self.dice.below(len(self.members))]
        return node

    def yielded(self, node: int) -> float:
        crawls = self.crawls.get(node)
        if crawls is None:
            return 0.0
        (now, links), earlier = crawls[-1], crawls[:-1]
        if not earlier:
            return len(links) / self.window
        return len(links - earlier[-1][1]) / (now - earlier[-1][0])


def water_filling(changes: Sequence[float], rate: float) -> list[float]:
    """The rates of visits that make sum f / (f + c) greatest, by small exchanges."""
    rates = [rate / len(changes)] * len(changes)
    step = rate / 4
    while step > rate * 1e-7:
        value = [change / (f + change) ** 2 for f, change in zip(rates, changes, strict=True)]
        rich = max(range(len(rates)), key=lambda i: value[i])
        poor = min((i for i in range(len(rates)) if rates[i] > 0), key=lambda i: value[i])
        move = min(step, rates[poor])
        trial = list(rates)
        trial[poor] -= move
        trial[rich] += move
        if freshness(trial, changes) > freshness(rates, changes):
            rates = trial
        else:
            step /= 2
    return rates


def freshness(rates: Sequence[float], changes: Sequence[float]) -> float:
    return math.fsum(f / (f + change) for f, change in zip(rates, changes, strict=True))
