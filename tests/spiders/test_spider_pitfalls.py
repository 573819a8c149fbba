"""What spiders do besides following links: each has its place in a run, and none of it breaks the
budget, loses a lease or loses an item."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from scrapy_sites import ScrapyLoop

from loopback_site import Answer, page, served, topical
from sonde.store.reader import RunReader, trace
from sonde.store.summary import reasons, totals

scrapy: Any = pytest.importorskip("scrapy", reason="the extra scrapy is not installed")
Spider: Any = scrapy.Spider
Request: Any = scrapy.Request


def run_of(folder: Path) -> dict[str, Any]:
    """Outcome and reason of every node of a run, and nothing in flight."""
    with RunReader(folder) as run:
        assert totals(run).in_flight == 0
        rows = run.rows(
            "SELECT url, outcome, coalesce(reason, ''), requests FROM leases"
            " JOIN nodes ON nodes.number = leases.node ORDER BY leases.number"
        )
        return {url: (outcome, reason, requests) for url, outcome, reason, requests in rows}


def settings_for(folder: Path, budget: int = 100, /, **more: Any) -> dict[str, Any]:
    return {"SONDE_BUDGET": budget, "SONDE_FOLDER": str(folder / "run"), **more}


def test_a_request_that_is_refused_at_the_wire_settles_its_lease(
    scrapy_loop: ScrapyLoop, tmp_path: Path
) -> None:
    """A redirect that the budget does not hold: the node goes back to the frontier."""
    answers = {"/": page("", {"/r": "r"}), "/r": Answer("", 302, "/t"), "/t": page("t", {})}

    class Redirected(Spider):
        name = "redirected"

        async def start(self) -> Any:
            yield Request(site.url + "/")

        def parse(self, response: Any) -> Any:
            yield from response.follow_all(css="a")

    with served(dict(answers)) as site:
        scrapy_loop.crawl(Redirected, settings=settings_for(tmp_path, 2))
        assert site.paths() == ["/", "/r"]
        found = run_of(tmp_path / "run")
        assert found[site.url + "/r"] == ("skip", "budget", 1)
        with RunReader(tmp_path / "run") as run:
            assert trace(run, site.url + "/r").state == "frontier"
        # With more budget the same spider goes on there.
        scrapy_loop.crawl(Redirected, settings=settings_for(tmp_path, 4))
        assert site.paths() == ["/", "/r", "/r", "/t"]
        assert run_of(tmp_path / "run")[site.url + "/r"] == ("visit", "", 2)


def test_failures_settle_their_leases_with_a_reason(
    scrapy_loop: ScrapyLoop, tmp_path: Path
) -> None:
    links = {
        "/gone": "gone",
        "/private/x": "private",
        "/loop": "loop",
        "/raises": "raises",
        "http://127.0.0.1:9/": "nobody",
        "http://other.example/": "other",
    }
    answers = {
        "/": page("", links),
        "/loop": Answer("", 302, "/loop"),
        "/raises": page("raises", {}),
        "/robots.txt": Answer("User-agent: *\nDisallow: /private/", kind="text/plain"),
    }

    class Failing(Spider):
        name = "failing"
        allowed_domains = ("127.0.0.1",)

        async def start(self) -> Any:
            yield Request(site.url + "/")

        def parse(self, response: Any) -> Any:
            if response.url.endswith("raises"):
                raise RuntimeError("the spider is wrong")
            yield from response.follow_all(css="a")

    with served(dict(answers)) as site:
        more = {"ROBOTSTXT_OBEY": True, "RETRY_ENABLED": False, "REDIRECT_MAX_TIMES": 3}
        scrapy_loop.crawl(Failing, settings=settings_for(tmp_path, **more))
        found = run_of(tmp_path / "run")
        assert found[site.url + "/gone"][:2] == ("failure", "http-404")
        assert found[site.url + "/private/x"] == ("skip", "robots", 0)
        assert found[site.url + "/raises"][:2] == ("failure", "spider-error")
        assert found["http://127.0.0.1:9/"][:2] == ("failure", "connect")
        assert found[site.url + "/loop"][:2] == ("skip", "duplicate")
        with RunReader(tmp_path / "run") as run:
            assert trace(run, "http://other.example/").reason == "scope"
            # One request that nobody answered is charged like the others.
            assert totals(run).requests == len(site.log) + 2


def test_a_retry_belongs_to_the_lease_of_what_is_retried(
    scrapy_loop: ScrapyLoop, tmp_path: Path
) -> None:
    answers = {"/": page("", {"/bad": "bad"}), "/bad": Answer("busy", 503)}

    class Retried(Spider):
        name = "retried"

        async def start(self) -> Any:
            yield Request(site.url + "/")

        def parse(self, response: Any) -> Any:
            yield from response.follow_all(css="a")

    with served(dict(answers)) as site:
        scrapy_loop.crawl(Retried, settings=settings_for(tmp_path, RETRY_TIMES=2))
        assert site.counts()["/bad"] == 3
        assert run_of(tmp_path / "run")[site.url + "/bad"] == ("failure", "http-503", 3)


def test_one_fingerprint_is_one_node(scrapy_loop: ScrapyLoop, tmp_path: Path) -> None:
    """The same URL by POST is another node; ``dont_filter`` sends what was sent before, once more;
    the order of a query makes no difference."""

    class Several(Spider):
        name = "several"

        async def start(self) -> Any:
            yield Request(site.url + "/")

        def parse(self, response: Any) -> Any:
            yield Request(site.url + "/a?x=1&y=2", self.other)
            yield Request(site.url + "/a?y=2&x=1", self.other)
            yield Request(site.url + "/a?x=1&y=2", self.other, method="POST", body="one")
            yield Request(site.url + "/a?x=1&y=2", self.other, method="POST", body="two")
            yield Request(site.url + "/a?x=1&y=2", self.other, dont_filter=True)

        def other(self, response: Any) -> Any:
            yield {"method": response.request.method}

    answer = page("a", {})
    with served({"/": page("", {}), "/a?x=1&y=2": answer, "/a?y=2&x=1": answer}) as site:
        (crawled,) = scrapy_loop.crawl(Several, settings=settings_for(tmp_path))
        methods = sorted(method for method, path in site.log if path != "/")
        assert methods == ["GET", "GET", "POST", "POST"]
        assert len(crawled.items) == 4
        assert crawled.stats["dupefilter/filtered"] == 1
        found = run_of(tmp_path / "run")
        assert len(found) == 4
        assert sum(" POST " in name for name in found) == 2
        with RunReader(tmp_path / "run") as run:
            assert totals(run).requests == len(site.log) == 5
            assert [(each.outcome, each.requests) for each in reasons(run)][-1] == ("aside", 1)


def test_start_may_yield_late_and_without_end(scrapy_loop: ScrapyLoop, tmp_path: Path) -> None:
    """A spider that is still being fed stays open while there is budget, and closes without."""

    class Fed(Spider):
        name = "fed"

        async def start(self) -> Any:
            number = 0
            while True:
                await asyncio.sleep(0.05)
                number += 1
                yield Request(f"{site.url}/p/{number}")

        def parse(self, response: Any) -> Any:
            yield {"url": response.url}

    with served(topical(200, errors=False)) as site:
        (crawled,) = scrapy_loop.crawl(Fed, settings=settings_for(tmp_path, 7))
        assert len(site.log) == 7
    assert (crawled.reason, len(crawled.items)) == ("sonde_budget", 7)
    assert all(outcome == "visit" for outcome, _, _ in run_of(tmp_path / "run").values())


def test_slots_are_groups(scrapy_loop: ScrapyLoop, tmp_path: Path) -> None:
    """With a delay, one request stands before a slot and no more; another slot is asked
    meanwhile."""
    standing: list[int] = []

    class Slow(Spider):
        name = "slow"

        async def start(self) -> Any:
            yield Request(site.url + "/", meta={"download_slot": "one"})
            yield Request(site.url + "/p/1", meta={"download_slot": "two"})

        def parse(self, response: Any) -> Any:
            downloader = self.crawler.engine.downloader
            standing.extend(len(slot.queue) for slot in downloader.slots.values())
            slot = response.meta["download_slot"]
            for request in response.follow_all(css="a"):
                yield request.replace(meta={"download_slot": slot})

    with served(topical(200, errors=False)) as site:
        slots = {
            "one": {"delay": 0.1, "concurrency": 4, "randomize_delay": False},
            "two": {"delay": 0.1, "concurrency": 4, "randomize_delay": False},
        }
        if scrapy.version_info >= (2, 19):
            slots = {name: {"delay": 0.1, "concurrency": 4, "jitter": 0} for name in slots}
        scrapy_loop.crawl(Slow, settings=settings_for(tmp_path, 16, DOWNLOAD_SLOTS=slots))
    assert max(standing) <= 1
    with RunReader(tmp_path / "run") as run:
        hosts = dict(
            run.rows(
                "SELECT host, count(*) FROM leases JOIN nodes ON nodes.number = leases.node"
                " GROUP BY host"
            )
        )
        assert set(hosts) == {"one", "two"}
        assert min(hosts.values()) >= 5
        assert run.count("SELECT count(*) FROM leases WHERE ready = 1") > 0


def test_priority_is_a_prior(scrapy_loop: ScrapyLoop, tmp_path: Path) -> None:
    """Where nothing else tells links apart, the priority does."""

    class Prior(Spider):
        name = "prior"

        async def start(self) -> Any:
            yield Request(site.url + "/")

        def parse(self, response: Any) -> Any:
            for number in range(30):
                yield Request(f"{site.url}/p/{number}", self.nothing, priority=number % 3 - 1)

        def nothing(self, response: Any) -> None:
            pass

    with served(topical(50, errors=False)) as site:
        more = {"CONCURRENT_REQUESTS": 1, "SONDE_ESTIMATOR": "e:sum"}
        scrapy_loop.crawl(Prior, settings=settings_for(tmp_path, 31, **more))
        numbers = [int(path.rpartition("/")[2]) for path in site.paths()[1:]]
    assert [number % 3 - 1 for number in numbers] == [1] * 10 + [0] * 10 + [-1] * 10


def test_children_do_not_inherit_the_lease(scrapy_loop: ScrapyLoop, tmp_path: Path) -> None:
    """Also where a spider hands its ``meta`` on, as many do."""

    class Copying(Spider):
        name = "copying"

        async def start(self) -> Any:
            yield Request(site.url + "/")

        def parse(self, response: Any) -> Any:
            for href in response.css("a::attr(href)").getall():
                yield response.follow(href, meta=response.meta)

    with served(topical(100, errors=False)) as site:
        scrapy_loop.crawl(Copying, settings=settings_for(tmp_path, 40))
        assert len(site.log) == 40
    found = run_of(tmp_path / "run")
    assert len(found) == 40
    assert {requests for _, _, requests in found.values()} == {1}


def test_several_spiders_in_one_process(scrapy_loop: ScrapyLoop, tmp_path: Path) -> None:
    def spider(number: int, start: str) -> type[Any]:
        class One(Spider):
            name = f"one{number}"
            start_urls = (start,)

            def parse(self, response: Any) -> Any:
                yield from response.follow_all(css="a")

        return One

    with served(topical(300)) as first, served(topical(300, seed=2)) as second:
        scrapy_loop.crawl(
            spider(1, first.url + "/"),
            spider(2, second.url + "/"),
            settings={"SONDE_BUDGET": 50, "SONDE_FOLDER": str(tmp_path / "run-%(name)s")},
        )
        assert (len(first.log), len(second.log)) == (50, 50)
    for name in ("one1", "one2"):
        with RunReader(tmp_path / f"run-{name}") as run:
            assert totals(run).requests == 50


def test_a_chain_that_completes_an_item_is_not_exploration(
    scrapy_loop: ScrapyLoop, tmp_path: Path
) -> None:
    """It is sent at once, under the lease of the page that began it, and what it brings counts
    for that page."""
    answers = {"/": page("", {f"/p/{number}": "p" for number in range(100)})}
    for number in range(100):
        answers[f"/p/{number}"] = page("p", {"/decoy": "decoy"})
        answers[f"/d/{number}"] = page("d", {"/found": "found"})

    class Chained(Spider):
        name = "chained"

        async def start(self) -> Any:
            yield Request(site.url + "/")

        def parse(self, response: Any) -> Any:
            yield from response.follow_all(css="a", callback=self.parse_item)

        def parse_item(self, response: Any) -> Any:
            url = response.url.replace("/p/", "/d/")
            yield Request(url, self.complete, cb_kwargs={"item": {"url": response.url}})

        def complete(self, response: Any, item: dict[str, Any]) -> Any:
            yield {**item, "detail": response.url}
            yield from response.follow_all(css="a", callback=self.complete, cb_kwargs={"item": 1})

    with served(dict(answers)) as site:
        more = {"CONCURRENT_REQUESTS": 1}
        (crawled,) = scrapy_loop.crawl(Chained, settings=settings_for(tmp_path, 41, **more))
        assert len(site.log) == 41
        assert len(crawled.items) >= 18  # nearly every page that is begun is finished
        found = run_of(tmp_path / "run")
        assert list(found.values()).count(("visit", "", 2)) == len(crawled.items)
        with RunReader(tmp_path / "run") as run:
            assert totals(run).value == len(crawled.items)
            # What a chain links to is told with the page.
            assert trace(run, site.url + "/found").state != "unknown"
            assert trace(run, site.url + "/d/0").state in ("unknown", "redirect")


def test_what_an_errback_asks_for_is_sent(scrapy_loop: ScrapyLoop, tmp_path: Path) -> None:
    answers = {"/": page("", {"/bad": "bad"}), "/mirror": page("mirror", {})}

    class Errback(Spider):
        name = "errback"

        async def start(self) -> Any:
            yield Request(site.url + "/")

        def parse(self, response: Any) -> Any:
            yield Request("http://127.0.0.1:9/", self.found, errback=self.copied)
            yield Request("http://127.0.0.1:9/2", self.found, errback=self.fresh)

        def copied(self, failure: Any) -> Any:
            yield failure.request.replace(url=site.url + "/mirror", dont_filter=True)

        def fresh(self, failure: Any) -> Any:
            yield Request(site.url + "/mirror?2", self.found)

        def found(self, response: Any) -> Any:
            yield {"url": response.url}

    with served({**answers, "/mirror?2": page("mirror", {})}) as site:
        (crawled,) = scrapy_loop.crawl(
            Errback, settings=settings_for(tmp_path, RETRY_ENABLED=False)
        )
        assert sorted(site.paths()) == ["/", "/mirror", "/mirror?2"]
        assert len(crawled.items) == 2
        assert run_of(tmp_path / "run")["http://127.0.0.1:9/"] == ("visit", "", 2)


def test_media_count_and_a_cache_does_not(scrapy_loop: ScrapyLoop, tmp_path: Path) -> None:
    """Files of a pipeline are charged besides; what a cache answers costs nothing."""

    class Files(Spider):
        name = "files"

        async def start(self) -> Any:
            yield Request(site.url + "/p/0")

        def parse(self, response: Any) -> Any:
            yield {"file_urls": [f"{site.url}/file?{response.url[-1]}"]}
            yield from response.follow_all(css="a")

    with served(topical(30, errors=False)) as site:
        more = {
            "ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1},
            "FILES_STORE": str(tmp_path / "files"),
            "HTTPCACHE_ENABLED": True,
            "HTTPCACHE_DIR": str(tmp_path / "cache"),
        }
        scrapy_loop.crawl(Files, settings=settings_for(tmp_path, 20, **more))
        assert len(site.log) == 20
        assert any("file?" in path for path in site.paths())
        again = {**more, "SONDE_FOLDER": str(tmp_path / "again")}
        before = len(site.log)
        scrapy_loop.crawl(Files, settings={"SONDE_BUDGET": 20, **again})
        with RunReader(tmp_path / "again") as run:
            assert totals(run).requests == len(site.log) - before <= 20
            assert totals(run).visits > 20


def test_redirects_to_what_is_known(scrapy_loop: ScrapyLoop, tmp_path: Path) -> None:
    """A redirect to a node that waits is followed, and that node is not fetched twice."""
    links = {"/r": "r", "/t": "t"}
    answers = {"/": page("", links), "/r": Answer("", 302, "/t"), "/t": page("t", {"/u": "u"})}

    class Known(Spider):
        name = "known"

        async def start(self) -> Any:
            yield Request(site.url + "/")

        def parse(self, response: Any) -> Any:
            yield {"url": response.url}
            yield from response.follow_all(css="a")

    with served({**answers, "/u": page("u", {"/t": "t"})}) as site:
        (crawled,) = scrapy_loop.crawl(
            Known, settings=settings_for(tmp_path, CONCURRENT_REQUESTS=1)
        )
        assert site.paths() == ["/", "/r", "/t", "/u"]
        assert len(crawled.items) == 3
        assert crawled.reason == "finished"
        found = run_of(tmp_path / "run")
        assert found[site.url + "/r"] == ("visit", "", 2)
        assert found[site.url + "/t"] == ("skip", "duplicate", 0)


def test_sonde_enabled_gives_scrapy_back(scrapy_loop: ScrapyLoop, tmp_path: Path) -> None:
    seen: list[str] = []

    class Plain(Spider):
        name = "plain"

        async def start(self) -> Any:
            yield Request(site.url + "/")

        def parse(self, response: Any) -> Any:
            engine = self.crawler.engine
            seen.append(type(engine._slot.scheduler).__module__)
            assert "sonde_lease" not in response.meta

    with served({"/": page("", {})}) as site:
        scrapy_loop.crawl(Plain, settings=settings_for(tmp_path, 0, SONDE_ENABLED=False))
    assert seen == ["scrapy.core.scheduler"]
    assert not (tmp_path / "run").exists()


def test_a_scheduler_of_the_project_s_own_wins(scrapy_loop: ScrapyLoop, tmp_path: Path) -> None:
    class Own(Spider):
        name = "own"

        async def start(self) -> Any:
            yield Request(site.url + "/")

        def parse(self, response: Any) -> Any:
            yield {"scheduler": type(self.crawler.engine._slot.scheduler).__module__}

    with served({"/": page("", {})}) as site:
        told = settings_for(tmp_path, SCHEDULER="scrapy.core.scheduler.Scheduler")
        (crawled,) = scrapy_loop.crawl(Own, settings=told)
    assert crawled.items == [{"scheduler": "scrapy.core.scheduler"}]


def test_what_is_chosen_waits_for_slow_callbacks(scrapy_loop: ScrapyLoop, tmp_path: Path) -> None:
    """Not more visits are open than Scrapy may send at once, also where servers are quicker."""
    from sonde.scrapy.spider_run import SpiderRun

    opened: list[int] = []

    class Thoughtful(Spider):
        name = "thoughtful"

        async def start(self) -> Any:
            yield Request(site.url + "/")

        async def parse(self, response: Any) -> Any:
            await asyncio.sleep(0.05)
            opened.append(len(SpiderRun.of(self.crawler).open))
            for request in response.follow_all(css="a"):
                yield request

    with served(topical(100, errors=False)) as site:
        scrapy_loop.crawl(Thoughtful, settings=settings_for(tmp_path, 40, CONCURRENT_REQUESTS=4))
        assert len(site.log) == 40
    assert max(opened) == 4


def test_a_filter_of_the_project_s_own_decides(scrapy_loop: ScrapyLoop, tmp_path: Path) -> None:
    """One that lets everything pass, too: what was sent before is sent again."""

    class Twice(Spider):
        name = "twice"

        async def start(self) -> Any:
            yield Request(site.url + "/")

        def parse(self, response: Any) -> Any:
            for _ in range(3):
                yield Request(site.url + "/a", self.other)

        def other(self, response: Any) -> Any:
            yield {"url": response.url}

    with served({"/": page("", {}), "/a": page("", {})}) as site:
        told = settings_for(tmp_path, DUPEFILTER_CLASS="scrapy.dupefilters.BaseDupeFilter")
        (crawled,) = scrapy_loop.crawl(Twice, settings=told)
        assert site.paths() == ["/", "/a", "/a", "/a"]
    assert len(crawled.items) == 3
