"""``sonde audit``: measured by hand, polled from real servers, budget exact."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from aiohttp import web
from crawl_sites import Site, html, prose

from sonde.audit import Poll, audit, poll
from sonde.audit.audit_report import write
from sonde.audit.charts import decades, doublings, marks, short_names
from sonde.audit.measuring import rank_correlation
from sonde.audit.polling import PolledHost, PolledPage
from sonde.cli import main

FAST = ["--delay", "0", "--allow-private", "--contact", "tests@localhost"]


def polled(*pages: tuple[str, list[str]], invalid: dict[str, str] | None = None) -> Poll:
    """A poll of pages with the links that they have, in order, repeats as they come."""
    return Poll(
        url="http://a.example/",
        began=0.0,
        requests=len(pages),
        stop="budget",
        pages=tuple(
            PolledPage(url, {link: links.count(link) for link in links}, 0, 0.1 * (number + 1))
            for number, (url, links) in enumerate(pages)
        ),
        invalid=invalid or {},
        passed={a("again"): "duplicate"},
        hops={url: number for number, (url, _) in enumerate(pages)},
        hosts=(PolledHost("a.example", 3, 0.1, 0.05, None),),
    )


def a(path: str) -> str:
    return f"http://a.example/{path}"


def test_measures_by_hand() -> None:
    found = audit(
        polled(
            (a("x/1"), [a("x/2"), a("x/2"), a("y/1"), "http://b.example/"]),
            (a("x/2"), [a("x/1"), a("gone")]),
            (a("y/1"), []),
            invalid={a("gone"): "http-404"},
        )
    )
    assert [(page.rfu, page.bfu) for page in found.pages] == [
        (2 / 3 / 2, 1 / 3 / 3),
        (1.0, 1 / 2 / 2),
        (0.0, 0.0),
    ]
    assert (found.links, found.domains, found.basenames, found.invalid) == (5, 2, 4, 1)
    assert found.rfu is not None
    assert (found.rfu.median, found.rfu.lowest, found.rfu.highest) == (2 / 3 / 2, 0.0, 1.0)
    # What is known not to be a page does not count; repeats are told apart.
    assert [(leader.url, leader.pages, leader.repeats) for leader in found.leaders] == [
        (a("x/2"), 1, 1),
        (a("x/1"), 1, 0),
        (a("y/1"), 1, 0),
        ("http://b.example/", 1, 0),
    ]
    assert found.leaders[0].hop == 1
    assert found.leaders[0].bfu == 1 / 3 / 3
    assert (found.rtt_smoothed, found.rtt_deviation) == (0.1, 0.05)
    assert found.rtt is not None
    spread = (found.rtt.lowest, found.rtt.lower, found.rtt.median, found.rtt.upper)
    assert spread == pytest.approx((0.1, 0.15, 0.2, 0.25))
    assert found.unread == {"http-404": 1, "duplicate": 1}
    assert found.polled == "1970-01-01T00:00:00+00:00"
    # ID 1, 1, 1, 1 has no rank to go with; neither has a single BFU.
    assert found.id_with_bfu is None


def test_the_order_of_folders_by_hand() -> None:
    """Links inside the site: x/1 has 1 of 2 in its folder, x/2 has 2 of 3, y/1 has 1 of 1. Of all
    six, four go to x/, which two pages of three live in, and one goes to y/."""
    found = audit(
        polled(
            (a("x/1"), [a("x/2"), a("x/2"), a("y/1"), "http://b.example/"]),
            (a("x/2"), [a("x/1"), a("x/3"), a("gone")]),
            (a("y/1"), [a("x/1")]),
            (a("y/2"), ["http://b.example/x"]),  # says nothing of the site
        )
    )
    stay, chance = (1 / 2 + 2 / 3 + 0) / 3, (4 / 6 + 4 / 6 + 1 / 6) / 3
    assert (found.stay, found.chance) == pytest.approx((stay, chance))
    assert found.order == pytest.approx((stay - chance) / (1 - chance))
    assert found.crowd == 5 / 3  # x/1 to x/3, y/1 and gone, in three folders
    assert found.level == "poorly organised"
    assert "over 3 pages, 39 % of the links" in found.verdict
    assert "chance would have 50 %" in found.verdict


def test_verdicts() -> None:
    folders = [
        (a(f"{folder}/{n}"), [a(f"{folder}/{m}") for m in range(4) if m != n] + [a("")])
        for folder in "xyz"
        for n in range(4)
    ]
    assert audit(polled(*folders)).level == "well organised"
    assert "so few pages" not in audit(polled(*folders)).verdict
    assert "so few pages" in audit(polled(*folders[:6])).verdict
    flat = [(a(str(n)), [a(str(m)) for m in range(5) if m != n]) for n in range(5)]
    assert audit(polled(*flat)).level == "flat"
    # One page beside the others that links nowhere does not make it two folders.
    assert audit(polled(*flat, (a("x/y"), []))).level == "flat"
    assert audit(polled((a("1"), []))).level == "unknown"
    outward = [(a(str(n)), ["http://b.example/"]) for n in range(5)]
    assert audit(polled(*outward)).level == "unknown"
    nothing = audit(polled(invalid={a(""): "connect"}))
    assert nothing.rfu is None
    assert nothing.verdict == "unknown: no page could be read (connect, duplicate)"
    own = [(a(f"{n}/"), [a(f"{m}/") for m in range(5) if m != n]) for n in range(5)]
    assert audit(polled(*own)).level == "poorly organised"
    assert "a folder of its own" in audit(polled(*own)).verdict
    away = [
        (page, [*links, *(f"http://{n}.example/" for n in range(9))]) for page, links in folders
    ]
    assert "scatter over other domains" in audit(polled(*away)).verdict


def test_rank_correlation() -> None:
    up = np.array([1.0, 2.0, 3.0, 4.0])
    assert rank_correlation(up, up**3) == pytest.approx(1.0)
    assert rank_correlation(up, -up) == pytest.approx(-1.0)
    assert rank_correlation(up, np.ones(4)) is None
    assert rank_correlation(up, np.array([0.3, 0.1 + 0.2, 0.3, 0.3])) is None
    assert rank_correlation(np.array([1.0, 1.0, 2.0]), np.array([3.0, 4.0, 5.0])) == pytest.approx(
        np.sqrt(3) / 2
    )


async def two_folders(request: web.Request) -> web.StreamResponse:
    if request.path == "/robots.txt":
        return web.Response(text="User-agent: *\nDisallow: /private/")
    if request.path == "/missing":
        return web.Response(status=404)
    folder = request.path.strip("/").partition("/")[0] or "a"
    links = "".join(f'<a href="/{folder}/{n}">{n}</a>' for n in range(8))
    others = '<a href="/a/0">a</a><a href="/b/0">b</a><a href="/missing">m</a>'
    script = '<a href="/private/x">p</a><a href="http://other.example/&lt;b&gt;">o</a>'
    number = sum(map(ord, request.path))
    return html(links + others + script + prose(number), head="<title>\x1b[31m</title>")


def test_budget_is_exact_and_sites_stand_side_by_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Site(two_folders, hosts=2) as site:
        line = ["audit", site.url("/", 1), site.url("/", 2), "--budget", "12", *FAST]
        assert main([*line, "-o", str(tmp_path / "out")]) == 0
        assert site.total == 24
        shown = capsys.readouterr()
        assert main([*line, "--json"]) == 0
        assert site.total == 48
    first = shown.out.splitlines()
    assert "127.0.0.1" in first[0]
    assert "127.0.0.2" in first[0]
    assert first[1].split()[:2] == ["pages", "read"]
    assert first[2].split() == ["requests", "spent", "12", "12"]
    assert "organised for focused crawling" in first[-2]
    assert first[-1] == "not read: http-404 1"
    assert "polling" in shown.err
    found = json.loads(capsys.readouterr().out)["sites"]
    assert [one["requests"] for one in found] == [12, 12]
    assert found[0]["pages"][0]["domains"] == 2
    assert found[0]["rtt"]["median"] > 0
    assert found[0]["invalid"] >= 1  # the missing page
    assert "private" in json.dumps(found[0]["leaders"])  # linked, though never asked for
    page = (tmp_path / "out" / "audit.html").read_text()
    assert "other.example/%3Cb%3E" in page
    for name in ("order", "rfu", "bfu", "links", "rtt"):
        ElementTree.parse(tmp_path / "out" / f"{name}.svg")


def test_nothing_that_a_site_says_is_taken_for_markup(tmp_path: Path) -> None:
    """Also sites without pages and without links are drawn, alone and beside others."""
    wild = "<script>\"'&"
    found = audit(polled((a(wild), [a(f"x/{wild}"), a("y")]), invalid={a("z"): wild}))
    write([replace(found, url=a(wild)), audit(polled()), audit(polled((a("1"), [])))], tmp_path)
    assert "<script" not in (tmp_path / "audit.html").read_text()
    assert {path.name for path in tmp_path.iterdir()} == {
        "audit.html",
        *(f"{name}.svg" for name in ("order", "rfu", "bfu", "links", "rtt")),
    }
    for path in tmp_path.glob("*.svg"):
        ElementTree.parse(path)
    write([], tmp_path)


def test_marks_of_axes() -> None:
    for highest in (1e-9, 0.3, 1, 7, 99, 12_345.6):
        for found in (marks(highest), doublings(highest)):
            assert 2 <= len(found) <= 8
            assert found[-1] >= highest * (1 - 1e-9)
    assert doublings(1) == (1.0, 2.0)
    assert decades(0.4, 60) == (0.1, 1.0, 10.0, 100.0)
    assert decades(0.0, 0.0) == (0.001, 0.01)
    assert decades(1, 10) == (1.0, 10.0)


def test_names_are_as_short_as_tells_them_apart() -> None:
    plain, other = audit(polled()), replace(audit(polled()), url="https://b.example/x/")
    assert short_names([plain, other]) == ["a.example", "b.example/x"]
    same = replace(plain, url="https://a.example/")
    assert short_names([plain, same]) == ["http://a.example/", "https://a.example/"]


async def odd(request: web.Request) -> web.StreamResponse:
    if request.path == "/robots.txt":
        return web.Response(text="User-agent: *\nDisallow: /secret/")
    if request.path in ("/moved", "/again"):
        raise web.HTTPFound("/a/new" if request.path == "/moved" else "/a/1")
    if request.path == "/bytes":
        return web.Response(body=b"\0", content_type="application/octet-stream")
    if request.path == "/plain":
        return web.Response(text="plain", content_type="text/plain")
    if request.path == "/feed":
        return web.Response(text="<rss><channel></channel></rss>", content_type="text/xml")
    if request.path == "/missing":
        return web.Response(status=404)
    away = ("secret/x", "http://a.co.uk:1/", "http://b.a.co.uk:1/", "mailto:x@y.example")
    kinds = ("moved", "again", "bytes", "plain", "feed", "missing")
    links = {
        "/": ("a/1", "a/1", "a/2#x", "?q=/", *kinds, *away),
        "/a/1": ("/", "2", "http://bücher.example:81/x/"),
        "/a/2": ("1", "new"),
        "/a/new": (),
    }.get(request.path, ())
    body = "".join(f'<a href="{link}">{link}</a>' for link in links if request.query_string == "")
    return html(body + prose(sum(map(ord, request.path_qs))))


def test_a_site_with_everything() -> None:
    """Pages, failures, redirects and rules, at a name and a port, all by hand."""

    async def lookup(host: str) -> list[str]:
        return ["127.0.0.1"]

    with Site(odd) as site:
        home = f"http://www.a.co.uk:{site.port}/"
        found = audit(
            poll(home, 99, delay=0, lookup=lookup, allow_private=True, contact="tests@localhost")
        )
        # Ten URLs, robots.txt, and a hop for moved; robots.txt of two hosts that are not there.
        assert (found.requests, site.total) == (14, 12)
    assert found.stop == "frontier"
    assert [(page.url.removeprefix(home), page.hop) for page in found.pages] == [
        ("", 0),
        ("a/1", 1),
        ("a/2", 1),
        ("?q=/", 1),
        ("a/new", 1),
    ]
    start, first, second, _, empty = found.pages
    assert (start.links, start.domains, start.basenames) == (12, 1, 5)
    assert (start.rfu, start.bfu) == (1.0, 6 / 12 / 5)
    assert (first.rfu, first.bfu) == (2 / 3 / 2, 1 / 3 / 3)
    assert (second.rfu, second.bfu) == (1.0, 1.0)
    assert (empty.links, empty.rfu, empty.bfu) == (0, 0.0, 0.0)
    assert found.invalid == 4
    assert found.unread == {
        "robots.txt: connect": 2,
        "unwanted-type": 1,
        "text/plain": 1,
        "text/xml": 1,
        "http-404": 1,
        "duplicate": 2,  # again is a/1, and a/new was read as moved
    }
    leaders = {leader.url.removeprefix(home): leader for leader in found.leaders}
    assert (leaders["a/1"].pages, leaders["a/1"].repeats, leaders["a/1"].hop) == (2, 1, 1)
    assert leaders["a/1"].bfu == pytest.approx((3 / 12 / 5 + 1.0) / 2)
    # The page is linked by both its names, and counts as one.
    assert (leaders["a/new"].pages, leaders["a/new"].hop) == (2, 1)
    assert "moved" not in leaders
    assert leaders["secret/x"].hop is None  # never asked for, and linked all the same
    assert leaders["http://xn--bcher-kva.example:81/x/"].pages == 1
    assert not {"bytes", "plain", "feed", "missing"} & set(leaders)
    assert [(host.host, host.requests) for host in found.hosts] == [
        (f"www.a.co.uk:{site.port}", 12),
        ("a.co.uk:1", 1),
        ("b.a.co.uk:1", 1),
    ]


def test_two_sites_of_one_host_are_not_asked_in_a_hurry() -> None:
    with Site(two_folders) as site:
        line = ["audit", site.url("/a/0"), site.url("/b/0"), "--budget", "3", *FAST, "--json"]
        line[line.index("--delay") + 1] = "0.3"
        assert main(line) == 0
        times = [moment for moment, _ in site.starts]
    assert len(times) == 6
    assert min(later - earlier for earlier, later in pairwise(times)) > 0.25


def test_what_cannot_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    for words in (
        ["ftp://a.example/"],
        ["http://127.0.0.1:1/", "--budget", "0"],
        ["http://127.0.0.1:1/", "--delay", "-1"],
        ["http://127.0.0.1:1/", "--delay", "nan"],
        ["http://127.0.0.1:1/", "--contact", "a\nb"],
        ["http://127.0.0.1:1/", "-o", str(tmp_path)],
        ["http://127.0.0.1:1/", "-o", str(tmp_path / "file")],
        ["http://127.0.0.1:1/", "-o", str(tmp_path / "file" / "below")],  # before anybody is asked
    ):
        assert main(["audit", *words]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_site_that_does_not_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "http://127.0.0.1:9/", "--budget", "3", "--timeout", "2", *FAST]) == 0
    assert "no page could be read (robots.txt: connect)" in capsys.readouterr().out
    assert main(["audit", "http://127.0.0.1:9/", "--delay", "0"]) == 0
    assert "(robots.txt: blocked-address)" in capsys.readouterr().out


def test_a_budget_that_robots_txt_uses_up(capsys: pytest.CaptureFixture[str]) -> None:
    with Site(two_folders) as site:
        assert main(["audit", site.url(), "--budget", "1", *FAST]) == 0
        assert site.total == 1
    assert "no page could be read (the budget is spent)" in capsys.readouterr().out


def test_ctrl_c_ends_politely_with_what_there_is() -> None:
    with Site(two_folders) as site:
        words = ["audit", site.url(), site.url("/b/0"), "--budget", "500", *FAST, "--json"]
        words[words.index("--delay") + 1] = "0.1"
        with subprocess.Popen(
            [sys.executable, "-c", "import sys, sonde.cli; sys.exit(sonde.cli.main())", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            deadline = time.monotonic() + 60
            while site.total < 4 and time.monotonic() < deadline:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    (only,) = json.loads(out)["sites"]
    assert only["stop"] == "interrupted"
    assert 1 <= len(only["pages"]) < 500
    assert "Traceback" not in err
