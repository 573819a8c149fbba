"""The explorer: what an exploration knows (nodes, open leases, account, model), asked and told."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sonde.budgets import Account, Budget, budget_from
from sonde.errors import InputError, LeaseError
from sonde.estimators import DEFAULT, Estimator, build_model, estimator_from, load_kernels
from sonde.estimators.builder import Strategy, strategy_from
from sonde.explorer.driver_view import DriverView, OpenLease
from sonde.link_words import words_of
from sonde.objectives import gain_of, objective_from
from sonde.protocols import CustomEstimator, Floats, Objective
from sonde.records import (
    ONE_REQUEST,
    Failure,
    Group,
    Lease,
    Link,
    LinkColumns,
    Node,
    Outcome,
    Spend,
    UrlPlace,
    Visit,
)

_DROPPED = -2  # what the frontier says of such a node (``kernels.model.frontier``)
_NO_LINKS = LinkColumns((), ())


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one estimator says of a frontier node; ``rank`` is 0 beyond what was looked at, and
    ``None`` where it was not looked up. ``reasons`` say in words what the estimate rests on, where
    the estimator can."""

    chooser: str
    estimate: float
    rank: int | None
    reasons: tuple[str, ...] = ()


class Explorer:
    """The brain of a crawl: predicts, picks and learns; drivers do the visiting.

    ``budget`` is a number of requests or a ``Budget``; ``grouped`` says that nodes have groups
    (hosts) to which an ask can be restricted; ``free_seeds`` that seeds cost nothing;
    ``truth`` gives an oracle the visit that a node would bring.
    """

    def __init__(
        self,
        estimator: str | Estimator | CustomEstimator = DEFAULT,
        strategy: str | Strategy = "greedy",
        budget: int | Budget | None = None,
        objective: str | Objective = "sum",
        seed: int = 0,
        *,
        grouped: bool = False,
        free_seeds: bool = False,
        truth: Callable[[Node], Visit] | None = None,
        engine: str = "compiled",
    ) -> None:
        self.estimator = estimator_from(estimator)
        """What predicts."""
        self.strategy = strategy_from(strategy)
        """What picks."""
        self.objective = objective_from(objective)
        """What visits are worth."""
        self.total = 0.0
        """The objective over all visits so far."""
        self.visits = 0
        """How many visits were told."""
        limits = budget_from(budget)
        self._account = Account(limits)
        self._grouped = grouped
        self._free_seeds = free_seeds
        self._truth = truth
        self._choosers = [str(leaf) for leaf in self.estimator.leaves()]
        # Nodes have numbers, in order of discovery.
        self._register = load_kernels(engine).Register()
        self._groups: dict[Group, int] = {}
        self._group_names: list[Group] = []
        self._domains: dict[Hashable, int] = {}
        self._basenames: dict[Hashable, int] = {}
        self._domain_of: dict[str, str] = {}  # of basenames
        self._new_seeds: list[int] = []  # those that the model has not heard of
        self._seeds: deque[int] = deque()
        self._open: dict[int, OpenLease] = {}
        self._leases = 0
        self._told = _NO_LINKS  # of the visit that was told last
        self._linked: list[int] = []  # the numbers of their targets
        # The value of a node never changes under the built-in sums.
        changing = truth is not None and objective not in ("sum", "count")
        self._model = build_model(
            self.estimator,
            self.strategy,
            engine=engine,
            seed=seed,
            budget=limits.requests,
            grouped=grouped,
            truths=None if truth is None else np.zeros(0),
            oracle=self._true_gains if changing else None,
        )

    @property
    def driver(self) -> DriverView:
        """The same exploration as drivers need it."""
        return DriverView(self)

    def add_seeds(self, seeds: Iterable[Node | Link]) -> None:
        """Nodes to visit first, in this order; a ``Link`` gives a seed its group. One that was
        dropped before may be named again."""
        for seed in seeds:
            node, group = (seed.target, seed.group) if isinstance(seed, Link) else (seed, None)
            known = len(self._register)
            number = self._number(node, group)
            if number == known or self._is_dropped(number):
                self._new_seeds.append(number)
                self._seeds.append(number)

    def _is_dropped(self, number: int) -> bool:
        """Whether a node was given up without a visit."""
        return self._model.frontier.slot_of[number] == _DROPPED and number not in self._seeds

    # -- ask -----------------------------------------------------------------------------------

    def ask(
        self,
        count: int = 1,
        *,
        ready: Iterable[Group] | None = None,
        hold: Spend = ONE_REQUEST,
    ) -> list[Lease]:
        """Lease up to `count` nodes to visit, all chosen on the same estimates.

        ``ready`` restricts the choice to these groups. Each lease holds ``hold`` of the budget,
        the most that its visit may spend. The list is shorter when budget, seeds or frontier do
        not suffice; it holds seeds or picks, never both.
        """
        self._begin_seeds()
        groups = None
        if ready is not None:
            if not self._grouped:
                raise InputError("ready= needs an explorer made with grouped=True")
            groups = set(ready)
        if self._seeds:
            leases = self._ask_seeds(count, groups, hold)
            if leases or groups is None:
                return leases
        return self._ask_frontier(count, groups, hold)

    def _ask_seeds(self, count: int, groups: set[Group] | None, hold: Spend) -> list[Lease]:
        hold = Spend() if self._free_seeds else hold
        leases: list[Lease] = []
        waiting: deque[int] = deque()
        while self._seeds and len(leases) < count:
            number = self._seeds.popleft()
            if groups is not None and self._group_of(number) not in groups:
                waiting.append(number)
                continue
            if not self._account.hold(hold):
                waiting.append(number)
                break
            leases.append(self._lease(number, hold, -1, None, None))
        self._seeds.extendleft(reversed(waiting))
        return leases

    def _ask_frontier(self, count: int, groups: set[Group] | None, hold: Spend) -> list[Lease]:
        account, known, model = self._account, self._groups, self._model
        if groups is None:
            model.frontier.restrict(None)
        else:
            # In order of the groups' discovery: a set has none that could be repeated.
            model.frontier.restrict(sorted(known[group] for group in groups if group in known))
        leases: list[Lease] = []
        while len(leases) < count and account.hold(hold):
            slot = model.pick()
            if slot < 0:
                account.settle(hold, Spend())
                break
            features = np.array(model.frontier.features[slot])
            number = model.frontier.row_node[slot]
            leases.append(self._lease(number, hold, model.chosen, features, model.predicted))
        return leases

    def _lease(
        self,
        number: int,
        hold: Spend,
        leaf: int,
        features: Floats | None,
        predicted: float | None,
    ) -> Lease:
        self._leases += 1
        self._open[self._leases] = OpenLease(number, hold, leaf, features)
        return Lease(
            number=self._leases,
            node=self._register.node(number),
            group=self._group_of(number),
            predicted=None if predicted is None or math.isnan(predicted) else predicted,
            chooser="seed" if leaf < 0 else self._choosers[leaf],
            arm=leaf,
        )

    def extend(self, lease: Lease, more: Spend = ONE_REQUEST) -> bool:
        """Hold more for a lease before the request that needs it is sent; False if none is left."""
        opened = self._opened(lease)
        if not self._account.hold(more):
            return False
        opened.held = opened.held + more
        return True

    # -- tell ----------------------------------------------------------------------------------

    def tell(self, lease: Lease, outcome: Outcome) -> float:
        """Settle a lease; the gain that the outcome brought under the objective."""
        opened = self._opened(lease)
        spent = Spend() if self._free_seeds and opened.leaf < 0 else outcome.spent
        if isinstance(outcome, Visit):
            told = self._prepared(lease.node, outcome)
            gain = gain_of(self.objective, lease.node, outcome)
            self._account.settle(opened.held, spent)
            del self._open[lease.number]
            self._told = told
            self._learn(opened, lease.node, outcome, gain)
            return gain
        self._account.settle(opened.held, spent)
        del self._open[lease.number]
        if outcome.retry:
            self._put_back(opened)
        else:
            self._model.frontier.drop(opened.node)
            if isinstance(outcome, Failure) and opened.leaf >= 0:
                self._model.chooser.reward(opened.leaf, 0.0)
        return 0.0

    def spend(self, spent: Spend) -> None:
        """Book what went outside any lease: the driver's clock, for example."""
        self._account.charge(spent)

    # -- what can be seen ----------------------------------------------------------------------

    @property
    def spent(self) -> Spend:
        """What has been settled so far."""
        return self._account.spent

    def left(self, unit: str) -> float:
        """What is neither spent nor held, of one unit of the budget; infinite without a limit."""
        return self._account.left(unit)

    def rank(self, lease: Lease, limit: int = 100) -> int:
        """Where an open lease's node stood among all frontier nodes, by its chooser's estimate
        now: 1 for the best, 0 beyond `limit`."""
        opened = self._opened(lease)
        if opened.leaf < 0:
            return 1
        frontier = self._model.frontier
        return frontier.leaves[opened.leaf].rank(frontier.slot_of[opened.node], limit)

    def waits(self, node: Node) -> bool:
        """Whether a node is on the frontier, seeds in waiting not included."""
        number = self._register.find(node)
        frontier = self._model.frontier
        return (
            0 <= number < frontier.slot_of.shape[0]
            and frontier.slot_of[number] >= 0
            and bool(frontier.row_live[frontier.slot_of[number]])
        )

    def opinions(self, node: Node, limit: int = 100) -> list[Opinion]:
        """What each estimator says of a node on the frontier; nothing of any other node.

        Ranks are among all frontier nodes, and 0 beyond `limit`; with `limit` 0 they are not
        looked up. Chance has no opinion.
        """
        if not self.waits(node):
            return []
        frontier = self._model.frontier
        slot = int(frontier.slot_of[self._register.find(node)])
        opinions = []
        for estimator, leaf in zip(self.estimator.leaves(), frontier.leaves, strict=True):
            name = str(estimator)
            if name == "random":
                continue
            if limit and not leaf.active:
                leaf.catch_up()  # it had no turn yet, and has not followed the frontier
            rank = leaf.rank(slot, limit) if limit else None
            reasons = estimator.reasons(leaf, slot)
            opinions.append(Opinion(name, float(leaf.estimate(slot)), rank, reasons))
        return opinions

    @property
    def frontier_size(self) -> int:
        """Nodes seen and neither visited, leased nor dropped, seeds in waiting included."""
        return self._model.frontier.live + len(self._seeds)

    @property
    def in_flight(self) -> int:
        """Leases that are not settled."""
        return len(self._open)

    @property
    def stop_reason(self) -> str | None:
        """Why nothing more can be asked, once all leases are settled: budget or frontier."""
        if self._open:
            return None
        if self.frontier_size:
            return "budget" if self._account.exhausted else None
        return "frontier"

    # -- nodes ---------------------------------------------------------------------------------

    def _number(self, node: Node, group: Group) -> int:
        """The number of a node, a new one if it was not known. Its group is that of the link that
        it was discovered by."""
        known = len(self._register)
        number = self._register.number(node)
        if number == known:
            self._welcome(number, group, None)
        return number

    def _welcome(self, number: int, group: Group, place: UrlPlace | None) -> None:
        model = self._model
        if number >= model.frontier.slot_of.shape[0]:
            model.reserve_nodes(number + number // 8 + 16)
        if self._grouped:
            model.frontier.node_group[number] = self._group_number(group)
        if place is not None and model.places is not None:
            model.places.know(
                number,
                self._domains.setdefault(place.domain, len(self._domains)),
                self._basenames.setdefault(place.basename, len(self._basenames)),
            )
        if self._truth is not None:
            model.neighbourhood.know(number, self._true_gain(number, self._truth))

    def _group_number(self, group: Group) -> int:
        """The number of a group, a new one if it was not known."""
        number = self._groups.get(group)
        if number is None:
            number = self._groups[group] = len(self._groups)
            self._group_names.append(group)
            self._model.frontier.reserve_groups(number + 1)
        return number

    def _group_of(self, number: int) -> Group:
        """The group of the node with this number."""
        return self._group_names[self._model.frontier.node_group[number]] if self._grouped else None

    def _true_gain(self, number: int, truth: Callable[[Node], Visit]) -> float:
        node = self._register.node(number)
        return gain_of(self.objective, node, truth(node))

    def _true_gains(self, numbers: Iterable[int]) -> Floats:
        assert self._truth is not None
        return np.array([self._true_gain(number, self._truth) for number in numbers])

    def _begin_seeds(self) -> None:
        """Tell the model of the seeds that it has not heard of."""
        if self._new_seeds:
            self._model.begin(self._new_seeds)
            self._new_seeds = []

    # -- visits --------------------------------------------------------------------------------

    def _opened(self, lease: Lease) -> OpenLease:
        """What is kept of a lease that must be open."""
        opened = self._open.get(lease.number)
        if opened is None or self._register.find(lease.node) != opened.node:
            raise LeaseError(f"lease {lease.number} of {lease.node!r} is not open")
        return opened

    def _put_back(self, opened: OpenLease) -> None:
        """The node of a lease may be asked again."""
        if opened.leaf < 0:
            self._seeds.append(opened.node)
        else:
            self._model.frontier.put_back(self._model.frontier.slot_of[opened.node])

    def _prepared(self, node: Node, visit: Visit) -> LinkColumns:
        """The links of a visit by columns, with what the model reads of them; its scores are
        checked. Nothing has changed yet."""
        links = visit.links
        if not isinstance(links, LinkColumns):
            links = self._columns(node, links)
        problem = links.problem()
        if problem is None and not 0 <= visit.score < math.inf:
            problem = "scores must be finite numbers of 0 or more"
        if problem is not None:
            raise InputError(f"visit of {node!r}: {problem}")
        return links

    def _columns(self, node: Node, links: Sequence[Link]) -> LinkColumns:
        if not links:
            return _NO_LINKS
        targets, scores, groups, texts, urls = zip(*links, strict=True)
        words = places = None
        if self._model.links.wordy and (any(texts) or any(urls)):
            words = words_of(texts, urls)
        if self._model.places is not None and any(urls):
            from sonde.url_measures import places_of  # it reads the list of public suffixes

            others = [
                url if target != node else None for target, url in zip(targets, urls, strict=True)
            ]
            try:
                places = places_of(others, self._domain_of)
            except InputError as error:
                raise InputError(f"visit of {node!r}: {error}") from None
        return LinkColumns(targets, scores, groups, words, places)

    def _learn(self, opened: OpenLease, node: Node, visit: Visit, gain: float) -> None:
        """Count a visit in, have the model learn from it, and put its links on the frontier."""
        model, links = self._model, self._told
        self.objective.add(node, visit)
        self.total += gain
        self.visits += 1
        if opened.features is not None:
            model.learn(opened.leaf, opened.features, gain)
        self._linked = targets = self._numbers_of(links)
        if opened.node in targets or len(set(targets)) < len(targets):
            targets, links = links.merged(opened.node, targets)
        words = (links.words or [b""] * len(targets)) if model.links.wordy else ()
        start = model.links.append(targets, links.scores, words)
        if model.places is not None:
            model.places.append(start, links.places or [None] * len(targets))
        model.visit(opened.node, visit.score, start, start + len(targets))

    def _numbers_of(self, links: LinkColumns) -> list[int]:
        """The numbers of the targets; new ones become known, in the order of the links."""
        known = len(self._register)
        numbers = self._register.number_all(links.targets)
        if len(self._register) > known:
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
