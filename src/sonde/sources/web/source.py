"""The live Web as a source: one visit is one page, with all that leads to it.

What comes before the page (robots.txt, redirects, waiting for a host's turn) is in
``net.polite_fetch``, what is made of it in ``visit``. A URL that is known to be no use when its
turn comes (a trap, a page visited under another name) is skipped and costs nothing.
"""

from __future__ import annotations

import inspect
import json
import time
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import astuple
from typing import Any

from multidict import CIMultiDict

from sonde.errors import InputError
from sonde.net.client import Client
from sonde.net.decoding import BadEncoding, unpack
from sonde.net.exchange import FetchOutcome, FetchProblem, Response
from sonde.net.guard import Lookup, system_lookup
from sonde.net.hosts import Hosts, KeptHost
from sonde.net.polite_fetch import PoliteFetch
from sonde.net.retries import Retries
from sonde.net.robots import RobotsRecord
from sonde.net.turns import Turns
from sonde.net.urls import group_of
from sonde.protocols import KeptPage, VisitAllowance
from sonde.records import Failure, Node, Outcome, Skip, Spend, Visit
from sonde.scorers.document import Scorer
from sonde.sources.context import SourceContext
from sonde.sources.page import Page, read_page
from sonde.sources.web import pdf
from sonde.sources.web.duplicates import Duplicates
from sonde.sources.web.feeds import Feed
from sonde.sources.web.gate import Scope, UrlGate
from sonde.sources.web.traps import TrapDetector
from sonde.sources.web.visit import FEEDS, HTML, VisitAssembler, read_response

Renderer = Callable[[str, bytes], Any]
"""Given the URL and the body of a page that needs JavaScript, gives HTML, or ``None`` for none;
may be a coroutine function. What it requests itself is not charged."""

_LONG = 0.1  # seconds
_KEPT_EVERY = 20_000  # pages: reading the words of so many again takes a while


class WebSource:
    """Visits URLs. Use ``close()`` at the end."""

    def __init__(self, context: SourceContext) -> None:
        settings = context.settings
        assert context.client is not None
        assert context.scorer is not None
        self.settings = settings
        self.scorer: Scorer = context.scorer
        self.limits = context.limits
        self.archive = context.archive
        self._keeper = context.keeper
        self._crawl = context.crawl
        self._renderer: Renderer | None = settings.renderer
        lookup: Lookup | None = settings.lookup
        self.client = Client(context.client, lookup=lookup or system_lookup)
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
        self.polite = PoliteFetch(
            self.client, self.pace, limits=self.limits, on_robots=self._keep_robots
        )
        self.retries = Retries(settings.retries)
        self.scope = Scope.of(settings, context.seeds)
        self.traps = TrapDetector()
        self.duplicates = Duplicates()
        self.gate = UrlGate(
            self.scope, self.hosts, self.traps, self.duplicates, context.crawl, settings.depth
        )
        self._assembler = VisitAssembler(
            settings,
            self.scorer,
            context.crawl,
            self.gate,
            self.traps,
            self.duplicates,
            self.archive,
        )
        self._types = frozenset(media.lower() for media in settings.types)
        self._read = 0  # pages so far
        self._kept = 0  # of them in what was kept of the traps

    # -- life ----------------------------------------------------------------------------------

    def recall(self) -> str:
        """Take in what the run knows of hosts, robots.txt, sites and retries, and what its scorer
        had learned."""
        keeper, now = self._keeper, time.monotonic()
        self.hosts.recall((KeptHost(*row) for row in keeper.rows("hosts")), now)  # type: ignore[arg-type]
        for row in keeper.rows("robots"):
            record = RobotsRecord(*row)  # type: ignore[arg-type]
            host = self.hosts.add(group_of(record.origin + "/"), now)
            self.hosts.restore_robots(host, record, now)
        learned = keeper.recalled("scorer")
        if learned is not None and hasattr(self.scorer, "restore"):
            self.scorer.restore(json.loads(learned))
        self._recall_sites()
        for url, count in keeper.retried():
            self.retries.recall(url, count)
        return ""

    def _recall_sites(self) -> None:
        """Observe the run's pages again, in the order of the log. What places had said is in what
        was kept last; of later pages it is read again from what the run has of them. Where it has
        neither pages nor text, a place may once more seem fresh."""
        kept = self._keeper.recalled("traps")
        if kept is not None:
            state = json.loads(zlib.decompress(kept))
            self._kept = state["pages"]
            self.traps.restore(state["traps"])
        for page in self._keeper.pages():
            if "feed" in page.flags.split():
                continue
            self._read += 1
            self.duplicates.visited(page.node, page.final_url, page.canonical, page.fingerprint)
            if self._read > self._kept:
                self.traps.told(page.final_url, page.fresh, self._content_of(page))

    def _content_of(self, page: KeptPage) -> str | None:
        """What a page said, from what the run has kept of it; ``None`` for nothing."""
        text = self._keeper.text(page.lease)
        if text is not None or page.archived is None or self.archive is None:
            return text
        try:
            archived = self.archive.read(page.archived)
            body, _ = unpack(
                archived.body, archived.header("Content-Encoding"), self.limits.unpacked
            )
        except (InputError, BadEncoding):
            return None
        kind = archived.header("Content-Type")
        found = read_response(
            Response(
                page.final_url,
                page.status,
                CIMultiDict(archived.headers),
                body,
                content_type=kind,
                media_type=kind.partition(";")[0].strip().lower(),
            )
        )
        return found.content if isinstance(found, Page) else None

    def _keep_robots(self, answer: FetchOutcome, record: RobotsRecord | None) -> None:
        self._store(answer)
        if record is not None:
            self._keeper.write("robots", [astuple(record)])

    def _store(self, answer: FetchOutcome) -> None:
        """Archive an answer that makes no visit, where pages are kept."""
        if self.archive is not None and answer.hops:
            self.archive.write(answer.hops, answer.cut if isinstance(answer, Response) else "")

    def before_commit(self) -> None:
        """Hand over what changes with every request, and with every page that is scored."""
        rows = self.hosts.changed()
        if rows:
            self._keeper.write("hosts", rows)
        if self._assembler.scored and hasattr(self.scorer, "state"):
            self._assembler.scored = False
            self._keeper.keep("scorer", json.dumps(self.scorer.state()).encode())
        if self._read >= self._kept + _KEPT_EVERY:
            self.leave()

    def leave(self) -> None:
        """Keep what the log does not hold: the words that places have said."""
        state = {"pages": self._read, "traps": self.traps.state()}
        self._keeper.keep("traps", zlib.compress(json.dumps(state).encode(), 1))
        self._kept = self._read

    async def close(self) -> None:
        """Close connections."""
        await self.client.close()

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
        answer = await self.polite.fetch(url, allowance, gate=self.gate.useless, wanted=self.wanted)
        for group, seconds in answer.trips:
            self._crawl.clock(allowance.lease, group, seconds)
        if isinstance(answer, FetchProblem):
            self._store(answer)
            return self._problem(url, answer)
        began = time.monotonic()
        found = read_response(answer)
        if isinstance(found, Page) and found.needs_script and self._renderer is not None:
            found = await self._rendered(self._renderer, answer, found)
            began = time.monotonic()
        outcome = self._assembled(allowance, answer, found)
        took = time.monotonic() - began
        if took > _LONG:  # a huge page is no fault of the servers that were asked meanwhile
            self.client.forgive(took)
        return outcome

    def _problem(self, url: str, problem: FetchProblem) -> Outcome:
        if problem.reason == "not-allowed":
            return Skip(problem.detail)
        if problem.reason == "budget":
            return Skip("budget", retry=True)
        host = self.hosts.add(group_of(problem.url), time.monotonic())
        self.hosts.failed(host)
        retry = self.retries.again(url, problem.reason, troubles=host.troubles)
        return Failure(problem.reason, retry, Spend(requests=problem.requests))

    def _assembled(
        self, allowance: VisitAllowance, response: Response, found: Page | Feed | Failure
    ) -> Outcome:
        lease, depth, now = allowance.lease, allowance.depth, time.time()
        if isinstance(found, Feed):
            return self._assembler.feed(lease, depth, response, found, now)
        if isinstance(found, Page):
            outcome = self._assembler.visit(lease, depth, response, found, now)
            self._read += isinstance(outcome, Visit)
            return outcome
        return found

    async def _rendered(self, renderer: Renderer, response: Response, page: Page) -> Page:
        html: Any = renderer(response.url, response.body)
        if inspect.isawaitable(html):
            waiting: Awaitable[Any] = html
            html = await waiting
        if html is None:
            return page
        body = html.encode() if isinstance(html, str) else bytes(html)
        return read_page(body, response.url, content_type="text/html; charset=utf-8")
