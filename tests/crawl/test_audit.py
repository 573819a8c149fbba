"""``sonde audit``: measured by hand, polled from real servers, budget exact."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from aiohttp import web
from crawl_sites import Site, html, prose

from sonde.audit.measuring import audit, rank_correlation
from sonde.audit.polling import Poll, PolledPage
from sonde.cli import main

FAST = ["--delay", "0", "--allow-private", "--contact", "tests@localhost"]


def polled(*pages: tuple[str, list[str]], invalid: dict[str, str] | None = None) -> Poll:
    """A poll of pages with the links that they have, in order, repeats as they come."""
    return Poll(
        "http://a.example/",
        len(pages),
        "budget",
        tuple(
            PolledPage(url, {link: links.count(link) for link in links}, 0, 0.1)
            for url, links in pages
        ),
        invalid or {},
        {url: number for number, (url, _) in enumerate(pages)},
        (0.1, 0.05),
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
    # Links inside: x/1 has one of two in its folder, x/2 one of two; of all four, two go to x/.
    assert found.order == pytest.approx((0.5 - 0.5) / (1 - 0.5))
    assert found.level == "poorly organised"


def test_verdicts() -> None:
    folders = [
        (a(f"{folder}/{n}"), [a(f"{folder}/{m}") for m in range(4) if m != n] + [a("")])
        for folder in "xyz"
        for n in range(4)
    ]
    assert audit(polled(*folders)).level == "well organised"
    flat = [(a(str(n)), [a(str(m)) for m in range(5) if m != n]) for n in range(5)]
    assert audit(polled(*flat)).level == "flat"
    assert audit(polled((a("1"), []))).level == "unknown"
    assert audit(polled()).rfu is None
    away = [
        (page, [*links, *(f"http://{n}.example/" for n in range(9))]) for page, links in folders
    ]
    assert "scatter over other domains" in audit(polled(*away)).verdict


def test_rank_correlation() -> None:
    up = np.array([1.0, 2.0, 3.0, 4.0])
    assert rank_correlation(up, up**3) == pytest.approx(1.0)
    assert rank_correlation(up, -up) == pytest.approx(-1.0)
    assert rank_correlation(up, np.ones(4)) is None
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
    assert first[1].split()[:2] == ["pages", "(requests)"]
    assert "organised for focused crawling" in first[-1]
    assert "polling" in shown.err
    found = json.loads(capsys.readouterr().out)["sites"]
    assert [one["requests"] for one in found] == [12, 12]
    assert found[0]["pages"][0]["domains"] == 2
    assert found[0]["rtt"]["median"] > 0
    assert found[0]["invalid"] >= 1  # the missing page
    assert "private" in json.dumps(found[0]["leaders"])  # linked, though never asked for
    page = (tmp_path / "out" / "audit.html").read_text()
    assert "other.example/%3Cb%3E" in page
    assert "<b>" not in page.replace('<b style="color', "")
    for name in ("rfu", "bfu", "links", "rtt"):
        ElementTree.parse(tmp_path / "out" / f"{name}.svg")


def test_what_cannot_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        ["ftp://a.example/"],
        ["http://127.0.0.1:1/", "--budget", "0"],
        ["http://127.0.0.1:1/", "-o", str(tmp_path)],
    ):
        assert main(["audit", *words]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_site_that_does_not_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "http://127.0.0.1:9/", "--budget", "3", "--timeout", "2", *FAST]) == 0
    assert "too few pages" in capsys.readouterr().out


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
