"""The state of an exploration (nodes, open leases, account, model), and how a visit changes it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from sonde.budgets import Account, Budget
from sonde.errors import InputError, LeaseError
from sonde.estimators import Estimator, build_model, load_kernels
from sonde.objectives import gain_of
from sonde.protocols import Floats, Objective
from sonde.records import Group, Lease, Link, Node, Place, Spend, Visit
from sonde.strategies import Strategy

_UNPLACED = Link(None)

Told: TypeAlias = tuple[Sequence[Node], Sequence[float], Sequence[bytes]]
"""The targets of a visit's links, their scores, their words."""


@dataclass(slots=True)
class OpenLease:
    """What is kept of a lease until it is settled."""

    node: int
    held: Spend
    leaf: int  # -1 for a seed
    features: Floats | None


class Exploration:
    """Everything an exploration knows. Nodes have numbers, in order of discovery."""

    def __init__(
        self,
        estimator: Estimator,
        strategy: Strategy,
        objective: Objective,
        budget: Budget,
        seed: int,
        *,
        grouped: bool,
        free_seeds: bool,
        truth: Callable[[Node], Visit] | None,
        fixed: bool,
        engine: str,
    ) -> None:
        """`fixed` says that the true gain of a node never changes."""
        self.estimator = estimator
        self.strategy = strategy
        self.objective = objective
        self.account = Account(budget)
        self.grouped = grouped
        self.free_seeds = free_seeds
        self.truth = truth
        self.total = 0.0
        self.visits = 0
        self.register = load_kernels(engine).Register()
        self.groups: dict[Group, int] = {}
        self.group_names: list[Group] = []
        self.domains: dict[Hashable, int] = {}
        self.basenames: dict[Hashable, int] = {}
        self.new_seeds: list[int] = []  # those that the model has not heard of
        self.seeds: deque[int] = deque()
        self.open: dict[int, OpenLease] = {}
        self.leases = 0
        self.linked: list[int] = []
        """The numbers of the targets of the visit that was told last, link by link."""
        self.model = build_model(
            estimator,
            strategy,
            engine=engine,
            seed=seed,
            budget=budget.requests,
            grouped=grouped,
            truths=None if truth is None else np.zeros(0),
            oracle=None if truth is None or fixed else self._true_gains,
        )

    # -- nodes ---------------------------------------------------------------------------------

    def number(self, node: Node, group: Group) -> int:
        """The number of a node, a new one if it was not known. Its group is that of the link that
        it was discovered by."""
        known = len(self.register)
        number = self.register.number(node)
        if number == known:
            self._welcome(number, group, None)
        return number

    def _welcome(self, number: int, group: Group, place: Place | None) -> None:
        model = self.model
        if number >= model.frontier.slot_of.shape[0]:
            model.reserve_nodes(number + number // 8 + 16)
        if self.grouped:
            model.frontier.node_group[number] = self.group_number(group)
        if place is not None and model.places is not None:
            model.places.know(
                number,
                self.domains.setdefault(place.domain, len(self.domains)),
                self.basenames.setdefault(place.basename, len(self.basenames)),
            )
        if self.truth is not None:
            model.neighbourhood.know(number, self._true_gain(number, self.truth))

    def group_number(self, group: Group) -> int:
        """The number of a group, a new one if it was not known."""
        number = self.groups.get(group)
        if number is None:
            number = self.groups[group] = len(self.groups)
            self.group_names.append(group)
            self.model.frontier.reserve_groups(number + 1)
        return number

    def group_of(self, number: int) -> Group:
        """The group of the node with this number."""
        return self.group_names[self.model.frontier.node_group[number]] if self.grouped else None

    def _true_gain(self, number: int, truth: Callable[[Node], Visit]) -> float:
        node = self.register.node(number)
        return gain_of(self.objective, node, truth(node))

    def _true_gains(self, numbers: Iterable[int]) -> Floats:
        assert self.truth is not None
        return np.array([self._true_gain(number, self.truth) for number in numbers])

    def begin_seeds(self) -> None:
        """Tell the model of the seeds that it has not heard of."""
        if self.new_seeds:
            self.model.begin(self.new_seeds)
            self.new_seeds = []

    # -- leases --------------------------------------------------------------------------------

    def opened(self, lease: Lease) -> OpenLease:
        """What is kept of a lease that must be open."""
        opened = self.open.get(lease.number)
        if opened is None or self.register.find(lease.node) != opened.node:
            raise LeaseError(f"lease {lease.number} of {lease.node!r} is not open")
        return opened

    def put_back(self, opened: OpenLease) -> None:
        """The node of a lease may be asked again."""
        if opened.leaf < 0:
            self.seeds.append(opened.node)
        else:
            self.model.frontier.put_back(self.model.frontier.slot_of[opened.node])

    # -- visits --------------------------------------------------------------------------------

    def learn(self, opened: OpenLease, node: Node, visit: Visit, told: Told, gain: float) -> None:
        """Count a visit in, have the model learn from it, and put its links on the frontier."""
        model = self.model
        self.objective.add(node, visit)
        self.total += gain
        self.visits += 1
        if opened.features is not None:
            model.learn(opened.leaf, opened.features, gain)
        targets, alphas, words = self._merged(opened.node, visit.links, told)
        start = model.links.append(targets, alphas, words if model.links.wordy else ())
        if model.places is not None:
            self._tell_places(start, targets, visit.links)
        model.visit(opened.node, visit.score, start, start + len(targets))

    def _merged(
        self, own: int, links: Sequence[Link], told: Told
    ) -> tuple[Sequence[int], Sequence[float], Sequence[bytes]]:
        """The targets of links with their scores and words; parallel links count as one, at the
        first one's place, and links to the node itself not at all."""
        nodes, scores, lists = told
        targets = self.linked = self._numbers_of(links, nodes)
        if own not in targets and len(set(targets)) == len(targets):
            return targets, scores, lists
        alphas: dict[int, float] = {}
        words: dict[int, bytes] = {}
        for target, score, said in zip(targets, scores, lists, strict=True):
            if target != own:
                alphas[target] = alphas.get(target, 0.0) + score
                words[target] = words.get(target, b"") + said
        return list(alphas), list(alphas.values()), list(words.values())

    def _numbers_of(self, links: Sequence[Link], nodes: Sequence[Node]) -> list[int]:
        """The numbers of the targets; new ones become known, in the order of the links."""
        known = len(self.register)
        numbers = self.register.number_all(nodes)
        if len(self.register) > known:
            for number, link in zip(numbers, links, strict=True):
                if number == known:
                    self._welcome(number, link.group, link.place)
                    known += 1
        return numbers

    def _tell_places(self, start: int, targets: Sequence[int], links: Sequence[Link]) -> None:
        """The URL measures of the links, those of the first of parallel ones."""
        if len(links) != len(targets):
            first: dict[int, Link] = {}
            for target, link in zip(self.linked, links, strict=True):
                if link.place is not None:
                    first.setdefault(target, link)
            links = [first.get(target, _UNPLACED) for target in targets]
        assert self.model.places is not None
        self.model.places.append(start, links)


def taken_apart(node: Node, visit: Visit) -> Told:
    """The links of a visit by columns, its scores checked."""
    told: Told = ((), (), ())
    if visit.links:
        targets, scores, _, _, words = zip(*visit.links, strict=True)
        told = (targets, scores, words)
    _check(node, visit, told)
    return told


def _check(node: Node, visit: Visit, told: Told) -> None:
    _, scores, words = told
    if not (
        visit.score >= 0
        and min(scores, default=0.0) >= 0
        and math.isfinite(visit.score)
        and math.isfinite(sum(scores))
    ) and not all(0 <= score < math.inf for score in (visit.score, *scores)):
        raise InputError(f"visit of {node!r}: scores must be finite numbers of 0 or more")
    if any(size % 2 for size in set(map(len, words))):
        raise InputError(f"visit of {node!r}: words of links have two bytes each")
