"""The state of an exploration (nodes, open leases, account, model), and how a visit changes it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sonde.budgets import Account, Budget
from sonde.errors import InputError, LeaseError
from sonde.estimators import Estimator, build_model, load_kernels
from sonde.link_words import words_of
from sonde.objectives import gain_of
from sonde.protocols import Floats, Objective
from sonde.records import Group, Lease, Link, LinkColumns, Node, Spend, UrlPlace, Visit
from sonde.strategies import Strategy

DROPPED = -2
"""What the frontier says of a node that was dropped (``kernels.model.frontier``)."""

_NO_LINKS = LinkColumns((), ())


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
        self.told = _NO_LINKS
        """The links of the visit that was told last."""
        self.linked: list[int] = []
        """The numbers of their targets, link by link."""
        self._domain_of: dict[str, str] = {}  # of basenames
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

    def _welcome(self, number: int, group: Group, place: UrlPlace | None) -> None:
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

    def is_dropped(self, number: int) -> bool:
        """Whether a node was given up without a visit."""
        frontier = self.model.frontier
        return frontier.slot_of[number] == DROPPED and number not in self.seeds

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

    def prepared(self, node: Node, visit: Visit) -> LinkColumns:
        """The links of a visit by columns, with what the model reads of them; its scores are
        checked. Nothing has changed yet."""
        links = visit.links
        if not isinstance(links, LinkColumns):
            links = self._columns(node, links)
        _check(node, visit.score, links)
        return links

    def _columns(self, node: Node, links: Sequence[Link]) -> LinkColumns:
        if not links:
            return _NO_LINKS
        targets, scores, groups, texts, urls = zip(*links, strict=True)
        words = places = None
        if self.model.links.wordy and (any(texts) or any(urls)):
            words = words_of(texts, urls)
        if self.model.places is not None and any(urls):
            from sonde.url_measures import places_of  # it reads the list of public suffixes

            others = [
                url if target != node else None for target, url in zip(targets, urls, strict=True)
            ]
            try:
                places = places_of(others, self._domain_of)
            except InputError as error:
                raise InputError(f"visit of {node!r}: {error}") from None
        return LinkColumns(targets, scores, groups, words, places)

    def learn(self, opened: OpenLease, node: Node, visit: Visit, gain: float) -> None:
        """Count a visit in, have the model learn from it, and put its links on the frontier."""
        model, links = self.model, self.told
        self.objective.add(node, visit)
        self.total += gain
        self.visits += 1
        if opened.features is not None:
            model.learn(opened.leaf, opened.features, gain)
        self.linked = targets = self._numbers_of(links)
        scores, words, places = links.scores, links.words, links.places
        if opened.node in targets or len(set(targets)) < len(targets):
            targets, scores, words, places = _merged(opened.node, targets, links)
        if not model.links.wordy:
            words = ()
        elif words is None:
            words = [b""] * len(targets)
        start = model.links.append(targets, scores, words)
        if model.places is not None:
            model.places.append(start, [None] * len(targets) if places is None else places)
        model.visit(opened.node, visit.score, start, start + len(targets))

    def _numbers_of(self, links: LinkColumns) -> list[int]:
        """The numbers of the targets; new ones become known, in the order of the links."""
        known = len(self.register)
        numbers = self.register.number_all(links.targets)
        if len(self.register) > known:
            groups, places = links.groups, links.places
            for at, number in enumerate(numbers):
                if number == known:
                    self._welcome(
                        number,
                        None if groups is None else groups[at],
                        None if places is None else places[at],
                    )
                    known += 1
        return numbers


def _merged(
    own: int, targets: Sequence[int], links: LinkColumns
) -> tuple[list[int], Sequence[float], Sequence[bytes] | None, Sequence[UrlPlace | None] | None]:
    """The targets of links with their scores, words and places. Parallel links count as one, at the
    place of the first, with the first place that is told; links to the node itself not at all."""
    scores: dict[int, float] = {}
    for target, score in zip(targets, links.scores, strict=True):
        if target != own:
            scores[target] = scores.get(target, 0.0) + score
    words = places = None
    if links.words is not None:
        said = dict.fromkeys(scores, b"")
        for target, heard in zip(targets, links.words, strict=True):
            if target != own:
                said[target] += heard
        words = list(said.values())
    if links.places is not None:
        found: dict[int, UrlPlace | None] = dict.fromkeys(scores)
        for target, place in zip(targets, links.places, strict=True):
            if target != own and found[target] is None:
                found[target] = place
        places = list(found.values())
    return list(scores), list(scores.values()), words, places


def _check(node: Node, score: float, links: LinkColumns) -> None:
    scores, words = links.scores, links.words
    columns = (scores, links.groups, words, links.places)
    if any(column is not None and len(column) != len(links) for column in columns):
        raise InputError(f"visit of {node!r}: the columns of its links have different lengths")
    if not (
        score >= 0
        and min(scores, default=0.0) >= 0
        and math.isfinite(score)
        and math.isfinite(sum(scores))
    ) and not all(0 <= each < math.inf for each in (score, *scores)):
        raise InputError(f"visit of {node!r}: scores must be finite numbers of 0 or more")
    if words is not None and any(size % 2 for size in set(map(len, words))):
        raise InputError(f"visit of {node!r}: words of links have two bytes each")
