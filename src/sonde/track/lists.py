"""Lists: feeds and sitemaps, which name pages and date them.

A list is found in robots.txt, in the head of a page, or in another list. It is no page: it is not
ranked, and it is visited at a pace of its own, by whether it had news. News are pages that it
dates after their last visit; they are *announced*.
"""

from __future__ import annotations

from sonde.net.urls import group_of, origin_of
from sonde.sources.web.feeds import Feed
from sonde.store.citations import Tracked
from sonde.track.places import Places


class Lists:
    """Keeps lists, and what they say."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._store = places.store
        self._mind = places.mind
        self._source = places.source
        self._window = places.mind.plan.window
        self._origins: set[str] = set()  # whose sitemaps were looked for

    def look_for_sitemaps(self, url: str, now: float) -> None:
        """The sitemaps that a host's robots.txt names, once it is known."""
        origin = origin_of(url)
        record = self._source.hosts.robots_of(origin, group_of(url))
        if origin not in self._origins and record is not None:
            self._origins.add(origin)
            for sitemap in self._source.hosts.rules.sitemaps(record):
                self.add(sitemap, now)

    def add(self, url: str, now: float) -> None:
        """A list that somebody names."""
        if self._store.find(url) is None and url in self._source.scope:
            added = self._places.new(url, "list", now)
            if added is not None:
                self._mind.expansion.take(added[0])

    def read(self, node: Tracked, feed: Feed, now: float, facts: dict[str, object]) -> int:
        """Take in what a list says; how much of it is news. Pages that it names become known.
        What a feed says of another host is a citation, with its date."""
        self._mind.leave(node.id)
        news = 0
        for entry in feed.links:
            if feed.kind == "index":
                self.add(entry.url, now)
                continue
            found = self._places.node(entry.url, now)
            if found is None or found[1] == "list":
                continue
            number, state = found
            if state == "frontier" and self._mind.expansion.state[number] == 0:
                self._mind.expansion.enter(number)
            dated = None if entry.modified is None else min(entry.modified, now)
            if dated is not None:
                news += self._dated(number, state, dated, now)
            elsewhere = group_of(entry.url) != group_of(node.url)
            cites = elsewhere and feed.kind in ("rss", "atom")
            if cites and self._store.cite(node.id, number, now, dated):
                self._places.cited([number], {number: state})
        self.visited(node, news, now, facts)
        return news

    def _dated(self, number: int, state: str, dated: float, now: float) -> bool:
        """A list gives a page a date; whether that is news."""
        last, before = self._store.run(
            "SELECT last, dated FROM tracked WHERE id = ?", number
        ).fetchone()
        if before is not None and before >= dated:
            return False
        recent = dated > now - self._window and (last is None or dated > last)
        announced = recent and state in ("frontier", "visited")
        self._store.update(number, dated=dated, announced=int(announced))
        return announced

    def visited(self, node: Tracked, news: int, now: float, facts: dict[str, object]) -> None:
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
