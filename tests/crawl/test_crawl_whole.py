"""Whole crawls of what sites have besides plain pages: lists, errors, PDF, a proxy, variants."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from aiohttp import ClientSession, web
from crawl_sites import FAST, Site, html, prose
from warcio.archiveiterator import ArchiveIterator

from pdf_files import pdf_of
from sonde import Crawl, Link, Visit
from sonde.crawling import Settled, Stopped


def records(folder: Path) -> dict[str, str]:
    """The status of every response in the archive, by path."""
    found = {}
    for archive in sorted((folder / "pages").glob("*.warc.gz")):
        with archive.open("rb") as file:
            for record in ArchiveIterator(file):
                if record.rec_type == "response":
                    path = record.rec_headers.get("WARC-Target-URI").split("/", 3)[3]
                    found[path] = record.http_headers.get_statuscode()
    return found


async def mixed(request: web.Request) -> web.StreamResponse:
    if request.path == "/robots.txt":
        return web.Response(text="User-agent: *\nDisallow: /private\n")
    if request.path == "/sitemap.xml":
        host = f"http://{request.host}"
        entries = "".join(f"<url><loc>{host}/{name}</loc></url>" for name in ("a", "gone", "p.pdf"))
        return web.Response(
            text=f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>',
            content_type="application/xml",
        )
    if request.path == "/gone":
        return html("no such page", status=404)
    if request.path == "/p.pdf":
        return web.Response(body=pdf_of("A tide gauge in a file"), content_type="application/pdf")
    return html(f"<p>{prose(1)} tide gauge</p>")


def test_everything_that_was_answered_is_in_the_archive(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    with Site(mixed) as site:
        settings = {**FAST, "pages": True}
        crawl = Crawl(site.url("/sitemap.xml"), path=tmp_path / "run", budget=20, **settings)
        result = crawl.run_to_end()
        assert result.requests == site.total == 5
    assert records(tmp_path / "run") == {
        "robots.txt": "200",
        "sitemap.xml": "200",
        "a": "200",
        "gone": "404",
        "p.pdf": "200",
    }


def test_the_text_of_a_pdf_scores(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    with Site(mixed) as site:
        visits = {
            str(visit.node).rpartition("/")[2]: visit.score
            for visit in Crawl(site.url("/p.pdf"), budget=5, **FAST)
        }
    assert visits == {"p.pdf": 1.0}


def test_a_crawl_through_a_proxy(tmp_path: Path) -> None:
    """Every request goes to the proxy, and is counted by it."""
    asked: list[str] = []

    async def forward(request: web.Request) -> web.StreamResponse:
        asked.append(str(request.url))
        async with ClientSession() as session, session.get(request.url) as answer:
            return web.Response(
                body=await answer.read(), status=answer.status, content_type=answer.content_type
            )

    async def two(request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt":
            return web.Response(status=404)
        return html(f'<p>{prose(len(request.path))} tide gauge <a href="/next">next</a></p>')

    with Site(two) as site, Site(forward) as proxy:
        settings = {**FAST, "proxy": proxy.url("")}
        result = Crawl(site.url("/"), path=tmp_path / "run", budget=10, **settings).run_to_end()
        assert result.requests == site.total == len(asked) == 3
        assert set(asked) == {site.url("/robots.txt"), site.url("/"), site.url("/next")}


def test_variants_are_merged_once_the_site_has_shown_them(tmp_path: Path) -> None:
    """Pages linked with and without a slash: most second spellings are not fetched, and say why."""
    pages = 40

    async def slashes(request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt":
            return web.Response(status=404)
        name = request.path.strip("/")
        links = "".join(f"<p><a href=/{n}>{n}</a> <a href=/{n}/>{n}</a></p>" for n in range(pages))
        number = int(name) + 1 if name else 0
        return html(f"<p>{prose(number, 80)} tide gauge</p>" + (links if not name else ""))

    folder = tmp_path / "run"
    with Site(slashes) as site:
        Crawl(site.url("/"), path=folder, budget=3 * pages, **FAST).run_to_end()
        both = sum(site.counts[f"/{n}"] > 0 < site.counts[f"/{n}/"] for n in range(pages))
        either = sum(site.counts[f"/{n}"] + site.counts[f"/{n}/"] > 0 for n in range(pages))
    assert either == pages
    assert both < pages / 2
    with closing(sqlite3.connect(folder / "run.sqlite")) as database, database:
        skipped = database.execute(
            "SELECT count(*) FROM leases WHERE outcome = 'skip' AND reason = 'duplicate'"
        ).fetchone()[0]
    database.close()
    assert skipped == pages - both


def test_a_crawl_that_is_cut_before_a_visit_began_ends(tmp_path: Path) -> None:
    class Source:
        async def visit(self, node: object, allowance: object) -> Visit:
            await asyncio.sleep(0.01)
            children = [Link(f"{node}{number}") for number in range(4)]
            return Visit(1.0, children)

    def heard(event: Settled | Stopped) -> None:
        if isinstance(event, Settled) and event.lease == 5:
            # Runs before the first step of the visits that the driver is about to start.
            asyncio.get_running_loop().call_soon(crawl.cut)

    crawl = Crawl(
        Source(), seeds=["n"], path=tmp_path / "run", budget=50, concurrency=4, on_event=heard
    )
    asyncio.run(asyncio.wait_for(crawl.run(), 20))
    assert crawl.stop_reason == "cut"
    rest = Crawl.resume(tmp_path / "run", source=Source()).run_to_end()
    assert (rest.stop_reason, rest.requests) == ("budget", 50)
