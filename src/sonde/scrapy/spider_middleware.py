"""The telling middleware: what a spider made of a response becomes a visit."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import cached_property
from typing import Any

from itemadapter import is_item
from scrapy import Request
from scrapy.downloadermiddlewares.offsite import OffsiteMiddleware

from sonde.scrapy.open_visit import OpenVisit
from sonde.scrapy.request_book import LEASE
from sonde.scrapy.responses import ReadResponse, own_score
from sonde.scrapy.spider_run import SpiderRun

EXPLORES = "sonde_explore"
"""The key of ``Request.meta`` by which a spider says whether a request explores."""


class TellingMiddleware:
    """Sees all that comes out of callbacks, after every other middleware."""

    def __init__(self, crawler: Any) -> None:
        self._crawler = crawler
        self._run = SpiderRun.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Any) -> TellingMiddleware:
        """Called by Scrapy once for every crawler."""
        return cls(crawler)

    async def process_spider_output(
        self, response: Any, result: Any, spider: Any = None
    ) -> AsyncIterator[Any]:
        """Hand on everything, and note it with the visit that it belongs to."""
        run = self._run
        visit = run.open.get(response.meta.get(LEASE, 0)) if response.request else None
        if visit is None:
            async for output in result:
                yield _without_lease(output)
            return
        read: ReadResponse | None = None
        try:
            read = await self._read(response, visit)
            async for output in result:
                if isinstance(output, Request):
                    self._note(visit, read, _without_lease(output))
                elif output is not None:
                    visit.items += 1
                    if run.judge is None and run.scorer is None:
                        visit.score += 1.0
                yield output
        except Exception:
            visit.trouble = "spider-error"
            raise
        finally:
            run.said(visit, response.request)

    def process_spider_exception(
        self, response: Any, exception: Exception, spider: Any = None
    ) -> None:
        """No other middleware has dealt with it."""
        if response.request is not None:
            self._run.failed(response.request, "spider-error")

    async def _read(self, response: Any, visit: OpenVisit) -> ReadResponse:
        run = self._run
        read = ReadResponse(response, run.scorer)
        if run.judge is not None:
            visit.score += await own_score(run.judge, response)
        elif run.scorer is not None:
            run.scored()
            visit.score += read.score
        if visit.facts is None or response.status < 400 <= visit.facts.status:
            visit.facts = read.facts(text=run.text)
        return read

    def _note(self, visit: OpenVisit, read: ReadResponse, request: Any) -> None:
        """What a request that the spider yields is to the visit: a link, or one of its own."""
        if not explores(request):
            self._run.chain(visit, request)
            return
        if self._offsite(request):
            visit.refused.append((request.url, "scope"))
            return
        promise = read.promise(request.url)
        text = str(request.meta.get("link_text") or promise.text).strip()
        base = promise.score if self._run.scorer is not None else 1.0
        self._run.expect(visit, request, prior(base, request.priority), text)

    @cached_property
    def _site_filter(self) -> Any:
        return self._crawler.get_downloader_middleware(OffsiteMiddleware)

    def _offsite(self, request: Any) -> bool:
        """Whether Scrapy will drop it for its host."""
        middleware = self._site_filter
        if middleware is None or request.dont_filter or request.meta.get("allow_offsite"):
            return False
        return not middleware.should_follow(request, self._crawler.spider)


def explores(request: Any) -> bool:
    """Whether a request that a callback yields is one of many to choose from, rather than one that
    completes an item: such a request carries the item."""
    told = request.meta.get(EXPLORES)
    if told is not None:
        return bool(told)
    carried = [*request.cb_kwargs.values(), request.meta.get("item")]
    carried += [value for value in request.meta.values() if not isinstance(value, dict)]
    return not any(is_item(value) for value in carried)


def prior(promise: float, priority: int) -> float:
    """What a link promises, given the priority of its request: as much more as it is above 0, that
    many times less as it is below.

    >>> prior(1.0, 0), prior(1.0, 5), prior(1.0, -1)
    (1.0, 6.0, 0.5)
    """
    return promise + priority if priority >= 0 else promise / (1 - priority)


def _without_lease(output: Any) -> Any:
    """Children of a request do not inherit its lease, also where a spider copies its ``meta``."""
    if isinstance(output, Request):
        output.meta.pop(LEASE, None)
    return output
