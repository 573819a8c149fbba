"""The scheduler: asks the explorer for requests that explore, and queues all others as before."""

from __future__ import annotations

from typing import Any

from scrapy import signals
from scrapy.core.scheduler import Scheduler as ScrapyScheduler
from scrapy.dupefilters import RFPDupeFilter
from scrapy.exceptions import CloseSpider
from scrapy.utils.defer import deferred_from_coro

from sonde.scrapy.spider_run import BUDGET, SpiderRun


class Scheduler(ScrapyScheduler):
    """Scrapy's scheduler, whose queues hold only what does not explore: a request made a second
    time with ``dont_filter``. A filter for duplicates of the project's own decides in the place of
    Scrapy's, also where it lets everything pass."""

    @classmethod
    def from_crawler(cls, crawler: Any) -> Scheduler:
        """Called by Scrapy once for every crawler."""
        scheduler: Scheduler = super().from_crawler(crawler)
        scheduler.run = SpiderRun.of(crawler)
        scheduler.own_filter = type(scheduler.df) is not RFPDupeFilter
        if not scheduler.own_filter:
            # What was seen is in the run; this one only says so.
            scheduler.df.close("")
            debug = crawler.settings.getbool("DUPEFILTER_DEBUG")
            fingerprinter = crawler.request_fingerprinter
            scheduler.df = RFPDupeFilter(None, debug, fingerprinter=fingerprinter)
        scheduler.closing = False
        crawler.signals.connect(scheduler.idle, signal=signals.spider_idle)
        return scheduler

    run: SpiderRun
    own_filter: bool
    closing: bool

    def open(self, spider: Any) -> Any:
        """Open the run, then the queues."""
        self.run.begin(spider)
        return super().open(spider)

    def close(self, reason: str) -> Any:
        """Close the run, then the queues."""
        self.run.end(reason)
        return super().close(reason)

    def has_pending_requests(self) -> bool:
        """Whether there is something to send, now or when a slot is free."""
        self.run.sweep()
        return self.run.waiting or super().has_pending_requests()

    def enqueue_request(self, request: Any) -> bool:
        """Take in a request; ``False`` for one that was seen."""
        if self.own_filter and not request.dont_filter and self.df.request_seen(request):
            self.df.log(request, self.spider)
            return False
        fate = self.run.admit(request, again=request.dont_filter or self.own_filter)
        if fate == "filtered":
            self.df.log(request, self.spider)
            return False
        where = "memory"
        if fate == "repeat":
            if self._dqpush(request):
                where = "disk"
            else:
                self._mqpush(request)
        self.stats.inc_value(f"scheduler/enqueued/{where}")
        self.stats.inc_value("scheduler/enqueued")
        return True

    def next_request(self) -> Any:
        """What follows from an open visit, then what does not explore, then the best node."""
        self.run.sweep()
        request = self.run.continued()
        if request is None:
            request = super().next_request()
            if request is not None:
                return request
            request = self.run.leased()
        if request is not None:
            self.stats.inc_value("scheduler/dequeued/memory")
            self.stats.inc_value("scheduler/dequeued")
        elif self.run.over and not self.closing:
            self._close_when_idle()
        return request

    def __len__(self) -> int:
        return super().__len__() + self.run.explorer.frontier_size  # type: ignore[no-any-return]

    def idle(self) -> None:
        """The spider has nothing to do: where that is for want of budget, it closes for that."""
        if self.run.session is not None and self.run.over:
            raise CloseSpider(BUDGET)

    def _close_when_idle(self) -> None:
        """Close the spider although its ``start`` may have more to say: nothing can be sent."""
        engine = self.crawler.engine
        if engine.downloader.active or super().__len__():
            return
        self.closing = True
        _call_soon(lambda: _close(engine))


def _close(engine: Any) -> None:
    if engine.spider is None:
        return
    if hasattr(engine, "close_spider_async"):  # Scrapy 2.14 and later
        deferred_from_coro(engine.close_spider_async(reason=BUDGET))
    else:
        engine.close_spider(engine.spider, reason=BUDGET)


def _call_soon(function: Any) -> None:
    """After the engine's step that is under way."""
    try:
        from scrapy.utils.asyncio import call_later  # Scrapy 2.14 and later
    except ImportError:
        from twisted.internet import reactor

        reactor.callLater(0, function)
    else:
        call_later(0, function)
