"""A spider that was stopped or killed goes on under the same budget, and asks for nothing twice
that it has had."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from scrapy_sites import ScrapyLoop
from test_spider_budget import follower

from loopback_site import LoopbackSite, page, served, topical
from sonde.errors import InputError
from sonde.store.reader import RunReader
from sonde.store.summary import totals

scrapy: Any = pytest.importorskip("scrapy", reason="the extra scrapy is not installed")

HERE = Path(__file__).parent


def victim(site: LoopbackSite, job: Path, budget: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(HERE / "spider_victim.py"), site.url + "/", str(job), str(budget)],
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        stderr=subprocess.PIPE,
        text=True,
    )


def repeated(site: LoopbackSite) -> set[str]:
    """Pages that were asked for twice, those apart that fail at first, redirect, or are no page."""
    return {
        path
        for path, count in site.counts().items()
        if count > 1 and path.startswith("/p/") and int(path[3:]) % 31 != 11
    }


def test_a_spider_that_is_stopped_goes_on(scrapy_loop: ScrapyLoop, tmp_path: Path) -> None:
    with served(topical(600)) as site:
        told = {"SONDE_BUDGET": 150, "JOBDIR": str(tmp_path / "job")}
        spider = follower(site.url + "/")
        (first,) = scrapy_loop.crawl(spider, settings={**told, "CLOSESPIDER_ITEMCOUNT": 10})
        assert first.reason == "closespider_itemcount"
        before = len(site.log)
        assert before < 150
        with RunReader(tmp_path / "job" / "sonde") as run:
            assert (totals(run).in_flight, run.stop) == (0, "interrupted")
        (second,) = scrapy_loop.crawl(spider, settings=told)
        assert len(site.log) == 150
        assert second.reason == "sonde_budget"
        assert repeated(site) == set()
        assert site.counts()["/"] == 1
        # Again, with nothing left: nothing is asked for.
        (third,) = scrapy_loop.crawl(spider, settings=told)
        assert (len(site.log), third.reason) == (150, "sonde_budget")
        # With more, it goes on.
        scrapy_loop.crawl(spider, settings={**told, "SONDE_BUDGET": 160})
        assert len(site.log) == 160


@pytest.mark.slow
@pytest.mark.parametrize("after", [5, 60])
def test_a_spider_that_is_killed_goes_on(tmp_path: Path, after: int) -> None:
    with served(topical(600)) as site:
        process = victim(site, tmp_path / "job", 150)
        waited = time.monotonic() + 60
        while len(site.log) < after and process.poll() is None and time.monotonic() < waited:
            time.sleep(0.005)
        process.kill()
        process.communicate()
        killed_at = len(site.log)
        assert killed_at >= after
        process = victim(site, tmp_path / "job", 150)
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
        with RunReader(tmp_path / "job" / "sonde") as run:
            found = totals(run)
            assert (found.requests, found.in_flight, run.stop) == (150, 0, "budget")
            # What was in flight counts as spent, whether it left or not.
            assert 150 - 17 * 2 <= len(site.log) <= 150
            visited = run.count("SELECT count(DISTINCT node) FROM leases WHERE outcome = 'visit'")
            assert visited == found.visits


def test_requests_come_back_as_they_were(scrapy_loop: ScrapyLoop, tmp_path: Path) -> None:
    """Method, body, headers, callback, meta: also after another process."""
    stop = [True]

    class Rich(scrapy.Spider):
        name = "rich"

        async def start(self) -> Any:
            yield scrapy.Request(site.url + "/")

        def parse(self, response: Any) -> Any:
            for number in range(3):
                yield scrapy.Request(
                    site.url + f"/p/{number}",
                    self.other,
                    method="POST",
                    body=b"\xff\x00body",
                    headers={"X-Told": "thing"},
                    meta={"kept": ["a", 1]},
                    cb_kwargs={"count": 3},
                )
            if stop[0]:
                raise scrapy.exceptions.CloseSpider("enough")

        def other(self, response: Any, count: int) -> Any:
            request = response.request
            yield {
                "method": request.method,
                "body": request.body,
                "told": request.headers["X-Told"],
                "kept": response.meta["kept"],
                "count": count,
            }

    with served(topical(10, errors=False)) as site:
        told = {"SONDE_BUDGET": 10, "JOBDIR": str(tmp_path / "job")}
        (first,) = scrapy_loop.crawl(Rich, settings=told)
        assert (first.reason, first.items) == ("enough", [])
        stop[0] = False
        (second,) = scrapy_loop.crawl(Rich, settings=told)
        assert [method for method, _ in site.log] == ["GET", "POST", "POST", "POST"]
    expected = {"method": "POST", "body": b"\xff\x00body", "told": b"thing"}
    assert second.items == [{**expected, "kept": ["a", 1], "count": 3}] * 3


def test_what_cannot_be_written_down_is_crawled_all_the_same(
    scrapy_loop: ScrapyLoop, tmp_path: Path
) -> None:
    class Closures(scrapy.Spider):
        name = "closures"

        async def start(self) -> Any:
            yield scrapy.Request(site.url + "/")

        def parse(self, response: Any) -> Any:
            yield scrapy.Request(site.url + "/a", lambda found: [{"url": found.url}])
            yield scrapy.Request(site.url + "/b", self.parse, meta={"pair": (1, 2)})

    with served({"/": page("", {}), "/a": page("", {}), "/b": page("", {})}) as site:
        told = {"SONDE_BUDGET": 10, "SONDE_FOLDER": str(tmp_path / "run")}
        (crawled,) = scrapy_loop.crawl(Closures, settings=told)
        assert sorted(site.paths()) == ["/", "/a", "/b"]
    assert len(crawled.items) == 1
    assert crawled.stats["scheduler/unserializable"] == 2


def test_another_topic_needs_another_run(scrapy_loop: ScrapyLoop, tmp_path: Path) -> None:
    with served(topical(50)) as site:
        told = {"SONDE_BUDGET": 5, "SONDE_FOLDER": str(tmp_path / "run")}
        spider = follower(site.url + "/")
        scrapy_loop.crawl(spider, settings=told)
        with pytest.raises(InputError, match="topic was None and is 'tides' now"):
            scrapy_loop.crawl(spider, settings={**told, "SONDE_TOPIC": "tides"})
        assert len(site.log) == 5
