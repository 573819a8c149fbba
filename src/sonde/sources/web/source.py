"""The live Web as a source: one visit is one page, with all that leads to it.

What comes before the page (robots.txt, redirects, waiting for a host's turn) is in
``net.polite_fetch``, what is made of it in ``visit``. A URL that is known to be no use when its
turn comes (a trap, a page visited under another name) is skipped and costs nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import astuple, replace

from multidict import CIMultiDict

from sonde.errors import InputError
from sonde.net.client import Client
from sonde.net.client_settings import ClientSettings
from sonde.net.decoding import BadEncoding, unpack
from sonde.net.exchange import FetchOutcome, FetchProblem, Limits, Response
from sonde.net.guard import Lookup, system_lookup
from sonde.net.hosts import Hosts, KeptHost
from sonde.net.polite_fetch import Gate, PoliteFetch
from sonde.net.retries import Retries
from sonde.net.robots import RobotsRecord
from sonde.net.url_patterns import UrlPatterns
from sonde.net.urls import group_of, host_of
from sonde.protocols import Keeper, KeptPage, VisitAllowance
from sonde.records import Failure, Lease, Link, Node, Outcome, Skip, Spend
from sonde.scorers.document import Scorer
from sonde.scorers.scoring_process import prepared
from sonde.sources.context import Archive, SourceContext, SourceSettings
from sonde.sources.facts import PageFacts, PageVisit, VisitEnded
from sonde.sources.main_text import MainText
from sonde.sources.page import Page, plain_page, read_page
from sonde.sources.web import pdf
from sonde.sources.web.content_seen import ContentSeen
from sonde.sources.web.copied_hosts import Newcomers
from sonde.sources.web.feeds import Feed, is_feed, read_feed
from sonde.sources.web.gate import Scope, UrlGate
from sonde.sources.web.known_sites import KnownSites
from sonde.sources.web.language import Languages
from sonde.sources.web.login import LoginSession, LoginSessions, asks_to_log_in, logins_of
from sonde.sources.web.rendering import Rendering
from sonde.sources.web.rules import Rules
from sonde.sources.web.sitemaps import Sitemaps
from sonde.sources.web.visit import VisitAssembler

HTML = frozenset(("text/html", "application/xhtml+xml", ""))
FEEDS = frozenset(
    (
        "application/xml",
        "text/xml",
        "application/rss+xml",
        "application/atom+xml",
        "application/rdf+xml",
        "application/gzip",
        "application/x-gzip",
    )
)

_LONG = 0.1  # seconds
_KEPT_EVERY = 5_000  # pages: reading so many again takes a few seconds


def read_response(response: Response) -> Page | Feed | Failure:
    """What a body says, by its media type."""
    media = response.media_type
    if media in FEEDS or (media in ("", "text/plain") and is_feed(response.body, media)):
        feed = read_feed(response.body, response.url)
        if feed is not None:
            return feed
    if media == "application/pdf":
        return pdf.read_pdf(response.body, response.url) or Failure("unreadable")
    if media == "text/plain":
        return plain_page(response.body.decode("utf-8", "replace"), response.url)
    return read_page(
        response.body,
        response.url,
        content_type=response.content_type,
        language=response.headers.get("Content-Language", ""),
    )


class WebAccess:
    """Polite access to the Web, with what a run has learned of its hosts and sites.

    It is no source and knows of no crawl: whatever visits pages of a run has one. ``pages`` counts
    those that were read. Use ``close()`` at the end.
    """

    def __init__(
        self,
        settings: SourceSettings,
        seeds: Iterable[str],
        client: ClientSettings,
        limits: Limits,
        keeper: Keeper,
        archive: Archive | None,
    ) -> None:
        self.limits = limits
        self.archive = archive
        self._keeper = keeper
        self._types = frozenset(media.lower() for media in settings.types)
        lookup: Lookup | None = settings.lookup
        starts = tuple(seeds)
        named = (host_of(seed).strip("[]") for seed in starts)
        self.languages = Languages(settings.languages, keeper)
        if settings.languages:
            headers = {"Accept-Language": self.languages.accepted, **client.headers}
            client = replace(client, headers=headers)
        logins = logins_of(settings)
        if logins:
            client = replace(client, sessions=frozenset(login.domain for login in logins))
        self.client = Client(client, lookup=lookup or system_lookup, named=named)
        self.hosts = Hosts(
            delay=settings.delay,
            connections=settings.per_host,
            rate=settings.rate,
            host_budget=settings.host_budget,
            domain_budget=settings.domain_budget,
            longest_delay=max(float(settings.longest_delay), settings.delay),
        )
        self.turns = Newcomers(self.hosts, None if settings.proxy else self.client.resolver, starts)
        self.polite = PoliteFetch(
            self.client, self.turns, limits=limits, on_robots=self._keep_robots
        )
        self.sessions = LoginSessions(logins, self.polite)
        self.scope = Scope.of(settings, starts)
        self.rules = Rules.of(settings)
        allowed = UrlPatterns(settings.allow).fit
        self.seen = ContentSeen(
            keeper, starts, allowed if settings.traps == "on" else lambda url: True
        )
        self.sites = KnownSites(keeper)

    def recall(self) -> None:
        """Take in what the run knows of hosts, robots.txt and sites."""
        keeper, now = self._keeper, time.monotonic()
        self.hosts.recall((KeptHost(*row) for row in keeper.rows("hosts")), now)  # type: ignore[arg-type]
        for row in keeper.rows("robots"):
            record = RobotsRecord(*row)  # type: ignore[arg-type]
            host = self.hosts.add(group_of(record.origin + "/"), now)
            self.hosts.restore_robots(host, record, now)
        self.languages.recall()
        self._recall_sites()

    def _recall_sites(self) -> None:
        """Observe the run's pages again, in the order of the log. What places had said is in what
        was kept last; of later pages it is read again from what the run has of them."""
        self.sites.recall()
        self.seen.recall(self._main_of)

    def _main_of(self, page: KeptPage) -> MainText | None:
        """What a page of the log said, learned again."""
        again = self.sites.learn_again(page, self._archived)
        return None if again is None else again[1]

    def _archived(self, page: KeptPage) -> Page | None:
        """A page as the archive has it; ``None`` where it has not."""
        if page.archived is None or self.archive is None:
            return None
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
        return found if isinstance(found, Page) else None

    def _keep_robots(self, answer: FetchOutcome, record: RobotsRecord | None) -> None:
        self.store(answer)
        if record is not None:
            self._keeper.write("robots", [astuple(record)])

    def store(self, answer: FetchOutcome) -> None:
        """Archive an answer that makes no visit, where pages are kept."""
        if self.archive is not None and answer.hops:
            self.archive.write(answer.hops, answer.cut if isinstance(answer, Response) else "")

    def before_commit(self) -> None:
        """Hand over what changes with every request, and now and then what places have said."""
        rows = self.hosts.changed()
        if rows:
            self._keeper.write("hosts", rows)
        if self.seen.pages >= self.seen.kept + _KEPT_EVERY:
            self.leave()

    def leave(self) -> None:
        """Keep what the log does not hold: the words that places have said."""
        self.seen.keep()
        self.sites.keep()

    async def close(self) -> None:
        """Close connections."""
        await self.client.close()

    def refusal(self, url: str, group: str) -> str | None:
        """Why a URL does not belong to the run: it is out of scope, left out by a rule, or a
        trap."""
        if not self.scope.has(url, group):
            return "scope"
        if (left_out := self.rules.refusal(url)) is not None:
            return left_out
        return None if self.seen.verdict(url, group) is None else "trap"

    def wanted(self, media: str) -> bool:
        """Whether a body of this type should be read."""
        if self._types:
            return media in self._types or media in FEEDS
        if media == "application/pdf":
            return pdf.available()
        return media in HTML or media in FEEDS or media == "text/plain"


class WebSource:
    """Visits URLs. Use ``close()`` at the end."""

    def __init__(self, context: SourceContext) -> None:
        settings = context.settings
        assert context.client is not None
        assert context.scorer is not None
        self.scorer: Scorer = context.scorer
        self._keeper = context.keeper
        self._crawl = context.crawl
        self.access = access = WebAccess(
            settings,
            context.seeds,
            context.client,
            context.limits,
            context.keeper,
            context.archive,
        )
        self.pace = access.turns
        self.leave = access.leave
        self.retries = Retries(settings.retries)
        self._rendering: Rendering | None = None
        if settings.render != "never":
            self._rendering = Rendering(settings.render, settings.browser, access, context.keeper)
        self.gate = UrlGate(
            access.scope,
            access.rules,
            access.hosts,
            access.seen,
            access.languages,
            context.crawl,
            settings.depth,
        )
        self.sitemaps = Sitemaps(
            settings,
            access.scope,
            access.hosts,
            context.keeper,
            context.crawl,
        )
        self._assembler = VisitAssembler(
            settings,
            self.scorer,
            context.crawl,
            self.gate,
            access.seen,
            access.sites,
            access.languages,
            self.sitemaps,
            context.archive,
        )

    # -- life ----------------------------------------------------------------------------------

    def recall(self) -> str:
        """Take in what the run knows of the Web and of retries, and what its scorer had
        learned."""
        learned = self._keeper.recalled("scorer")
        if learned is not None and hasattr(self.scorer, "restore"):
            self.scorer.restore(json.loads(learned))
        self.access.recall()
        self.sitemaps.recall()
        for url, count in self._keeper.retried():
            self.retries.recall(url, count)
        if self._rendering is not None:
            self._rendering.recall()
        return ""

    def allowed_now(self) -> Iterator[str]:
        """URLs that had been left out as traps, and that are none by what the user says now."""
        left_out = self._keeper.left_out("trap")
        return (url for url in left_out if self.access.seen.allowed(url))

    def before_commit(self) -> None:
        """Hand over what changes with every request, and with every page that is scored."""
        self.access.before_commit()
        if self._rendering is not None:
            self._rendering.before_commit()
        if self._assembler.scored and hasattr(self.scorer, "state"):
            self._assembler.scored = False
            self._keeper.keep("scorer", json.dumps(self.scorer.state()).encode())

    def refill(self) -> list[tuple[str, str]]:
        """Where to look when the frontier has run dry: the usual places of sitemaps and feeds."""
        return [(url, group_of(url)) for url in self.sitemaps.usual()]

    async def close(self) -> None:
        """Close connections, and the browser."""
        if self._rendering is not None:
            await self._rendering.close()
        await self.access.close()

    # -- one visit -----------------------------------------------------------------------------

    async def visit(self, node: Node, allowance: VisitAllowance) -> Outcome:
        """Visit a URL."""
        try:
            return await self._visit(str(node), allowance)
        finally:
            self.access.turns.heard(group_of(str(node)), None)

    async def _visit(self, url: str, allowance: VisitAllowance) -> Outcome:
        access = self.access
        try:
            answer = await self._fetched(url, allowance, access.sessions.of(url))
        except VisitEnded as end:
            return end.outcome
        if asks_to_log_in(answer):
            return Skip("login")
        if isinstance(answer, FetchProblem):
            access.store(answer)
            return self._problem(allowance.lease, answer)
        began = time.monotonic()
        found: Page | Feed | Failure
        if answer.media_type == "application/pdf":
            page = await pdf.read_pdf_meanwhile(answer.body, answer.url)
            found, began = page or Failure("unreadable"), time.monotonic()
        else:
            found = read_response(answer)
        if self._rendering is not None and isinstance(found, Page) and answer.media_type in HTML:
            found = await self._rendering.page(allowance, answer, found)
            began = time.monotonic()
        if isinstance(found, Page) and hasattr(self.scorer, "prepare"):
            # It sees the main text as it is known now: others may be told before this page is.
            seen, _ = access.sites.judge(found, learn=False)
            await prepared(self.scorer, seen)
            began = time.monotonic()
        outcome = self._assembled(allowance, answer, found)
        took = time.monotonic() - began
        if took > _LONG:  # a huge page is no fault of the servers that were asked meanwhile
            access.client.forgive(took)
        return outcome

    async def _fetched(
        self, url: str, allowance: VisitAllowance, session: LoginSession | None
    ) -> FetchOutcome:
        """What is at a URL, for somebody who is logged in where that was asked for."""
        if session is None:
            return await self._asked(url, allowance, self.gate.useless)

        def gate(target: str, group: str, redirected: bool) -> str | None:
            return session.refusal(target) or self.gate.useless(target, group, redirected)

        if session.refusal(url) is not None:  # nothing is sent, and its turn goes to the next
            return await self._asked(url, allowance, gate)
        # The turn that was reserved is used for the form, or goes to those who are at it: whoever
        # holds a turn and waits for somebody who waits for a turn would wait for ever.
        group = group_of(url)
        if session.busy or (not session.renewals and group_of(session.login.page) != group):
            self.access.turns.give_back(group)
        await session.begin(allowance)
        renewals = session.renewals
        answer = await self._asked(url, allowance, gate)
        if not session.has_ended(answer):
            return answer
        if await session.renew(renewals, allowance):
            answer = await self._asked(url, allowance, gate)
        if session.has_ended(answer):
            session.give_up()
            raise VisitEnded(Skip("login"))
        return answer

    async def _asked(self, url: str, allowance: VisitAllowance, gate: Gate) -> FetchOutcome:
        access = self.access
        answer = await access.polite.fetch(url, allowance, gate=gate, wanted=access.wanted)
        for group, seconds in answer.trips:
            self._crawl.clock(allowance.lease, group, seconds)
        return answer

    def _problem(self, lease: Lease, problem: FetchProblem) -> Outcome:
        url = str(lease.node)
        if problem.reason == "not-allowed":
            if problem.detail == "later" and problem.hops and problem.url != url:
                return _led_to(problem.url, problem.hops[-1].status)
            if problem.detail == "scope" and self._crawl.number_of(problem.url) is None:
                self._crawl.refuse(problem.url, "scope", lease.number)  # where it redirects to
            return Skip(problem.detail, retry=problem.detail in ("crawl-delay", "later"))
        if problem.reason == "budget":
            return Skip("budget", retry=True)
        host = self.access.hosts.add(group_of(problem.url), time.monotonic())
        self.access.hosts.failed(host)
        retry = self.retries.again(url, problem.reason, troubles=host.troubles)
        return Failure(problem.reason, retry, Spend(requests=problem.requests))

    def _assembled(
        self, allowance: VisitAllowance, response: Response, found: Page | Feed | Failure
    ) -> Outcome:
        lease, depth, now = allowance.lease, allowance.depth, time.time()
        if isinstance(found, Feed):
            return self._assembler.feed(lease, depth, response, found, now)
        if isinstance(found, Page) and self.sitemaps.guessed(str(lease.node)):
            return Skip("no-sitemap")
        if isinstance(found, Page):
            outcome = self._assembler.visit(lease, depth, response, found, now)
            if isinstance(outcome, PageVisit):
                self.access.turns.heard(group_of(str(lease.node)), self._assembler.copied)
                facts = outcome.facts
                assert facts is not None
                if facts.warc is None and "noindex" not in facts.flags.split():
                    self.access.sites.unkept(lease.number, found)
            return outcome
        return found


def _led_to(target: str, status: int) -> Outcome:
    """A redirect whose target has to wait for its host's turn: that goes to the frontier, and
    nobody holds a place for it meanwhile."""
    facts = PageFacts(final_url=target, status=status, flags="redirect")
    return PageVisit(score=0.0, links=[Link(target, 1.0, group_of(target))], facts=facts)
