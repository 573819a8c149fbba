"""Budgets, counted by the server."""

from __future__ import annotations

import asyncio
import itertools
import time

import pytest
from aiohttp import web
from crawl_sites import FAST, Site, html, prose, tree

from sonde.budgets import Budget
from sonde.crawling import Crawl, Settled, crawl
from sonde.errors import InputError


def messy() -> object:
    """A site of pages, redirects (some of them long), errors, and connections that just close."""
    plain = tree(3000, 6)

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt":
            return web.Response(text="User-agent: *\nDisallow: /13\n")
        number = int(request.path.strip("/") or 0)
        if number % 7 == 3 and number:
            raise web.HTTPFound(f"/{number * 6 + 2}")
        if number % 11 == 4:
            return web.Response(status=500 if number % 2 else 404)
        if number % 13 == 5:
            assert request.transport is not None
            request.transport.close()
            return web.Response()
        return await plain(request)

    return answer


@pytest.mark.parametrize("concurrency", [1, 64])
@pytest.mark.parametrize("budget", [1, 2, 3, 40, 333])
def test_never_one_over(budget: int, concurrency: int) -> None:
    # Many hosts, because each pauses after a connection that was closed.
    with Site(messy(), hosts=60) as site:  # type: ignore[arg-type]
        seeds = [site.url("/0", host) for host in range(1, 61)]
        result = crawl(seeds, budget=budget, concurrency=concurrency, retries=1, **FAST)
        assert result.requests <= budget
        # What the client could not send after taking its unit may be missing at the server.
        assert site.total <= result.requests
        assert result.requests - site.total <= 3
        assert result.stop_reason == "budget"
        assert result.requests >= budget - 1


@pytest.mark.slow
def test_bytes_are_held_before_they_come_and_cut_at_the_limit() -> None:
    async def big(request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt":
            return web.Response(status=404)
        number = int(request.path.strip("/"))
        links = "".join(f"<a href=/{number * 4 + n}>{n}</a>" for n in range(1, 5))
        return html(links + prose(number, 60_000))  # 300 kB

    with Site(big) as site:
        limit = 4_000_000
        result = crawl(site.url("/1"), budget=Budget(bytes=limit), max_size=100_000, **FAST)
        frame = result.frame()
        assert sum(frame["bytes"].to_pylist()) <= limit
        assert max(frame["bytes"].to_pylist()) <= 100_000 + 1_000
        assert result.stop_reason == "budget"
        assert set(frame["flags"].to_pylist()) == {"cut"}
        assert result.visits > 30


def test_seconds_end_what_runs() -> None:
    async def slow(request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt":
            return web.Response(status=404)
        await asyncio.sleep(0.1 if request.path == "/0" else 30)
        return html("".join(f"<a href=/{n}>{n}</a>" for n in range(1, 50)))

    with Site(slow) as site:
        began = time.monotonic()
        heard: list[object] = []
        result = Crawl(
            site.url("/0"), budget=Budget(seconds=1.0), on_event=heard.append, **FAST
        ).run_to_end()
        assert 0.9 < time.monotonic() - began < 25  # and not the 30 that pages take
        assert result.stop_reason == "time"
        cut = [event for event in heard if isinstance(event, Settled) and event.retry]
        assert cut
        assert {event.outcome for event in cut} == {"interrupt"}


def test_a_host_and_a_domain_have_budgets_of_their_own() -> None:
    with Site(tree(400), hosts=2) as site:
        seeds = [site.url("/0", 1), site.url("/0", 2)]
        result = crawl(seeds, host_budget=25, concurrency=8, **FAST)
        assert result.stop_reason == "host-budget"
        assert result.requests == site.total == 50
    with Site(tree(400), hosts=1) as site:
        result = crawl(site.url("/0"), domain_budget=17, concurrency=8, **FAST)
        assert site.total == 17
        assert result.stop_reason == "host-budget"


def test_a_rate_plan_limits_starts_and_sets_the_budget() -> None:
    with Site(tree(400)) as site:
        began = time.monotonic()
        result = crawl(site.url("/0"), requests=10, per=0.5, duration="2s", **FAST)
        assert result.stop_reason in ("budget", "time")
        assert site.total <= 40
        assert time.monotonic() - began > 1.0
        starts = sorted(moment for moment, _ in site.starts)
        for first, last in zip(starts, starts[10:], strict=False):
            assert last - first > 0.45
    with pytest.raises(InputError, match="needs all of"):
        crawl("http://a.example", topic="x", requests=10)


def test_it_ends_when_the_harvest_falls() -> None:
    async def ever_poorer(request: web.Request) -> web.StreamResponse:
        number = int(request.path.strip("/") or 0) if request.path != "/robots.txt" else -1
        if number < 0:
            return web.Response(status=404)
        topic = "tide gauge" if number < 30 else ""
        return html(f"{prose(number)} {topic} <a href=/{number + 1}>next</a>")

    with Site(ever_poorer) as site:
        result = crawl(
            site.url("/0"), budget=500, harvest_below=0.2, harvest_over=20, concurrency=1, **FAST
        )
        assert result.stop_reason == "harvest"
        assert 35 < result.requests < 60


def test_politeness_is_one_connection_and_a_pause() -> None:
    with Site(tree(400), hosts=3) as site:
        settings = {**FAST, "delay": 0.2, "per_host": 1}
        seeds = [site.url("/0", host) for host in (1, 2, 3)]
        began = time.monotonic()
        crawl(seeds, budget=15, concurrency=32, **settings)
        assert time.monotonic() - began > 0.7
        by_host: dict[str, list[float]] = {}
        for moment, host in site.starts:
            by_host.setdefault(host, []).append(moment)
        assert len(by_host) == 3
        for moments in by_host.values():
            assert all(b - a > 0.18 for a, b in itertools.pairwise(moments))


def test_names_behind_one_address_share_its_pause() -> None:
    async def lookup(host: str) -> list[str]:
        return ["127.0.0.1"]

    with Site(tree(400)) as site:
        seeds = [site.url("/0", f"{name}.example") for name in ("a", "b", "c")]
        settings = {**FAST, "delay": 0.15, "per_host": 1, "lookup": lookup}
        crawl(seeds, budget=8, concurrency=32, **settings)
        moments = sorted(moment for moment, _ in site.starts)
        assert len(moments) == 8
        assert all(b - a > 0.13 for a, b in itertools.pairwise(moments))


def test_what_politeness_costs_in_rank_is_recorded() -> None:
    with Site(tree(400), hosts=3) as site:
        settings = {**FAST, "delay": 0.02, "per_host": 1}
        seeds = [site.url("/0", host) for host in (1, 2, 3)]
        result = crawl(seeds, budget=60, concurrency=8, **settings)
        ranks = result.frame()["rank"].to_pylist()
        assert all(rank is not None and 0 <= rank <= 100 for rank in ranks)
        assert min(ranks) <= 1 < max(ranks)
