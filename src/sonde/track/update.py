"""Graph updates: what an answer changes. Links come and go, pages move or vanish, and feeds and
sitemaps name pages.

Everything here happens within one transaction of the run, at one moment.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from selectolax.lexbor import LexborHTMLParser

from sonde.net.charset import decode
from sonde.net.exchange import FetchOutcome, FetchProblem, Response
from sonde.net.robots import directives
from sonde.net.urls import group_of, origin_of
from sonde.sources.page import Base, Page
from sonde.sources.web.feeds import Feed
from sonde.sources.web.source import WebAccess, read_response
from sonde.track.citations import Citations, TrackedNode
from sonde.track.policy import Policy

NodeOf = Callable[[str, float], tuple[int, str] | None]
"""The number and the state of the node that a URL stands for at a time; ``None`` for no node."""

_GONE_AFTER = 2  # a page that was there is gone when it is not found twice in a row
_GIVE_UP = 5
_FIRST_RETRY = 3600.0
_PERMANENT = frozenset((301, 308))
_HISTORY = ("visits", "last", "links", "intervals", "changes", "watched", "digest", "dated")
_AT_ONCE = frozenset(("unwanted-type", "bad-url", "blocked-address"))


class GraphUpdate:
    """Takes in answers. With ``nofollow``, links that say so are left out."""

    def __init__(self, store: Citations, policy: Policy, web: WebAccess, *, nofollow: bool) -> None:
        self.store = store
        self.policy = policy
        self.web = web
        self.nofollow = nofollow
        self.window = policy.plan.window
        self.fresh = 0
        self.feeds = WatchedFeeds(policy, web, self.node)

    def learn(self, node: TrackedNode, answer: FetchOutcome, now: float) -> str:
        """Take in an answer; what came of the visit, in a word. ``fresh`` counts new links."""
        self.fresh = 0
        self.feeds.look_for_sitemaps(node.url, now)
        if isinstance(answer, FetchProblem):
            return self._problem(node, answer, now)
        outcome = "page"
        if answer.url != node.url and all(hop.status in _PERMANENT for hop in answer.hops[:-1]):
            node = self._moved(node, answer.url, now)
            outcome = "moved"
        if answer.status == 304:
            return self._unchanged(node, answer, now)
        digest = hashlib.sha1(answer.body, usedforsecurity=False).digest()
        if digest == node.digest and node.last is not None:
            return self._unchanged(node, answer, now)
        found = read_response(answer)
        facts = self._facts(answer, digest)
        if isinstance(found, Feed):
            self.fresh = self.feeds.read(node, found, now, facts)
            return "list"
        if not isinstance(found, Page):
            return self.set_aside(node, found.reason, now)
        self._page(node, answer, found, now, facts)
        return outcome

    def node(self, url: str, now: float) -> tuple[int, str] | None:
        """The number and the state of the node that a URL stands for; a new one where it belongs
        to the crawl and nobody knew it; ``None`` where it is no node."""
        name = self.web.seen.names.stands_for(url)
        found = self.store.find(name)
        if found is None and self.web.refusal(name, group_of(name)) is None:
            found = self.policy.new(name, "frontier", now)
        return found

    # -- pages -----------------------------------------------------------------------------------

    def _facts(self, answer: Response, digest: bytes) -> dict[str, object]:
        archive = self.web.archive
        return {
            "etag": answer.headers.get("ETag"),
            "modified": answer.headers.get("Last-Modified"),
            "digest": digest,
            "warc": None if archive is None else archive.write(answer.hops, answer.cut),
        }

    def _page(
        self, node: TrackedNode, answer: Response, page: Page, now: float, facts: dict[str, object]
    ) -> None:
        orders = directives(page.robots) | directives(answer.headers.get("X-Robots-Tag", ""))
        heeds = self.nofollow
        urls = [
            link.url
            for link in (() if heeds and orders.nofollow else page.links)
            if not (heeds and link.nofollow)
        ]
        found = (self.node(url, now) for url in urls)
        states = dict(node for node in found if node is not None)
        states.pop(node.id, None)
        arrived = node.dated  # what a list says of a page is when its new links came
        if arrived is not None and node.last is not None and arrived <= node.last:
            arrived = None
        never, fresh = self.store.see(node.id, list(states), node.last, now, arrived)
        self.policy.cited(never, states)
        if not orders.noindex:
            facts = facts | {"title": page.title[:500]}
        score = float(sum(int(self.policy.expansion.apparent[target]) for target in fresh))
        self._visited(node, len(never), len(fresh), score, now, facts)
        for url in feeds_of(answer.body, answer.url, answer.content_type):
            self.feeds.add(url, now)

    def _unchanged(self, node: TrackedNode, answer: Response, now: float) -> str:
        facts: dict[str, object] = {
            name: value
            for name, header in (("etag", "ETag"), ("modified", "Last-Modified"))
            if (value := answer.headers.get(header)) is not None
        }
        if node.state == "list":
            self.feeds.visited(node, 0, now, facts)
            return "unchanged"
        if node.last is not None:
            self.store.unchanged(node.id, node.last, now)
        self._visited(node, 0, 0, 0.0, now, facts)
        return "unchanged"

    def _visited(
        self,
        node: TrackedNode,
        never: int,
        fresh: int,
        score: float,
        now: float,
        facts: dict[str, object],
    ) -> None:
        self.fresh = fresh
        elapsed = self.window if node.last is None else max(now - node.last, 0.001)
        links = node.links + never
        self.store.update(
            node.id,
            state="visited",
            why="",
            visits=node.visits + 1,
            last=now,
            links=links,
            fresh=fresh,
            elapsed=elapsed,
            score=score,
            intervals=node.intervals + 1,
            changes=node.changes + bool(fresh),
            watched=node.watched + elapsed,
            misses=0,
            retry=None,
            announced=0,
            **facts,
        )
        self.policy.expansion.take(node.id)
        self.policy.recrawl.visited(node.id, links, fresh, elapsed, score)

    # -- pages that are not there ----------------------------------------------------------------

    def _moved(self, node: TrackedNode, url: str, now: float) -> TrackedNode:
        """The page is at another address for good: so are all links to it, and its own."""
        name = self.web.seen.names.stands_for(url)
        if name == node.url:
            return node
        found = self.store.find(name) or self.policy.new(name, "frontier", now)
        if found is None or found[0] == node.id:
            return node
        new = found[0]
        before = self.store.node(new)
        self.policy.leave(node.id)
        self.policy.expansion.apparent[new] = self.store.move(node.id, new)
        if before.last is None:  # its history goes with it
            self.store.update(new, **{column: getattr(node, column) for column in _HISTORY})
        self.policy.leave(new)
        return self.store.node(new)

    def _problem(self, node: TrackedNode, problem: FetchProblem, now: float) -> str:
        reason = problem.detail if problem.reason == "not-allowed" else problem.reason
        if reason == "budget":
            if node.last is None:
                self.policy.return_to_frontier(node.id)
            return "budget"
        if problem.reason == "not-allowed" and reason != "robots-unreachable":
            return self._drop(node, "dropped", reason)
        if reason == "http-410" or (
            reason == "http-404" and (node.last is None or node.misses + 1 >= _GONE_AFTER)
        ):
            return self._drop(node, "gone", reason)
        if reason in _AT_ONCE:
            return self._drop(node, "dropped", reason)
        return self.set_aside(node, reason, now)

    def _drop(self, node: TrackedNode, state: str, why: str) -> str:
        self.policy.leave(node.id)
        self.store.update(node.id, state=state, why=why, announced=0, retry=None)
        return why

    def set_aside(self, node: TrackedNode, why: str, now: float) -> str:
        """Try again later, each time twice as late."""
        if node.misses + 1 >= _GIVE_UP:
            return self._drop(node, "dropped", why)
        self.policy.leave(node.id)
        wait = min(_FIRST_RETRY * 2**node.misses, self.window)
        self.store.update(node.id, why=why, misses=node.misses + 1, announced=0, retry=now + wait)
        return why


# -- lists ---------------------------------------------------------------------------------------


class WatchedFeeds:
    """Keeps lists: feeds and sitemaps, which name pages and date them.

    A list is found in robots.txt, in the head of a page, or in another list. It is no page: it is
    not ranked, and it is visited at a pace of its own, by whether it had news. News are pages that
    it dates after their last visit; they are *announced*.
    """

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
