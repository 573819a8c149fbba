"""The links of a visit by columns, prepared: what a source in a hurry hands over as its links.

Whoever hands over links has texts and URLs; estimators read numbers that stand for words, and
measures of URLs. An explorer works these out where its estimator reads them. A source that has
them already, or can work them out for a whole page at once, gives columns instead of objects. They
are a sequence of links all the same.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import NamedTuple, overload

from sonde.records import Group, Link, Node

__all__ = ["LinkColumns", "UrlPlace"]


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
    """Links by columns, all of one length or missing.

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
