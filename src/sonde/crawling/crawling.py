"""A crawl as a person's program sees it: iterate over visits, or run it and look at the result.

``Crawl`` puts the pieces together (explorer, book, source, driver, run folder) for one run, new or
resumed, and takes them apart again at the end. It can be iterated over, plainly or with
``async for``; ``crawl`` runs one to its end.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sonde.budgets import Budget
from sonde.crawling.beginning import Beginning, new_run, resumed_run
from sonde.crawling.driver import Driver
from sonde.crawling.events import Progress, Settled, Stopped
from sonde.crawling.garbage import seldom_collected
from sonde.crawling.loop import new_loop
from sonde.crawling.result import CrawlResult
from sonde.errors import StoreError
from sonde.protocols import Source


class Crawl:
    """One crawl.

    ``source`` is a URL, several, the name of another source (``"mastodon:mastodon.example"``, with
    its ``options``), or an object with one method ``async def visit(node, allowance)`` (see
    ``sonde.protocols.Source``). All but URLs start from ``seeds``. ``path`` is the run folder;
    without one the run is kept in memory. Further arguments are those of ``Settings``; estimator,
    strategy, objective and scorer may also be objects.

    >>> for visit in Crawl("https://a.example", topic="tide gauge", budget=500):  # doctest: +SKIP
    ...     print(visit.node, visit.score, visit.predicted)
    """

    def __init__(
        self,
        source: str | Iterable[str] | Source,
        *,
        seeds: Iterable[str] = (),
        options: Mapping[str, Any] | None = None,
        path: str | Path | None = None,
        on_event: Callable[[Settled | Stopped], None] | None = None,
        **settings: Any,
    ) -> None:
        self._begin: Callable[[], Beginning] = lambda: new_run(
            source, seeds, options or {}, path, settings
        )
        self._reset(on_event)

    @classmethod
    def resume(
        cls,
        path: str | Path,
        *,
        source: Source | None = None,
        options: Mapping[str, Any] | None = None,
        budget: int | str | Budget | None = None,
        on_event: Callable[[Settled | Stopped], None] | None = None,
        **objects: Any,
    ) -> Crawl:
        """Go on with a run. ``budget`` is a new limit, or ``"+500"`` for so much more.

        What was given as an object (source, scorer, estimator) must be given again.
        """
        crawl = cls.__new__(cls)
        crawl._begin = lambda: resumed_run(path, source, options or {}, budget, objects)
        crawl._reset(on_event)
        return crawl

    def _reset(self, on_event: Callable[[Settled | Stopped], None] | None) -> None:
        self._on_event = on_event
        self._events: deque[Settled] = deque()
        self._news: asyncio.Event | None = None
        self._keeps = False  # whether somebody iterates
        self.driver: Driver | None = None
        self.beginning: Beginning | None = None
        self.stop_reason: str | None = None
        self.result: CrawlResult | None = None

    # -- from outside, while it runs -----------------------------------------------------------

    def stop(self) -> None:
        """Finish what is in flight, then end. The run can be resumed."""
        if self.driver is not None:
            self.driver.stop()

    def cut(self) -> None:
        """End at once. The run can be resumed."""
        if self.driver is not None:
            self.driver.cut()

    def progress(self) -> Progress | None:
        """Where it stands; ``None`` before it has begun."""
        if self.driver is None or self.beginning is None:
            return None
        hosts = len(self.beginning.book.waiting)
        return self.driver.tally.progress(hosts, self.beginning.attached.facts())

    # -- running -------------------------------------------------------------------------------

    def _heard(self, settled: Settled) -> None:
        if self._keeps and settled.outcome == "visit":
            self._events.append(settled)
            if self._news is not None:
                self._news.set()
        if self._on_event is not None:
            self._on_event(settled)

    async def run(self) -> CrawlResult:
        """Run to the end."""
        beginning = self.beginning = self._begin()
        run, book = beginning.run, beginning.book
        failed: BaseException | None = None
        try:
            driver = self.driver = Driver(
                book,
                beginning.attached,
                concurrency=beginning.settings.concurrency,
                harvest_below=beginning.settings.harvest_below,
                harvest_over=beginning.settings.harvest_over,
                on_settled=self._heard,
            )
            if beginning.resumed:
                driver.tally.recall(run.database)
            beginning.connect(driver.wake)
            with seldom_collected():
                reason = await driver.run()
            self.stop_reason = reason
            run.journal.meta("stop", reason)
            beginning.attached.leave()
            run.journal.commit()
            if self._on_event is not None:
                spent = book.explorer.driver.account.spent.requests
                explorer = book.explorer
                self._on_event(Stopped(reason, spent, explorer.visits, explorer.total))
            self.result = CrawlResult.of(run, reason, book.explorer)
            return self.result
        except BaseException as error:
            failed = error
            raise
        finally:
            await beginning.attached.close()
            if isinstance(failed, StoreError):
                run.abandon()
            else:
                run.close()

    async def __aiter__(self) -> AsyncIterator[Settled]:
        self._keeps = True
        self._news = asyncio.Event()
        task = asyncio.create_task(self.run())
        task.add_done_callback(lambda _: self._news.set() if self._news is not None else None)
        try:
            while True:
                while self._events:
                    yield self._events.popleft()
                if task.done():
                    break
                await self._news.wait()
                self._news.clear()
            while self._events:
                yield self._events.popleft()
            task.result()
        finally:
            if not task.done():
                self.cut()
                with suppress(asyncio.CancelledError):
                    await task

    def __iter__(self) -> Iterator[Settled]:
        visits = self.__aiter__()
        with self._own_loop() as loop:
            while True:
                try:
                    yield loop.run_until_complete(anext(visits))
                except StopAsyncIteration:
                    break

    def run_to_end(self) -> CrawlResult:
        """Run to the end, from a program that has no event loop."""
        with self._own_loop() as loop:
            return loop.run_until_complete(self.run())

    @contextmanager
    def _own_loop(self) -> Iterator[asyncio.AbstractEventLoop]:
        """An event loop that leaves no task behind: Ctrl-C, which ends the loop in the middle of
        anything, is ``cut()`` for the crawl, so that the run is closed and can be resumed."""
        loop = new_loop()
        try:
            yield loop
        finally:
            if tasks := asyncio.all_tasks(loop):
                self.cut()
                for task in tasks if self.driver is None else ():  # it has not begun
                    task.cancel()
                loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()


def crawl(
    source: str | Iterable[str] | Source,
    *,
    topic: str | None = None,
    budget: int | Budget | None = None,
    path: str | Path | None = None,
    **settings: Any,
) -> CrawlResult:
    """Crawl from a URL (or several, or over a source) for a topic under a budget, to the end."""
    return Crawl(source, path=path, topic=topic, budget=budget, **settings).run_to_end()
