"""The protocols at sonde's seams: what a class must offer to take part."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from sonde.records import Group, Lease, Node, Outcome, UrlPlace, Visit

Floats: TypeAlias = npt.NDArray[np.float64]
"""An array of doubles."""

Numbers: TypeAlias = npt.NDArray[np.integer[Any]]
"""An array of numbers of nodes, rows or links."""


@runtime_checkable
class CustomEstimator(Protocol):
    """An estimator of the user's own: features in, predictions out, learning from each visit.

    ``features`` names the columns it wants (see ``sonde.estimators.FEATURES``).
    """

    features: Sequence[str]

    def predict(self, features: Floats) -> Floats:
        """One finite prediction for each row of `features`."""

    def learn(self, features: Floats, gain: float) -> None:
        """A node that had these features when it was asked has brought this gain."""


@runtime_checkable
class Objective(Protocol):
    """What a set of visits is worth: monotone, and given incrementally."""

    def gain(self, node: Node, visit: Visit) -> float:
        """What this visit would add to the visits so far (never negative)."""

    def add(self, node: Node, visit: Visit) -> None:
        """Count this visit in."""


class Allowance(Protocol):
    """What may be spent: every request is taken before it is sent."""

    def take(self) -> bool:
        """Take one request before it is sent; ``False`` when the budget has none left.

        Once this returns ``True`` the request counts as spent, whatever becomes of it.
        """

    def receive(self, size: int) -> None:
        """So many bytes came back."""


class VisitAllowance(Allowance, Protocol):
    """What one visit may spend. A lease holds one request; whatever needs more takes more."""

    @property
    def lease(self) -> Lease:
        """The lease that the visit settles."""

    @property
    def depth(self) -> int:
        """How many links the node is away from a seed."""


@runtime_checkable
class Source(Protocol):
    """Where nodes come from: one method that visits a node."""

    async def visit(self, node: Node, allowance: VisitAllowance) -> Outcome:
        """Visit a node: a ``Visit``, a ``Failure`` or a ``Skip``.

        A source that calls ``allowance.take()`` is charged for what it took; for one that never
        does, the outcome's own ``spent`` counts, which may not exceed the one request held.
        """


class Pace(Protocol):
    """Which groups of nodes may be asked now: what a source with limits tells the driver."""

    wake: Callable[[], None]
    """Set by the driver: to be called when it should look again."""

    @property
    def closed(self) -> Mapping[Group, str]:
        """Groups that are not asked any more, and why."""

    def know(self, group: Group) -> None:
        """A group that nodes wait for, told once."""

    def ready(self, waiting: dict[Group, int]) -> Collection[Group] | None:
        """The groups that may be asked now, of those with nodes waiting; ``None`` for all."""

    def reserve(self, group: Group) -> None:
        """A lease was given for this group."""

    def next_time(self) -> float | None:
        """When to look again (on the monotonic clock), if nothing happens before."""


Value: TypeAlias = str | int | float | bytes | None
"""What a column of a table holds."""


class KeptPage(NamedTuple):
    """What a run has kept of a page that was visited: the score that it was told with, of its facts
    (``sources.facts``) the head of ``sketch``, ``twin`` and ``stale``. ``archived`` is the place of
    its response in the archive, if it is there."""

    node: str
    lease: int
    final_url: str
    status: int
    sketch: bytes | None
    twin: int | None
    canonical: str | None
    flags: str
    score: float
    stale: tuple[int, int, int | None, int] | None
    archived: str | None


class Keeper(Protocol):
    """What a source may leave with its run, and find there when the run is taken up again."""

    def recalled(self, part: str) -> bytes | None:
        """What was last kept under this name; ``None`` in a run where nothing was."""

    def keep(self, part: str, state: bytes) -> None:
        """Keep this from the next commit on, in place of what was kept before."""

    def commit(self) -> None:
        """Make safe now what was kept: before something is sent that rests on it."""

    def rows(self, table: str) -> Iterator[tuple[Value, ...]]:
        """All rows of a table that the kind of source declares."""

    def write(self, table: str, rows: Sequence[Sequence[Value]], /) -> None:
        """Write rows to such a table with the next commit; one with the same key is replaced."""

    def clear(self, table: str) -> None:
        """Take all rows out of such a table with the next commit, also those not yet written."""
        ...

    def visits(self) -> Iterator[tuple[Node, Visit]]:
        """What was visited before, in the order of the log."""

    def pages(self) -> Iterator[KeptPage]:
        """What was kept of the pages visited before, in the order of the log."""

    def text(self, lease: int) -> str | None:
        """The text that was kept of a page; ``None`` for none."""

    def sketch(self, lease: int) -> bytes | None:
        """What a page is recognised by, as the source kept it; ``None`` for nothing."""
        ...

    def left_out(self, reason: str) -> Iterator[str]:
        """Nodes that were refused or skipped for this reason, and never visited since."""

    def retried(self) -> Iterator[tuple[str, int]]:
        """Nodes that failed and went back to the frontier, and how often."""


WAITING, LEASED, VISITED, DROPPED = range(4)
"""What became of a node."""


class CrawlView(Protocol):
    """What a source may see of the crawl that it is part of, and tell it besides outcomes."""

    @property
    def register(self) -> Register:
        """All nodes seen so far, by number."""

    @property
    def status(self) -> bytearray:
        """What became of each node, by number: ``WAITING`` and so on."""

    @property
    def requests_left(self) -> int | None:
        """How many requests may still be sent; ``None`` where nothing limits them."""
        ...

    @property
    def reads_words(self) -> bool:
        """Whether the model reads the words of links."""

    @property
    def reads_urls(self) -> bool:
        """Whether the model reads the URLs of links."""

    def number_of(self, node: Node, /) -> int | None:
        """The number of a node; ``None`` for one never seen."""

    def became(self, node: Node, /) -> int | None:
        """What became of a node; ``None`` for one never seen."""

    def refuse(self, node: str, reason: str, lease: int, /) -> None:
        """A node was seen on a visit and will not be put on the frontier; the first reason
        stays."""

    def clock(self, lease: Lease, group: Group, seconds: float, /) -> None:
        """A request of a visit was answered after so many seconds by this group."""


# -- the engine: what the kernels of these names offer to explorer, estimators and simulation ----
# What each method does is said there.


class Dice(Protocol):
    """The one source of randomness, its state in plain sight."""

    def below(self, count: int) -> int: ...
    def state(self) -> tuple[int, int, int, int]: ...
    def restore(self, state: tuple[int, int, int, int]) -> None: ...


class Register(Protocol):
    """All nodes ever seen, numbered in order of discovery."""

    def __len__(self) -> int: ...
    def find(self, node: Node) -> int: ...
    def get(self, node: Node) -> int | None: ...
    def number(self, node: Node) -> int: ...
    def number_all(self, nodes: Sequence[Node]) -> list[int]: ...
    def node(self, number: int) -> Node: ...


class Leaf(Protocol):
    """One estimator as the frontier sees it: it ranks the rows, and learns from each visit."""

    number: int
    active: bool

    def estimate(self, slot: int) -> float: ...
    def rank(self, slot: int, limit: int) -> int: ...
    def catch_up(self) -> None: ...


class Frontier(Protocol):
    """The table of features, with a row for every node seen and not visited."""

    grouped: bool
    live: int
    leaves: list[Leaf]
    slot_of: Numbers
    row_node: Numbers
    row_live: Numbers
    node_group: Numbers
    features: Floats

    def reserve_groups(self, groups: int) -> None: ...
    def restrict(self, groups: Sequence[int] | None) -> None: ...
    def put_back(self, slot: int) -> None: ...
    def drop(self, node: int) -> None: ...


class Links(Protocol):
    """The links of visits, as far as something needs them."""

    wordy: bool
    remember: bool
    beta: Floats

    def append(
        self, targets: Sequence[int], alphas: Sequence[float], words: Sequence[bytes]
    ) -> int: ...


class Signal(Protocol):
    """Keeps some columns of the frontier table up to date as nodes are visited."""

    def reserve_nodes(self, nodes: int) -> None: ...


class Neighbourhood(Signal, Protocol):
    """The signal of visited parents, and of the truth where it is known."""

    def know(self, node: int, truth: float) -> None: ...


class Places(Signal, Protocol):
    """The signal of URL measures."""

    def know(self, node: int, domain: int, basename: int) -> None: ...
    def append(self, start: int, places: Sequence[UrlPlace | None]) -> None: ...


class Quickness(Signal, Protocol):
    """The signal of hosts that answer quickly."""

    def heard(self, group: int, seconds: float) -> None: ...


class Feedback(Signal, Protocol):
    """The signal of what siblings have brought against one estimator's predictions."""

    def heard(self, error: float) -> None: ...


class Yields(Signal, Protocol):
    """The signal of what the visited children of each visited node have brought."""

    def grounds(self, slot: int) -> tuple[float, ...]: ...


class Expectation(Leaf, Protocol):
    """The leaf that ranks by yields."""

    yields: Yields


class Forecast(Signal, Protocol):
    """The signal of a regression over the parts of yields."""

    optimism: float
    spread: float
    dice: Dice


class Chooser(Protocol):
    """Says which leaf picks next."""

    def leaves(self) -> list[Leaf]: ...
    def reward(self, leaf: int, gain: float) -> None: ...


class Model(Protocol):
    """Everything an exploration has learned, stepped one pick and one visit at a time."""

    frontier: Frontier
    links: Links
    dice: Dice
    chooser: Chooser
    neighbourhood: Neighbourhood
    signals: list[Signal]
    places: Places | None
    quickness: Quickness | None
    chosen: int
    predicted: float

    def reserve_nodes(self, nodes: int) -> None: ...
    def begin(self, seeds: Sequence[int]) -> None: ...
    def pick(self) -> int: ...
    def foreseen(self) -> int: ...
    def repick(self, node: int, leaf: int) -> None: ...
    def learn(self, leaf: int, snapshot: Floats, gain: float) -> None: ...
    def visit(self, node: int, score: float, start: int, end: int) -> None: ...
