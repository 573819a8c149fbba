"""The spiders that come with Scrapy, and the ways to say what counts, in runs that the other
commands can read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from scrapy_sites import ScrapyLoop
from test_spider_budget import follower

from loopback_site import Answer, page, served, topical
from sonde.store.reader import RunReader
from sonde.store.summary import best_pages, totals

scrapy: Any = pytest.importorskip("scrapy", reason="the extra scrapy is not installed")
spiders: Any = pytest.importorskip("scrapy.spiders")
LinkExtractor: Any = pytest.importorskip("scrapy.linkextractors").LinkExtractor


def settings_for(folder: Path, budget: int, **more: Any) -> dict[str, Any]:
    return {"SONDE_BUDGET": budget, "SONDE_FOLDER": str(folder / "run"), **more}


def found_by(crawled: Any) -> int:
    return len({item["url"] for item in crawled.items})


def test_it_finds_several_times_what_scrapy_finds(scrapy_loop: ScrapyLoop, tmp_path: Path) -> None:
    """Items say what counts: the spider is the same, the limit too."""
    with served(topical(1_500)) as site:
        (plain,) = scrapy_loop.crawl(
            follower(site.url + "/"),
            settings={"SONDE_ENABLED": False, "CLOSESPIDER_PAGECOUNT": 200},
        )
        assert len(site.log) > 200  # what Scrapy's own limit lets through
    with served(topical(1_500)) as site:
        (adaptive,) = scrapy_loop.crawl(
            follower(site.url + "/"), settings=settings_for(tmp_path, 200)
        )
        assert len(site.log) == 200
    assert found_by(adaptive) > 2 * found_by(plain)


def test_a_topic_says_what_counts(scrapy_loop: ScrapyLoop, tmp_path: Path) -> None:
    """A spider without items: pages are scored, and links by what they are called."""

    class Silent(scrapy.Spider):
        name = "silent"

        async def start(self) -> Any:
            yield scrapy.Request(site.url + "/")

        def parse(self, response: Any) -> Any:
            yield from response.follow_all(css="a")

    with served(topical(1_500)) as site:
        scrapy_loop.crawl(Silent, settings=settings_for(tmp_path, 150, SONDE_TOPIC="tide gauge"))
    with RunReader(tmp_path / "run") as run:
        hits = run.count("SELECT count(*) FROM leases WHERE score > 0")
        assert hits > 0.6 * totals(run).visits
        assert all(best.score > 0 for best in best_pages(run, 5))
        assert run.count("SELECT count(*) FROM pages WHERE text IS NOT NULL") > 100


@pytest.mark.parametrize("slow", [False, True])
def test_a_spider_s_own_score(scrapy_loop: ScrapyLoop, tmp_path: Path, slow: bool) -> None:
    class Judging(scrapy.Spider):
        name = "judging"

        async def start(self) -> Any:
            yield scrapy.Request(site.url + "/")

        def parse(self, response: Any) -> Any:
            yield {"url": response.url}
            yield from response.follow_all(css="a")

        def sonde_score(self, response: Any) -> Any:
            worth = 2.0 * ("tide gauge of" in response.text)
            return later(worth) if slow else worth

    async def later(worth: float) -> float:
        return worth

    with served(topical(500)) as site:
        (crawled,) = scrapy_loop.crawl(Judging, settings=settings_for(tmp_path, 60))
    with RunReader(tmp_path / "run") as run:
        assert {score for (score,) in run.rows("SELECT score FROM leases")} <= {0.0, 2.0, None}
        assert totals(run).value == crawled.stats["sonde/total"] > 0


def test_any_scorer_and_estimator(scrapy_loop: ScrapyLoop, tmp_path: Path) -> None:
    more = {"SONDE_SCORER": "regex:gauge", "SONDE_ESTIMATOR": "n:max", "SONDE_TEXT": False}
    with served(topical(500)) as site:
        scrapy_loop.crawl(follower(site.url + "/"), settings=settings_for(tmp_path, 40, **more))
    with RunReader(tmp_path / "run") as run:
        assert {name for (name,) in run.rows("SELECT chooser FROM leases")} == {"seed", "n:max"}
        assert run.count("SELECT count(*) FROM pages WHERE text IS NOT NULL") == 0


def test_a_crawl_spider_with_rules(scrapy_loop: ScrapyLoop, tmp_path: Path) -> None:
    with served(topical(800)) as site:

        class Ruled(spiders.CrawlSpider):
            name = "ruled"
            allowed_domains = ("127.0.0.1",)
            start_urls = (site.url + "/",)
            rules = (
                spiders.Rule(LinkExtractor(deny=(r"/p/\d*7$",)), callback="found", follow=True),
            )

            def found(self, response: Any) -> Any:
                if "tide gauge of" in response.text:
                    yield {"url": response.url}

        (crawled,) = scrapy_loop.crawl(Ruled, settings=settings_for(tmp_path, 120))
        asked = site.paths()
        assert len(asked) == 120
        redirected = {path.replace("/r/", "/p/") for path in asked if path.startswith("/r/")}
        linked = {path for path in asked if path.startswith("/p/")} - redirected
        assert not any(path.endswith("7") for path in linked)
    assert len(crawled.items) > 20
    with RunReader(tmp_path / "run") as run:
        assert run.count("SELECT count(*) FROM pages WHERE words IS NOT NULL") > 0


def test_a_sitemap_spider(scrapy_loop: ScrapyLoop, tmp_path: Path) -> None:
    with served(topical(80, errors=False)) as site:
        urls = "".join(f"<url><loc>{site.url}/p/{number}</loc></url>" for number in range(60))
        site.answers["/robots.txt"] = Answer(f"Sitemap: {site.url}/map.xml", kind="text/plain")
        site.answers["/map.xml"] = Answer(
            f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>',
            kind="application/xml",
        )

        class Mapped(spiders.SitemapSpider):
            name = "mapped"
            sitemap_urls = (site.url + "/robots.txt",)

            def parse(self, response: Any) -> Any:
                yield {"url": response.url}

        (crawled,) = scrapy_loop.crawl(Mapped, settings=settings_for(tmp_path, 30))
        assert len(site.log) == 30
    assert len(crawled.items) == 28


def test_other_commands_read_the_run(scrapy_loop: ScrapyLoop, tmp_path: Path) -> None:
    with served(topical(300)) as site:
        scrapy_loop.crawl(
            follower(site.url + "/"), settings=settings_for(tmp_path, 60, SONDE_TOPIC="tide gauge")
        )

    def sonde(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "sonde", *words], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run = str(tmp_path / "run")
    shown = json.loads(sonde("show", run, "--json"))
    assert (shown["requests"], shown["source"]) == (60, "scrapy")
    best = shown["best"][0]["url"]
    assert "predicted" in sonde("explain", run, best)
    sonde("export", run, "--parquet", str(tmp_path / "out"), "--jsonl", str(tmp_path / "pages"))
    assert any((tmp_path / "out").iterdir())
    pages = [json.loads(line) for line in (tmp_path / "pages").read_text().splitlines()]
    assert any("tide gauge of the harbour" in (page["text"] or "") for page in pages)
    refused = subprocess.run(
        [sys.executable, "-m", "sonde", "crawl", run, "--resume"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 2
    assert "driven by Scrapy" in refused.stderr


def test_link_texts_are_told(scrapy_loop: ScrapyLoop, tmp_path: Path) -> None:
    """By the response, and by a link extractor where it says so."""

    class Texts(scrapy.Spider):
        name = "texts"

        async def start(self) -> Any:
            yield scrapy.Request(site.url + "/")

        def parse(self, response: Any) -> Any:
            yield from response.follow_all(css="a")

    links = {"/a": "tide gauge of the harbour", "/b": "something else"}
    with served({"/": page("", links), "/a": page("a", {}), "/b": page("b", {})}) as site:
        more = {"SONDE_TOPIC": "tide gauge", "SONDE_ESTIMATOR": "e:sum", "CONCURRENT_REQUESTS": 1}
        scrapy_loop.crawl(Texts, settings=settings_for(tmp_path, 2, **more))
        assert site.paths() == ["/", "/a"]
