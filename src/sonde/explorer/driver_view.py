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
from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sonde.errors import InputError
from sonde.kernels.model.frontier import FIRST_VISIT
from sonde.objectives import Count, Distinct, Sum
from sonde.protocols import Floats, Model, Register
from sonde.records import ONE_REQUEST, Group, Lease, LinkColumns, Node, Spend, Visit

if TYPE_CHECKING:
    from sonde.explorer.explorer import Explorer

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


@dataclass(slots=True)
class OpenLease:
    """What is kept of a lease until it is settled."""

    node: int
    held: Spend
    leaf: int  # -1 for a seed
    features: Floats | None


class DriverView:
    """What a driver needs that keeps a log of an exploration beside asking and telling."""

    def __init__(self, explorer: Explorer) -> None:
        self._explorer = explorer
        self.register: Register = explorer._register
        """All nodes ever seen."""
        self.number_of: Callable[[Node], int | None] = self.register.get
        """The number of a known node, in order of discovery; ``None`` for one never seen."""
        self.node_of: Callable[[int], Node] = self.register.node
        """The node of a number."""
        self.group_of: Callable[[int], Group] = explorer._group_of
        """The group of the node with this number."""
        self.grouped = explorer._grouped
        """Whether nodes have groups."""
        self.reads_words = explorer._model.links.wordy
        """Whether the words of links are read."""
        self.reads_urls = explorer._model.places is not None
        """Whether the URLs of links are read."""
        self.reads_times = explorer._model.quickness is not None
        """Whether round-trip times are read."""
        self.account = explorer._account
        """The books: what was spent, what is held, and the limits, which may be changed."""

    @property
    def known(self) -> int:
        """How many nodes were ever seen: the next one gets this number."""
        return len(self.register)

    def call_by_numbers(self) -> DriverView:
        """Call nodes by their numbers, in an explorer that has seen none: who tells a log again to
        look at the model needs no names. The view of that."""
        self._explorer._register = NumberRegister()
        return DriverView(self._explorer)

    @property
    def told(self) -> LinkColumns:
        """The links of the visit that was told last, with what was read of their texts and URLs."""
        return self._explorer._told

    @property
    def linked(self) -> Sequence[int]:
        """The numbers of their targets, link by link."""
        return self._explorer._linked

    def clock(self, group: Group, seconds: float) -> None:
        """A request to this group was answered after so many seconds. Estimators that prefer quick
        hosts hear of it; the group counts from when a node of it is known."""
        quickness = self._explorer._model.quickness
        number = self._explorer._groups.get(group)
        if quickness is not None and number is not None:
            quickness.heard(number, seconds)

    # -- what can be expected ------------------------------------------------------------------

    @property
    def seeds_wait(self) -> bool:
        """Whether seeds are still to be asked: they go before all else."""
        return bool(self._explorer._seeds)

    def expected(self, groups: Iterable[Group]) -> tuple[float, Group]:
        """The highest estimate among the nodes of these groups, and the group it is in; not a
        number where there is none. Nothing is leased."""
        model, known = self._explorer._model, self._explorer._groups
        model.frontier.restrict(sorted(known[group] for group in groups if group in known))
        slot = model.foreseen()
        if slot < 0:
            return math.nan, None
        return model.predicted, self.group_of(int(model.frontier.row_node[slot]))

    # -- leases and the log --------------------------------------------------------------------

    def held(self, lease: Lease) -> Spend:
        """What is held for an open lease."""
        return self._explorer._opened(lease).held

    def relet(self, lease: Lease, hold: Spend = ONE_REQUEST) -> None:
        """Repeat an ask that a log tells of: the same lease, without choosing anew.

        Together with tells in their order, and the dice as they stood at the end, this gives a
        fresh explorer the state of the one that wrote the log.
        """
        state = self._explorer
        state._begin_seeds()
        number = state._register.find(lease.node)
        features = None
        if lease.arm < 0:
            hold = Spend() if state._free_seeds else hold
            state._seeds.remove(number)
        else:
            frontier = state._model.frontier
            features = np.array(frontier.features[frontier.slot_of[number]])
            state._model.repick(number, lease.arm)
        state._account.held = state._account.held + hold
        state._leases = max(state._leases, lease.number)
        state._open[lease.number] = OpenLease(number, hold, lease.arm, features)

    def correct(self, node: Node, told: float, score: float) -> float | None:
        """A visited node's score, told as one, is another. Where the objective is a sum or a count
        its total changes, and what is given is the gain that the visit counts with now; any other
        objective keeps what it was told.

        The model reads the new score wherever it reads the scores of visited nodes from now on;
        what it has learned or passed on by then stays as it is.
        """
        state = self._explorer
        number = state._register.find(node)
        visit = FIRST_VISIT - int(state._model.frontier.slot_of[number]) if number >= 0 else -1
        if visit < 0:
            raise InputError(f"{node!r} was not visited: its score cannot be corrected")
        if not 0 <= score < math.inf:
            raise InputError(f"visit of {node!r}: scores must be finite numbers of 0 or more")
        if state._model.links.remember:
            state._model.links.beta[visit] = score
        if not isinstance(state.objective, Sum | Count):
            return None
        before, now = (state.objective.gain(node, Visit(each)) for each in (told, score))
        state.total += now - before
        return now

    @property
    def dice(self) -> tuple[int, int, int, int]:
        """The state of the random generator."""
        return self._explorer._model.dice.state()

    @dice.setter
    def dice(self, state: tuple[int, int, int, int]) -> None:
        self._explorer._model.dice.restore(state)

    # -- snapshots -----------------------------------------------------------------------------

    def capture(self) -> dict[str, npt.NDArray[Any]] | None:
        """The state as named arrays, which the next step may change; ``None`` where a part of the
        user's own cannot be captured.

        Telling a log from the start gives the same state; a snapshot only makes that shorter.
        """
        state = self._explorer
        names = (*state._domains, *state._basenames, *state._group_names)
        if not isinstance(state.objective, Sum | Count | Distinct) or not all(
            name is None or isinstance(name, str | int) for name in names
        ):
            return None
        arrays = _captured(state._model)
        if arrays is None:
            return None
        seen = state.objective.seen if isinstance(state.objective, Distinct) else ()
        facts: dict[str, Any] = {
            "form": FORM,
            "estimator": str(state.estimator),
            "nodes": self.known,
            "groups": state._group_names,
            "leases": state._leases,
            "open": {
                str(number): {
                    "node": opened.node,
                    "held": asdict(opened.held),
                    "leaf": opened.leaf,
                    "features": None if opened.features is None else opened.features.tolist(),
                }
                for number, opened in state._open.items()
            },
            "seeds": list(state._seeds),
            "new_seeds": state._new_seeds,
            "spent": asdict(state._account.spent),
            "held": asdict(state._account.held),
            "total": state.total,
            "visits": state.visits,
            "seen": sorted(seen, key=str),
            "domains": list(state._domains),
            "basenames": list(state._basenames),
        }
        arrays["facts"] = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
        return arrays

    def restore(self, arrays: Arrays, nodes: Iterable[Node]) -> bool:
        """Bring a fresh explorer of the same making to a captured state, and go on in its arrays.

        `nodes` are at least the nodes known then, in order of discovery. A snapshot that another
        version of sonde has left is passed over: ``False``, and nothing has changed.
        """
        state = self._explorer
        facts = json.loads(arrays["facts"].tobytes())
        if facts.get("form") != FORM:
            return False
        if facts["estimator"] != str(state.estimator):
            raise InputError(
                f"the snapshot was taken with {facts['estimator']}, not {state.estimator}"
            )
        _give_back(state._model, arrays)
        state._register.number_all(list(islice(nodes, facts["nodes"])))
        for group in facts["groups"]:
            state._group_number(group)
        state._domains.update({key: number for number, key in enumerate(facts["domains"])})
        state._basenames.update({key: number for number, key in enumerate(facts["basenames"])})
        state._leases = facts["leases"]
        state._seeds.extend(facts["seeds"])
        state._new_seeds = facts["new_seeds"]
        state._account.spent = Spend(**facts["spent"])
        state._account.held = Spend(**facts["held"])
        state.total = facts["total"]
        state.visits = facts["visits"]
        if isinstance(state.objective, Distinct):
            state.objective.seen.update(facts["seen"])
        for number, lease in facts["open"].items():
            features = None if lease["features"] is None else np.array(lease["features"])
            state._open[int(number)] = OpenLease(
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
