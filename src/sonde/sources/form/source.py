"""Visits keywords: sends each to a search form and tells the records that come back."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from sonde.errors import InputError
from sonde.net.client import Client
from sonde.net.hosts import Hosts
from sonde.net.retries import Retries
from sonde.protocols import Allowance
from sonde.records import Failure, Link, Node, Outcome, Skip
from sonde.scorers.stop_words import STOP_WORDS
from sonde.sources.context import SourceContext
from sonde.sources.facts import PageFacts, PageVisit, Record, VisitEnded
from sonde.sources.form.census import Census
from sonde.sources.form.form import SearchForm, find_form
from sonde.sources.form.layout import ENOUGH, Layout, SearchHit
from sonde.sources.form.site import FormSite

_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
SHORTEST, LONGEST = 3, 40


def words_of(text: str) -> list[str]:
    """The keywords of a text, in order, with repeats.

    >>> words_of("The tide-gauge at Brest, and 3 others' tides")
    ['tide-gauge', 'brest', 'others', 'tides']
    """
    found = (word.lower() for word in _WORD.findall(text))
    return [word for word in found if SHORTEST <= len(word) <= LONGEST and word not in STOP_WORDS]


def counted(texts: Iterable[str]) -> Counter[str]:
    """How often each keyword occurs, in order of first occurrence."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(words_of(text))
    return counts


_REMEMBERED = 0.02  # words in a smaller share of the records are far from over-general


@dataclass(frozen=True)
class Manner:
    """How a form is searched."""

    page: str  # where the form is
    form: SearchForm | None  # unless it has to be found there
    layout: Layout
    pages: int
    general: float


class FormSource:
    """A database behind a search form. Use ``close()`` at the end."""

    def __init__(self, manner: Manner, context: SourceContext) -> None:
        settings = context.settings
        assert context.client is not None
        self.manner = manner
        self.keeper = context.keeper
        self.form = manner.form
        self.layout = manner.layout
        self.census = Census()
        self.retries = Retries(settings.retries)
        self.site = FormSite(
            manner.page,
            Client(context.client),
            Hosts(delay=settings.delay, connections=settings.concurrency, rate=settings.rate),
            context.limits,
            context.keeper,
        )
        self.pace = self.site.pace
        self._text = settings.text
        self._changed = False

    # -- life ----------------------------------------------------------------------------------

    def recall(self) -> str:
        """Take in what the run knows: the census from its visits, the rest as it was kept."""
        for _, visit in self.keeper.visits():
            self.census.capture([str(record) for record in visit.records])
        self.census.holding.update(json.loads(self.keeper.recalled("words") or b"{}"))
        form, layout = self.keeper.recalled("form"), self.keeper.recalled("layout")
        if form is not None:
            self.form = SearchForm.from_data(json.loads(form))
        if layout is not None:
            self.layout = replace(self.layout, result=layout.decode())
        self.site.recall()
        return ""

    def before_commit(self) -> None:
        """Keep the counts of words that are, or may become, over-general."""
        if self._changed:
            self._changed = False
            least = _REMEMBERED * len(self.census.times)
            often = {word: n for word, n in self.census.holding.items() if n >= least}
            self.keeper.keep("words", json.dumps(often).encode())

    def facts(self) -> dict[str, Any]:
        """What is known of the database."""
        facts: dict[str, Any] = {"records": len(self.census.times)}
        size = self.census.size()
        if size is not None:
            facts["database"] = round(size.records)
            facts["database_low"] = round(size.low)
            facts["database_high"] = round(size.high)
            facts["siphoned"] = round(len(self.census.times) / size.records, 4)
        return facts

    async def close(self) -> None:
        """Close connections."""
        await self.site.client.close()

    # -- one visit -----------------------------------------------------------------------------

    async def visit(self, node: Node, allowance: Allowance) -> Outcome:
        """Search for a keyword."""
        word = str(node)
        if self._general(word):
            return Skip("over-general")
        try:
            records, url = await self._searched(word, allowance)
        except VisitEnded as ended:
            return self._problem(word, ended.outcome)
        return self._told(word, records, url)

    def _general(self, word: str) -> bool:
        return self.census.share_with(word) > self.manner.general

    def _problem(self, word: str, outcome: Failure | Skip) -> Outcome:
        if isinstance(outcome, Skip):
            return outcome
        return Failure(outcome.reason, self.retries.again(word, outcome.reason))

    async def _searched(self, word: str, allowance: Allowance) -> tuple[dict[str, SearchHit], str]:
        """The records of a keyword, by their ids, and where the first of them stood."""
        form = self.form
        if form is None:
            form = self.form = await self._found(allowance)
        url, body = form.request(word)
        first = url
        found: dict[str, SearchHit] = {}
        for number in range(self.manner.pages):
            try:
                html, response = await self.site.page(url, body, allowance)
            except VisitEnded:
                if not number:
                    raise
                break  # what came so far is worth telling
            page, selector = self.layout.read(html, response.url)
            if not self.layout.result and not self._learned(selector, word, page.records):
                break
            fresh = self.census.new(record.id for record in page.records)
            found |= {record.id: record for record in page.records}
            if page.next is None or not fresh:
                break
            url, body = page.next, None
        return found, first

    async def _found(self, allowance: Allowance) -> SearchForm:
        html, response = await self.site.page(self.manner.page, None, allowance)
        form = find_form(html, response.url)
        if form is None:
            raise InputError(f"{self.manner.page}: there is no search form on this page")
        self.keeper.keep("form", json.dumps(form.as_data()).encode())
        return form

    def _learned(self, selector: str, word: str, records: list[SearchHit]) -> bool:
        """Whether what looks like a list of records is one: results speak of what was asked."""
        speaking = sum(word in record.text.lower() for record in records)
        if len(records) < ENOUGH or 2 * speaking < len(records):
            return False
        self.layout = replace(self.layout, result=selector)
        self.keeper.keep("layout", selector.encode())
        return True

    def _told(self, word: str, records: dict[str, SearchHit], url: str) -> Outcome:
        self.retries.succeeded(word)
        for record in records.values():
            if record.id not in self.census.times:
                self.census.describe(set(words_of(record.text)))
        self.census.capture(list(records))
        self._changed = True
        texts = [record.text for record in records.values()]
        counts = counted(texts)
        counts.pop(word, None)
        general = [other for other in counts if self._general(other)]
        for other in general:
            del counts[other]
        return PageVisit(
            score=float(len(records)),
            links=[Link(other, float(count)) for other, count in counts.items()],
            records=tuple(records),
            found=[self._kept(record, word, url) for record in records.values()],
            refused=[(other, "over-general") for other in general],
            facts=PageFacts(
                final_url=url,
                status=200,
                media_type="text/html",
                title=f"{len(records)} records",
                text="\n".join(texts) if self._text else None,
            ),
        )

    def _kept(self, hit: SearchHit, word: str, url: str) -> Record:
        """A result as the run keeps it."""
        where = hit.id if "://" in hit.id[:9] else url
        text = hit.text if self._text else ""
        return Record(hit.id, "form", where, hit.title, text, {"keyword": word})
