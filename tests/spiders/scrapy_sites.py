"""Scrapy itself, run in a thread for a whole test session."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple


class Crawled(NamedTuple):
    """What came of a spider: its items, its statistics, its closing reason."""

    items: list[Any]
    stats: dict[str, Any]
    reason: str


class ScrapyLoop:
    """Twisted's reactor over asyncio, in a thread of its own: it cannot be started twice."""

    def __init__(self) -> None:
        from scrapy.utils.reactor import install_reactor

        install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
        from twisted.internet import reactor

        self.reactor: Any = reactor
        self._thread = threading.Thread(
            target=self.reactor.run, kwargs={"installSignalHandlers": False}, daemon=True
        )
        self._thread.start()

    def crawl(
        self, *spiders: type[Any], settings: dict[str, Any], arguments: dict[str, Any] | None = None
    ) -> list[Crawled]:
        """Run spiders to their ends, all at once."""
        from scrapy import signals
        from scrapy.crawler import CrawlerRunner
        from twisted.internet.defer import DeferredList
        from twisted.internet.threads import blockingCallFromThread

        told = {
            "ADDONS": {"sonde.scrapy.Addon": 300},
            "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
            "LOG_LEVEL": "CRITICAL",
            "TELNETCONSOLE_ENABLED": False,
            "ROBOTSTXT_OBEY": False,
            "DOWNLOAD_DELAY": 0,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
            "RETRY_ENABLED": True,
            **settings,
        }
        runner = CrawlerRunner(told)
        made: list[tuple[Any, list[Any]]] = []

        def start() -> Any:
            waiting = []
            for spider in spiders:
                crawler = runner.create_crawler(spider)
                items: list[Any] = []

                def scraped(item: Any, items: list[Any] = items) -> None:
                    items.append(item)

                crawler.signals.connect(scraped, signal=signals.item_scraped, weak=False)
                made.append((crawler, items))
                waiting.append(runner.crawl(crawler, **(arguments or {})))
            return DeferredList(waiting, consumeErrors=True)

        results = blockingCallFromThread(self.reactor, start)
        for fine, value in results:
            if not fine:
                value.raiseException()
        return [
            Crawled(items, crawler.stats.get_stats(), crawler.stats.get_value("finish_reason"))
            for crawler, items in made
        ]
