"""Sitemaps and feeds that nobody links to: offered as nodes among others, and what they say kept.

The first page that is visited of an origin brings, besides its own links, the sitemaps that the
origin's robots.txt names and the feeds that the page's head names. They promise what a link of that
page promises on average, are chosen or not like any other node, and cost what they cost. An index
of sitemaps brings those that it names, the newest first and no more than ``MOST``; an index within
an index brings nothing. When the frontier has run dry, the usual places of sitemaps and feeds are
tried, on sites that have named none; what answers there with a page like any other is not taken.

What an entry says of its page is a hint: of equal promise, the page that is said to matter more
comes first, then the newer one, and one that is larger than is read comes last. A priority also
weighs the promise. Entries without a title are scored by the words of their URLs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from urllib.parse import unquote

from sonde.net.hosts import Hosts
from sonde.net.urls import group_of, normalise, origin_of
from sonde.protocols import CrawlView, Keeper
from sonde.sources.context import SourceSettings
from sonde.sources.web.feeds import Feed, FeedLink
from sonde.sources.web.gate import Scope

MOST = 50
"""Sitemaps that are taken from one robots.txt, or from one index."""

_MOST_FEEDS = 3  # of one page
_MOST_TRIED = 20  # origins at a time, when the frontier has run dry
_USUAL = (("sitemap", ("/sitemap.xml",)), ("feed", ("/feed", "/rss.xml", "/atom.xml")))
_ROBOTS = "robots.txt"
_WORD = re.compile(r"[^\W\d_]+")
_EXTENSION = re.compile(r"\.[a-zA-Z0-9]{1,5}$")


class Sitemaps:
    """What is offered, and what has been. Nothing is, unless the settings say ``auto``.

    The table ``sitemaps`` has each URL that was offered, with who named it, and the robots.txt of
    each origin that was asked.
    """

    def __init__(
        self,
        settings: SourceSettings,
        scope: Scope,
        hosts: Hosts,
        keeper: Keeper,
        crawl: CrawlView,
    ) -> None:
        self._on = settings.sitemaps == "auto" and settings.depth != 0
        self._largest = settings.max_size
        self._scope = scope
        self._hosts = hosts
        self._keeper = keeper
        self._crawl = crawl
        self._named: dict[str, str] = {}  # URLs, and who named them
        self._origins: dict[str, set[str]] = {}  # met, and what they have named: sitemap, feed

    def recall(self) -> None:
        """Take in what was offered before."""
        for url, found in self._keeper.rows("sitemaps"):
            self._know(str(url), str(found))

    def _know(self, url: str, found: str) -> None:
        self._named[url] = found
        named = self._origins.setdefault(origin_of(url), set())
        if found != "origin":
            named.add("feed" if found in ("page", "usual feed") else "sitemap")

    def _offer(self, urls: Iterable[str], found: str) -> list[str]:
        new = [url for url in dict.fromkeys(urls) if url not in self._named]
        for url in new:
            self._know(url, found)
        if new:
            self._keeper.write("sitemaps", [(url, found) for url in new])
        return new

    # -- what a page brings --------------------------------------------------------------------

    def of_page(self, url: str, feeds: Sequence[str]) -> list[str]:
        """What a page at a URL, whose head names feeds, brings besides its links."""
        origin = origin_of(url)
        asked = f"{origin}/{_ROBOTS}"
        if not self._on or asked in self._named:
            return []
        self._offer([asked], "origin")
        group = group_of(url)
        record = self._hosts.robots_of(origin, group)
        written = [] if record is None else self._hosts.rules.sitemaps(record)[:MOST]
        targets = (normalise(text, base=url) for text in written)
        named = [target for target in targets if target is not None and self._near(target, group)]
        fed = [feed for feed in feeds if self._near(feed, group)][:_MOST_FEEDS]
        return self._offer(named, "robots") + self._offer(fed, "page")

    def of_index(self, urls: Sequence[str], targets: Iterable[str]) -> Collection[str]:
        """Which of the sitemaps that an index names are taken; it was asked for under one URL and
        came from another."""
        if any(self._named.get(url) == "index" for url in urls):
            return ()
        group = group_of(urls[-1])
        near = [target for target in targets if self._near(target, group)]
        return frozenset(self._offer(near[:MOST], "index"))

    def _near(self, url: str, group: str) -> bool:
        """Whether a sitemap is on the site that names it, or in scope."""
        return group_of(url) == group or url in self._scope

    # -- when nothing else is left -------------------------------------------------------------

    def usual(self) -> list[str]:
        """Usual places that were not tried yet, of sites that have named none: sitemaps first,
        and feeds when there is nothing behind those either."""
        if not self._on:
            return []
        origins = [origin for origin in sorted(self._origins) if self._open(origin)]
        for what, paths in _USUAL:
            urls = [
                [origin + path for path in paths]
                for origin in origins
                if what not in self._origins[origin]
            ]
            new = [
                url
                for together in urls[:_MOST_TRIED]
                for url in together
                if self._crawl.number_of(url) is None
            ]
            if new:
                return self._offer(new, f"usual {what}")
        return []

    def guessed(self, url: str) -> bool:
        """Whether nobody has named a URL: what is there is no page of the site."""
        return self._named.get(url, "").startswith("usual")

    def _open(self, origin: str) -> bool:
        """Whether a site answers, and has budget left."""
        group = group_of(f"{origin}/")
        record = self._hosts.robots_of(origin, group)
        open_to_robots = record is not None and record.verdict != "disallow"
        return open_to_robots and group not in self._hosts.closed

    # -- what they say -------------------------------------------------------------------------

    def listed(self, feed: Feed) -> list[FeedLink]:
        """The entries of a sitemap or a feed, those first that it speaks for; the run keeps what
        they say."""
        said = [
            (entry.url, entry.modified, entry.priority, entry.size)
            for entry in feed.links
            if (entry.modified, entry.priority, entry.size) != (None, None, None)
        ]
        if said:
            self._keeper.write("listed", said)
        return sorted(
            feed.links,
            key=lambda entry: (
                (entry.size or 0) > self._largest,
                -_priority(entry),
                -(entry.modified or 0.0),
            ),
        )


def weight(entry: FeedLink) -> float:
    """What to multiply the promise of an entry with: 1 for one that says nothing."""
    return 0.5 + _priority(entry)


def _priority(entry: FeedLink) -> float:
    """Between 0 and 1, and a half where nothing is said, as the protocol has it."""
    return 0.5 if entry.priority is None else entry.priority


def words_of(url: str) -> str:
    """The words of a URL's path, without its extension.

    >>> words_of("https://a.example/docs/2031/tide-gauge_2.html")
    'docs tide gauge'
    """
    path = url.partition("?")[0].split("/", 3)[3]
    if "%" in path:
        path = unquote(path)
    return " ".join(_WORD.findall(_EXTENSION.sub("", path)))
