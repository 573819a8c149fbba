"""Topics in whole crawls: other languages, exact words, and a topic that nobody mentions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from crawl_sites import FAST, Site, tree

from sonde import cli
from sonde.cli._progress import JsonDisplay, LineDisplay
from sonde.crawling import Crawl, CrawlResult
from sonde.scorers import log_count
from sonde.scorers.silence import EARLY

PAGES = {
    "/": ("en", "<a href=/ja>one</a> <a href=/de>two</a> <a href=/en>three</a>"),
    "/ja": ("ja", "<p>データの暗号化とは、暗号化です。C++ も。</p>"),
    "/de": ("de", "<p>Häuser und ein Haus</p>"),
    "/en": ("en", "<p>Häuser, houses, and C++20</p>"),
}


async def speaking(request: web.Request) -> web.StreamResponse:
    if request.path not in PAGES:
        raise web.HTTPNotFound
    language, body = PAGES[request.path]
    return web.Response(
        text=f"<!doctype html><html lang={language}><body>{body}</body></html>",
        content_type="text/html",
    )


def crawled(site: Site, path: Path, **settings: Any) -> CrawlResult:
    return Crawl(site.url("/"), budget=10, path=path, **{**FAST, **settings}).run_to_end()


@pytest.mark.parametrize(
    ("topic", "exact", "expected"),
    [
        ("暗号化, C++", False, {"/ja": 3, "/en": 1}),
        ("Haus", False, {"/de": 2}),
        ("Haus", True, {"/de": 1}),
        ("house", False, {"/en": 1}),
        ("Haus, C++, -Häuser", False, {"/ja": 1}),
        ("Haus*", False, {"/de": 2, "/en": 1}),
    ],
)
def test_pages_are_scored_in_their_own_language(
    tmp_path: Path, topic: str, exact: bool, expected: dict[str, int]
) -> None:
    with Site(speaking) as site:
        result = crawled(site, tmp_path / "run", topic=topic, exact=exact)
        scores = {
            page["node"]: page["score"]
            for page in result.best(10, translations=True)
            if page["score"] > 0
        }
        assert scores == {site.url(path): log_count(count) for path, count in expected.items()}


def crawl_of(site: Site, path: Path, topic: str, budget: int, **settings: Any) -> Crawl:
    told = {**FAST, "topic": topic, "budget": budget, **settings}
    return Crawl(site.url("/0"), path=path, **told)


def test_a_resumed_run_still_takes_words_as_they_stand(tmp_path: Path) -> None:
    with Site(tree(200)) as site:
        whole = crawl_of(site, tmp_path / "whole", "tides", 30, exact=True).run_to_end()
        crawl_of(site, tmp_path / "parts", "tides", 15, exact=True).run_to_end()
        parts = Crawl.resume(tmp_path / "parts", budget="+15", allow_private=True).run_to_end()
        assert (parts.total, parts.visits) == (whole.total, whole.visits) == (0.0, 29)
        assert crawl_of(site, tmp_path / "other", "tides", 30).run_to_end().total > 0


@pytest.mark.parametrize("display", [JsonDisplay, LineDisplay])
def test_a_topic_that_nobody_mentions_says_so_early(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    display: type[JsonDisplay] | type[LineDisplay],
) -> None:
    words = "none of 20 pages has a word of the topic; frequent in them: "
    with Site(tree(300)) as site:
        shown = display()
        crawl = crawl_of(site, tmp_path / "run", "zebra", 60, concurrency=1)
        said = 0
        for _ in crawl:
            shown.tick(crawl)
            said += words in "".join(capsys.readouterr())
            assert crawl.session is not None
            assert said == (crawl.session.logbook.explorer.visits >= EARLY)
        assert said == 1
        heard = crawl_of(site, tmp_path / "heard", "tide gauge", 60)
        assert {heard.hint() for _ in heard} == {""}
        told_too = ["--topic", "zebra", "--budget", "9", "--delay", "0", "--allow-private"]
        assert cli.main(["crawl", site.url("/0"), *told_too, "-o", str(tmp_path / "c")]) == 0
        assert "none of 8 pages has a word of the topic; " in capsys.readouterr().err


def test_a_wrong_topic_is_one_line_and_leaves_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    words = ["crawl", "http://127.0.0.1:9/", "--topic", '"sea level', "-o", str(folder)]
    assert cli.main(words) == 2
    err = capsys.readouterr().err
    assert err.splitlines() == ["sonde: topic: a quote is not closed in '\"sea level'"]
    assert not folder.exists()
