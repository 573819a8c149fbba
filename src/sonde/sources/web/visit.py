"""Visit assembly: from a page that was read to a visit, scored, and with its links sorted.

A page's worth counts once: a page that another one has already said (see ``twins``; unless the
user wants it counted), and one that asks not to be indexed, score 0; their links may still be
followed. A link's promise is its score times what its place still yields (see ``staleness``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Hashable, Sequence
from dataclasses import replace
from sys import intern

from sonde.kernels.html.links import gathered, grouped, unsettled
from sonde.link_words import POSITIONS, page_words
from sonde.net.exchange import Response
from sonde.net.robots import Directives, directives
from sonde.net.urls import group_of
from sonde.protocols import VISITED, CrawlView
from sonde.records import Lease, LinkColumns, Outcome, Skip
from sonde.scorers.document import Scorer, rescored
from sonde.scorers.question import Question
from sonde.sources.context import Archive, SourceSettings
from sonde.sources.facts import Correction, PageFacts, PageVisit, Record
from sonde.sources.main_text import HeldPage, MainText, pack_spans
from sonde.sources.page import Page, PageLink, Rendered
from sonde.sources.web.collector import Collector
from sonde.sources.web.content_seen import ContentSeen
from sonde.sources.web.feeds import Feed
from sonde.sources.web.gate import UrlGate
from sonde.sources.web.known_sites import KnownSites
from sonde.sources.web.language import Languages
from sonde.sources.web.markdown import HTML
from sonde.sources.web.sitemaps import Sitemaps, weight, words_of
from sonde.url_measures import places

_NO_ORDERS = Directives()
RENDERED = "text/html; charset=utf-8"
"""What a browser writes out."""


def _group_of(url: str) -> str:
    """One string a host, not one a link: there are a million links to remember."""
    return intern(group_of(url))


class VisitAssembler:
    """Makes visits. What it learns on the way is in ``sites`` and ``seen``."""

    def __init__(
        self,
        settings: SourceSettings,
        scorer: Scorer,
        crawl: CrawlView,
        gate: UrlGate,
        seen: ContentSeen,
        sites: KnownSites,
        languages: Languages,
        sitemaps: Sitemaps,
        archive: Archive | None,
    ) -> None:
        self.scored = False  # since the scorer's state was last handed over
        self.copied: bool | None = None  # whether the host visited last seems to be a copy
        self._settings = settings
        self._scorer = scorer
        self._crawl = crawl
        self._gate = gate
        self._seen = seen
        self._sites = sites
        self._languages = languages
        self._sitemaps = sitemaps
        self._archive = archive
        # An archive has the text; what a question is answered from is kept as it was judged.
        self._text = settings.text and (archive is None or settings.question is not None)
        self._question = None if settings.question is None else Question(settings.question)
        self._collector: Collector | None = None
        if settings.record_kinds or settings.fields is not None:
            self._collector = Collector(settings.record_kinds, settings.fields)
        self._domains: dict[str, str] = {}  # of basenames

    # -- visits --------------------------------------------------------------------------------

    def visit(
        self, lease: Lease, depth: int, response: Response, page: Page, now: float
    ) -> Outcome:
        """The outcome of a page. Everything here happens at once: nothing may come between
        scoring a page and telling the explorer."""
        url = str(lease.node)
        language = page.language
        if not language and self._languages.wanted:
            language = self._languages.of(self._sites.judge(page, learn=False)[0])
        if not self._languages.welcome(language, url, page.url):
            return Skip("language")
        canonical = self._canonical(page)
        if canonical is not None:
            name = self._seen.names.stands_for(canonical)
            if self._crawl.became(name) == VISITED:
                self._crawl.refuse(page.url, "duplicate", lease.number)
                return Skip("duplicate")
        orders, tag = _NO_ORDERS, response.headers.get("X-Robots-Tag", "")
        if page.robots or tag:
            orders = directives(page.robots) | directives(tag)
        page, main = self._sites.judge(page, learn=not orders.noindex)
        beta, alphas = self._scorer.score(page)
        self.scored = True
        seen = twin = None
        flags = []
        if page.needs_script:
            flags.append("needs-script")
        elif page.rendered is not None and page.rendered.html:
            flags.append("rendered")
        if response.cut or page.cut:
            flags.append("cut")
        if orders.noindex:
            flags.append("noindex")  # nothing of it is kept, not even to compare others with it
            beta = 0.0
        else:
            seen = self._seen.compare(page.url, main, self._crawl.requests_left)
            twin = seen.twin
        if twin is not None:
            flags.append("near-duplicate")
            if self._settings.duplicates != "score":
                beta = 0.0
        skipped = twin is not None and self._settings.duplicates == "skip"
        if skipped or (orders.nofollow and self._settings.nofollow):
            page, alphas = replace(page, links=()), ()
        links = self._links(*self._offered(page, alphas), depth + 1, lease.number, now, main)
        self.copied = self._seen.add(url, lease.number, page.url, canonical, seen)
        kept = not orders.noindex
        records = self._collected(response, page) if kept else ()
        first = None if "near-duplicate" in flags else beta
        held = self._sites.hold(HeldPage(lease.number, url, page, first)) if kept else []
        return PageVisit(
            score=beta,
            links=links,
            records=self._counted(page, records) if kept else (),
            found=records,
            facts=PageFacts(
                final_url=page.url,
                status=response.status,
                media_type=response.media_type,
                language=language[:35],
                title=page.title[:500] if kept else "",
                digest=hashlib.sha1(response.body, usedforsecurity=False).digest(),
                etag=response.headers.get("ETag"),
                modified=response.headers.get("Last-Modified"),
                rtt=response.rtt,
                canonical=canonical,
                flags=" ".join(flags),
                main=pack_spans(page.main) if kept else None,
                text=page.content if kept and self._text else None,
                warc=self._archived(response, page.rendered) if kept else None,
                rendered=None if page.rendered is None else page.rendered.told,
                sketch=None if seen is None else seen.page.packed(),
                twin=None if twin is None else twin.lease,
                jaccard=None if twin is None else twin.jaccard,
                containment=None if twin is None else twin.containment,
                stale=None if seen is None else seen.finding.noted,
            ),
            corrections=[self._corrected(each) for each in held],
        )

    def _corrected(self, held: HeldPage) -> Correction:
        """One of a host's first pages, now that the host is known."""
        told = held.score or 0.0
        return Correction(
            held.lease,
            held.node,
            told,
            told if held.score is None else rescored(self._scorer, held.page, told),
            pack_spans(held.page.main),
            held.page.content if self._text else None,
        )

    def feed(self, lease: Lease, depth: int, response: Response, feed: Feed, now: float) -> Outcome:
        """The outcome of a sitemap or a feed: it is worth nothing itself, and its links are scored
        by their titles."""
        entries = self._sitemaps.listed(feed)
        offered: Collection[str] = ()
        if feed.kind == "index":
            addresses = (str(lease.node), response.url)
            offered = self._sitemaps.of_index(addresses, [entry.url for entry in entries])
            entries = [entry for entry in entries if entry.url in offered]
        titles: list[str] = []
        spans: list[PageLink] = []
        place = 0
        for entry in entries:
            title = entry.title or words_of(entry.url)
            spans.append(PageLink(entry.url, place, place + len(title)))
            titles.append(title)
            place += len(title) + 1
        text = " ".join(titles)
        page = Page(url=response.url, text=text, links=tuple(spans), window=0)
        _, alphas = self._scorer.score(page)
        alphas = [alpha * weight(entry) for alpha, entry in zip(alphas, entries, strict=True)]
        self.scored = True
        return PageVisit(
            score=0.0,
            links=self._links(page, alphas, offered, depth, lease.number, now),
            facts=PageFacts(
                final_url=response.url,
                status=response.status,
                media_type=response.media_type,
                etag=response.headers.get("ETag"),
                modified=response.headers.get("Last-Modified"),
                rtt=response.rtt,
                flags="feed cut" if feed.cut else "feed",
                warc=self._archived(response),
                level=True,
            ),
        )

    def _offered(
        self, page: Page, alphas: Sequence[float]
    ) -> tuple[Page, Sequence[float], Collection[str]]:
        """A page and the promises of its links, with the sitemaps and feeds of its site, which
        promise as much as a link of the page does on average."""
        offered = self._sitemaps.of_page(page.url, page.feeds)
        if not offered:
            return page, alphas, ()
        end = len(page.text)
        links = page.links + tuple(PageLink(url, end, end) for url in offered)
        mean = sum(alphas) / len(alphas) if alphas else 0.0
        return replace(page, links=links), [*alphas, *[mean] * len(offered)], offered

    def _collected(self, response: Response, page: Page) -> Sequence[Record]:
        """The records of an HTML page, where they are wanted."""
        if self._collector is None or response.media_type not in HTML:
            return ()
        if page.rendered is not None and page.rendered.html:
            return self._collector.records(page.rendered.html, response.url, RENDERED)
        return self._collector.records(response.body, response.url, response.content_type)

    def _counted(self, page: Page, found: Sequence[Record]) -> tuple[Hashable, ...]:
        """What the objective may count: the facts that speak of a question, else the records."""
        if self._question is not None:
            return self._question.facts(page.content)
        return tuple(record.mark for record in found)

    def _archived(self, response: Response, rendered: Rendered | None = None) -> str | None:
        """Where the page is kept, if it is: the response, or what a browser made of it."""
        if self._archive is None:
            return None
        place = self._archive.write(response.hops, response.cut)
        if rendered is None or not rendered.html:
            return place
        return self._archive.write_rendered(response.url, rendered.html)

    def _canonical(self, page: Page) -> str | None:
        """What the page says its URL is, where that is another one within the scope."""
        canonical = page.canonical
        if canonical is None or canonical == page.url or canonical not in self._gate.scope:
            return None
        return canonical

    # -- links ---------------------------------------------------------------------------------

    def _links(
        self,
        page: Page,
        alphas: Sequence[float],
        sitemaps: Collection[str],
        depth: int,
        lease: int,
        now: float,
        main: MainText | None = None,
    ) -> LinkColumns:
        """The links to follow, each target once, with the sum of its promises and its words (the
        last of these says where on the page its longest anchor stands); some are sitemaps."""
        if len(alphas) != len(page.links):
            raise ValueError(f"{len(alphas)} scores for {len(page.links)} links of {page.url}")
        crawl, names = self._crawl, self._seen.names
        number_of, refuse = crawl.number_of, crawl.refuse
        renamed: dict[str, str] = {}

        def admit(url: str) -> str | None:
            """The target that a URL stands for; ``None`` where it is refused."""
            target = names.stands_for(url)
            if target != url:
                renamed[url] = target
            if number_of(target) is None:
                why = self._gate.refusal(target, depth, now, sitemap=url in sitemaps)
                if why is not None:
                    refuse(url, why, lease)
                    return None
            if target != url and number_of(url) is None:
                refuse(url, "duplicate", lease)
            return target

        def shun(url: str) -> None:
            if number_of(url) is None:
                refuse(url, "nofollow", lease)

        targets, numbers, promises, starts, ends = gathered(
            page.links,
            list(alphas),
            crawl.register,
            names.aliases,
            names.variants.learned,
            admit,
            shun if self._settings.nofollow else None,
        )
        factor_of = self._seen.staleness.factor
        promises = [
            promise * factor_of(target) if promise else promise
            for target, promise in zip(targets, promises, strict=True)
        ]
        words = None
        if crawl.reads_words:  # what leads to a page after its visit is not heard of
            words = [b""] * len(targets)
            heard = unsettled(numbers, crawl.status, VISITED)
            found = page_words(
                page.text,
                [starts[place] for place in heard],
                [ends[place] for place in heard],
                [targets[place] for place in heard],
                page.window,
            )
            positions = [1] * len(heard)
            if main is not None:
                positions = main.positions([(None, starts[place], ends[place]) for place in heard])
            for place, said, position in zip(heard, found, positions, strict=True):
                words[place] = said + POSITIONS[position]
        where = None
        if crawl.reads_urls:  # by all links, also by those that are not followed
            urls = [link.url for link in page.links]
            where = places(urls, targets, renamed, self._domains)
        return LinkColumns(targets, promises, grouped(targets, _group_of), words, where)
