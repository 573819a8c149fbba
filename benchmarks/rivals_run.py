"""One contestant of the duel, in a process of its own.

    rivals_run.py NAME START TOPIC PHRASE LIMIT

Each is written as its documentation says, with its limit set to LIMIT, and keeps to the host of
START. Spiders yield an item for a page that says PHRASE; all others are told TOPIC.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

AT_ONCE = 16


def run_sonde(start: str, topic: str, limit: int) -> None:
    from sonde.crawling import crawl

    with tempfile.TemporaryDirectory() as folder:
        crawl(
            start,
            path=Path(folder) / "run",
            topic=topic,
            budget=limit,
            delay=0,
            concurrency=AT_ONCE,
            per_host=AT_ONCE,
            allow_private=True,
            contact="bench@localhost",
        )


BREADTH_FIRST = {
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}
"""What Scrapy's documentation says for crawls in breadth-first order."""


def run_scrapy(name: str, start: str, topic: str, phrase: str, limit: int) -> None:
    import scrapy
    from scrapy.crawler import CrawlerProcess
    from scrapy.linkextractors import LinkExtractor

    host = urlsplit(start).hostname
    origin = start[: start.index("/", 8) + 1]
    seen = {start}

    class Idiomatic(scrapy.Spider):
        name = "idiomatic"
        start_urls = (start,)
        allowed_domains = (host,)
        links = LinkExtractor()

        def parse(self, response: Any) -> Any:
            text = " ".join(response.css("body ::text").getall())
            if phrase in " ".join(text.lower().split()):
                yield {"url": response.url}
            yield from response.follow_all(self.links.extract_links(response))

    class Tuned(scrapy.Spider):
        name = "tuned"
        start_urls = (start,)

        def parse(self, response: Any) -> Any:
            from selectolax.lexbor import LexborHTMLParser

            tree = LexborHTMLParser(response.body)
            if phrase in " ".join(tree.text(separator=" ").lower().split()):
                yield {"url": response.url}
            for node in tree.css("a[href]"):
                url = response.urljoin(node.attributes["href"] or "").partition("#")[0]
                if url not in seen and url.startswith(origin):
                    seen.add(url)
                    yield scrapy.Request(url, dont_filter=True)

    told: dict[str, Any] = {
        "CONCURRENT_REQUESTS": AT_ONCE,
        "CONCURRENT_REQUESTS_PER_DOMAIN": AT_ONCE,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": True,
        "LOG_LEVEL": "CRITICAL",
        "TELNETCONSOLE_ENABLED": False,
    }
    with tempfile.TemporaryDirectory() as folder:
        if "sonde" in name:
            told["ADDONS"] = {"sonde.scrapy.Addon": 300}
            told |= {"SONDE_BUDGET": limit, "SONDE_FOLDER": str(Path(folder) / "run")}
            if "topic" in name:
                told["SONDE_TOPIC"] = topic
        else:
            told["CLOSESPIDER_PAGECOUNT"] = limit
        if "breadth" in name or "tuned" in name:
            told |= BREADTH_FIRST
        process = CrawlerProcess(told)
        process.crawl(Tuned if "tuned" in name else Idiomatic)
        process.start()


def run_crawl4ai(name: str, start: str, topic: str, limit: int) -> None:
    from crawl4ai import (
        AdaptiveConfig,
        AdaptiveCrawler,
        AsyncWebCrawler,
        BestFirstCrawlingStrategy,
        BFSDeepCrawlStrategy,
        CacheMode,
        CrawlerRunConfig,
        KeywordRelevanceScorer,
    )
    from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy

    async def main() -> None:
        async with AsyncWebCrawler(
            crawler_strategy=AsyncHTTPCrawlerStrategy(), verbose=False
        ) as crawler:
            if "Adaptive" in name:
                config = AdaptiveConfig(max_pages=limit)
                if "thorough" in name:
                    config = AdaptiveConfig(
                        max_pages=limit, confidence_threshold=0.95, top_k_links=10
                    )
                await AdaptiveCrawler(crawler, config).digest(start_url=start, query=topic)
                return
            deep: Any = BFSDeepCrawlStrategy(max_depth=20, max_pages=limit)
            if "BestFirst" in name:
                scorer = KeywordRelevanceScorer(keywords=topic.split(), weight=1.0)
                deep = BestFirstCrawlingStrategy(max_depth=20, max_pages=limit, url_scorer=scorer)
            told = CrawlerRunConfig(
                deep_crawl_strategy=deep, cache_mode=CacheMode.BYPASS, verbose=False, stream=True
            )
            async for _ in await crawler.arun(start, config=told):
                pass

    asyncio.run(main())


if __name__ == "__main__":
    contestant, first, about, said, most = sys.argv[1:]
    if contestant == "sonde":
        run_sonde(first, about, int(most))
    elif contestant.startswith("Scrapy"):
        run_scrapy(contestant, first, about, said, int(most))
    else:
        run_crawl4ai(contestant, first, about, int(most))
