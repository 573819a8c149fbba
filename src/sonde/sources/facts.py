"""Visits with facts: what a run keeps of a page (an account, an answer to a query) and of what was
found on it, the visit that carries this, and the visit that ends early."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sonde.records import Failure, Skip, Visit


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What a run keeps of a page, besides score and links; see the table ``pages``."""

    final_url: str
    status: int = 0
    media_type: str = ""
    language: str = ""
    title: str = ""
    digest: bytes | None = None
    etag: str | None = None
    modified: str | None = None
    rtt: float | None = None
    canonical: str | None = None
    flags: str = ""
    text: bytes | str | None = None  # packed already, or as it is
    warc: str | None = None
    main: bytes | None = None  # where main text stands in the page's text; None for all of it
    sketch: bytes | None = None
    """What the page is recognised by, where the source looks for twins."""
    twin: int | None = None
    """The lease of the earlier page that it nearly repeats, with how much of it: of all that either
    of them says, and of what the shorter one does."""
    jaccard: float | None = None
    containment: float | None = None
    stale: tuple[int, int, int | None, int] | None = None
    """What the source found of a page that brought little new, to be told again on resume."""
    rendered: str | None = None  # why a browser drew it, what that cost and brought
    level: bool = False  # its links are no deeper than itself: a sitemap, a feed


@dataclass(frozen=True, slots=True)
class Correction:
    """A page that was visited under this lease, seen once more: the score that it was told with,
    the one that it has now, and its main text and its place now, as in ``PageFacts``."""

    lease: int
    node: str
    told: float
    score: float
    main: bytes | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One thing that a visit found: a search result, a post, what a page says in structured data.

    ``id`` names it among those of its ``source`` (form, post, json-ld, microdata, opengraph, meta,
    or a table of a file of fields); ``fields`` is plain data.
    """

    id: str
    source: str
    url: str = ""
    title: str = ""
    text: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def mark(self) -> str:
        """What stands for it where it is only counted: the log of a run has no names in it."""
        name = f"{self.source}\n{self.id}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(name, digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class PageVisit(Visit):
    """A visit with the facts of its page. ``refused`` are nodes that were seen and should not be
    put on the frontier, with the reason; ``found`` are records to keep; ``corrections`` are of
    pages visited before, or of this one, and are told after it."""

    facts: PageFacts | None = None
    refused: Sequence[tuple[str, str]] = ()
    found: Sequence[Record] = ()
    corrections: Sequence[Correction] = ()


class VisitEnded(Exception):
    """A visit ends here, with this outcome."""

    def __init__(self, outcome: Failure | Skip) -> None:
        self.outcome = outcome
