"""The budget of a spider is exact at the server, whatever Scrapy does besides asking for pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scrapy_sites import ScrapyLoop

from loopback_site import served, topical
from sonde.store.reader import RunReader
from sonde.store.summary import totals

scrapy: Any = pytest.importorskip("scrapy", reason="the extra scrapy is not installed")


def follower(start: str) -> type[Any]:
    """The spider of a tutorial: items on topic, all links followed."""

    class Follower(scrapy.Spider):
        name = "follower"
        start_urls = (start,)

        def parse(self, response: Any) -> Any:
            if "tide gauge of" in response.text:
                yield {"url": response.url}
            yield from response.follow_all(css="a")

    return Follower


@pytest.mark.parametrize("budget", [1, 57, 100, 301])
def test_the_server_sees_what_the_budget_says(
    scrapy_loop: ScrapyLoop, tmp_path: Path, budget: int
) -> None:
    with served(topical(600)) as site:
        (crawled,) = scrapy_loop.crawl(
            follower(site.url + "/"),
            settings={
                "SONDE_BUDGET": budget,
                "SONDE_FOLDER": str(tmp_path / "run"),
                "ROBOTSTXT_OBEY": True,
            },
        )
        assert len(site.log) == budget
    assert crawled.reason == "sonde_budget"
    with RunReader(tmp_path / "run") as run:
        found = totals(run)
        assert (found.requests, found.in_flight, run.stop) == (budget, 0, "budget")
