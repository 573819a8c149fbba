"""Nothing that a server says stops the crawl, starves it, or spoils the run."""

from __future__ import annotations

import asyncio
import gzip
import sqlite3
import string
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from crawl_sites import Site, html, prose
from hypothesis import example, given
from hypothesis import strategies as st

from sonde.crawling import Crawl, CrawlResult
from sonde.net import robots
from sonde.net.decoding import unpack
from sonde.net.guard import Guard
from sonde.net.retries import LONGEST_PAUSE
from sonde.net.robots import RobotsRecord, RobotsRules
from sonde.sources.page import read_page
from sonde.sources.web import pdf
from sonde.sources.web.url_shapes import template_of
from sonde.store.journal import storable
from sonde.store.run import Run

POLITE: dict[str, Any] = {"topic": "tide", "delay": 0.0, "allow_private": True, "sitemaps": "no"}


def crawled(crawl: Crawl, seconds: float = 60.0) -> CrawlResult:
    async def ended() -> CrawlResult:
        return await asyncio.wait_for(crawl.run(), seconds)

    return asyncio.run(ended())


# -- what no database takes ----------------------------------------------------------

HEADERS = [("ETag", '"\udce9"'), ("Last-Modified", "\udcff\udcfe"), ("Content-Language", "\udcff")]


@pytest.mark.parametrize(("name", "value"), HEADERS)
def test_a_header_that_is_not_utf_8_spoils_nothing(tmp_path: Path, name: str, value: str) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        page = html(f"{prose(len(request.path))} tide <a href={request.path}x>tide</a>")
        page.headers[name] = value
        return page

    run = tmp_path / "run"
    with Site(answer) as site:
        first = crawled(Crawl(site.url("/"), path=run, budget=6, **POLITE))
        assert (first.stop_reason, first.visits) == ("budget", 5)
        again = crawled(Crawl.resume(run, budget="+3"))
        assert again.visits == 8
        assert site.total == 9
    column = {"ETag": "etag", "Last-Modified": "modified", "Content-Language": "language"}[name]
    with closing(sqlite3.connect(run / "run.sqlite")) as database:
        kept = database.execute(f"SELECT {column} FROM pages").fetchall()
    assert {text for (text,) in kept} != {None}


@given(st.text(st.characters(codec=None)) | st.integers() | st.none() | st.binary())
@example("\ud800x")
@example(2**63)
@example(-(2**63) - 1)
def test_whatever_is_said_can_be_stored(value: str | int | bytes | None) -> None:
    database = sqlite3.connect(":memory:")
    found = database.execute("SELECT ?", (storable(value),)).fetchone()[0]
    database.close()
    if isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value):
        assert found == value


def test_a_row_that_cannot_be_written_leaves_no_transaction_open(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", {"source": "web"})
    run.journal.meta("before", 1)
    run.journal.add("meta", ("odd", object()))
    with pytest.raises(Exception, match=r"\S"):
        run.journal.commit()
    assert not run.database.in_transaction
    run.abandon()


# -- work that is bounded ----------------------------------------------------------


@given(st.lists(st.binary(max_size=2000), max_size=20), st.integers(0, 20_000))
def test_members_of_gzip_are_one_text(parts: list[bytes], limit: int) -> None:
    whole = b"".join(parts)
    body = b"".join(map(gzip.compress, parts))
    assert unpack(body, "gzip", limit) == (whole[:limit], len(whole) > limit)


def test_more_members_than_anybody_writes_are_cut() -> None:
    assert unpack(gzip.compress(b"") * 20_000, "gzip", 1000) == (b"", True)
    assert unpack(gzip.compress(b"x") * 9_000, "gzip", 10_000) == (b"x" * 9_000, False)


def reference_shape(segment: str) -> str:
    """What a segment's template is, by its definition."""
    import re

    if segment.isalpha():
        return segment
    segment = re.sub(r"(?=[^/]*[0-9])[0-9A-Za-z_-]{24,}", "h", segment)
    hashes = r"(?=[0-9a-f-]*[0-9])[0-9a-f]{8,}(?:-[0-9a-f]{4,})*"
    return re.sub(r"[0-9]+", "0", re.sub(hashes, "h", segment, flags=re.IGNORECASE))


@given(st.text(string.hexdigits + "-_.xyz", max_size=80))
def test_a_template_is_what_its_definition_says(segment: str) -> None:
    found = template_of(f"https://a.example/{segment}").removeprefix("https://a.example/")
    assert found == reference_shape(segment)


def pdf_of_nothing(operators: int, sheets: int) -> bytes:
    """Pages that share one stream of operators which show nothing."""
    stream = zlib.compress(b"BT /F1 1 Tf () Tj ET\n" * operators)
    kids = " ".join(f"{5 + number} 0 R" for number in range(sheets))
    page = "<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {sheets} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(stream), stream),
        *[page.encode()] * sheets,
    ]
    body = b"%PDF-1.4\n"
    for number, each in enumerate(objects, 1):
        body += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    return body + b"trailer << /Root 1 0 R >>\n%%EOF\n"


def test_a_pdf_that_takes_for_ever_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pypdf")
    monkeypatch.setattr(pdf, "MAX_SECONDS", 1)
    bomb = pdf_of_nothing(100_000, 200)
    assert len(bomb) < 60_000

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path.endswith(".pdf"):
            return web.Response(body=bomb, content_type="application/pdf")
        return html(f"{prose(len(request.path))} tide <a href={request.path}x>tide</a>")

    with Site(answer, hosts=2) as site:
        seeds = [site.url("/tide.pdf", 2), site.url("/", 1)]
        run = tmp_path / "run"
        result = crawled(Crawl(seeds, path=run, budget=30, scope="host", **POLITE))
        assert result.stop_reason == "budget"
        assert result.visits == 27  # all but two robots.txt and the file
    with closing(sqlite3.connect(run / "run.sqlite")) as database:
        rows = database.execute("SELECT number, reason, settled FROM leases").fetchall()
    last = sorted(rows, key=lambda row: row[2])[-1]
    assert last[:2] == (1, "unreadable")  # asked first, and given up last


@pytest.mark.parametrize(
    "body",
    [
        b"<b></i>" * 100_000,  # nothing is closed, so it nests for ever
        b"<span></nobr>" * 100_000,
        b"<p>" + b"".join(b"<font a=%d>" % n for n in range(200)) + b"<p>x" * 100_000,
        b"<span>" * 400 + b"</x>" * 1_000_000,
    ],
)
def test_a_page_that_would_take_for_ever_to_parse_is_cut(body: bytes) -> None:
    page = read_page(b"<title>here</title>" + body, "https://a.example/")
    assert page.cut
    assert page.title == "here"


PATHS = st.text("ab/*$", min_size=1, max_size=6).map(lambda path: "/" + path)


@given(
    st.lists(st.tuples(st.sampled_from(["Allow", "Disallow"]), PATHS), max_size=12),
    st.text("ab/", max_size=8),
)
def test_rules_that_are_cut_allow_nothing_more(rules: list[tuple[str, str]], path: str) -> None:
    text = "User-agent: *\n" + "".join(f"{word}: {rule}\n" for word, rule in rules)
    url = f"https://a.example/{path}"
    whole = RobotsRecord("https://a.example", "rules", text, 0.0, 1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(robots, "_MANY", -1)
        patch.setattr(robots, "_MOST_PATTERNS", 3)
        cut = RobotsRules()
        assert cut.many(whole)
        allowed = cut.allowed(whole, url)
    patterns = sum("*" in rule or "$" in rule for _, rule in rules)
    if patterns <= 3:
        assert allowed == RobotsRules().allowed(whole, url)
    kept = [word for word, rule in rules if "*" in rule or "$" in rule][3:]
    if allowed and "Disallow" in kept:  # no prefix of what is forbidden was let through
        starts = [rule.split("*")[0].split("$")[0] for word, rule in rules if word == "Disallow"]
        longest = max((len(s) for s in starts if f"/{path}".startswith(s)), default=0)
        assert longest == 0 or any(word == "Allow" for word, _ in rules)


def test_many_rules_are_asked_for_visits_alone(tmp_path: Path) -> None:
    rules = "User-agent: *\nDisallow: /secret\n" + "".join(
        f"Disallow: /p{number}*abc*\n" for number in range(20_000)
    )

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt":
            return web.Response(text=rules)
        links = " ".join(f"<a href=/secret{number}>tide</a>" for number in range(5))
        return html(f"{prose(len(request.path))} tide {links} <a href={request.path}x>tide</a>")

    with Site(answer) as site:
        result = crawled(Crawl(site.url("/"), path=tmp_path / "run", budget=5, **POLITE))
        assert (result.stop_reason, result.visits) == ("budget", 4)
        assert not [path for path in site.counts if path.startswith("/secret")]


# -- numbers that poison ----------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "Request-rate: 1/" + "9" * 400,
        "Request-rate: " + "9" * 400 + "/1",
        "Crawl-delay: 1e999",
        "Crawl-delay: nan",
        "Crawl-delay: -5",
        "Crawl-delay: " + "9" * 5000,
    ],
)
def test_a_pause_is_within_bounds(line: str) -> None:
    record = RobotsRecord("https://a.example", "rules", f"User-agent: *\n{line}\n", 0.0, 1.0)
    delay = RobotsRules().delay(record)
    assert delay is None or 0.0 <= delay <= LONGEST_PAUSE


def test_a_run_that_met_a_huge_number_is_resumed(tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt":
            return web.Response(text="User-agent: *\nRequest-rate: 1/" + "9" * 400)
        return html(f"{prose(len(request.path))} tide <a href={request.path}x>tide</a>")

    run = tmp_path / "run"
    with Site(answer) as site:
        first = crawled(Crawl(site.url("/"), path=run, budget=6, **POLITE))
        assert first.stop_reason == "crawl-delay"
        assert crawled(Crawl.resume(run)).stop_reason == "crawl-delay"
        assert site.counts == {"/robots.txt": 1}


# -- starvation ----------------------------------------------------------


@pytest.mark.parametrize("hostile", [1, 4])
def test_hosts_that_ask_for_a_day_of_pause_starve_nobody(tmp_path: Path, hostile: int) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        slow = not request.host.startswith("127.0.0.1:")
        if request.path == "/robots.txt":
            return web.Response(text="User-agent: *\nCrawl-delay: 86400" if slow else "")
        return html(f"{prose(len(request.path))} tide <a href={request.path}x>tide</a>")

    with Site(answer, hosts=hostile + 1) as site:
        seeds = [site.url("/", host) for host in range(hostile + 1, 0, -1)]
        crawl = Crawl(
            seeds, path=tmp_path / "run", budget=40, scope="host", depth=5, concurrency=2, **POLITE
        )
        result = crawled(crawl)
        assert result.stop_reason == "crawl-delay"
        assert result.visits == 6  # all there is at the host that is in no hurry to be rid of us
        assert result.requests == site.total == 7 + hostile


def test_who_asks_for_long_pauses_can_be_waited_for(tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt":
            return web.Response(text="User-agent: *\nCrawl-delay: 0.3")
        return html(f"{prose(len(request.path))} tide <a href={request.path}x>tide</a>")

    run = tmp_path / "run"
    with Site(answer) as site:
        first = Crawl(site.url("/"), path=run, budget=4, longest_delay="0.1s", **POLITE)
        assert crawled(first).stop_reason == "crawl-delay"
        second = crawled(Crawl.resume(run, longest_delay=1.0))
        assert (second.stop_reason, second.visits) == ("budget", 3)


def test_redirects_to_a_host_that_takes_its_time_hold_no_places(tmp_path: Path) -> None:
    """Every page of the first host leads to the third, which answers when the second is done."""
    done = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt":
            return web.Response(status=404)
        if request.host.startswith("127.0.0.1:"):
            raise web.HTTPFound(site.url(f"/slow{request.path}", 3))
        if request.host.startswith("127.0.0.3:"):
            await asyncio.wait_for(done.wait(), 30)
            return html(f"{prose(int(request.path.rpartition('/')[2]))} tide")
        if len(request.path) == 15:
            done.set()
        return html(f"{prose(len(request.path))} tide <a href={request.path}x>tide</a>")

    with Site(answer, hosts=3) as site:
        seeds = [site.url(f"/{number}", 1) for number in range(10)]
        run = tmp_path / "run"
        crawl = Crawl(
            [*seeds, site.url("/", 2)], path=run, budget=60, scope="web", concurrency=4, **POLITE
        )
        result = crawled(crawl)
        assert result.stop_reason == "budget"
        assert sum(path.startswith("/slow") for path in site.counts) == 10  # none was lost
    with closing(sqlite3.connect(run / "run.sqlite")) as database:
        flags = database.execute("SELECT flags FROM pages").fetchall()
    assert ("redirect",) in flags


def test_a_crawl_ends_when_nobody_can_be_asked_in_its_time(tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt":
            return web.Response(text="User-agent: *\nCrawl-delay: 50")
        return html(f"{prose(len(request.path))} tide <a href={request.path}x>tide</a>")

    with Site(answer) as site:
        crawl = Crawl(site.url("/"), path=tmp_path / "run", budget=9, seconds=40.0, **POLITE)
        result = crawled(crawl, 30.0)
        assert (result.stop_reason, site.counts) == ("time", {"/robots.txt": 1})


# -- private addresses --------------------------------------------------------------------


def test_private_addresses_are_open_to_what_was_asked_for_alone(tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.host.startswith("127.0.0.2:"):
            return web.Response(text="a secret of the network")
        if request.path == "/robots.txt":
            raise web.HTTPFound(site.url("/latest/meta-data/iam", 2))
        return html(f"{prose(len(request.path))} tide <a href={request.path}x>tide</a>")

    with Site(answer, hosts=2) as site:
        crawl = Crawl(site.url("/"), path=tmp_path / "run", budget=5, scope="host", **POLITE)
        result = crawled(crawl)
        assert site.counts == {"/robots.txt": 1}
    assert (result.requests, result.visits) == (1, 0)
    archived = b"".join(path.read_bytes() for path in (tmp_path / "run").rglob("*.warc.gz"))
    assert b"a secret" not in archived


@pytest.mark.parametrize("kind", ["application/rss+xml", "application/xml"])
def test_what_a_feed_names_keeps_to_the_scope(tmp_path: Path, kind: str) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path != "/":
            return html(f"{prose(len(request.path))} tide")
        urls = [site.url("/secret", 2), site.url("/here", 1), "http://169.254.169.254/latest"]
        if kind == "application/xml":
            body = (
                "<urlset>" + "".join(f"<url><loc>{url}</loc></url>" for url in urls) + "</urlset>"
            )
        else:
            items = "".join(f"<item><title>tide</title><link>{url}</link></item>" for url in urls)
            body = f"<rss version='2.0'><channel>{items}</channel></rss>"
        return web.Response(text=body, content_type=kind)

    with Site(answer, hosts=2) as site:
        crawl = Crawl(site.url("/"), path=tmp_path / "run", budget=9, scope="host", **POLITE)
        assert crawled(crawl).stop_reason == "frontier"
        assert site.counts == {"/robots.txt": 1, "/": 1, "/here": 1}


@pytest.mark.parametrize(
    "address", ["169.254.169.254", "fd00:ec2::254", "100.100.100.200", "::ffff:169.254.169.254"]
)
def test_metadata_services_must_be_named(address: str) -> None:
    assert Guard(allow_private=True).refusal(address) is not None
    assert Guard(allow_private=True).literal_refusal(address) is not None or ":" in address
    assert Guard(allow_private=True, named=[address]).refusal(address) is None
    assert Guard(named=[address]).refusal(address) is not None
