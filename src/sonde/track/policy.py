"""The recrawl policy: which node to visit next, a new one or one that was visited before.

With probability ``share`` a visit expands the frontier; otherwise it goes to a page that was
visited before. While lists (feeds, sitemaps) are due or have announced pages, every other one of
those goes to them.

What this needs is in memory: who waits to be expanded, and who to be visited again. It is made anew
from the citations at each start, and grows with the number of nodes known, which the plan bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from sonde import kernels
from sonde.authority.tracking import DAY, RECRAWLS, check_policies
from sonde.errors import InputError, SpecError
from sonde.track.citations import Citations, TrackedNode

EXPANSIONS = ("crawl-gai", "crawl-ai")


@dataclass(frozen=True)
class TrackPlan:
    """What a tracker is told, and what it may cost.

    ``per_hour`` requests are shared by expansion (a ``share`` of the visits) and recrawl.

    ``budget`` is the most that the tracker may spend on the run in all, ``most`` the most nodes
    that it keeps in memory.
    """

    top: int = 500
    window: float = 7 * DAY
    per_hour: int = 200
    expand: str = "crawl-gai"
    recrawl: str = "bandit"
    share: float = 0.5
    budget: int | None = None
    seed: int = 0
    most: int = 1_000_000

    def __post_init__(self) -> None:
        check_policies(self.expand, EXPANSIONS, self.recrawl, self.share)
        for name in ("top", "window", "per_hour", "most"):
            if not getattr(self, name) > 0:
                raise SpecError(f"{name} must be above 0, not {getattr(self, name)}")
        if self.budget is not None and self.budget < 0:
            raise SpecError(f"a budget of {self.budget} requests is not possible")

    def as_data(self) -> dict[str, Any]:
        """As it is kept with the run."""
        return asdict(self)

    @classmethod
    def of(cls, kept: dict[str, Any] | None, changes: dict[str, Any]) -> TrackPlan:
        """What was kept, with what is told now."""
        known = {field.name for field in fields(cls)}
        unknown = sorted(changes.keys() - known)
        if unknown:
            raise InputError(f"unknown setting {unknown[0]!r} (known: {', '.join(sorted(known))})")
        old = {name: value for name, value in (kept or {}).items() if name in known}
        return cls(**{**old, **changes})


class Policy:
    """The expansion and the recrawl, as in simulation, over numbers of nodes.

    ``kept`` is the ``state`` that an earlier one has left.
    """

    def __init__(self, plan: TrackPlan, store: Citations, kept: dict[str, Any]) -> None:
        self.store = store
        loops = kernels.load("compiled")
        self.plan = plan
        self.dice = loops.dice.Dice(plan.seed)
        if "dice" in kept:
            self.dice.restore(kept["dice"])
        self.expansion = loops.expansion.Expansion(1024, float(plan.expand == "crawl-ai"))
        self.recrawl = loops.recrawl.Recrawl(
            RECRAWLS.index(plan.recrawl), 1024, plan.per_hour / 3600.0 * (1 - plan.share)
        )
        for arm, (pulls, mean) in enumerate(kept.get("arms", ())):
            self.recrawl.pulls[arm] = pulls
            self.recrawl.means[arm] = mean
        self.known = 0
        self.free: list[int] = []  # numbers of forgotten nodes
        self._load()

    def state(self) -> dict[str, Any]:
        """What the store cannot tell: the dice, and how the bandit's arms have done."""
        pulls, means = self.recrawl.pulls, self.recrawl.means
        return {
            "dice": list(self.dice.state()),
            "arms": [(int(pulls[arm]), float(means[arm])) for arm in range(len(pulls))],
        }

    def _load(self) -> None:
        expected = 1
        for node, apparent, retry in self.store.nodes():
            self.free += range(expected, node.id)
            expected = node.id + 1
            self._make_room(node.id)
            self.known += 1
            self.expansion.apparent[node.id] = apparent
            waits = retry is not None
            if node.state == "frontier" and not waits:
                self.expansion.enter(node.id)
            else:
                self.expansion.take(node.id)
            if node.state == "visited" and not waits:
                self.watch(node)

    def new(self, url: str, state: str, now: float) -> tuple[int, str] | None:
        """The number and the state of a new node; ``None`` where there is no room until something
        is forgotten."""
        if self.known >= self.plan.most:
            return None
        number = self.store.add(url, state, now, self.free.pop() if self.free else None)
        self._make_room(number)
        self.known += 1
        return number, state

    def cited(self, never: Iterable[int], states: Mapping[int, str]) -> None:
        """Nodes that are cited by a link never seen before. What was given up on comes back."""
        for target in never:
            if states[target] in ("gone", "dropped"):
                self.store.update(target, state="frontier", why="", misses=0, retry=None)
                self.expansion.state[target] = 0
            self.expansion.cite(target)

    def _make_room(self, number: int) -> None:
        self.expansion.reserve(number + 1)
        self.recrawl.reserve(number + 1)

    def watch(self, node: TrackedNode) -> None:
        """A visited node is to be visited again."""
        self.recrawl.restore(
            node.id,
            node.links,
            node.fresh,
            node.elapsed or self.plan.window,
            node.score,
            max(1, node.intervals),
            node.changes,
            node.watched or self.plan.window,
        )

    def leave(self, number: int) -> None:
        """A node is neither expanded nor visited again, until it comes back."""
        self.expansion.take(number)
        self.recrawl.remove(number)

    def forget(self, number: int) -> None:
        """A node is no longer known; its number is free."""
        self.leave(number)
        self.expansion.apparent[number] = 0
        self.expansion.state[number] = 0
        if self.plan.expand != "crawl-ai":
            self.expansion.highest.forget(number)
        self.known -= 1
        self.free.append(number)

    def return_to_frontier(self, number: int) -> None:
        """A node waits to be expanded again."""
        self.expansion.state[number] = 0
        self.expansion.enter(number)

    # -- choosing --------------------------------------------------------------------------------

    def choose(self, now: float, allowed: Callable[[int], bool]) -> tuple[int, str] | None:
        """A node to visit now, and why; ``None`` where there is none that is ``allowed``."""
        for _ in range(1000):
            number, why = -1, "expand"
            if self.dice.uniform() < self.plan.share:
                number = self.expansion.pick(self.dice)
            if number < 0:
                number, why = self._again(now)
            if number < 0:
                number, why = self.expansion.pick(self.dice), "expand"
            if number < 0:
                return None
            if allowed(number):
                return number, why
        return None

    def _again(self, now: float) -> tuple[int, str]:
        listed = self._listed(now)
        if listed is not None and self.dice.uniform() < 0.5:
            return listed
        number = self.recrawl.pick(self.dice)
        if number < 0 and listed is not None:
            return listed
        return number, "recrawl"

    def _listed(self, now: float) -> tuple[int, str] | None:
        """A list that is due, or a page that a list announced."""
        due = self.store.due_list(now)
        if due is not None:
            return due, "list"
        announced = self.store.announced()
        return None if announced is None else (announced, "announced")

    def bring_back(self, now: float) -> None:
        """What was set aside until now."""
        for node in self.store.brought_back(now):
            if node.state == "visited":
                self.watch(node)
            elif node.state == "frontier":
                self.return_to_frontier(node.id)
