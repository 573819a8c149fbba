"""The live Web as a source for the driver: one visit is one page, with all that leads to it.

What comes before the page (robots.txt, redirects, waiting for a host's turn) is in ``Approach``;
what is made of it in ``assembly``. A URL that is known to be no use when its turn comes (a trap, a
page visited under another name, robots rules) is skipped and costs nothing.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

from multidict import CIMultiDict

from sonde.crawling.approach import Approach
from sonde.crawling.assembly import FEEDS, HTML, Assembler
from sonde.crawling.hosts import Hosts
from sonde.crawling.logbook import LEASED, VISITED, Logbook
from sonde.crawling.memory import Memory
from sonde.crawling.pace import HostPace
from sonde.crawling.presentation import client_settings
from sonde.crawling.scope import Scope
from sonde.crawling.settings import HEAD, SETTINGS, Settings
from sonde.errors import InputError
from sonde.protocols import Allowance
from sonde.records import Failure, Node, Outcome, Skip, Spend
from sonde.scorers.document import Scorer
from sonde.sources.kind import Kind
from sonde.sources.web import pdf
from sonde.sources.web.address import group_of, normalise
from sonde.sources.web.client import Client
from sonde.sources.web.decoding import BadEncoding, unpack
from sonde.sources.web.exchange import FetchProblem, Limits, Response
from sonde.sources.web.feeds import Feed
from sonde.sources.web.guard import Lookup, system_lookup
from sonde.sources.web.page import Page, read_page
from sonde.sources.web.politeness import Politeness
from sonde.sources.web.robots import RobotsCache, RobotsRecord
from sonde.store.codec import unpack_text
from sonde.store.warc import WarcWriter
from sonde.store.warcreader import read_archived

Renderer = Callable[[str, bytes], Any]
"""Given the URL and the body of a page that needs JavaScript, gives HTML, or ``None`` for none;
may be a coroutine function. What it requests itself is not charged."""

_TRANSIENT = frozenset(("timeout", "connect", "disconnected", "slow", "dns")) | {
    f"http-{status}" for status in (408, 425, 429, 500, 502, 503, 504)
}
_LONG = 0.1  # seconds
_SNAPSHOT_EVERY = 20_000  # visits
_GIVE_UP = 5  # troubles of a host in a row after which nothing is tried again


class Web(Kind):
    """The Web, from URLs."""

    name = "web"
    summary = "pages, from URLs"
    nouns = ("page", "pages")
    heeds = SETTINGS.keys() - {"pseudonymise"}
    grouped = True

    @property
    def makes(self) -> type[WebSource]:
        """The class of its sources."""
        return WebSource

    def seeds(self, options: Any, topic: str | None) -> list[str]:
        raise InputError("a crawl needs at least one URL to start from")

    def spelt(self, options: Any, seed: str) -> str:
        address = normalise(seed)
        if address is None:
            raise InputError(f"not an http or https URL: {seed!r:.200}")
        return address

    def group(self, options: Any, node: str) -> str:
        return group_of(node)

    def make(self, options: Any, equipment: Any) -> WebSource:
        settings: Settings = equipment.settings
        named = settings.hosts or settings.domains or settings.prefixes
        scope = (
            Scope(hosts=settings.hosts, domains=settings.domains, prefixes=settings.prefixes)
            if named
            else Scope.of_seeds(equipment.seeds, settings.scope)
        )
        objects = equipment.objects
        return self.makes(
            settings,
            equipment.scorer,
            scope,
            equipment.book,
            renderer=objects.get("renderer"),
            **({"lookup": objects["lookup"]} if "lookup" in objects else {}),
        )


class WebSource:
    """Visits URLs. Use ``close()`` at the end."""

    def __init__(
        self,
        settings: Settings,
        scorer: Scorer,
        scope: Scope,
        book: Logbook,
        *,
        renderer: Renderer | None = None,
        lookup: Lookup = system_lookup,
    ) -> None:
        self.settings = settings
        self.book = book
        self.scorer = scorer
        self.renderer = renderer
        self.scope = scope
        self.client = Client(client_settings(settings), lookup=lookup)
        self.robots = RobotsCache()
        self.memory = Memory()
        self.hosts = Hosts(
            book.journal,
            host_budget=settings.host_budget,
            domain_budget=settings.domain_budget,
        )
        self.pace = HostPace(
            Politeness(
                delay=settings.delay,
                connections=settings.per_host,
                # Many names behind one address are one server to be polite to.
                ip_delay=settings.delay,
                ip_connections=settings.per_host,
                rate=settings.rate,
            ),
            None if settings.proxy is not None else self.client.resolver,
        )
        self.limits = settings.fetch_limits
        self.robots_limits = Limits(
            total=min(30.0, settings.timeout),
            head=HEAD,
            body=min(512 * 1024, settings.size_limit),
        )
        self.fetching_robots: dict[str, asyncio.Future[None]] = {}
        self.attempts: dict[str, int] = {}
        self._types = frozenset(media.lower() for media in settings.types)
        self._warc: WarcWriter | None = None
        self._next_snapshot = book.explorer.visits + _SNAPSHOT_EVERY
        self.assembler = Assembler(
            settings,
            scorer,
            scope,
            self.memory,
            self.robots,
            self.hosts,
            book,
            self.archive if settings.pages and book.run.pages is not None else None,
        )

    # -- life ----------------------------------------------------------------------------------

    def recall(self) -> str:
        """Take in what the run knows; what had to be repaired, in words, or nothing."""
        database = self.book.run.database
        self.hosts.recall(database)
        self.memory.recall(database, self._content_of)
        self.robots.restore(
            RobotsRecord(*row)
            for row in database.execute(
                "SELECT origin, verdict, text, fetched, expires, why FROM robots"
            )
        )
        learned = database.execute("SELECT state FROM snapshots WHERE part = 'scorer'").fetchone()
        if learned is not None and hasattr(self.scorer, "restore"):
            self.scorer.restore(json.loads(learned[0]))
        now = time.monotonic()
        for record in self.robots.records():
            delay = self.robots.delay(record.origin)
            if delay is not None:
                self.pace.politeness.slow_down(group_of(record.origin + "/"), delay, now)
        for url, count in database.execute(
            "SELECT url, count(*) FROM leases JOIN nodes ON nodes.number = leases.node"
            " WHERE retry AND outcome = 'failure' GROUP BY node"
        ):
            self.attempts[url] = count
        for group in self.book.groups():
            if self.hosts.exhausted(str(group)) is not None:
                self.pace.closed.add(group)
        return "" if self.assembler.keep is None else self._opened_warc().report

    def _content_of(self, lease: int) -> str | None:
        """What the page of a lease said, from what the run has kept of it; ``None`` for nothing."""
        text, warc, url, status = self.book.run.database.execute(
            "SELECT text, warc, final_url, status FROM pages WHERE lease = ?", (lease,)
        ).fetchone()
        if text is not None:
            return unpack_text(text)
        folder = self.book.run.pages
        if warc is None or folder is None:
            return None
        try:
            archived = read_archived(folder, warc)
            coding = archived.header("Content-Encoding")
            body, _ = unpack(archived.body, coding, self.limits.unpacked)
        except (InputError, BadEncoding):
            return None
        page = self.assembler.read(Response(url, status, CIMultiDict(archived.headers), body))
        return page.content if isinstance(page, Page) else None

    def _opened_warc(self) -> WarcWriter:
        if self._warc is None:
            folder = self.book.run.pages
            assert folder is not None
            last = self.book.run.database.execute(
                "SELECT warc FROM pages WHERE warc IS NOT NULL ORDER BY lease DESC"
            ).fetchone()
            self._warc = WarcWriter(folder, since=None if last is None else last[0])
            self.book.journal.on_sync = self._warc.sync
        return self._warc

    def archive(self, answer: Response | FetchProblem) -> str | None:
        """Store what was exchanged, where pages are kept; the place of the last response."""
        if self.assembler.keep is None or not answer.hops:
            return None
        cut = answer.cut if isinstance(answer, Response) else ""
        return self._opened_warc().write(answer.hops, cut=cut)

    def before_commit(self) -> None:
        """Hand over what changes with every request, and with every page that is scored."""
        self.hosts.write()
        if self.assembler.scored and hasattr(self.scorer, "state"):
            self.assembler.scored = False
            state = json.dumps(self.scorer.state()).encode()
            self.book.journal.snapshot("scorer", state)
        if self.book.explorer.visits >= self._next_snapshot:
            self._next_snapshot = self.book.explorer.visits + _SNAPSHOT_EVERY
            for part, state in self.snapshot().items():
                self.book.journal.snapshot(part, state)

    def snapshot(self) -> dict[str, bytes]:
        """What a run should be left with, besides the log, by part."""
        return {"traps": self.memory.state()}

    async def close(self) -> None:
        """Close connections and files."""
        await self.client.close()
        if self._warc is not None:
            self.book.journal.on_sync = lambda: None
            self._warc.close()

    # -- one visit -----------------------------------------------------------------------------

    def wanted(self, media: str) -> bool:
        """Whether a body of this type should be read."""
        if self._types:
            return media in self._types or media in FEEDS
        if media == "application/pdf":
            return pdf.available()
        return media in HTML or media in FEEDS or media == "text/plain"

    async def visit(self, node: Node, allowance: Allowance) -> Outcome:
        """Visit a URL."""
        url = str(node)
        approach = Approach(self, allowance, url)
        try:
            why = self._useless(url)
            if why is not None:
                return Skip(why)
            answer = await self.client.fetch(
                url,
                take=approach.take,
                allow=approach.allow,
                limits=self.limits,
                wanted=self.wanted,
            )
            approach.answered(answer)
            if isinstance(answer, FetchProblem):
                self.archive(answer)
                return self._problem(url, approach, answer)
            return await self._read(allowance, answer)
        finally:
            approach.end()

    def _useless(self, url: str) -> str | None:
        """Why a leased URL is not worth its request after all."""
        if self.memory.traps.verdict(url) is not None:
            return "trap"
        name = self.assembler.stands_for(url)
        if name != url and self.book.became(name) in (LEASED, VISITED):
            return "duplicate"
        if self.robots.allowed(url, time.time()) is False:
            return "robots"
        return None

    def known_elsewhere(self, url: str) -> bool:
        """Whether a redirect leads to a page that is or is being visited."""
        name = self.assembler.stands_for(url)
        return self.book.became(name) in (LEASED, VISITED)

    def _problem(self, url: str, approach: Approach, problem: FetchProblem) -> Outcome:
        if problem.reason == "not-allowed":
            return Skip(problem.detail)
        if problem.reason == "budget":
            return Skip(approach.refused or "budget", retry=not approach.refused)
        host = self.hosts[group_of(problem.url)]
        host.failures += 1
        tried = self.attempts.get(url, 0)
        retry = (
            problem.reason in _TRANSIENT
            and tried < self.settings.retries
            and host.troubles < _GIVE_UP
        )
        if retry:
            self.attempts[url] = tried + 1
        else:
            self.attempts.pop(url, None)
        return Failure(problem.reason, retry, Spend(requests=problem.requests))

    async def _read(self, allowance: Allowance, response: Response) -> Outcome:
        began = time.monotonic()
        found = self.assembler.read(response)
        if isinstance(found, Page) and found.needs_script and self.renderer is not None:
            found = await self._rendered(response, found)
            began = time.monotonic()
        outcome = self._assembled(allowance, response, found)
        took = time.monotonic() - began
        if took > _LONG:  # a huge page is no fault of the servers that were asked meanwhile
            self.client.forgive(took)
        return outcome

    def _assembled(
        self, allowance: Allowance, response: Response, found: Page | Feed | Failure
    ) -> Outcome:
        lease, depth, now = allowance.lease, allowance.depth, time.time()
        if isinstance(found, Feed):
            return self.assembler.feed(lease, depth, response, found, now)
        if isinstance(found, Page):
            return self.assembler.visit(lease, depth, response, found, now)
        return found

    async def _rendered(self, response: Response, page: Page) -> Page:
        assert self.renderer is not None
        html: Any = self.renderer(response.url, response.body)
        if inspect.isawaitable(html):
            waiting: Awaitable[Any] = html
            html = await waiting
        if html is None:
            return page
        body = html.encode() if isinstance(html, str) else bytes(html)
        return read_page(body, response.url, content_type="text/html; charset=utf-8")
