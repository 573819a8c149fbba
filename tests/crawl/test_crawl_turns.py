"""Visits that wait for their host's turn get it, whatever the driver is doing meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType

import pytest
from aiohttp import web
from crawl_sites import Site, html, prose

from sonde.crawling import Crawl, CrawlResult
from sonde.protocols import Allowance
from sonde.records import Group, Node, Outcome, Visit

LONGEST = 60.0  # seconds, for what takes one or two


async def ended(crawl: Crawl) -> CrawlResult:
    return await asyncio.wait_for(crawl.run(), LONGEST)


async def pages(request: web.Request) -> web.StreamResponse:
    if request.path == "/robots.txt":
        return web.Response(text="User-agent: *\nCrawl-delay: 0.2\n")
    return html(f"{prose(len(request.path))} tide <a href={request.path}x>tide</a>")


@pytest.mark.parametrize(("places", "hosts"), [(1, 1), (2, 5)])
def test_all_places_may_wait_for_turns(places: int, hosts: int) -> None:
    """Each visit of a new host needs two requests, and waits in between; no place is left then."""
    with Site(pages, hosts=hosts) as site:
        seeds = [site.url("/", host) for host in range(1, hosts + 1)]
        crawl = Crawl(
            seeds,
            topic="tide",
            scope="host",
            depth=1,
            delay=0.2,
            concurrency=places,
            allow_private=True,
            sitemaps="no",
        )
        result = asyncio.run(ended(crawl))
    assert result.stop_reason == "frontier"
    assert result.visits == 2 * hosts
    assert result.requests == 3 * hosts


def test_a_visit_that_waits_for_its_turn_is_finished_when_the_crawl_is_stopped() -> None:
    async def stopped(crawl: Crawl, site: Site) -> CrawlResult:
        running = asyncio.create_task(ended(crawl))
        while not site.counts["/robots.txt"]:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        crawl.stop()
        return await running

    with Site(pages) as site:
        crawl = Crawl(site.url("/"), topic="tide", delay=0.5, allow_private=True)
        result = asyncio.run(stopped(crawl, site))
    assert result.stop_reason == "interrupted"
    assert result.visits == 1
    assert site.total == 2


class Dawdling:
    """A pace that nobody is ready in for a while, and whose next time lies in the past."""

    closed: Mapping[Group, str] = MappingProxyType({})

    def __init__(self) -> None:
        self.wake: Callable[[], None] = lambda: None
        self.looked = 0
        self.until = time.monotonic() + 0.3

    def know(self, group: Group) -> None:
        pass

    def ready(self, waiting: dict[Group, int]) -> Collection[Group] | None:
        self.looked += 1
        return [] if time.monotonic() < self.until else None

    def reserve(self, group: Group) -> None:
        pass

    def next_time(self) -> float | None:
        return self.until - 10.0


class Dawdler:
    def __init__(self) -> None:
        self.pace = Dawdling()

    async def visit(self, node: Node, allowance: Allowance) -> Outcome:
        return Visit(1.0)


def test_a_wait_that_nothing_ends_is_no_work() -> None:
    source = Dawdler()
    result = Crawl(source, seeds=["a"], budget=1).run_to_end()
    assert result.visits == 1
    assert source.pace.looked < 1_000  # and not as often as a processor can
