"""The kind of source that is a spider: Scrapy drives it, and its runs are looked at like others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

from sonde.errors import InputError
from sonde.net.exchange import REASONS
from sonde.protocols import Source, VisitAllowance
from sonde.records import Node, Outcome
from sonde.sources.context import SourceContext
from sonde.sources.kind import Kind

_DRIVEN = "a run of a spider is driven by Scrapy: run the spider again with SONDE_FOLDER"


@dataclass(frozen=True)
class SpiderOptions:
    """What a run keeps of the spider."""

    spider: str = ""


class Spiders(Kind[SpiderOptions]):
    """Whatever a spider requests. ``driven`` says that Scrapy is there to drive it, ``scored`` that
    pages are scored by sonde."""

    name = "scrapy"
    summary = "the requests of a Scrapy spider: sonde.scrapy.Addon"
    nouns = ("request", "requests")
    options = SpiderOptions
    grouped = True
    tables: ClassVar[Mapping[str, str]] = {
        "requests": "(fingerprint BLOB PRIMARY KEY, node TEXT NOT NULL, request TEXT)"
        " WITHOUT ROWID",
    }
    reasons: ClassVar[Mapping[str, str]] = REASONS | {
        "robots": "the site's robots.txt forbids it",
        "scope": "outside the spider's allowed_domains",
        "duplicate": "it redirects to a request that was made under another name",
        "filtered": "a part of Scrapy dropped the request before it was scheduled",
        "ignored": "a downloader middleware ignored the request",
        "not-kept": "the request could not be written down, and the process that knew it has gone",
        "spider-error": "the spider's callback raised an exception",
        "no-response": "the request came to an end without a response",
    }

    def __init__(self, *, driven: bool = False, scored: bool = False) -> None:
        self._driven = driven
        self.heeds: Collection[str] = ("topic", "scorer", "allow_pickle", "text") if scored else ()

    def settled(self, options: SpiderOptions) -> SpiderOptions:
        raise InputError("a spider is not crawled by sonde: scrapy crawl NAME, with the add-on")

    def make(self, options: SpiderOptions, context: SourceContext) -> Source:
        if not self._driven:
            raise InputError(_DRIVEN)
        return SpiderSource(context)


class SpiderSource:
    """What a crawl has in the place of a source; Scrapy visits."""

    def __init__(self, context: SourceContext) -> None:
        self.scorer = context.scorer
        self.keeper = context.keeper

    async def visit(self, node: Node, allowance: VisitAllowance) -> Outcome:
        raise InputError(_DRIVEN)
