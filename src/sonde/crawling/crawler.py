"""A crawl as a person's program sees it: iterate over visits, or run it and look at the result.

``Crawl`` puts the pieces together (explorer, logbook, source, driver, run folder) for one run, new
or resumed, and takes them apart again at the end. It can be iterated over, plainly or with
``async for``; ``crawl`` runs one to its end.
"""

from __future__ import annotations

import asyncio
import gc
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Unpack

from sonde.budgets import Budget
from sonde.crawling.driver import Driver
from sonde.crawling.progress import Progress, Settled, Stopped
from sonde.crawling.result import CrawlResult
from sonde.crawling.settings import CrawlSettings, ResumeSettings
from sonde.crawling.setup import Session, new_run, resumed_run
from sonde.errors import InputError, StoreError
from sonde.protocols import Source
from sonde.scorers.silence import EARLY, Silence

_NEW_OBJECTS = 20_000
"""Between two looks for garbage: a page makes thousands of small objects that all die with it, and
next to none of them in cycles. At its default the collector would go through them several times a
page."""


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
        **settings: Unpack[CrawlSettings],
    ) -> None:
        self._begin: Callable[[], Session] = lambda: new_run(
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
        **settings: Unpack[ResumeSettings],
    ) -> Crawl:
        """Go on with a run. ``budget`` is a new limit, or ``"+500"`` for so much more.

        What was given as an object (source, scorer, estimator) must be given again. Other settings
        may change where no decision of the run rests on them.
        """
        crawl = cls.__new__(cls)
        crawl._begin = lambda: resumed_run(path, source, options or {}, budget, settings)
        crawl._reset(on_event)
        return crawl

    def _reset(self, on_event: Callable[[Settled | Stopped], None] | None) -> None:
        self._on_event = on_event
        self._events: deque[Settled] = deque()
        self._news: asyncio.Event | None = None
        self._keeps = False  # whether somebody iterates
        self.driver: Driver | None = None
        self.session: Session | None = None
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
        if self.driver is None or self.session is None:
            return None
        hosts = len(self.session.logbook.waiting)
        return self.driver.meter.progress(hosts, self.session.hooks.facts())

    def hint(self, least: int = EARLY) -> str:
        """What somebody should know early: that none of the pages so far, at least so many, has a
        word of the topic, and which words they have. Empty where that is not so."""
        session = self.session
        silence = None if session is None else getattr(session.request.scorer, "silence", None)
        if session is None or not isinstance(silence, Silence) or session.logbook.explorer.total:
            return ""
        if silence.broken or silence.documents < least or not (words := silence.frequent()):
            return ""
        count, nouns = silence.documents, session.request.kind.nouns
        return (
            f"none of {count:,} {nouns[count != 1]} has a word of the topic;"
            f" frequent in them: {', '.join(words)}"
        )

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
        session = self.session = self._begin()
        run, logbook = session.run, session.logbook
        failed: BaseException | None = None
        try:
            driver = self.driver = Driver(
                logbook,
                session.hooks,
                session.meter,
                concurrency=session.settings.concurrency,
                careful=run.unclean,
                patience=float(session.settings.patience),
                harvest_below=session.settings.harvest_below,
                saturation=session.saturation,
                on_settled=self._heard,
            )
            session.connect(driver.wake)
            with _seldom_collected():
                reason = await driver.run()
            self.stop_reason = reason
            run.journal.meta("stop", reason)
            session.hooks.leave()
            run.journal.commit()
            if self._on_event is not None:
                spent = logbook.explorer.driver.account.spent.requests
                explorer = logbook.explorer
                self._on_event(Stopped(reason, spent, explorer.visits, explorer.total))
            self.result = CrawlResult.of(run, reason, logbook.explorer)
            return self.result
        except BaseException as error:
            failed = error
            raise
        finally:
            getattr(session.request.scorer, "close", _nothing)()
            await session.hooks.close()
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
        if _loop_runs():
            raise InputError(
                "an event loop is running here (a notebook has one): write 'async for visit in"
                " crawl', or 'await crawl.run()'"
            )
        visits = self.__aiter__()
        with self._own_loop() as loop:
            while True:
                try:
                    yield loop.run_until_complete(anext(visits))
                except StopAsyncIteration:
                    break

    def run_to_end(self) -> CrawlResult:
        """Run to the end. Where an event loop is running already (in a notebook) it runs in a
        thread with a loop of its own, and this one waits for it."""
        if _loop_runs():
            return self._run_beside()
        with self._own_loop() as loop:
            return loop.run_until_complete(self.run())

    def _run_beside(self) -> CrawlResult:
        """Run in another thread; Ctrl-C here is ``cut()`` there."""
        loops: list[asyncio.AbstractEventLoop] = []

        def run() -> CrawlResult:
            with self._own_loop() as loop:
                loops.append(loop)
                return loop.run_until_complete(self.run())

        with ThreadPoolExecutor(1, thread_name_prefix="sonde-crawl") as thread:
            ended = thread.submit(run)
            try:
                return ended.result()
            except KeyboardInterrupt:
                for loop in loops:
                    with suppress(RuntimeError):  # it has just ended
                        loop.call_soon_threadsafe(self.cut)
                raise

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


def _loop_runs() -> bool:
    """Whether an event loop is running in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _nothing() -> None:
    """What a scorer does to close that holds nothing open."""


def new_loop() -> asyncio.AbstractEventLoop:
    """An event loop of one's own, uvloop where it is installed; close it at the end."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """Raise the garbage collector's threshold, where it is lower, until the end of the block."""
    before = gc.get_threshold()
    if 0 < before[0] < _NEW_OBJECTS:
        gc.set_threshold(_NEW_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def crawl(
    source: str | Iterable[str] | Source,
    *,
    seeds: Iterable[str] = (),
    options: Mapping[str, Any] | None = None,
    path: str | Path | None = None,
    **settings: Unpack[CrawlSettings],
) -> CrawlResult:
    """Crawl from a URL (or several, or over a source) for a topic under a budget, to the end."""
    return Crawl(source, seeds=seeds, options=options, path=path, **settings).run_to_end()
