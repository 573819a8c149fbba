"""What a crawl makes of pages: redirects, robots, duplicates, traps, hostile servers."""

from __future__ import annotations

import asyncio
import ssl
import zlib
from pathlib import Path
from typing import Any

import pytest
import trustme
from aiohttp import web
from crawl_sites import FAST, Handler, Site, html, prose, tree

from sonde.crawling import Crawl, Settled, crawl
from sonde.errors import InputError


def pages(answers: dict[str, Any]) -> Handler:
    """A site of fixed answers: text (HTML), a response, or a function that makes one."""

    async def answer(request: web.Request) -> web.StreamResponse:
        found = answers.get(request.path_qs)
        if found is None:
            return web.Response(status=404)
        if isinstance(found, str):
            return html(found)
        if callable(found):
            made: web.StreamResponse = await found(request)
            return made
        fixed: web.Response = found
        return web.Response(  # a response can be sent once
            body=fixed.body, status=fixed.status, headers=fixed.headers
        )

    return answer


def settled(site: Site, path: str | list[str] = "/", **settings: Any) -> dict[str, Settled]:
    """Crawl, and give what came of each URL's path, the last outcome of each."""
    heard: list[Settled] = []

    def hear(event: object) -> None:
        if isinstance(event, Settled):
            heard.append(event)

    paths = [path] if isinstance(path, str) else path
    values = {"budget": 100, **FAST, **settings}
    Crawl([site.url(one) for one in paths], on_event=hear, **values).run_to_end()
    return {"/" + str(event.node).split("/", 3)[3]: event for event in heard}


def redirect(to: str) -> Any:
    async def answer(request: web.Request) -> web.StreamResponse:
        raise web.HTTPFound(to)

    return answer


def test_redirects_are_charged_and_judged() -> None:
    answers = {
        "/": prose(1)
        + "".join(f"<a href=/{name}>x</a>" for name in ("away", "known", "loop", "fine", "gone")),
        "/away": redirect("http://elsewhere.example/"),
        "/known": redirect("/"),
        "/loop": redirect("/loop"),
        "/fine": redirect("/target"),
        "/target": prose(2),
        "/gone": web.Response(status=410),
    }
    with Site(pages(answers)) as site:
        found = settled(site, concurrency=1)
        assert (found["/away"].outcome, found["/away"].reason) == ("skip", "scope")
        assert (found["/known"].outcome, found["/known"].reason) == ("skip", "duplicate")
        assert found["/loop"].reason == "redirect-loop"
        assert found["/fine"].outcome == "visit"
        assert found["/fine"].url.endswith("/target")
        assert found["/fine"].requests == 2
        assert found["/gone"].reason == "http-410"
        assert site.counts["/"] == 1
        assert sum(event.requests for event in found.values()) == site.total


def test_robots_rules_are_asked_once_and_kept() -> None:
    answers = {
        "/robots.txt": web.Response(text="User-agent: *\nDisallow: /private\nCrawl-delay: 0.05"),
        "/": prose(1) + "<a href=/private/x>x</a><a href=/open>y</a>",
        "/open": prose(2),
    }
    with Site(pages(answers)) as site:
        found = settled(site, ["/", "/private/seed"])
        assert site.counts["/robots.txt"] == 1
        assert site.counts["/private/x"] == site.counts["/private/seed"] == 0
        assert found["/private/seed"].reason == "robots"
        assert found["/private/seed"].requests <= 1
        assert found["/open"].outcome == "visit"


def test_a_server_without_robots_answers_is_left_alone() -> None:
    async def broken(request: web.Request) -> web.StreamResponse:
        return web.Response(status=503)

    with Site(broken) as site:
        found = settled(site)
        assert found["/"].reason == "robots-unreachable"
        assert site.total == 1


def test_what_pages_ask_of_robots_is_heeded() -> None:
    secret = "tide gauge " * 5
    answers = {
        "/": prose(1)
        + "<a href=/noindex>n</a><a href=/nofollow>f</a><a rel=nofollow href=/rel>r</a>"
        + "<a href=/tag>t</a>",
        "/noindex": html(
            secret + prose(2) + "<a href=/after>a</a>", head="<meta name=robots content=noindex>"
        ),
        "/nofollow": html(
            prose(3) + "<a href=/never>a</a>", head="<meta name=robots content=nofollow>"
        ),
        "/tag": html(secret + prose(4), X_Robots_Tag="noindex"),
        "/after": prose(5),
        "/rel": prose(6),
        "/never": prose(7),
    }
    with Site(pages(answers)) as site:
        found = settled(site)
        assert found["/noindex"].score == found["/tag"].score == 0.0
        assert found["/noindex"].flags == "noindex"
        assert found["/noindex"].title == ""
        assert "/after" in found
        assert "/rel" not in found
        assert "/never" not in found
    with Site(pages(answers)) as site:
        found = settled(site, nofollow=False)
        assert {"/rel", "/never"} <= set(found)


def test_duplicates_count_once() -> None:
    text = "tide gauge " + prose(9, 200)
    answers = {
        "/": prose(1) + "<a href=/one>1</a><a href=/two>2</a><a href=/print>3</a>",
        "/one": text,
        "/two": text + " extra",
        "/print": html("tide gauge " + prose(3), head="<link rel=canonical href=/one>"),
    }
    with Site(pages(answers)) as site:
        found = settled(site, concurrency=1)
        assert found["/one"].score == 1.0
        assert found["/two"].score == 0.0
        assert found["/two"].flags == "near-duplicate"
        assert (found["/print"].outcome, found["/print"].reason) == ("skip", "duplicate")


def test_scope_depth_language_and_type() -> None:
    answers = {
        "/docs/": prose(1) + "<a href=/docs/a>a</a><a href=/blog>b</a><a href=/docs/fr>f</a>"
        "<a href=/docs/image>i</a>",
        "/docs/a": prose(2) + "<a href=/docs/b>b</a>",
        "/docs/b": prose(3) + "<a href=/docs/c>c</a>",
        "/docs/fr": web.Response(text=f"<html lang=fr><p>{prose(4)}", content_type="text/html"),
        "/docs/image": web.Response(body=b"\x89PNG", content_type="image/png"),
    }
    with Site(pages(answers)) as site:
        found = settled(site, "/docs/", scope="prefix", depth=2, languages=["en"])
        assert "/blog" not in found
        assert "/docs/b" in found
        assert "/docs/c" not in found
        assert found["/docs/fr"].reason == "language"
        assert found["/docs/image"].reason == "unwanted-type"


def test_sitemaps_and_feeds_are_seeds() -> None:
    rss = (
        "<rss><channel><item><title>The tide gauge</title><link>/good</link></item>"
        "<item><title>Other</title><link>/other</link></item></channel></rss>"
    )
    answers = {
        "/sitemap.xml": web.Response(
            text="<urlset><url><loc>/mapped</loc></url></urlset>", content_type="application/xml"
        ),
        "/feed": web.Response(text=rss, content_type="application/rss+xml"),
        "/good": "tide gauge " + prose(1),
        "/other": prose(2),
        "/mapped": prose(3),
    }
    with Site(pages(answers)) as site:
        found = settled(site, ["/sitemap.xml", "/feed"], depth=0, concurrency=1)
        assert found["/good"].outcome == found["/mapped"].outcome == "visit"
        assert found["/feed"].score == 0.0
        assert found["/good"].depth == 0
        assert found["/good"].lease < found["/other"].lease


def test_pages_that_need_a_browser_are_flagged() -> None:
    shell = "<div id=root></div><script src=/app.js></script><script>1</script><script>2</script>"
    with Site(pages({"/": shell})) as site:
        assert settled(site)["/"].flags == "needs-script"


def test_transient_errors_are_tried_again_a_few_times() -> None:
    calls = 0

    async def flaky(request: web.Request) -> web.StreamResponse:
        nonlocal calls
        calls += 1
        return web.Response(status=500) if calls < 3 else html(prose(1))

    async def dead(request: web.Request) -> web.StreamResponse:
        return web.Response(status=502)

    answers = {"/flaky": flaky, "/dead": dead}
    with Site(pages(answers)) as site:
        found = settled(site, ["/flaky", "/dead"], retries=2)
        assert found["/flaky"].outcome == "visit"
        assert (found["/dead"].outcome, found["/dead"].retry) == ("failure", False)
        assert site.counts["/flaky"] == site.counts["/dead"] == 3


@pytest.mark.slow
def test_a_trap_eats_less_than_a_twentieth() -> None:
    """A calendar that never ends, linked from a site with enough to say; both say the topic."""
    plain = tree(2000, 6)

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/calendar":
            month = int(request.query.get("month", "0"))
            links = "".join(
                f'<a href="/calendar?month={month + n}">tide gauge month {month + n}</a> '
                for n in range(1, 8)
            )
            return html(f"<p>tide gauge readings of the month {month}</p>{links}")
        if request.path.startswith("/deep"):
            links = f'<a href="{request.path}/deep">tide gauge deeper</a>'
            return html(f"<p>tide gauge {prose(len(request.path))}</p>{links}")
        response = await plain(request)
        if isinstance(response, web.Response) and response.status == 200:
            trap = "<a href=/calendar?month=1>tide gauge calendar</a><a href=/deep>tide gauge</a>"
            response.text = (response.text or "").replace("</body>", trap + "</body>")
        return response

    with Site(answer) as site:
        result = crawl(site.url("/0"), budget=1000, concurrency=8, **FAST)
        eaten = sum(
            count for path, count in site.counts.items() if path.startswith(("/cal", "/deep"))
        )
        assert result.requests == 1000
        assert eaten < 50


def test_private_addresses_are_refused_by_default() -> None:
    with Site(pages({"/": prose(1)})) as site:
        found = settled(site, allow_private=False)
        assert found["/"].reason in ("blocked-address", "robots-unreachable")
        assert site.total == 0

        async def rebound(host: str) -> list[str]:
            return ["127.0.0.1"]

        crawl(
            f"http://public.example:{site.port}/",
            budget=10,
            **{**FAST, "allow_private": False, "lookup": rebound},
        )
        assert site.total == 0


@pytest.mark.slow
def test_slow_and_broken_servers_cost_time_not_the_crawl() -> None:
    async def drip(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/html"})
        await response.prepare(request)
        while True:  # until nobody listens any more
            await response.write(b"x")
            await asyncio.sleep(0.1)

    async def nonsense(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.write(b"\x00\x01 not http\r\n\r\n")
        request.transport.close()
        return web.Response()

    squeezed = zlib.compressobj(1, zlib.DEFLATED, 31)
    body = squeezed.compress(b"tide gauge " * 6_000_000) + squeezed.flush()

    async def bomb(request: web.Request) -> web.StreamResponse:
        return web.Response(
            body=body, headers={"Content-Encoding": "gzip", "Content-Type": "text/html"}
        )

    answers = {
        "/": prose(1) + "".join(f"<a href=/{name}>x</a>" for name in ("bad", "bomb", "ok")),
        "/drip": drip,
        "/bad": nonsense,
        "/bomb": bomb,
        "/ok": prose(2),
    }
    with Site(pages(answers)) as site:
        found = settled(site, "/drip", timeout=4.0, retries=0)
        assert found["/drip"].reason == "timeout"
        found = settled(site, retries=0, concurrency=4)
        assert found["/bad"].outcome == "failure"
        assert found["/ok"].outcome == "visit"
        assert found["/bomb"].outcome in ("visit", "failure")


def test_tls_with_a_certificate_of_ones_own(tmp_path: Path) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    with Site(tree(50), tls=context) as site:
        result = crawl(site.url("/0"), budget=10, ca_file=str(tmp_path / "ca.pem"), **FAST)
        assert result.visits == 9
        refused = settled(site, "/0")
        assert refused["/0"].reason in ("tls", "robots-unreachable")


def test_a_page_that_breaks_the_scorer_ends_the_crawl_with_a_word() -> None:
    with Site(tree(50)) as site, pytest.raises(InputError, match="scores are finite"):
        crawl(site.url("/0"), budget=10, scorer=lambda page: float("nan"), **FAST)


def test_iterating_gives_visits_and_may_stop_early(tmp_path: Path) -> None:
    with Site(tree(200)) as site:
        running = Crawl(site.url("/0"), path=tmp_path / "run", budget=60, concurrency=2, **FAST)
        seen = []
        for visit in running:
            seen.append(visit.node)
            if len(seen) == 10:
                break
        assert running.stop_reason == "cut"

        async def rest() -> list[object]:
            return [visit.node async for visit in Crawl.resume(tmp_path / "run")]

        more = asyncio.run(rest())
        assert not set(seen) & set(more)
        assert site.total <= 60
