"""The context of a source: all that a crawl gives a source to work with, typed.

A kind of source gets a ``SourceContext`` when it is asked to make a source, and so has everything
that the built-in ones have: the Web is made from it too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sonde.net.client_settings import ClientOptions, ClientSettings
from sonde.net.exchange import Exchange, Limits
from sonde.protocols import CrawlView, Keeper
from sonde.scorers.document import Scorer
from sonde.sources.facts import Record

DUPLICATES = ("score", "zero", "skip")
"""What to do with a page that nearly repeats another: count it all the same, count it 0, or also
follow none of its links."""

REACHES = ("host", "domain", "prefix", "web")
"""How widely seeds may span a scope, where a user names none."""

SITEMAPS = ("auto", "no")
"""Whether sitemaps and feeds are read that nobody links to."""


RECORD_KINDS = ("json-ld", "microdata", "opengraph", "meta")
"""The kinds of structured data that pages have."""


class SourceSettings(ClientOptions, Protocol):
    """What a user can say to any crawl, as far as sources read it (see ``crawling.settings``)."""

    @property
    def topic(self) -> str | None: ...
    @property
    def question(self) -> str | None: ...
    @property
    def seed(self) -> int: ...
    @property
    def rate(self) -> tuple[int, float] | None:
        """The user's own plan, (k, d): k requests in any d seconds."""

    @property
    def host_budget(self) -> int | None: ...
    @property
    def domain_budget(self) -> int | None: ...
    @property
    def scope(self) -> str: ...
    @property
    def hosts(self) -> tuple[str, ...]: ...
    @property
    def domains(self) -> tuple[str, ...]: ...
    @property
    def prefixes(self) -> tuple[str, ...]: ...
    @property
    def include(self) -> tuple[str, ...]: ...
    @property
    def exclude(self) -> tuple[str, ...]: ...
    @property
    def skip(self) -> tuple[str, ...]: ...
    @property
    def sitemaps(self) -> str: ...
    @property
    def languages(self) -> tuple[str, ...]: ...
    @property
    def types(self) -> tuple[str, ...]: ...
    @property
    def depth(self) -> int | None: ...
    @property
    def nofollow(self) -> bool: ...
    @property
    def duplicates(self) -> str: ...
    @property
    def traps(self) -> str: ...
    @property
    def allow(self) -> tuple[str, ...]: ...
    @property
    def login(self) -> Mapping[str, Any] | Sequence[Mapping[str, Any]] | None: ...
    @property
    def delay(self) -> float: ...
    @property
    def longest_delay(self) -> float | str: ...
    @property
    def patience(self) -> float | str: ...
    @property
    def per_host(self) -> int: ...
    @property
    def max_size(self) -> int: ...
    @property
    def retries(self) -> int: ...
    @property
    def text(self) -> bool: ...
    @property
    def record_kinds(self) -> tuple[str, ...]:
        """The kinds of structured data to collect."""

    @property
    def fields(self) -> str | None:
        """What a file of fields says."""

    @property
    def render(self) -> str: ...
    @property
    def browser(self) -> str: ...
    @property
    def lookup(self) -> Callable[..., Any] | None: ...


class ArchivedResponse(Protocol):
    """A response as an archive has it."""

    @property
    def headers(self) -> Sequence[tuple[str, str]]: ...
    @property
    def body(self) -> bytes:
        """As received: content codings still on."""

    def header(self, name: str, /) -> str:
        """The first header of this name, in any case; empty where there is none."""


class ArchivedPage(ArchivedResponse, Protocol):
    """A response as an archive has it, with where it came from."""

    @property
    def url(self) -> str: ...


class Reading(Protocol):
    """An archived response as its kind of source reads it, each part when it is asked for; ``None``
    for what it has not."""

    @property
    def text(self) -> str | None: ...
    @property
    def markdown(self) -> str | None: ...
    @property
    def html(self) -> str | None: ...
    @property
    def anchors(self) -> Mapping[str, str]:
        """What links are called, by their targets."""

    def records(self, kinds: Collection[str], fields: str | None) -> Sequence[Record]:
        """Structured data of these kinds, and what a file of fields describes (its text)."""

    @property
    def licences(self) -> Sequence[str]:
        """What it says of its licence: addresses and words."""


class Archive(Protocol):
    """Where exchanges with servers are kept as they were: WARC files."""

    @property
    def write(self) -> Callable[[Sequence[Exchange], str], str]:
        """Store the exchanges of a fetch, and how its body was cut (``Response.cut``); the place
        of the last response."""

    def write_rendered(self, url: str, html: bytes) -> str:
        """Store what a browser made of the response that was stored last; its place."""

    def read(self, place: str) -> ArchivedResponse:
        """The response at a place; ``InputError`` where it cannot be read."""


@dataclass(frozen=True, kw_only=True)
class SourceContext:
    """What a crawl gives a source to work with."""

    seeds: tuple[str, ...]
    settings: SourceSettings
    keeper: Keeper
    crawl: CrawlView
    scorer: Scorer | None = None
    """Where the kind heeds ``scorer``."""
    client: ClientSettings | None = None
    """Where the kind heeds ``allow_private``."""
    limits: Limits
    """Of one fetch: times, and no more bytes than the budget holds for it."""
    archive: Archive | None = None
    """Where the kind heeds ``pages`` and the user wants them kept."""
