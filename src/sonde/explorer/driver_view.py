"""The drivers' view of an exploration: numbers of nodes, a log told again, state saved.

A snapshot holds what was learned, as named arrays, not what can be derived: bounds and shortlists
are computed anew. What that is, each kernel declares: ``LEARNED`` names its numbers and arrays,
``PARTS`` the kernels that it is made of. Names of nodes are not in it: whoever keeps them gives
them back, in order of discovery.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sonde.budgets import Account
from sonde.errors import InputError
from sonde.explorer.exploration import Exploration, OpenLease
from sonde.kernels.model.frontier import FIRST_VISIT
from sonde.objectives import Count, Distinct, Sum
from sonde.protocols import Model, Register
from sonde.records import ONE_REQUEST, Group, Lease, LinkColumns, Node, Spend, Visit

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]
"""Arrays of numbers by name."""


def _captured(model: Model) -> dict[str, npt.NDArray[Any]] | None:
    """What a model has learned, of which nothing is copied; ``None`` where a part of it is of a
    kind that cannot be captured."""
    arrays: dict[str, npt.NDArray[Any]] = {}
    for place, kernel in _kernels(model):
        names = _learned(kernel)
        if names is None:
            return None
        for name in names:
            arrays[f"{place}.{name}"] = np.asarray(getattr(kernel, name))
    return arrays


def _give_back(model: Model, arrays: Arrays) -> None:
    """Bring a fresh model of the same making to what was captured. It goes on in these arrays."""
    for place, kernel in _kernels(model):
        for name in _learned(kernel) or ():
            value = arrays[f"{place}.{name}"]
            setattr(kernel, name, value if value.ndim else value.item())
    for leaf in model.frontier.leaves:
        leaf.catch_up()


def _kernels(kernel: object, place: str = "model") -> Iterator[tuple[str, object]]:
    """A kernel and all that it is made of, in an order that the estimator alone decides."""
    yield place, kernel
    for name in getattr(kernel, "PARTS", ()):
        part = getattr(kernel, name)
        if isinstance(part, list):
            for number, each in enumerate(part):
                yield from _kernels(each, f"{place}.{name}{number}")
        else:
            yield from _kernels(part, f"{place}.{name}")


def _learned(kernel: object) -> tuple[str, ...] | None:
    """What this very class declares; ``None`` where it does not, and cannot be captured."""
    return vars(type(kernel)).get("LEARNED")


FORM = 4
"""Raised whenever what a snapshot holds changes its shape."""


class DriverView:
    """What a driver needs that keeps a log of an exploration beside asking and telling."""

    def __init__(self, state: Exploration) -> None:
        self._state = state
        self.register: Register = state.register
        """All nodes ever seen."""
        self.number_of: Callable[[Node], int | None] = state.register.get
        """The number of a known node, in order of discovery; ``None`` for one never seen."""

    @property
    def known(self) -> int:
        """How many nodes were ever seen: the next one gets this number."""
        return len(self.register)

    def node_of(self, number: int) -> Node:
        """The node of a number."""
        return self.register.node(number)

    def call_by_numbers(self) -> None:
        """Call nodes by their numbers, in an explorer that has seen none: who tells a log again to
        look at the model needs no names."""
        self.register = self._state.register = NumberRegister()
        self.number_of = self.register.get

    def group_of(self, number: int) -> Group:
        """The group of the node with this number."""
        return self._state.group_of(number)

    @property
    def grouped(self) -> bool:
        """Whether nodes have groups."""
        return self._state.grouped

    @property
    def told(self) -> LinkColumns:
        """The links of the visit that was told last, with what was read of their texts and URLs."""
        return self._state.told

    @property
    def linked(self) -> Sequence[int]:
        """The numbers of their targets, link by link."""
        return self._state.linked

    # -- what is wanted ------------------------------------------------------------------------

    @property
    def reads_words(self) -> bool:
        """Whether the words of links are read."""
        return self._state.model.links.wordy

    @property
    def reads_urls(self) -> bool:
        """Whether the URLs of links are read."""
        return self._state.model.places is not None

    @property
    def reads_times(self) -> bool:
        """Whether round-trip times are read."""
        return self._state.model.quickness is not None

    def clock(self, group: Group, seconds: float) -> None:
        """A request to this group was answered after so many seconds. Estimators that prefer quick
        hosts hear of it; the group counts from when a node of it is known."""
        quickness, number = self._state.model.quickness, self._state.groups.get(group)
        if quickness is not None and number is not None:
            quickness.heard(number, seconds)

    # -- what can be expected ------------------------------------------------------------------

    @property
    def seeds_wait(self) -> bool:
        """Whether seeds are still to be asked: they go before all else."""
        return bool(self._state.seeds)

    def expected(self, groups: Iterable[Group]) -> tuple[float, Group]:
        """The highest estimate among the nodes of these groups, and the group it is in; not a
        number where there is none. Nothing is leased."""
        state = self._state
        frontier = state.model.frontier
        frontier.restrict(sorted(state.groups[group] for group in groups if group in state.groups))
        slot = state.model.foreseen()
        if slot < 0:
            return math.nan, None
        return state.model.predicted, state.group_of(int(frontier.row_node[slot]))

    # -- leases and the log --------------------------------------------------------------------

    @property
    def account(self) -> Account:
        """The books: what was spent, what is held, and the limits, which may be changed."""
        return self._state.account

    def held(self, lease: Lease) -> Spend:
        """What is held for an open lease."""
        return self._state.opened(lease).held

    def relet(self, lease: Lease, hold: Spend = ONE_REQUEST) -> None:
        """Repeat an ask that a log tells of: the same lease, without choosing anew.

        Together with tells in their order, and the dice as they stood at the end, this gives a
        fresh explorer the state of the one that wrote the log.
        """
        state = self._state
        state.begin_seeds()
        number = state.register.find(lease.node)
        features = None
        if lease.arm < 0:
            hold = Spend() if state.free_seeds else hold
            state.seeds.remove(number)
        else:
            frontier = state.model.frontier
            features = np.array(frontier.features[frontier.slot_of[number]])
            state.model.repick(number, lease.arm)
        state.account.held = state.account.held + hold
        state.leases = max(state.leases, lease.number)
        state.open[lease.number] = OpenLease(number, hold, lease.arm, features)

    def correct(self, node: Node, told: float, score: float) -> float | None:
        """A visited node's score, told as one, is another. Where the objective is a sum or a count
        its total changes, and what is given is the gain that the visit counts with now; any other
        objective keeps what it was told.

        The model reads the new score wherever it reads the scores of visited nodes from now on;
        what it has learned or passed on by then stays as it is.
        """
        state = self._state
        number = state.register.find(node)
        visit = FIRST_VISIT - int(state.model.frontier.slot_of[number]) if number >= 0 else -1
        if visit < 0:
            raise InputError(f"{node!r} was not visited: its score cannot be corrected")
        if not 0 <= score < math.inf:
            raise InputError(f"visit of {node!r}: scores must be finite numbers of 0 or more")
        if state.model.links.remember:
            state.model.links.beta[visit] = score
        if not isinstance(state.objective, Sum | Count):
            return None
        before, now = (state.objective.gain(node, Visit(each)) for each in (told, score))
        state.total += now - before
        return now

    @property
    def dice(self) -> tuple[int, int, int, int]:
        """The state of the random generator."""
        return self._state.model.dice.state()

    @dice.setter
    def dice(self, state: tuple[int, int, int, int]) -> None:
        self._state.model.dice.restore(state)

    # -- snapshots -----------------------------------------------------------------------------

    def capture(self) -> dict[str, npt.NDArray[Any]] | None:
        """The state as named arrays, which the next step may change; ``None`` where a part of the
        user's own cannot be captured.

        Telling a log from the start gives the same state; a snapshot only makes that shorter.
        """
        state = self._state
        names = (*state.domains, *state.basenames, *state.group_names)
        if not isinstance(state.objective, Sum | Count | Distinct) or not all(
            name is None or isinstance(name, str | int) for name in names
        ):
            return None
        arrays = _captured(state.model)
        if arrays is None:
            return None
        seen = state.objective.seen if isinstance(state.objective, Distinct) else ()
        facts: dict[str, Any] = {
            "form": FORM,
            "estimator": str(state.estimator),
            "nodes": self.known,
            "groups": state.group_names,
            "leases": state.leases,
            "open": {
                str(number): {
                    "node": opened.node,
                    "held": asdict(opened.held),
                    "leaf": opened.leaf,
                    "features": None if opened.features is None else opened.features.tolist(),
                }
                for number, opened in state.open.items()
            },
            "seeds": list(state.seeds),
            "new_seeds": state.new_seeds,
            "spent": asdict(state.account.spent),
            "held": asdict(state.account.held),
            "total": state.total,
            "visits": state.visits,
            "seen": sorted(seen, key=str),
            "domains": list(state.domains),
            "basenames": list(state.basenames),
        }
        arrays["facts"] = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
        return arrays

    def restore(self, arrays: Arrays, nodes: Iterable[Node]) -> bool:
        """Bring a fresh explorer of the same making to a captured state, and go on in its arrays.

        `nodes` are at least the nodes known then, in order of discovery. A snapshot that another
        version of sonde has left is passed over: ``False``, and nothing has changed.
        """
        state = self._state
        facts = json.loads(arrays["facts"].tobytes())
        if facts.get("form") != FORM:
            return False
        if facts["estimator"] != str(state.estimator):
            raise InputError(
                f"the snapshot was taken with {facts['estimator']}, not {state.estimator}"
            )
        _give_back(state.model, arrays)
        state.register.number_all(list(islice(nodes, facts["nodes"])))
        for group in facts["groups"]:
            state.group_number(group)
        state.domains.update({key: number for number, key in enumerate(facts["domains"])})
        state.basenames.update({key: number for number, key in enumerate(facts["basenames"])})
        state.leases = facts["leases"]
        state.seeds.extend(facts["seeds"])
        state.new_seeds = facts["new_seeds"]
        state.account.spent = Spend(**facts["spent"])
        state.account.held = Spend(**facts["held"])
        state.total = facts["total"]
        state.visits = facts["visits"]
        if isinstance(state.objective, Distinct):
            state.objective.seen.update(facts["seen"])
        for number, lease in facts["open"].items():
            features = None if lease["features"] is None else np.array(lease["features"])
            state.open[int(number)] = OpenLease(
                lease["node"], Spend(**lease["held"]), lease["leaf"], features
            )
        return True


class NumberRegister:
    """A register of nodes that are called by their numbers."""

    def __init__(self) -> None:
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def find(self, node: Node) -> int:
        """The number of a node, -1 for one that has none."""
        return node if isinstance(node, int) and 0 <= node < self._count else -1

    def get(self, node: Node) -> int | None:
        """The number of a node, ``None`` for one that has none."""
        return None if self.find(node) < 0 else self.find(node)

    def number(self, node: Node) -> int:
        """The number of a node, which is the next one if it had none."""
        return self.number_all([node])[0]

    def number_all(self, nodes: Sequence[Node]) -> list[int]:
        """The numbers of nodes: themselves."""
        numbers: list[int] = list(nodes)  # type: ignore[arg-type]
        self._count = max(self._count, max(numbers, default=-1) + 1)
        return numbers

    def node(self, number: int) -> Node:
        """The node of a number."""
        return number
