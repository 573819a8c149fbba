"""The frozen records that cross the ask/tell seam.

A driver *asks* for leases, does whatever a visit means for its source, and *tells* an outcome:
a ``Visit`` (what was found), a ``Failure`` (the node could not be visited) or a ``Skip`` (the
driver chose not to). Each outcome carries what it cost, so that the budget can be settled.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import NamedTuple, TypeAlias, overload

__all__ = ["Failure", "Lease", "Link", "LinkColumns", "Skip", "Spend", "UrlPlace", "Visit"]

Node: TypeAlias = Hashable
"""Whatever names a node: a URL, an account, a keyword, a number."""

Group: TypeAlias = Hashable
"""What nodes share when they share a limit: for web pages the host."""


@dataclass(frozen=True, slots=True)
class Spend:
    """What went, in the units of every budget."""

    requests: int = 0
    bytes: int = 0
    seconds: float = 0.0
    cost: float = 0.0

    def __add__(self, other: Spend) -> Spend:
        return Spend(
            self.requests + other.requests,
            self.bytes + other.bytes,
            self.seconds + other.seconds,
            self.cost + other.cost,
        )


ONE_REQUEST = Spend(requests=1)


class Link(NamedTuple):
    """A directed edge seen on a visit; ``score`` says how promising its context looks.

    ``text`` is what it is called and ``url`` where it leads, for estimators that read them.
    """

    target: Node
    score: float = 0.0
    group: Group = None
    text: str = ""
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Visit:
    """The node was visited: its score, its links in their order, the records it returned."""

    score: float
    links: Sequence[Link] = ()
    records: Sequence[Hashable] = ()
    spent: Spend = field(default_factory=lambda: Spend(requests=1))


@dataclass(frozen=True, slots=True)
class Failure:
    """The node could not be visited. With ``retry`` it goes back to the frontier."""

    reason: str
    retry: bool = False
    spent: Spend = field(default_factory=lambda: Spend(requests=1))


@dataclass(frozen=True, slots=True)
class Skip:
    """The driver chose not to visit the node (scope, robots, no budget left)."""

    reason: str
    retry: bool = False
    spent: Spend = field(default_factory=Spend)


Outcome: TypeAlias = Visit | Failure | Skip


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to visit one node, with budget held for it until an outcome settles it.

    ``predicted`` is the estimate at the time of asking (``None`` for seeds and for `random`),
    ``chooser`` the estimator that picked the node, and ``arm`` its number (-1 for seeds).
    """

    number: int
    node: Node
    group: Group
    predicted: float | None
    chooser: str
    arm: int


class UrlPlace(NamedTuple):
    """What a URL says of a link: where the target lives, and how the page's links are spread over
    domains and basenames (``sonde.url_measures`` has the definitions)."""

    domain: Hashable
    basename: Hashable
    rfu: float = 0.0
    bfu: float = 0.0
    repeats: int = 0  # further links to the target on the same page


@dataclass(frozen=True, slots=True)
class LinkColumns(Sequence[Link]):
    """Links by columns, all of one length or missing: what a source in a hurry hands over.

    Whoever hands over links has texts and URLs; estimators read numbers that stand for words, and
    measures of URLs. An explorer works these out where its estimator reads them. A source that has
    them already, or can work them out for a whole page at once, gives columns instead of objects.
    They are a sequence of links all the same.

    ``words`` are what a link is called, two bytes a word, as ``sonde.link_words`` gives them.
    """

    targets: Sequence[Node]
    scores: Sequence[float]
    groups: Sequence[Group] | None = None
    words: Sequence[bytes] | None = None
    places: Sequence[UrlPlace | None] | None = None

    def __len__(self) -> int:
        return len(self.targets)

    def __iter__(self) -> Iterator[Link]:
        return map(Link, self.targets, self.scores, self.groups or repeat(None))

    @overload
    def __getitem__(self, place: int) -> Link: ...

    @overload
    def __getitem__(self, place: slice) -> LinkColumns: ...

    def __getitem__(self, place: int | slice) -> Link | LinkColumns:
        if isinstance(place, slice):
            return self.at(range(len(self))[place])
        group = None if self.groups is None else self.groups[place]
        return Link(self.targets[place], self.scores[place], group)

    def at(self, places: Sequence[int]) -> LinkColumns:
        """The links at these places alone."""
        return LinkColumns(
            [self.targets[place] for place in places],
            [self.scores[place] for place in places],
            None if self.groups is None else [self.groups[place] for place in places],
            None if self.words is None else [self.words[place] for place in places],
            None if self.places is None else [self.places[place] for place in places],
        )

    def problem(self) -> str | None:
        """What makes them unfit to be told, if anything does."""
        scores, words = self.scores, self.words
        columns = (scores, self.groups, words, self.places)
        if any(column is not None and len(column) != len(self) for column in columns):
            return "the columns of its links have different lengths"
        if not (min(scores, default=0.0) >= 0 and math.isfinite(sum(scores))) and not all(
            0 <= each < math.inf for each in scores
        ):
            return "scores must be finite numbers of 0 or more"
        if words is not None and any(size % 2 for size in set(map(len, words))):
            return "words of links have two bytes each"
        return None

    def merged(self, own: int, targets: Sequence[int]) -> tuple[list[int], LinkColumns]:
        """The numbers of their `targets`, and them, each target once. Parallel links count as one,
        at the place of the first, with the first place that is told; links to the node itself
        (`own`) not at all."""
        scores: dict[int, float] = {}
        for target, score in zip(targets, self.scores, strict=True):
            if target != own:
                scores[target] = scores.get(target, 0.0) + score
        words = places = None
        if self.words is not None:
            said = dict.fromkeys(scores, b"")
            for target, heard in zip(targets, self.words, strict=True):
                if target != own:
                    said[target] += heard
            words = list(said.values())
        if self.places is not None:
            found: dict[int, UrlPlace | None] = dict.fromkeys(scores)
            for target, place in zip(targets, self.places, strict=True):
                if target != own and found[target] is None:
                    found[target] = place
            places = list(found.values())
        numbers = list(scores)
        return numbers, LinkColumns(numbers, list(scores.values()), None, words, places)
