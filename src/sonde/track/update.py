"""What an answer teaches the tracker: links that came and went, pages that moved or vanished.

Everything here happens within one transaction of the store, at one moment.
"""

from __future__ import annotations

import hashlib

from sonde.net.exchange import FetchOutcome, FetchProblem, Response
from sonde.net.robots import directives
from sonde.net.urls import group_of
from sonde.sources.page import Page
from sonde.sources.web.feeds import Feed
from sonde.sources.web.source import WebAccess
from sonde.sources.web.visit import read_response
from sonde.track.citations import Citations, TrackedNode
from sonde.track.policy import Policy
from sonde.track.watched_feeds import WatchedFeeds, feeds_of

_GONE_AFTER = 2  # a page that was there is gone when it is not found so many times in a row
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
        if answer.not_modified:
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
        name = self.web.duplicates.stands_for(url)
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
        name = self.web.duplicates.stands_for(url)
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
