"""The live Web as a source for the driver: one visit is one page, with all that leads to it.

What comes before the page (robots.txt, redirects, waiting for a host's turn) is in
``net.polite_fetch``; what is made of it in ``assembly``. A URL that is known to be no use when its
turn comes (a trap, a page visited under another name, robots rules) is skipped and costs nothing.
"""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

from multidict import CIMultiDict

from sonde.crawling.assembly import FEEDS, HTML, Assembler
from sonde.crawling.logbook import LEASED, VISITED, Logbook
from sonde.crawling.memory import Memory
from sonde.crawling.presentation import client_settings
from sonde.crawling.scope import Scope
from sonde.crawling.settings import SETTINGS, Settings
from sonde.errors import InputError
from sonde.net.client import Client
from sonde.net.decoding import BadEncoding, unpack
from sonde.net.exchange import FetchOutcome, FetchProblem, Response
from sonde.net.guard import Lookup, system_lookup
from sonde.net.hosts import HostRow, Hosts
from sonde.net.polite_fetch import PoliteFetch
from sonde.net.retries import Retries
from sonde.net.robots import RobotsRecord
from sonde.net.turns import Turns
from sonde.net.urls import group_of, normalise
from sonde.protocols import VisitAllowance
from sonde.records import Failure, Node, Outcome, Skip, Spend
from sonde.scorers.document import Scorer
from sonde.sources.kind import Kind
from sonde.sources.web import pdf
from sonde.sources.web.feeds import Feed
from sonde.sources.web.page import Page, read_page
from sonde.store.codec import unpack_text
from sonde.store.warc import WarcWriter
from sonde.store.warcreader import read_archived

Renderer = Callable[[str, bytes], Any]
"""Given the URL and the body of a page that needs JavaScript, gives HTML, or ``None`` for none;
may be a coroutine function. What it requests itself is not charged."""

_LONG = 0.1  # seconds
_SNAPSHOT_EVERY = 20_000  # visits


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
        self.memory = Memory()
        self.hosts = Hosts(
            delay=settings.delay,
            connections=settings.per_host,
            # Many names behind one address are one server to be polite to.
            ip_delay=settings.delay,
            ip_connections=settings.per_host,
            rate=settings.rate,
            host_budget=settings.host_budget,
            domain_budget=settings.domain_budget,
        )
        self.pace = Turns(self.hosts, None if settings.proxy else self.client.resolver)
        self.limits = settings.fetch_limits
        self.polite = PoliteFetch(
            self.client, self.pace, limits=self.limits, on_robots=self._keep_robots
        )
        self.retries = Retries(settings.retries)
        self._types = frozenset(media.lower() for media in settings.types)
        self._warc: WarcWriter | None = None
        self._next_snapshot = book.explorer.visits + _SNAPSHOT_EVERY
        self.assembler = Assembler(
            settings,
            scorer,
            scope,
            self.memory,
            self.hosts,
            book,
            self.archive if settings.pages and book.run.pages is not None else None,
        )

    # -- life ----------------------------------------------------------------------------------

    def recall(self) -> str:
        """Take in what the run knows; what had to be repaired, in words, or nothing."""
        database = self.book.run.database
        now = time.monotonic()
        self.hosts.recall(
            (
                HostRow(*row)
                for row in database.execute(
                    "SELECT host, requests, failures, bytes, rtt, rtt_deviation, delay FROM hosts"
                )
            ),
            now,
        )
        self.memory.recall(database, self._content_of)
        for row in database.execute(
            "SELECT origin, verdict, text, fetched, expires, why FROM robots"
        ):
            record = RobotsRecord(*row)
            host = self.hosts.add(group_of(record.origin + "/"), now)
            self.hosts.restore_robots(host, record, now)
        learned = database.execute("SELECT state FROM snapshots WHERE part = 'scorer'").fetchone()
        if learned is not None and hasattr(self.scorer, "restore"):
            self.scorer.restore(json.loads(learned[0]))
        for url, count in database.execute(
            "SELECT url, count(*) FROM leases JOIN nodes ON nodes.number = leases.node"
            " WHERE retry AND outcome = 'failure' GROUP BY node"
        ):
            self.retries.recall(url, count)
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

    def _keep_robots(self, answer: FetchOutcome, record: RobotsRecord | None) -> None:
        self.archive(answer)
        if record is not None:
            self.book.journal.add(
                "robots",
                (
                    record.origin,
                    record.verdict,
                    record.text,
                    record.fetched,
                    record.expires,
                    record.why,
                ),
            )

    def before_commit(self) -> None:
        """Hand over what changes with every request, and with every page that is scored."""
        rows = self.hosts.changed()
        if rows:
            self.book.journal.extend("hosts", rows)
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

    async def visit(self, node: Node, allowance: VisitAllowance) -> Outcome:
        """Visit a URL."""
        url = str(node)
        answer = await self.polite.fetch(url, allowance, gate=self._gate, wanted=self.wanted)
        for group, seconds in answer.trips:
            self.book.clock(allowance.lease, group, seconds)
        if isinstance(answer, FetchProblem):
            self.archive(answer)
            return self._problem(url, answer)
        return await self._read(allowance, answer)

    def _gate(self, url: str, group: str, redirected: bool) -> str | None:
        """Why a URL is not worth its request after all."""
        if not redirected and self.memory.traps.verdict(url) is not None:
            return "trap"
        if redirected and url not in self.scope:
            return "scope"
        name = self.assembler.stands_for(url)
        if (redirected or name != url) and self.known_elsewhere(name):
            return "duplicate"
        if redirected and self.memory.traps.verdict(url) is not None:
            return "trap"
        return None

    def known_elsewhere(self, name: str) -> bool:
        """Whether a page is or is being visited."""
        return self.book.became(name) in (LEASED, VISITED)

    def _problem(self, url: str, problem: FetchProblem) -> Outcome:
        if problem.reason == "not-allowed":
            return Skip(problem.detail)
        if problem.reason == "budget":
            return Skip("budget", retry=True)
        host = self.hosts.add(group_of(problem.url), time.monotonic())
        self.hosts.failed(host)
        retry = self.retries.again(url, problem.reason, troubles=host.troubles)
        return Failure(problem.reason, retry, Spend(requests=problem.requests))

    async def _read(self, allowance: VisitAllowance, response: Response) -> Outcome:
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
        self, allowance: VisitAllowance, response: Response, found: Page | Feed | Failure
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
