"""Visit assembly: from a page that was read to a visit, scored, and with its links sorted.

A page's worth counts once: a page that another one has already said (see ``twins``; unless the
user wants it counted), and one that asks not to be indexed, score 0; their links may still be
followed. A link's promise is its score times what its place still yields (see ``staleness``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from sys import intern

from sonde.kernels.html.links import gathered, grouped, unsettled
from sonde.link_words import POSITIONS, page_words
from sonde.net.exchange import Response
from sonde.net.robots import Directives, directives
from sonde.net.urls import group_of
from sonde.protocols import VISITED, CrawlView
from sonde.records import Lease, Link, LinkColumns, Outcome, Skip
from sonde.scorers.document import Scorer, rescored
from sonde.sources.context import Archive, SourceSettings
from sonde.sources.facts import Correction, PageFacts, PageVisit
from sonde.sources.main_text import HeldPage, MainText, pack_spans
from sonde.sources.page import Page, PageLink, Rendered
from sonde.sources.web.content_seen import ContentSeen
from sonde.sources.web.feeds import Feed
from sonde.sources.web.gate import UrlGate
from sonde.sources.web.known_sites import KnownSites
from sonde.url_measures import places

_NO_ORDERS = Directives()


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
        self._archive = archive
        self._text = settings.text and archive is None  # or the archive has it
        self._domains: dict[str, str] = {}  # of basenames
        self._languages = tuple(language.lower() for language in settings.languages)

    # -- visits --------------------------------------------------------------------------------

    def visit(
        self, lease: Lease, depth: int, response: Response, page: Page, now: float
    ) -> Outcome:
        """The outcome of a page. Everything here happens at once: nothing may come between
        scoring a page and telling the explorer."""
        url = str(lease.node)
        if self._languages and page.language and not self._speaks(page.language):
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
        found = twin = None
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
            found = self._seen.compare(page.url, main, self._crawl.requests_left)
            twin = found.twin
        if twin is not None:
            flags.append("near-duplicate")
            if self._settings.duplicates != "score":
                beta = 0.0
        links: Sequence[Link] = ()
        followed = twin is None or self._settings.duplicates != "skip"
        if followed and not (orders.nofollow and self._settings.nofollow):
            links = self._links(page, alphas, depth + 1, lease.number, now, main)
        self.copied = self._seen.add(url, lease.number, page.url, canonical, found)
        kept = not orders.noindex
        told = None if "near-duplicate" in flags else beta
        held = self._sites.hold(HeldPage(lease.number, url, page, told)) if kept else []
        return PageVisit(
            score=beta,
            links=links,
            facts=PageFacts(
                final_url=page.url,
                status=response.status,
                media_type=response.media_type,
                language=page.language[:35],
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
                sketch=None if found is None else found.page.packed(),
                twin=None if twin is None else twin.lease,
                jaccard=None if twin is None else twin.jaccard,
                containment=None if twin is None else twin.containment,
                stale=None if found is None else found.finding.noted,
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
        titles: list[str] = []
        spans: list[PageLink] = []
        place = 0
        for entry in feed.links:
            spans.append(PageLink(entry.url, place, place + len(entry.title)))
            titles.append(entry.title)
            place += len(entry.title) + 1
        text = " ".join(titles)
        page = Page(url=response.url, text=text, links=tuple(spans), window=0)
        _, alphas = self._scorer.score(page)
        self.scored = True
        return PageVisit(
            score=0.0,
            links=self._links(page, alphas, depth, lease.number, now),
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

    def _archived(self, response: Response, rendered: Rendered | None = None) -> str | None:
        """Where the page is kept, if it is: the response, or what a browser made of it."""
        if self._archive is None:
            return None
        place = self._archive.write(response.hops, response.cut)
        if rendered is None or not rendered.html:
            return place
        return self._archive.write_rendered(response.url, rendered.html)

    def _speaks(self, language: str) -> bool:
        return any(
            language == wanted or language.startswith(f"{wanted}-") for wanted in self._languages
        )

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
        depth: int,
        lease: int,
        now: float,
        main: MainText | None = None,
    ) -> LinkColumns:
        """The links to follow, each target once, with the sum of its promises and its words:
        the last of these says where on the page its longest anchor stands."""
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
                why = self._gate.refusal(target, depth, now)
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
