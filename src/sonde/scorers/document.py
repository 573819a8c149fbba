"""What a scorer sees of a visited node: two texts, and the links with their places in one of them.

``sonde.sources.page.Page`` is such a document. Another source may bring its own: scorers ask
for this shape only, and know nothing of the Web.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

_FIRST = itemgetter(0)


class Span(Protocol):
    """A link: where it goes, and where its anchor stands in ``Document.text``."""

    @property
    def url(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


class Document(Protocol):
    """``text`` is all that is visible, ``content`` what the document's own score is taken from: its
    main text, where it is known."""

    @property
    def url(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def language(self) -> str:
        """As it is declared, such as ``pt-BR``; empty where it is not known."""

    @property
    def text(self) -> str: ...
    @property
    def content(self) -> str: ...
    @property
    def main(self) -> Sequence[tuple[int, int]] | None:
        """Where main text stands in ``text``, from character to character, in order: what stands
        elsewhere promises nothing. ``None`` where all of the text counts."""

    @property
    def links(self) -> Sequence[Span]: ...
    @property
    def window(self) -> int:
        """How many visible characters on either side of an anchor belong to its context."""

    def context(self, link: Any, /) -> str:
        """The link's anchor and the visible characters around it, as far as they are main text."""


class Scores(NamedTuple):
    """``beta``, what the document is worth; ``alphas``, what each of its links promises."""

    beta: float
    alphas: Sequence[float]


class Scorer(Protocol):
    """One call scores a document and all its links, in their order. All scores are >= 0.

    One call rather than two, because most scorers look at the text once for both. A scorer that has
    ``rescore`` is asked once more for the beta of a document whose main text has changed since.
    """

    def score(self, document: Document, /) -> Scores: ...


class Rescorer(Scorer, Protocol):
    """A scorer that can say what a document is worth that it has scored before, without learning
    anything from it a second time. It is asked without the document's links."""

    def rescore(self, document: Document, /) -> float: ...


class LearningScorer(Scorer, Protocol):
    """A scorer that learns from what it scored. Its state is plain JSON data.

    Scoring the same documents in the same order, or restoring the state, gives the same scorer.
    """

    def state(self) -> dict[str, Any]: ...
    def restore(self, state: dict[str, Any], /) -> None: ...


def rescored(scorer: Scorer | Rescorer, document: Document, told: float) -> float:
    """The beta of a document that was scored before, when its main text has changed since; `told`
    where the scorer cannot say."""
    again: Callable[[Document], float] | None = getattr(scorer, "rescore", None)
    return told if again is None else again(document)


def within(
    spans: Sequence[tuple[int, int, int]], parts: Sequence[tuple[int, int]]
) -> list[tuple[int, int, int]]:
    """Those spans (from, to, and which phrase) that lie whole in one of the parts of a text."""
    found = []
    for span in spans:
        part = bisect_right(parts, span[0], key=_FIRST) - 1
        if part >= 0 and span[1] <= parts[part][1]:
            found.append(span)
    return found


def texts_of(document: Document) -> list[str]:
    """The content, then the context of each link: for scorers that look at texts one by one."""
    return [document.content, *(document.context(link) for link in document.links)]
