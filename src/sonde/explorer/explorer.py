"""The explorer, as whoever asks and tells sees it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from sonde.budgets import Budget, budget_from
from sonde.errors import InputError
from sonde.estimators import DEFAULT, Estimator, estimator_from
from sonde.explorer.driver_view import DriverView
from sonde.explorer.exploration import Exploration, OpenLease
from sonde.objectives import gain_of, objective_from
from sonde.protocols import CustomEstimator, Floats, Objective
from sonde.records import ONE_REQUEST, Failure, Group, Lease, Link, Node, Outcome, Spend, Visit
from sonde.strategies import Strategy, strategy_from


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
        self._state = Exploration(
            estimator_from(estimator),
            strategy_from(strategy),
            objective_from(objective),
            budget_from(budget),
            seed,
            grouped=grouped,
            free_seeds=free_seeds,
            truth=truth,
            # The value of a node never changes under the built-in sums.
            fixed=objective in ("sum", "count"),
            engine=engine,
        )
        self._choosers = [str(leaf) for leaf in self._state.estimator.leaves()]
        self.driver = DriverView(self._state)
        """The same exploration as drivers need it."""

    def add_seeds(self, seeds: Iterable[Node | Link]) -> None:
        """Nodes to visit first, in this order; a ``Link`` gives a seed its group. One that was
        dropped before may be named again."""
        state = self._state
        for seed in seeds:
            node, group = (seed.target, seed.group) if isinstance(seed, Link) else (seed, None)
            known = len(state.register)
            number = state.number(node, group)
            if number == known or state.is_dropped(number):
                state.new_seeds.append(number)
                state.seeds.append(number)

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
        state = self._state
        state.begin_seeds()
        groups = None
        if ready is not None:
            if not state.grouped:
                raise InputError("ready= needs an explorer made with grouped=True")
            groups = set(ready)
        if state.seeds:
            leases = self._ask_seeds(count, groups, hold)
            if leases or groups is None:
                return leases
        return self._ask_frontier(count, groups, hold)

    def _ask_seeds(self, count: int, groups: set[Group] | None, hold: Spend) -> list[Lease]:
        state = self._state
        hold = Spend() if state.free_seeds else hold
        leases: list[Lease] = []
        waiting: deque[int] = deque()
        while state.seeds and len(leases) < count:
            number = state.seeds.popleft()
            if groups is not None and state.group_of(number) not in groups:
                waiting.append(number)
                continue
            if not state.account.hold(hold):
                waiting.append(number)
                break
            leases.append(self._lease(number, hold, -1, None, None))
        state.seeds.extendleft(reversed(waiting))
        return leases

    def _ask_frontier(self, count: int, groups: set[Group] | None, hold: Spend) -> list[Lease]:
        account, known, model = self._state.account, self._state.groups, self._state.model
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
        state = self._state
        state.leases += 1
        state.open[state.leases] = OpenLease(number, hold, leaf, features)
        return Lease(
            number=state.leases,
            node=state.register.node(number),
            group=state.group_of(number),
            predicted=None if predicted is None or math.isnan(predicted) else predicted,
            chooser="seed" if leaf < 0 else self._choosers[leaf],
            arm=leaf,
        )

    def extend(self, lease: Lease, more: Spend = ONE_REQUEST) -> bool:
        """Hold more for a lease before the request that needs it is sent; False if none is left."""
        opened = self._state.opened(lease)
        if not self._state.account.hold(more):
            return False
        opened.held = opened.held + more
        return True

    # -- tell ----------------------------------------------------------------------------------

    def tell(self, lease: Lease, outcome: Outcome) -> float:
        """Settle a lease; the gain that the outcome brought under the objective."""
        state = self._state
        opened = state.opened(lease)
        spent = Spend() if state.free_seeds and opened.leaf < 0 else outcome.spent
        if isinstance(outcome, Visit):
            told = state.prepared(lease.node, outcome)
            gain = gain_of(state.objective, lease.node, outcome)
            state.account.settle(opened.held, spent)
            del state.open[lease.number]
            state.told = told
            state.learn(opened, lease.node, outcome, gain)
            return gain
        state.account.settle(opened.held, spent)
        del state.open[lease.number]
        if outcome.retry:
            state.put_back(opened)
        else:
            state.model.frontier.drop(opened.node)
            if isinstance(outcome, Failure) and opened.leaf >= 0:
                state.model.chooser.reward(opened.leaf, 0.0)
        return 0.0

    def spend(self, spent: Spend) -> None:
        """Book what went outside any lease: the driver's clock, for example."""
        self._state.account.charge(spent)

    # -- what can be seen ----------------------------------------------------------------------

    @property
    def estimator(self) -> Estimator:
        """What predicts."""
        return self._state.estimator

    @property
    def strategy(self) -> Strategy:
        """What picks."""
        return self._state.strategy

    @property
    def objective(self) -> Objective:
        """What visits are worth."""
        return self._state.objective

    @property
    def total(self) -> float:
        """The objective over all visits so far."""
        return self._state.total

    @property
    def visits(self) -> int:
        """How many visits were told."""
        return self._state.visits

    @property
    def spent(self) -> Spend:
        """What has been settled so far."""
        return self._state.account.spent

    def left(self, unit: str) -> float:
        """What is neither spent nor held, of one unit of the budget; infinite without a limit."""
        return self._state.account.left(unit)

    def rank(self, lease: Lease, limit: int = 100) -> int:
        """Where an open lease's node stood among all frontier nodes, by its chooser's estimate
        now: 1 for the best, 0 beyond `limit`."""
        opened = self._state.opened(lease)
        if opened.leaf < 0:
            return 1
        frontier = self._state.model.frontier
        return frontier.leaves[opened.leaf].rank(frontier.slot_of[opened.node], limit)

    def waits(self, node: Node) -> bool:
        """Whether a node is on the frontier, seeds in waiting not included."""
        number = self._state.register.find(node)
        frontier = self._state.model.frontier
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
        frontier = self._state.model.frontier
        slot = int(frontier.slot_of[self._state.register.find(node)])
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
        return self._state.model.frontier.live + len(self._state.seeds)

    @property
    def in_flight(self) -> int:
        """Leases that are not settled."""
        return len(self._state.open)

    @property
    def stop_reason(self) -> str | None:
        """Why nothing more can be asked, once all leases are settled: budget or frontier."""
        if self._state.open:
            return None
        if self.frontier_size:
            return "budget" if self._state.account.exhausted else None
        return "frontier"
