"""Polling a site: a small crawl, and what it saw."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sonde.crawling import Crawl
from sonde.crawling.crawler import new_loop
from sonde.crawling.setup import CrawlRequest
from sonde.net.urls import origin_of
from sonde.scorers.document import Document, Scores
from sonde.sources.kinds import chosen
from sonde.sources.web.source import HTML
from sonde.store.reader import RunReader


@dataclass(frozen=True)
class PolledPage:
    """One page: its URL after redirects, how often it links to what, its hop from the start. Pages
    that it links to have their URLs after redirects too, where they were read."""

    url: str
    links: dict[str, int]
    hop: int
    rtt: float | None


@dataclass(frozen=True)
class PolledHost:
    """A host that was asked: its round-trip time, smoothed mean and deviation, and the delay that
    its robots.txt asks for."""

    host: str
    requests: int
    rtt: float | None
    deviation: float | None
    delay: float | None


@dataclass(frozen=True)
class Poll:
    """What was seen of one site.

    ``invalid`` are URLs that turned out not to be HTML pages, ``passed`` those that were passed
    over unread (forbidden, or a page under another name), both with the reason.
    """

    url: str
    began: float  # seconds since 1970
    requests: int
    stop: str
    pages: tuple[PolledPage, ...]
    invalid: dict[str, str]
    passed: dict[str, str]
    hops: dict[str, int]  # of every URL on the frontier or beyond it
    hosts: tuple[PolledHost, ...]  # the most asked first


class _Notebook:
    """A scorer that finds every page worth nothing, and notes its links."""

    def __init__(self) -> None:
        self.links: dict[str, dict[str, int]] = {}

    def __str__(self) -> str:
        return "audit"

    def score(self, document: Document, /) -> Scores:
        if document.window:  # a feed has none
            self.links[document.url] = dict(Counter(link.url for link in document.links))
        return Scores(0.0, [0.0] * len(document.links))


def checked(url: str, **settings: Any) -> str:
    """The URL as a poll spells it. Whatever is wrong with it or with the settings is found here,
    before anybody is asked."""
    (start,) = CrawlRequest.of(chosen([url], {}), {"scorer": _Notebook(), **settings}).seeds
    return start


def poll(url: str, budget: int, **settings: Any) -> Poll:
    """Poll a site with a budget of requests, breadth first. ``settings`` are those of a crawl."""
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(polled(url, budget, **settings))


async def polled(
    url: str,
    budget: int,
    *,
    begun: Callable[[Crawl], None] = lambda crawl: None,
    **settings: Any,
) -> Poll:
    """The same within an event loop. ``begun`` is given the crawl before it runs."""
    notebook = _Notebook()
    began = time.time()
    with tempfile.TemporaryDirectory(prefix="sonde-audit-") as folder:
        path = Path(folder) / "run"
        crawl = Crawl(
            url,
            path=path,
            scorer=notebook,
            estimator="bfs",
            budget=budget,
            pages=False,
            text=False,
            sitemaps="no",  # what is measured is how pages link
            **settings,
        )
        begun(crawl)
        result = await crawl.run()
        with RunReader(path) as run:
            return _noted(url, began, result.requests, result.stop_reason, notebook, run)


def _noted(
    url: str, began: float, requests: int, stop: str, notebook: _Notebook, run: RunReader
) -> Poll:
    pages = []
    closed = dict(run.rows("SELECT origin, why FROM robots WHERE verdict = 'disallow'"))
    ended: dict[str, dict[str, str]] = {"failure": {}, "skip": {}}
    hops: dict[str, int] = dict(run.rows("SELECT url, depth FROM nodes"))
    finals: dict[str, str] = {}
    for name, final, media, rtt in run.rows(
        "SELECT url, final_url, media_type, rtt FROM pages"
        " JOIN nodes ON nodes.number = pages.node ORDER BY lease"
    ):
        if media not in HTML or final not in notebook.links:
            ended["failure"][name] = media or "feed"
        else:
            finals[name] = final
            hops[final] = hops[name]
            pages.append((final, rtt))
    for name, outcome, reason in run.rows(
        "SELECT url, outcome, reason FROM leases JOIN nodes ON nodes.number = leases.node"
        " WHERE outcome IN ('failure', 'skip') AND NOT retry ORDER BY leases.number"
    ):
        ended[outcome][name] = reason
    for name, reason in ended["skip"].items():
        if reason == "robots-unreachable":
            ended["skip"][name] = f"robots.txt: {closed.get(origin_of(name), 'unreachable')}"
    hosts = run.rows(
        "SELECT host, requests, rtt, rtt_deviation, delay FROM hosts ORDER BY requests DESC, host"
    )
    return Poll(
        url=url,
        began=began,
        requests=requests,
        stop=stop,
        pages=tuple(
            PolledPage(final, _renamed(notebook.links[final], finals, final), hops[final], rtt)
            for final, rtt in pages
        ),
        invalid=ended["failure"],
        passed=ended["skip"],
        hops=hops,
        hosts=tuple(PolledHost(*row) for row in hosts),
    )


def _renamed(links: dict[str, int], finals: dict[str, str], own: str) -> dict[str, int]:
    """Links to the pages' own URLs; none to the page itself."""
    found: Counter[str] = Counter()
    for url, times in links.items():
        found[finals.get(url, url)] += times
    del found[own]
    return dict(found)
