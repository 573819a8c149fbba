"""The obvious crawler: rescores the whole frontier at every step, in plain Python.

It follows the definitions word by word and shares nothing with the package but the dice and the
numbers of words. What it computes, the compiled replay and the explorer must compute too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sonde import kernels
from sonde.link_words import link_words

Dice: Any = kernels.load("compiled").dice.Dice


@dataclass
class World:
    """A recorded graph: a score for each node, links in file order."""

    scores: dict[int, float]
    links: dict[int, list[tuple[int, float]]]
    records: dict[int, list[str]] = field(default_factory=dict)
    places: dict[int, tuple[str, str]] = field(default_factory=dict)  # domain and basename
    anchors: dict[tuple[int, int], str] = field(default_factory=dict)


class Seen:
    """What a crawler knows: visits in order, and targets in order of discovery."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.visited: list[int] = []
        self.score: dict[int, float] = {}
        self.links: dict[int, list[tuple[int, float]]] = {}
        self.discovered: list[int] = []
        self.places = world.places  # what a URL says of itself can be seen without a visit
        self.depth: dict[int, int] = {}
        self.words = {
            link: np.frombuffer(link_words(text), "<u2").tolist()
            for link, text in world.anchors.items()
        }

    def visit(self, node: int) -> None:
        self.visited.append(node)
        self.score[node] = self._world.scores[node]
        self.links[node] = self._world.links.get(node, [])
        for target, _ in self.links[node]:
            if target not in self.discovered:
                self.discovered.append(target)

    def frontier(self, without: Sequence[int] = ()) -> list[int]:
        return [v for v in self.discovered if v not in self.score and v not in without]

    def parents(self, node: int) -> list[tuple[int, float]]:
        return [(u, alpha) for u in self.visited for v, alpha in self.links[u] if v == node]


def aggregate(terms: list[float], how: str) -> float:
    total = 0.0
    for term in terms:
        total += term
    if how == "sum":
        return total
    if how == "max":
        return max([0.0, *terms])
    return total / len(terms) if terms else 0.0


def kind_of(kind: str, beta: float, alpha: float) -> float:
    return {"n": beta, "e": alpha, "ne": beta * alpha}[kind]


class Leaf:
    """Estimates one node; learns from each visit."""

    chance = False

    def begin(self, seen: Seen, seeds: list[int]) -> None: ...
    def visited(self, seen: Seen, node: int) -> None: ...
    def learn(self, sample: Any, gain: float) -> None: ...
    def sample(self, seen: Seen, node: int) -> Any: ...
    def reward(self, leaf: Leaf, gain: float) -> None: ...
    def witness(self, *told: Any) -> None: ...

    def estimate(self, seen: Seen, node: int) -> float:
        raise NotImplementedError

    def choose(self, step: int) -> Leaf:
        return self

    def leaves(self) -> list[Leaf]:
        return [self]


class Random(Leaf):
    chance = True


class Bfs(Leaf):
    def begin(self, seen: Seen, seeds: list[int]) -> None:
        seen.depth.update(dict.fromkeys(seeds, 0))

    def visited(self, seen: Seen, node: int) -> None:
        if node not in seen.depth:
            seen.depth[node] = 1 + min(
                seen.depth[u] for u, _ in seen.parents(node) if u in seen.depth
            )

    def estimate(self, seen: Seen, node: int) -> float:
        hop = 1 + min(seen.depth[u] for u, _ in seen.parents(node))
        return 1 / (hop + 1)


class Truth(Leaf):
    def __init__(self, gain: Callable[[int], float]) -> None:
        self.gain = gain

    def estimate(self, seen: Seen, node: int) -> float:
        return self.gain(node)


class First(Leaf):
    def __init__(self, kind: str, how: str = "sum") -> None:
        self.kind, self.how = kind, how

    def estimate(self, seen: Seen, node: int) -> float:
        parents = seen.parents(node)
        if self.kind == "deg":
            return float(len(parents))
        return aggregate([kind_of(self.kind, seen.score[u], a) for u, a in parents], self.how)


class Second(Leaf):
    def __init__(self, kind: str, how: str = "sum") -> None:
        self.kind, self.how = kind, how

    def estimate(self, seen: Seen, node: int) -> float:
        terms: list[tuple[float, float]] = []
        for u, _ in seen.parents(node):
            terms += [(seen.score[g], alpha) for g, alpha in seen.parents(u)]
            terms += [(seen.score[s], alpha) for s, alpha in seen.links[u] if s in seen.score]
        if self.kind == "deg":
            return float(len(terms))
        return aggregate([kind_of(self.kind, beta, alpha) for beta, alpha in terms], self.how)


class LeastSquares(Leaf):
    def __init__(self, parts: list[Leaf]) -> None:
        self.parts = parts
        size = len(parts) + 1
        self.weights = [0.0] * size
        self.inverse = [[1e6 if i == j else 0.0 for j in range(size)] for i in range(size)]

    def sample(self, seen: Seen, node: int) -> list[float]:
        return [part.estimate(seen, node) for part in self.parts] + [1.0]

    def dot(self, left: list[float], right: list[float]) -> float:
        total = left[0] * right[0]
        for a, b in zip(left[1:], right[1:], strict=True):
            total += a * b
        return total

    def estimate(self, seen: Seen, node: int) -> float:
        return self.dot(self.weights, self.sample(seen, node))

    def learn(self, sample: list[float], gain: float) -> None:
        direction = [self.dot(row, sample) for row in self.inverse]
        spread = 1.0
        for a, b in zip(sample, direction, strict=True):
            spread += a * b
        error = gain - self.dot(self.weights, sample)
        size = len(sample)
        self.weights = [
            w + d / spread * error for w, d in zip(self.weights, direction, strict=True)
        ]
        for i in range(size):
            for j in range(size):
                self.inverse[i][j] -= direction[i] * direction[j] / spread


class Spread(Leaf):
    """RFU (part 0) and BFU (part 1): the mean over the parents."""

    def __init__(self, part: int) -> None:
        self.part = part

    def estimate(self, seen: Seen, node: int) -> float:
        terms = []
        for u, _ in seen.parents(node):
            keys = [seen.places[v][self.part] for v, _ in seen.links[u]]
            share = keys.count(seen.places[node][self.part]) / len(keys)
            terms.append(share / len(set(keys)))
        return aggregate(terms, "avg")


class Linked(Leaf):
    def estimate(self, seen: Seen, node: int) -> float:
        return math.log(1 + len(seen.parents(node)))


class Repeats(Leaf):
    """A recorded graph has no parallel links."""

    def estimate(self, seen: Seen, node: int) -> float:
        return 0.0


class Errors:
    """What visits brought less what was predicted, and what of it every node has heard."""

    def __init__(self) -> None:
        self.of: dict[int, float] = {}
        self.heard: dict[tuple[int, int], list[float]] = {}  # (node, part): sum, count

    def add(self, node: int, part: int, error: float, count: int) -> None:
        told = self.heard.setdefault((node, part), [0.0, 0])
        told[0] += error
        told[1] += count

    def visited(self, seen: Seen, node: int) -> None:
        if node in self.of:
            before = [u for u, _ in seen.parents(node) if u != node]
            for u in before:
                for v, _ in seen.links[u]:
                    for part in (0, 1):
                        if v not in seen.score and seen.places[v][part] == seen.places[node][part]:
                            self.add(v, part, self.of[node], 1)
        for part in (0, 1):
            gathered: dict[str, list[float]] = {}
            for v, _ in seen.links[node]:
                if v in self.of:
                    told = gathered.setdefault(seen.places[v][part], [0.0, 0])
                    told[0] += self.of[v]
                    told[1] += 1
            for v, _ in seen.links[node]:
                told = gathered.get(seen.places[v][part], [0.0, 0])
                if v not in seen.score and told[1]:
                    self.add(v, part, told[0], int(told[1]))

    def mean(self, node: int, part: int) -> float:
        total, count = self.heard.get((node, part), [0.0, 0])
        return total / count if count else 0.0


class Associated(Leaf):
    def __init__(self, errors: Errors, part: int, sign: int) -> None:
        self.errors, self.part, self.sign = errors, part, sign

    def estimate(self, seen: Seen, node: int) -> float:
        return max(0.0, self.sign * self.errors.mean(node, self.part))


class Url(LeastSquares):
    """The URL measures, with weights that are learned or given."""

    def __init__(self, arguments: list[str], lnh: bool) -> None:
        how = next((word for word in arguments if word in ("sum", "max", "avg")), "sum")
        without = {word[1:] for word in arguments if word.startswith("-")}
        given = {
            word.partition("=")[0]: float(word.partition("=")[2])
            for word in arguments
            if "=" in word and not word.startswith("rtt")
        }
        self.errors = Errors()
        self.bfs = Bfs()
        named: list[tuple[str, Leaf]] = [
            ("rfu", Spread(0)),
            ("bfu", Spread(1)),
            ("id", Linked()),
            ("repeats", Repeats()),
            ("hop", self.bfs),
            *(("arf", Associated(self.errors, part, sign)) for part in (1, 0) for sign in (1, -1)),
        ]
        if lnh:
            named += [(kind, First(kind, how)) for kind in ("n", "e", "ne")]
        named = [
            (name, leaf)
            for name, leaf in named
            if name not in without and (not given or name in given)
        ]
        super().__init__([leaf for _, leaf in named])
        self.given = bool(given)
        if given:
            self.weights = [
                -given[name] if isinstance(leaf, Associated) and leaf.sign < 0 else given[name]
                for name, leaf in named
            ] + [0.0]
        self.pending: float | None = None

    def begin(self, seen: Seen, seeds: list[int]) -> None:
        self.bfs.begin(seen, seeds)

    def learn(self, sample: list[float], gain: float) -> None:
        self.pending = gain - self.dot(self.weights, sample)
        if not self.given:
            super().learn(sample, gain)

    def visited(self, seen: Seen, node: int) -> None:
        self.bfs.visited(seen, node)
        if self.pending is not None:
            self.errors.of[node] = self.pending
        self.pending = None
        self.errors.visited(seen, node)


class Opic(Leaf):
    def __init__(self, by: str = "") -> None:
        self.by = by
        self.cash: dict[int, float] = {}
        self.given = 0.0
        self.virtual = 0.0

    def begin(self, seen: Seen, seeds: list[int]) -> None:
        self.cash = dict.fromkeys(seeds, 1 / len(seeds))

    def weight(self, seen: Seen, target: int, alpha: float) -> float:
        weight = 1.0
        if "e" in self.by:
            weight = alpha
        if "n" in self.by:
            weight *= (
                seen.score[target] if target in seen.score else First("n").estimate(seen, target)
            )
        return weight

    def visited(self, seen: Seen, node: int) -> None:
        held = self.cash.get(node, 0.0)
        self.given += held
        self.cash[node] = 0.0
        links = seen.links[node]
        if not links:
            self.virtual += held
        weights = [self.weight(seen, target, alpha) for target, alpha in links]
        total = aggregate(weights, "sum")
        for (target, _), weight in zip(links, weights, strict=True):
            share = held * weight / total if total > 0 else held / len(links)
            self.cash[target] = self.cash.get(target, 0.0) + share

    def estimate(self, seen: Seen, node: int) -> float:
        return (0.0 + self.cash.get(node, 0.0)) / (self.given + 1)


class Navigation(Leaf):
    def __init__(self, keep: float = 0.5) -> None:
        self.keep = keep
        self.rank: dict[int, float] = {}

    def visited(self, seen: Seen, node: int) -> None:
        indegree: dict[int, int] = {}
        for u in seen.visited:
            for v, _ in seen.links[u]:
                indegree[v] = indegree.get(v, 0) + 1
        rank = dict.fromkeys(seen.visited, 0.0)
        moved = 1.0
        while moved > 1e-12:
            following = {}
            for u in seen.visited:
                total = 0.0
                for v, _ in seen.links[u]:
                    total += rank.get(v, 0.0) / indegree[v]
                if seen.links[u]:
                    total = total / len(seen.links[u])
                following[u] = self.keep * seen.score[u] + (1 - self.keep) * total
            moved = max([0.0, *(abs(following[u] - rank[u]) for u in seen.visited)])
            rank = following
        self.rank = rank

    def estimate(self, seen: Seen, node: int) -> float:
        parents = seen.parents(node)
        total = 0.0
        for u, _ in parents:
            total += self.rank[u] / len(seen.links[u])
        return (1 - self.keep) * (total / len(parents))


class Ratios:
    """What nodes of each level brought, over what was foreseen of them."""

    def __init__(self) -> None:
        self.notes: list[tuple[int, float, float]] = []
        self.ratio = [1.0] * 24

    def settle(self, usual: float) -> None:
        below = 1.0
        for level in range(24):
            gains = [gain for at, _, gain in self.notes if at == level]
            foreseen = [amount for at, amount, _ in self.notes if at == level]
            below = (aggregate(gains, "sum") + 30.0 * usual * below) / (
                aggregate(foreseen, "sum") + 30.0 * usual
            )
            self.ratio[level] = below


class Yield(Leaf):
    """Parent yields and words, each number as old as the definition says."""

    def __init__(self, patience: float, weights: tuple[float, ...], budget: int = 1) -> None:
        self.patience, self.weights, self.budget = patience, weights, max(1, budget)
        self.outlook = 1.0
        self.told: float | None = None
        self.due = 1
        self.gains: dict[int, float] = {}
        self.all_gains: list[float] = []
        self.brought: dict[int, float] = {}
        self.children: dict[int, int] = {}
        self.shown: dict[int, tuple[int, float, float]] = {}
        self.sums: dict[int, list[float]] = {}  # weight, worth, share, words
        self.scale = self.promise = self.unit = 1.0
        self.levels = [0.0] * 6
        self.about: dict[int, tuple[float, float]] = {}
        self.mean = 0.0
        self.of_degree = Ratios()
        self.of_link = Ratios()

    def sample(self, seen: Seen, node: int) -> Any:
        weight, worth, _, _ = self.sums[node]
        parents = seen.parents(node)
        return len(parents), aggregate([alpha for _, alpha in parents], "sum"), worth / weight

    def learn(self, sample: Any, gain: float) -> None:
        self.told = gain
        degree, alpha, foreseen = sample
        at, linked = self.levels_of(degree, alpha)
        self.of_degree.notes.append((at, foreseen * self.of_link.ratio[linked], gain))
        self.of_link.notes.append((linked, foreseen * self.of_degree.ratio[at], gain))

    def levels_of(self, degree: int, alpha: float) -> tuple[int, int]:
        linked = 0
        if alpha > 0:
            linked = 1 + math.floor(math.log2(1.0 + 2.0 * alpha / self.promise))
        return math.floor(math.log2(degree)), linked

    def level(self, score: float) -> int:
        if score <= 0:
            return 0
        return 1 + sum(2.0 * score / self.scale >= bound for bound in (1.0, 2.0, 3.0, 4.0))

    def show(self, seen: Seen, u: int) -> tuple[float, float]:
        """What u passes on; how much that is more than before."""
        _, weight, mean = self.shown.get(u, (0, 0.0, 0.0))
        count = self.children[u] + self.patience
        usual = self.levels[self.level(seen.score[u])]
        shown = (self.brought[u] + self.patience * usual) / count
        self.shown[u] = self.children[u], count / self.patience, shown
        return count / self.patience - weight, count / self.patience * shown - weight * mean

    def add(self, node: int, place: int, amount: float) -> None:
        self.sums.setdefault(node, [0.0, 0.0, 0.0, 0.0])[place] += amount

    def value(self, seen: Seen, u: int, v: int) -> float:
        words = seen.words.get((u, v), ())
        total = 0.0
        for word in words:
            if word in self.about:
                gain, pages = self.about[word]
                total += (gain + 10.0 * self.mean) / (pages + 10.0) - self.mean
        return total / math.sqrt(len(words)) if words else 0.0

    def visited(self, seen: Seen, node: int) -> None:
        gain = seen.score[node] if self.told is None else self.told
        links = seen.links[node]
        if self.told is not None:
            self.all_gains.append(gain)
            self.gains[node] = gain
            for u, _ in seen.parents(node):
                self.brought[u] += gain
                self.children[u] += 1
                if 2 * (self.children[u] - self.shown[u][0]) >= self.shown[u][0]:
                    weight, worth = self.show(seen, u)
                    for v, _ in seen.links[u]:
                        self.add(v, 0, weight)
                        self.add(v, 1, worth)
            said = [seen.words.get((u, node), ()) for u, _ in seen.parents(node)[:32]]
            for word in {word for words in said for word in words}:
                before, pages = self.about.get(word, (0.0, 0.0))
                self.about[word] = before + gain, pages + 1
        self.told = None
        self.brought[node] = 0.0
        self.children[node] = 0
        for v, _ in links:
            if v in self.gains:
                self.brought[node] += self.gains[v]
                self.children[node] += 1
        self.show(seen, node)
        _, weight, shown = self.shown[node]
        for v, _ in links:
            self.add(v, 0, weight)
            self.add(v, 1, weight * shown)
            self.add(v, 2, seen.score[node] / len(links))
            self.add(v, 3, self.value(seen, node, v))
        if len(seen.visited) >= self.due:
            self.revise(seen)

    def revise(self, seen: Seen) -> None:
        self.due = len(seen.visited) + max(1, len(seen.visited) // 3)
        scores = [seen.score[u] for u in seen.visited if seen.score[u] > 0]
        alphas = [a for u in seen.visited for _, a in seen.links[u] if a > 0]
        sampled = [self.gains[u] for u in seen.visited if u in self.gains]
        positive = [gain for gain in sampled if gain > 0]
        self.scale = aggregate(scores, "avg") if scores else 1.0
        self.promise = aggregate(alphas, "avg") if alphas else 1.0
        self.unit = (aggregate(positive, "sum") + 5.0 * self.scale) / (len(positive) + 5.0)
        usual = (aggregate(sampled, "sum") + 3.0 * (0.2 * self.unit)) / (len(sampled) + 3.0)
        for level in range(6):
            alike = [u for u in seen.visited if self.level(seen.score[u]) == level]
            brought = aggregate([self.brought[u] for u in alike], "sum")
            children = sum(self.children[u] for u in alike)
            self.levels[level] = (brought + 5.0 * usual) / (children + 5.0)
        self.mean = aggregate(self.all_gains, "avg")
        spent = min(1.0, len(sampled) / self.budget)
        self.outlook = 1.0 + self.weights[6] * (1.0 - 2.0 * spent)
        self.of_degree.settle(usual)
        self.of_link.settle(usual)
        for sums in self.sums.values():
            sums[0] = sums[1] = sums[3] = 0.0
        for u in seen.visited:
            self.show(seen, u)
            _, weight, shown = self.shown[u]
            for v, _ in seen.links[u]:
                self.add(v, 0, weight)
                self.add(v, 1, weight * shown)
                self.add(v, 3, self.value(seen, u, v))

    def estimate(self, seen: Seen, node: int) -> float:
        weight, worth, share, words = self.sums[node]
        parents = seen.parents(node)
        alpha = aggregate([alpha for _, alpha in parents], "sum")
        by_degree, by_link, by_share, by_words, by_ratio, _, _ = self.weights
        base = by_degree * self.outlook * math.log1p(len(parents))
        base += by_link * math.log1p(alpha / self.promise)
        base += by_share * math.log1p(20.0 * share / self.scale)
        base *= self.unit
        base += by_words * words / len(parents)
        at, linked = self.levels_of(len(parents), alpha)
        ratio = self.of_degree.ratio[at] * self.of_link.ratio[linked]
        return worth / weight * (1.0 + by_ratio * (ratio - 1.0)) + base


class Hybrid:
    def __init__(self, first: Any, second: Any, steps: int) -> None:
        self.first, self.second, self.steps = first, second, steps

    def choose(self, step: int) -> Leaf:
        chosen: Leaf = (self.first if step < self.steps else self.second).choose(step)
        return chosen

    def reward(self, leaf: Leaf, gain: float) -> None:
        self.first.reward(leaf, gain)
        self.second.reward(leaf, gain)

    def witness(self, *told: Any) -> None:
        self.first.witness(*told)
        self.second.witness(*told)

    def leaves(self) -> list[Leaf]:
        return [*self.first.leaves(), *self.second.leaves()]


class Bandit:
    def __init__(self, rule: str, epsilon: float, arms: list[Any], dice: Any, budget: int) -> None:
        self.rule, self.epsilon, self.arms, self.dice = rule, epsilon, arms, dice
        self.exploring = math.floor(epsilon * budget)
        self.period = math.ceil(len(arms) / epsilon)
        self.leader = -1
        self.clear()

    def clear(self) -> None:
        self.age = 0
        self.pulls = [0] * len(self.arms)
        self.rewards: list[list[float]] = [[] for _ in self.arms]

    def leading(self) -> int:
        averages = [aggregate(rewards, "avg") for rewards in self.rewards]
        return averages.index(max(averages))

    def arm(self, step: int) -> int:
        if 0 in self.pulls:
            return self.pulls.index(0)
        if self.rule == "eps":
            explore = self.dice.uniform() < self.epsilon
        elif self.rule == "eps-first":
            explore = step < self.exploring
        else:
            explore = self.age < math.floor(self.epsilon * self.period)
        return self.dice.below(len(self.arms)) if explore else self.leading()

    def choose(self, step: int) -> Leaf:
        if self.rule == "var" and self.age >= self.period:
            leader = self.leading()
            shortest = math.ceil(len(self.arms) / self.epsilon)
            self.period = (
                self.period * 2 if leader == self.leader else max(self.period // 2, shortest)
            )
            self.leader = leader
            self.clear()
        arm = self.arm(step)
        self.pulls[arm] += 1
        self.age += 1
        chosen: Leaf = self.arms[arm].choose(step)
        return chosen

    def reward(self, leaf: Leaf, gain: float) -> None:
        for arm, rewards in zip(self.arms, self.rewards, strict=True):
            if leaf in arm.leaves():
                rewards.append(gain)
                arm.reward(leaf, gain)

    def witness(self, *told: Any) -> None:
        for arm in self.arms:
            arm.witness(*told)

    def leaves(self) -> list[Leaf]:
        return [leaf for arm in self.arms for leaf in arm.leaves()]


class Gains:
    """The objective, incrementally."""

    def __init__(self, world: World, objective: str) -> None:
        self.world, self.objective = world, objective
        self.seen: set[str] = set()

    def preview(self, node: int) -> float:
        if self.objective == "sum":
            return self.world.scores[node]
        if self.objective == "count":
            return 1.0 if self.world.scores[node] > 0 else 0.0
        return float(len(set(self.world.records.get(node, [])) - self.seen))

    def add(self, node: int) -> float:
        gain = self.preview(node)
        self.seen |= set(self.world.records.get(node, []))
        return gain


def build(spec: str, dice: Any, budget: int, gains: Gains, seed: int = 0) -> Any:
    """The reference of an estimator, from the same text as the package reads."""
    from exactness import learned  # which builds upon this module

    head, _, inside = spec.partition("[")
    name, *arguments = head.split(":")
    if inside:
        parts = [part.strip() for part in _split(inside[:-1])]
        if name == "hybrid":
            first, second = (build(part, dice, budget, gains, seed) for part in parts[:2])
            return Hybrid(first, second, int(parts[2]))
        arms = [build(part, dice, budget, gains, seed) for part in parts]
        if name == "hedge":
            options = {key: float(value) for key, _, value in (a.partition("=") for a in arguments)}
            return learned.Hedge(
                arms, dice, seed, options.get("rate", 1.0), options.get("share", 0.01)
            )
        rule, _, value = arguments[0].partition("=")
        if rule == "thompson":
            memory = float(value) if value else max(20.0, budget / 10)
            return learned.Thompson(arms, dice, memory)
        for argument in arguments[1:]:  # mab:var:eps=0.5
            value = argument.partition("=")[2]
        return Bandit(rule, float(value or 0.1), arms, dice, budget)
    how = arguments[0] if arguments else "sum"
    if name in ("lnh", "lnh2"):
        levels: list[type[Any]] = [First] if name == "lnh" else [First, Second]
        return LeastSquares([level(kind, how) for level in levels for kind in ("n", "e", "ne")])
    if name in ("url", "url+lnh"):
        return Url(arguments, name == "url+lnh")
    if name == "nr":
        keep = next((float(a[2:]) for a in arguments if a.startswith("d=")), 0.5)
        return Navigation(keep)
    if name in ("ridge", "ucb", "posterior", "hurdle"):
        options = {key: float(value) for key, _, value in (a.partition("=") for a in arguments)}
        return learned.Forecast(name, options, seed)
    if name in ("yield", "auto"):
        options = {key: float(value) for key, _, value in (a.partition("=") for a in arguments)}
        usual = {"deg": 0.07, "e": 0.3, "share": 0.1, "words": 1.0, "ratio": 1.0}
        usual |= {"nr": 0.0, "ahead": 0.0}
        weights = [options.get(key, usual[key] if name == "auto" else 0.0) for key in usual]
        return Yield(options.get("k", 10.0), tuple(weights), budget)
    if name.endswith("2"):
        return Second(name[:-1], how)
    if name in ("n", "e", "ne", "deg"):
        return First(name, how)
    if name == "opic":
        return Opic(arguments[0] if arguments else "")
    if name == "oracle":
        return Truth(gains.preview)
    return {"random": Random, "bfs": Bfs}[name]()


def _split(text: str) -> list[str]:
    parts, depth = [""], 0
    for character in text:
        depth += {"[": 1, "]": -1}.get(character, 0)
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts


@dataclass
class Crawl:
    sequence: list[int]
    gains: list[float]
    predictions: list[float]


def crawl(
    world: World,
    seeds: list[int],
    spec: str,
    *,
    budget: int,
    strategy: tuple[float, float] = (1.0, 0.0),
    refresh: int = 1,
    objective: str = "sum",
    seed: int = 0,
) -> Crawl:
    """Crawl by the definitions."""
    dice = Dice(seed)
    gains = Gains(world, objective)
    chooser = build(spec, dice, budget, gains, seed)
    seen = Seen(world)
    leaves = chooser.leaves()
    for leaf in leaves:
        leaf.begin(seen, seeds)

    def visit(node: int) -> None:
        seen.visit(node)
        for leaf in leaves:
            leaf.visited(seen, node)

    for node in seeds:
        gains.add(node)
        visit(node)
    done = Crawl([], [], [])
    step = 0
    while len(done.sequence) < budget:
        batch: list[tuple[int, Leaf, list[Any], dict[int, Any]]] = []
        estimates: dict[int, dict[int, float]] = {}
        while len(batch) < refresh and len(done.sequence) + len(batch) < budget:
            waiting = [v for v in seen.frontier([node for node, *_ in batch]) if v not in seeds]
            if not waiting:
                break
            leaf = chooser.choose(step)
            step += 1
            if leaf.chance:
                node, predicted = waiting[dice.below(len(waiting))], math.nan
            else:
                known = estimates.setdefault(id(leaf), {v: leaf.estimate(seen, v) for v in waiting})
                highest = max(known[v] for v in waiting)
                node = next(v for v in waiting if known[v] == highest)
                if strategy[0] < 1 and dice.uniform() >= strategy[0]:
                    threshold = highest - strategy[1] * abs(highest)
                    close = [v for v in waiting if known[v] >= threshold]
                    node = close[dice.below(len(close))]
                predicted = known[node]
            samples = [other.sample(seen, node) for other in leaves]
            asked = {
                id(other): (other.estimate(seen, node), sample)
                for other, sample in zip(leaves, samples, strict=True)
                if spec.find("hedge") >= 0 and not other.chance
            }
            batch.append((node, leaf, samples, asked))
            done.predictions.append(predicted)
        if not batch:
            break
        for place, (node, leaf, samples, asked) in enumerate(batch):
            gain = gains.add(node)
            for other, sample in zip(leaves, samples, strict=True):
                other.learn(sample, gain)
            chooser.reward(leaf, gain)
            flying = [other for other, *_ in batch[place:]]
            chooser.witness(seen, seen.frontier(flying), asked, gain)
            visit(node)
            done.sequence.append(node)
            done.gains.append(gain)
    return done
