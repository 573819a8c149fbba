"""The explorer: ask which nodes to visit, tell what came of it.

It does no I/O, owns no clock, and sees nothing that it was not told. Life of a node: it is named
as a seed or as the target of a told link; it waits on the frontier; an ask leases it, holding
budget; a tell settles the lease. A ``Visit`` teaches the model and puts the visit's links on the
frontier; a ``Failure`` or ``Skip`` drops the node, or with ``retry`` puts it back.

Invariants: held and spent budget never exceed the limits; no node is leased twice at a time nor
visited twice; the same calls in the same order give the same leases.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from sonde import kernels
from sonde.budgets import Account, Budget, budget_from
from sonde.errors import InputError, LeaseError
from sonde.estimators import DEFAULT, Estimator, assemble, estimator_from
from sonde.objectives import gain_of, objective_from
from sonde.protocols import CustomEstimator, Floats, Objective
from sonde.records import Failure, Group, Lease, Link, Node, Outcome, Place, Spend, Visit
from sonde.strategies import Strategy, strategy_from

ONE_REQUEST = Spend(requests=1)
_UNPLACED = Link(None)

Told: TypeAlias = tuple[Sequence[Node], Sequence[float], Sequence[bytes]]
"""The targets of a visit's links, their scores, their words."""


@dataclass(slots=True)
class Open:
    """What the explorer keeps of a lease until it is settled."""

    number: int
    held: Spend
    leaf: int  # -1 for a seed
    snapshot: Floats | None


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
        self.strategy = strategy_from(strategy)
        self.objective = objective_from(objective)
        self.account = Account(budget_from(budget))
        self.grouped = grouped
        self.free_seeds = free_seeds
        self.total = 0.0
        self.visits = 0
        self._truth = truth
        self._register = kernels.load(engine).register.Register()
        self.number_of: Callable[[Node], int | None] = self._register.get
        """The number of a known node, in order of discovery; ``None`` for one never seen."""
        self._groups: dict[Group, int] = {}
        self._group_names: list[Group] = []
        self._linked: list[int] = []
        self._domains: dict[Hashable, int] = {}
        self._basenames: dict[Hashable, int] = {}
        self._new_seeds: list[int] = []
        self._seeds: deque[int] = deque()
        self._open: dict[int, Open] = {}
        self._leases = 0
        # The value of a node is fixed under the built-in sums, and looked up anew under the rest.
        static = truth is not None and objective in ("sum", "count")
        self._model = assemble(
            self.estimator,
            self.strategy,
            engine=engine,
            seed=seed,
            budget=self.account.budget.requests,
            grouped=grouped,
            truths=np.zeros(0) if truth is not None else None,
            oracle=self._true_gains if truth is not None and not static else None,
        )
        self._choosers = [str(leaf) for leaf in self.estimator.leaves()]

    # -- nodes ---------------------------------------------------------------------------------

    def _number(self, node: Node, group: Group, place: Place | None = None) -> int:
        """The number of a node, in order of discovery; a new one if it was not known. Its group
        and its place are those of the link that it was discovered by."""
        known = len(self._register)
        number: int = self._register.number(node)
        if number == known:
            self._welcome(number, group, place)
        return number

    def _welcome(self, number: int, group: Group, place: Place | None) -> None:
        model = self._model
        if number >= model.frontier.slot_of.shape[0]:
            model.reserve_nodes(number + number // 8 + 16)
        if self.grouped:
            model.frontier.node_group[number] = self._group_number(group)
        if place is not None and model.places is not None:
            model.places.know(
                number,
                self._domains.setdefault(place.domain, len(self._domains)),
                self._basenames.setdefault(place.basename, len(self._basenames)),
            )
        if self._truth is not None:
            model.neighbourhood.know(number, self._true_gain(number))

    def _group_number(self, group: Group) -> int:
        number = self._groups.get(group)
        if number is None:
            number = self._groups[group] = len(self._groups)
            self._group_names.append(group)
            self._model.frontier.reserve_groups(number + 1)
        return number

    def _group_of(self, number: int) -> Group:
        return self._group_names[self._model.frontier.node_group[number]] if self.grouped else None

    def _true_gain(self, number: int) -> float:
        assert self._truth is not None
        node = self._register.node(number)
        return gain_of(self.objective, node, self._truth(node))

    def _true_gains(self, numbers: Iterable[int]) -> Floats:
        return np.array([self._true_gain(number) for number in numbers])

    def add_seeds(self, seeds: Iterable[Node | Link]) -> None:
        """Nodes to visit first, in this order; a ``Link`` gives a seed its group."""
        for seed in seeds:
            node, group = (seed.target, seed.group) if isinstance(seed, Link) else (seed, None)
            known = len(self._register)
            number = self._number(node, group)
            if number == known:
                self._new_seeds.append(number)
                self._seeds.append(number)

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
            if not self.grouped:
                raise InputError("ready= needs an explorer made with grouped=True")
            groups = set(ready)
        if self._seeds:
            leases = self._ask_seeds(count, groups, hold)
            if leases or groups is None:
                return leases
        return self._ask_frontier(count, groups, hold)

    def _begin_seeds(self) -> None:
        if self._new_seeds:
            self._model.begin(self._new_seeds)
            self._new_seeds = []

    def _ask_seeds(self, count: int, groups: set[Group] | None, hold: Spend) -> list[Lease]:
        hold = Spend() if self.free_seeds else hold
        leases: list[Lease] = []
        waiting: deque[int] = deque()
        while self._seeds and len(leases) < count:
            number = self._seeds.popleft()
            if groups is not None and self._group_of(number) not in groups:
                waiting.append(number)
                continue
            if not self.account.hold(hold):
                waiting.append(number)
                break
            leases.append(self._lease(number, hold, -1, None, None))
        self._seeds.extendleft(reversed(waiting))
        return leases

    def _ask_frontier(self, count: int, groups: set[Group] | None, hold: Spend) -> list[Lease]:
        model = self._model
        if groups is None:
            model.frontier.restrict(None)
        else:
            # In order of the groups' discovery: a set has none that could be repeated.
            model.frontier.restrict(
                sorted(self._groups[group] for group in groups if group in self._groups)
            )
        leases: list[Lease] = []
        while len(leases) < count and self.account.hold(hold):
            slot = model.pick()
            if slot < 0:
                self.account.settle(hold, Spend())
                break
            snapshot = np.array(model.frontier.features[slot])
            number = model.frontier.row_node[slot]
            leases.append(self._lease(number, hold, model.chosen, snapshot, model.predicted))
        return leases

    def _lease(
        self,
        number: int,
        hold: Spend,
        leaf: int,
        snapshot: Floats | None,
        predicted: float | None,
    ) -> Lease:
        self._leases += 1
        self._open[self._leases] = Open(number, hold, leaf, snapshot)
        return Lease(
            number=self._leases,
            node=self._register.node(number),
            group=self._group_of(number),
            predicted=None if predicted is None or math.isnan(predicted) else predicted,
            chooser="seed" if leaf < 0 else self._choosers[leaf],
            arm=leaf,
        )

    def relet(self, lease: Lease, hold: Spend = ONE_REQUEST) -> None:
        """Repeat an ask that a log tells of: the same lease, without choosing anew.

        Together with tells in their order, and the dice as they stood at the end, this gives a
        fresh explorer the state of the one that wrote the log.
        """
        self._begin_seeds()
        number = self._register.find(lease.node)
        snapshot = None
        if lease.arm < 0:
            hold = Spend() if self.free_seeds else hold
            self._seeds.remove(number)
        else:
            slot = self._model.frontier.slot_of[number]
            snapshot = np.array(self._model.frontier.features[slot])
            self._model.repick(number, lease.arm)
        self.account.held = self.account.held + hold
        self._leases = max(self._leases, lease.number)
        self._open[lease.number] = Open(number, hold, lease.arm, snapshot)

    def extend(self, lease: Lease, more: Spend = ONE_REQUEST) -> bool:
        """Hold more for a lease before the request that needs it is sent; False if none is left."""
        opened = self._opened(lease)
        if not self.account.hold(more):
            return False
        opened.held = opened.held + more
        return True

    # -- tell ----------------------------------------------------------------------------------

    def tell(self, lease: Lease, outcome: Outcome) -> float:
        """Settle a lease; the gain that the outcome brought under the objective."""
        opened = self._opened(lease)
        visit = outcome if isinstance(outcome, Visit) else None
        gain = 0.0
        told: Told = ((), (), ())
        if visit is not None:
            if visit.links:
                told = _taken_apart(visit.links)
            _check(lease.node, visit, told)
            gain = gain_of(self.objective, lease.node, visit)
        spent = Spend() if self.free_seeds and opened.leaf < 0 else outcome.spent
        self.account.settle(opened.held, spent)
        del self._open[lease.number]
        if visit is not None:
            self._learn(opened, lease.node, visit, told, gain)
        elif outcome.retry:  # type: ignore[union-attr]
            self._put_back(opened)
        else:
            self._model.frontier.drop(opened.number)
            if isinstance(outcome, Failure) and opened.leaf >= 0:
                self._model.chooser.reward(opened.leaf, 0.0)
        return gain

    def _opened(self, lease: Lease) -> Open:
        opened = self._open.get(lease.number)
        if opened is None or self._register.find(lease.node) != opened.number:
            raise LeaseError(f"lease {lease.number} of {lease.node!r} is not open")
        return opened

    def _learn(self, opened: Open, node: Node, visit: Visit, told: Told, gain: float) -> None:
        model = self._model
        self.objective.add(node, visit)
        self.total += gain
        self.visits += 1
        if opened.leaf >= 0:
            model.learn(opened.leaf, opened.snapshot, gain)
        targets, alphas, words = self._merged(opened.number, visit.links, told)
        start = model.links.append(targets, alphas, words if model.links.wordy else ())
        if model.places is not None:
            self._tell_places(start, targets, visit.links)
        model.visit(opened.number, visit.score, start, start + len(targets))

    def _merged(
        self, own: int, links: Sequence[Link], told: Told
    ) -> tuple[Sequence[int], Sequence[float], Sequence[bytes]]:
        """The targets of links with their scores and words; parallel links count as one, at the
        first one's place, and links to the node itself not at all."""
        nodes, scores, lists = told
        targets = self._linked = self._numbers_of(links, nodes)
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
        known = len(self._register)
        numbers: list[int] = self._register.number_all(nodes)
        if len(self._register) > known:
            for number, link in zip(numbers, links, strict=True):
                if number == known:
                    self._welcome(number, link.group, link.place)
                    known += 1
        return numbers

    def _tell_places(self, start: int, targets: Sequence[int], links: Sequence[Link]) -> None:
        """The URL measures of the links, those of the first of parallel ones."""
        if len(links) != len(targets):
            first: dict[int, Link] = {}
            for target, link in zip(self._linked, links, strict=True):
                if link.place is not None:
                    first.setdefault(target, link)
            links = [first.get(target, _UNPLACED) for target in targets]
        self._model.places.append(start, links)

    def _put_back(self, opened: Open) -> None:
        if opened.leaf < 0:
            self._seeds.append(opened.number)
        else:
            self._model.frontier.put_back(self._model.frontier.slot_of[opened.number])

    def clock(self, group: Group, seconds: float) -> None:
        """A request to this group was answered after so many seconds. Estimators that prefer quick
        hosts hear of it; the group counts from when a node of it is known."""
        if self.timed and group in self._groups:
            self._model.quickness.heard(self._groups[group], seconds)

    def spend(self, spent: Spend) -> None:
        """Book what went outside any lease: the driver's clock, for example."""
        self.account.charge(spent)

    # -- what can be seen ----------------------------------------------------------------------

    @property
    def placed(self) -> bool:
        """Whether links should be told with their places."""
        return self._model.places is not None

    @property
    def timed(self) -> bool:
        """Whether round-trip times should be told."""
        return self._model.quickness is not None

    @property
    def dice(self) -> tuple[int, int, int, int]:
        """The state of the random generator."""
        state: tuple[int, int, int, int] = self._model.dice.state()
        return state

    @dice.setter
    def dice(self, state: tuple[int, int, int, int]) -> None:
        self._model.dice.restore(state)

    def held(self, lease: Lease) -> Spend:
        """What is held for an open lease."""
        return self._opened(lease).held

    @property
    def register(self) -> Any:
        """The kernel's register of all nodes ever seen."""
        return self._register

    def node_of(self, number: int) -> Node:
        """The node of a number."""
        node: Node = self._register.node(number)
        return node

    @property
    def linked(self) -> Sequence[int]:
        """The numbers of the targets of the visit that was told last, link by link."""
        return self._linked

    @property
    def known(self) -> int:
        """How many nodes were ever seen: the next one gets this number."""
        return len(self._register)

    def rank(self, lease: Lease, limit: int = 100) -> int:
        """Where an open lease's node stood among all frontier nodes, by its chooser's estimate
        now: 1 for the best, 0 beyond `limit`."""
        opened = self._opened(lease)
        if opened.leaf < 0:
            return 1
        model = self._model
        leaf = model.frontier.leaves[opened.leaf]
        return int(leaf.rank(model.frontier.slot_of[opened.number], limit))

    def waits(self, node: Node) -> bool:
        """Whether a node is on the frontier, seeds in waiting not included."""
        number = self._register.find(node)
        frontier = self._model.frontier
        return (
            number >= 0
            and number < frontier.slot_of.shape[0]
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
            rank = int(leaf.rank(slot, limit)) if limit else None
            reasons = estimator.reasons(leaf, slot)
            opinions.append(Opinion(name, float(leaf.estimate(slot)), rank, reasons))
        return opinions

    @property
    def frontier_size(self) -> int:
        """Nodes seen and neither visited, leased nor dropped, seeds in waiting included."""
        return int(self._model.frontier.live) + len(self._seeds)

    @property
    def in_flight(self) -> int:
        """Leases that are not settled."""
        return len(self._open)

    @property
    def stop_reason(self) -> str | None:
        """Why nothing more can be asked, once all leases are settled: budget or frontier."""
        if self._open:
            return None
        if self._seeds or self.frontier_size:
            return "budget" if self.account.exhausted else None
        return "frontier"


def _taken_apart(links: Sequence[Link]) -> Told:
    targets, scores, _, _, words = zip(*links, strict=True)
    return targets, scores, words


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
