"""Sitemaps and feeds that nobody links to: found, charged, bounded, and of use."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from crawl_sites import FAST, Handler, Site, prose
from test_crawl_cli import run
from test_crawl_resume import victim
from test_crawl_visits import pages, settled

from sonde.crawling import Crawl, crawl
from sonde.store.reader import DATABASE

AUTO: dict[str, Any] = {**FAST, "sitemaps": "auto", "concurrency": 1}


def xml(text: str) -> web.Response:
    return web.Response(text=text, content_type="application/xml")


def sitemap(*urls: str, more: str = "") -> web.Response:
    return xml(f"<urlset>{''.join(f'<url><loc>{url}</loc>{more}</url>' for url in urls)}</urlset>")


def index(*urls: str) -> web.Response:
    named = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return xml(f"<sitemapindex>{named}</sitemapindex>")


def robots(*lines: str) -> web.Response:
    return web.Response(text="\n".join(("User-agent: *", "Disallow: /no", *lines)))


LEADS_NOWHERE = {
    "/": f"<p>{prose(500)}",
    **{f"/tide/{number}": f"<p>tide gauge {prose(number)}" for number in range(20)},
}


def test_a_site_whose_home_page_leads_nowhere_is_read_by_its_sitemap(tmp_path: Path) -> None:
    answers = LEADS_NOWHERE | {
        "/robots.txt": robots("Sitemap: /map.xml"),
        "/map.xml": sitemap(*(f"/tide/{number}" for number in range(20))),
    }
    with Site(pages(answers)) as site:
        result = crawl(site.url("/"), path=tmp_path / "run", budget=60, **AUTO)
        assert result.total == 20
        # Every request is charged: robots.txt, the home page, the map, its pages, and in the end
        # the usual places of feeds; a sitemap is not looked for where one was named.
        assert result.requests == site.total == 23 + 3
        assert set(site.counts.values()) == {1}
        assert "/sitemap.xml" not in site.counts
    with Site(pages(answers)) as site:
        result = crawl(site.url("/"), budget=60, **{**AUTO, "sitemaps": "no"})
        assert result.requests == site.total == 2


def test_the_usual_place_is_tried_when_the_frontier_runs_dry(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = LEADS_NOWHERE | {
        "/sitemap.xml": sitemap(*(f"/tide/{number}" for number in range(20)))
    }
    with Site(pages(answers)) as site:
        result = crawl(site.url("/"), path=tmp_path / "run", budget=60, **AUTO)
        assert result.total == 20
        assert result.stop_reason == "frontier"
        assert result.requests == site.total == 23 + 3
        assert [path for path, _ in list(site.counts.items())[-3:]] == [
            "/feed",
            "/rss.xml",
            "/atom.xml",
        ]
        # Nothing is tried twice.
        again = Crawl.resume(tmp_path / "run", budget="+50").run_to_end()
        assert again.requests == site.total == 26
        assert run("explain", str(tmp_path / "run"), site.url("/sitemap.xml")) == 0
        assert "linked by no page: tried when nothing else was left" in capsys.readouterr().out


def test_a_crawl_without_budget_or_host_tries_nothing() -> None:
    with Site(pages(LEADS_NOWHERE)) as site:
        result = crawl(site.url("/"), budget=2, **AUTO)
        assert (result.requests, site.total, result.stop_reason) == (2, 2, "frontier")
        site.counts.clear()
        crawl(site.url("/"), budget=50, **{**AUTO, "depth": 0})
        assert site.total == 2
    result = crawl(site.url("/"), budget=50, **{**AUTO, "retries": 0})  # it is gone
    assert result.requests <= 2


def test_sitemaps_stand_beside_prefixes_and_includes_and_not_beside_robots() -> None:
    answers = {
        "/robots.txt": robots("Sitemap: /map.xml", "Sitemap: /no/map.xml", "Sitemap: /out.xml"),
        "/docs/": f"<p>{prose(1)}",
        "/map.xml": index("/maps/1.xml"),
        "/maps/1.xml": sitemap("/docs/a", "/blog/b", "/docs/no.pdf"),
        "/no/map.xml": sitemap("/docs/never"),
        "/docs/a": f"<p>tide gauge {prose(2)}",
    }
    with Site(pages(answers)) as site:
        rules = {"include": ["/docs/*"], "exclude": ["*.pdf", "*/out.xml"]}
        found = settled(site, "/docs/", scope="prefix", **{**AUTO, **rules})
        assert {path for path, event in found.items() if event.outcome == "visit"} == {
            "/docs/",
            "/map.xml",
            "/maps/1.xml",
            "/docs/a",
        }
        assert not {"/no/map.xml", "/out.xml", "/blog/b"} & set(site.counts)


def test_an_index_is_bounded_and_does_not_nest() -> None:
    asked = 0

    async def answer(request: web.Request) -> web.StreamResponse:
        nonlocal asked
        if request.path == "/":
            return web.Response(text=f"<p>{prose(1)}", content_type="text/html")
        if request.path == "/robots.txt":
            return robots("Sitemap: /index/0")
        if request.path.startswith("/index/"):
            asked += 1
            return index(*(f"/index/{request.path[7:]}-{number}" for number in range(200)))
        return web.Response(status=404)

    with Site(answer) as site:
        result = crawl(site.url("/"), budget=500, **AUTO)
        assert asked == 1 + 50
        assert result.requests == site.total


def test_feeds_that_pages_name_are_read_once_a_site() -> None:
    def page(number: int) -> web.Response:
        head = (
            "<link rel=alternate type=application/rss+xml href=/rss>"
            f"<link rel=alternate type=application/atom+xml href=/comments/{number}>"
            "<link rel=alternate type=application/json href=/json>"
        )
        links = "".join(f"<a href=/{other}>x</a>" for other in (2, 3))
        text = f"<head>{head}</head><p>{prose(number)}{links}"
        return web.Response(text=text, content_type="text/html")

    item = "<item><title>The tide gauge</title><link>/new</link></item>"
    answers = {
        "/1": page(1),
        "/2": page(2),
        "/3": page(3),
        "/rss": xml(f"<rss><channel>{item}</channel></rss>"),
        "/new": f"<p>tide gauge {prose(9)}",
    }
    with Site(pages(answers)) as site:
        found = settled(site, "/1", **AUTO)
        assert found["/new"].outcome == "visit"
        assert site.counts["/comments/1"] == 1
        assert not {"/comments/2", "/comments/3", "/json", "/feed"} & set(site.counts)


def test_what_a_sitemap_says_decides_among_equals_and_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {
        "/old": "<lastmod>2001-01-01</lastmod>",
        "/new": "<lastmod>2031-01-01</lastmod>",
        "/unsaid": "",
        "/first": "<lastmod>2001-01-01</lastmod><priority>0.9</priority>",
        "/last": "<priority>0.1</priority>",
        "/tide-gauge": "",  # the words of a URL
    }
    entries = "".join(f"<url><loc>{url}</loc>{hint}</url>" for url, hint in said.items())
    answers: dict[str, Any] = {url: f"<p>{prose(n)}" for n, url in enumerate(said)}
    answers |= {"/sitemap.xml": xml(f"<urlset>{entries}</urlset>")}
    with Site(pages(answers)) as site:
        settings = {**AUTO, "sitemaps": "no", "estimator": "e:sum"}
        crawl(site.url("/sitemap.xml"), path=tmp_path / "run", budget=60, **settings)
        order = [path for path in site.counts if path in said]
        assert order == ["/tide-gauge", "/first", "/new", "/old", "/unsaid", "/last"]
        assert run("explain", str(tmp_path / "run"), site.url("/first")) == 0
        said_of_it = "its sitemap or feed says: changed 2001-01-01, priority 0.9\n"
        assert said_of_it in capsys.readouterr().out
        database = sqlite3.connect(tmp_path / "run" / DATABASE)
        kept = database.execute("SELECT url, modified > 0, priority FROM listed").fetchall()
        database.close()
        assert {(url[len(site.url("")) :], *rest) for url, *rest in kept} == {
            ("/old", 1, None),
            ("/new", 1, None),
            ("/first", 1, 0.9),
            ("/last", None, 0.1),
        }


def web_of_sitemaps() -> Handler:
    answers: dict[str, Any] = {
        "/robots.txt": robots("Sitemap: /map.xml"),
        "/": f"<p>{prose(1)}<a href=/gone>x</a>",
        "/map.xml": index("/maps/1.xml", "/maps/2.xml"),
        "/maps/1.xml": sitemap(*(f"/tide-gauge/{number}" for number in range(8))),
        "/maps/2.xml": sitemap(*(f"/other/{number}" for number in range(8))),
        **{f"/tide-gauge/{number}": f"<p>tide gauge {prose(number)}" for number in range(8)},
        **{f"/other/{number}": f"<p>{prose(100 + number)}" for number in range(8)},
    }
    return pages(answers)


def log_of(path: Path) -> list[tuple[Any, ...]]:
    database = sqlite3.connect(path / DATABASE)
    try:
        return database.execute(
            "SELECT url, outcome, reason, predicted FROM leases"
            " JOIN nodes ON nodes.number = node ORDER BY leases.number"
        ).fetchall()
    finally:
        database.close()


def test_a_crawl_that_is_taken_up_again_offers_the_same(tmp_path: Path) -> None:
    with Site(web_of_sitemaps()) as site:
        whole = crawl(site.url("/"), path=tmp_path / "whole", budget=60, **AUTO)
        assert whole.requests == site.total == 25
        crawl(site.url("/"), path=tmp_path / "parts", budget=1, **AUTO)
        for _ in range(25):
            Crawl.resume(tmp_path / "parts", budget="+1").run_to_end()
        assert site.total == 2 * 25
    parts = [row for row in log_of(tmp_path / "parts") if row[2] != "budget"]
    assert parts == log_of(tmp_path / "whole")


def test_what_is_forgotten_is_forgotten_by_all_tables(tmp_path: Path) -> None:
    said = "<lastmod>2001-01-01</lastmod>"
    answers = {"/sitemap.xml": sitemap("/a", "/b", more=said), "/a": prose(1), "/b": prose(2)}
    with Site(pages(answers)) as site:
        crawl(site.url("/sitemap.xml"), path=tmp_path / "run", budget=60, **AUTO)
        assert run("forget", str(tmp_path / "run"), site.url("/a")) == 0
        database = sqlite3.connect(tmp_path / "run" / DATABASE)
        kept = [url for (url,) in database.execute("SELECT url FROM listed")]
        database.close()
        assert kept == [site.url("/b")]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_crawl_that_is_killed_goes_on_as_one_that_was_not(tmp_path: Path, seed: int) -> None:
    """Sitemaps, languages and rules at once, killed at many points."""
    dice = random.Random(seed)
    codes = ("fr", "de", "ja")
    answers: dict[str, Any] = {
        "/robots.txt": robots("Sitemap: /map.xml"),
        "/": f"<p>{prose(1)}<a href=/en/0>tide gauge</a><a href=/edit?action=edit>x</a>",
        "/map.xml": index("/maps/1.xml", "/maps/2.xml"),
        "/maps/1.xml": sitemap(*(f"/en/{number}" for number in range(12))),
        "/maps/2.xml": sitemap(*(f"/{code}/{number}" for code in codes for number in range(12))),
    }
    for number in range(12):
        for code in ("en", *codes):
            links = "".join(f"<a href=/{code}/{n}>x</a>" for n in (number + 1, number + 2))
            text = f"<html lang={code}><body>tide gauge {prose(number)}{links}"
            answers[f"/{code}/{number}"] = web.Response(text=text, content_type="text/html")
    settings = {**AUTO, "languages": ["en"], "skip": ["wiki-chores"], "budget": 500}

    def learned(path: Path) -> list[list[tuple[Any, ...]]]:
        database = sqlite3.connect(path / DATABASE)
        try:
            return [
                database.execute(query).fetchall()
                for query in (
                    (
                        "SELECT url, outcome, reason, score FROM leases"
                        " JOIN nodes ON nodes.number = node"
                        " WHERE outcome <> 'interrupt' ORDER BY leases.number"
                    ),
                    "SELECT * FROM languages ORDER BY 1",
                    "SELECT * FROM sitemaps ORDER BY 1",
                    "SELECT url, reason FROM refused ORDER BY 1",
                )
            ]
        finally:
            database.close()

    with Site(pages(answers)) as site, victim() as process:
        crawl(site.url("/"), path=tmp_path / "whole", **settings)
        for _ in range(60):
            said = process.run(
                seeds=[site.url("/")],
                folder=str(tmp_path / "parts"),
                settings=settings,
                after=dice.randrange(0, 6),
                seconds=dice.choice([0.02, 0.1, 5.0]),
            )
            assert not [line for line in said if line[0] == "error"]
            if any(line[0] == "stopped" for line in said):
                break
        else:
            Crawl.resume(tmp_path / "parts").run_to_end()
        whole = learned(tmp_path / "whole")
        assert all(whole)
        assert learned(tmp_path / "parts") == whole
