"""Feeds and sitemaps that are watched: lists, which name pages and date them.

A list is found in robots.txt, in the head of a page, or in another list. It is no page: it is not
ranked, and it is visited at a pace of its own, by whether it had news. News are pages that it
dates after their last visit; they are *announced*.
"""

from __future__ import annotations

from collections.abc import Callable

from selectolax.lexbor import LexborHTMLParser

from sonde.net.charset import decode
from sonde.net.urls import group_of, origin_of
from sonde.sources.hrefs import Base
from sonde.sources.web.feeds import Feed
from sonde.sources.web.source import WebAccess
from sonde.track.citations import TrackedNode
from sonde.track.policy import Policy

NodeOf = Callable[[str, float], tuple[int, str] | None]
"""The number and the state of the node that a URL stands for at a time; ``None`` for no node."""


class WatchedFeeds:
    """Keeps lists, and what they say."""

    def __init__(self, policy: Policy, web: WebAccess, node: NodeOf) -> None:
        self._node = node
        self._store = policy.store
        self._policy = policy
        self._web = web
        self._window = policy.plan.window
        self._origins: set[str] = set()  # whose sitemaps were looked for

    def look_for_sitemaps(self, url: str, now: float) -> None:
        """The sitemaps that a host's robots.txt names, once it is known."""
        origin = origin_of(url)
        record = self._web.hosts.robots_of(origin, group_of(url))
        if origin not in self._origins and record is not None:
            self._origins.add(origin)
            for sitemap in self._web.hosts.rules.sitemaps(record):
                self.add(sitemap, now)

    def add(self, url: str, now: float) -> None:
        """A list that somebody names."""
        if self._store.find(url) is None and url in self._web.scope:
            added = self._policy.new(url, "list", now)
            if added is not None:
                self._policy.expansion.take(added[0])

    def read(self, node: TrackedNode, feed: Feed, now: float, facts: dict[str, object]) -> int:
        """Take in what a list says; how much of it is news. Pages that it names become known.
        What a feed says of another host is a citation, with its date."""
        self._policy.leave(node.id)
        news = 0
        for entry in feed.links:
            if feed.kind == "index":
                self.add(entry.url, now)
                continue
            found = self._node(entry.url, now)
            if found is None or found[1] == "list":
                continue
            number, state = found
            if state == "frontier" and self._policy.expansion.state[number] == 0:
                self._policy.expansion.enter(number)
            dated = None if entry.modified is None else min(entry.modified, now)
            if dated is not None:
                news += self._dated(number, state, dated, now)
            elsewhere = group_of(entry.url) != group_of(node.url)
            cites = elsewhere and feed.kind in ("rss", "atom")
            if cites and self._store.cite(node.id, number, now, dated):
                self._policy.cited([number], {number: state})
        self.visited(node, news, now, facts)
        return news

    def _dated(self, number: int, state: str, dated: float, now: float) -> bool:
        """A list gives a page a date; whether that is news."""
        page = self._store.node(number)
        if page.dated is not None and page.dated >= dated:
            return False
        recent = dated > now - self._window and (page.last is None or dated > page.last)
        announced = recent and state in ("frontier", "visited")
        self._store.update(number, dated=dated, announced=int(announced))
        return announced

    def visited(self, node: TrackedNode, news: int, now: float, facts: dict[str, object]) -> None:
        """A list is due again after half the time if it had news, else after twice as long."""
        least, most = self._window / 168, self._window / 4
        due = node.elapsed if node.state == "list" and node.elapsed else 4 * least
        due = max(least, due / 2) if news else min(most, due * 2)
        self._store.update(
            node.id,
            state="list",
            why="",
            visits=node.visits + 1,
            last=now,
            elapsed=due,
            misses=0,
            retry=None,
            **facts,
        )


_FEEDS = ("application/rss+xml", "application/atom+xml")


def feeds_of(body: bytes, url: str, content_type: str = "") -> list[str]:
    """The URLs of ``<link rel="alternate">`` elements whose type is RSS or Atom, each once.

    >>> head = b'<link rel=alternate type="application/atom+xml" href="/feed">'
    >>> feeds_of(head, "http://a.example/blog/")
    ['http://a.example/feed']
    """
    if b"rss+xml" not in body and b"atom+xml" not in body:
        return []
    html, _ = decode(body, content_type)
    base = Base(url)
    found: dict[str, None] = {}
    for node in LexborHTMLParser(html).css("link[href][type]"):
        attrs = node.attrs
        rel = (attrs.get("rel") or "").lower().split()
        if "alternate" in rel and (attrs.get("type") or "").strip().lower() in _FEEDS:
            target = base.join(attrs.get("href") or "")
            if target is not None:
                found[target] = None
    return list(found)
