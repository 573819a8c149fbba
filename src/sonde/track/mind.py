"""What the tracker keeps in memory: who waits to be expanded, and who to be visited again.

It is made anew from the store at each start, and grows with the number of nodes known, which the
plan bounds; everything else is in the store.
"""

from __future__ import annotations

from typing import Any

from sonde import kernels
from sonde.authority.tracking import RECRAWLS
from sonde.store.citations import Citations, Tracked
from sonde.track.plan import Plan


class Mind:
    """The expansion and the recrawl, as in simulation, over numbers of nodes."""

    def __init__(self, plan: Plan, kept: dict[str, Any]) -> None:
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

    def state(self) -> dict[str, Any]:
        """What the store cannot tell: the dice, and how the bandit's arms have done."""
        pulls, means = self.recrawl.pulls, self.recrawl.means
        return {
            "dice": list(self.dice.state()),
            "arms": [(int(pulls[arm]), float(means[arm])) for arm in range(len(pulls))],
        }

    def load(self, store: Citations) -> None:
        """Become what the store says."""
        expected = 1
        for node, apparent, retry in store.nodes():
            self.free += range(expected, node.id)
            expected = node.id + 1
            self.room(node.id)
            self.known += 1
            self.expansion.apparent[node.id] = apparent
            waits = retry is not None
            if node.state == "frontier" and not waits:
                self.expansion.enter(node.id)
            else:
                self.expansion.take(node.id)
            if node.state == "visited" and not waits:
                self.watch(node)

    def room(self, number: int) -> None:
        """Make room for a node of this number."""
        self.expansion.reserve(number + 1)
        self.recrawl.reserve(number + 1)

    def watch(self, node: Tracked) -> None:
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
