"""A spider's crawl as a sonde run: what is asked, charged and told, whichever part calls.

All state of a crawler is here, so that several spiders can run in one process.
"""

from __future__ import annotations

import heapq
import json
import logging
import time
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from sonde.crawling.progress import Settled
from sonde.crawling.settings import Settings
from sonde.crawling.setup import CrawlRequest, Session
from sonde.errors import InputError, StoreError
from sonde.records import Failure, Group, Lease, Link, Outcome, Skip, Spend, Visit
from sonde.scrapy.kind import SpiderOptions, Spiders, SpiderSource
from sonde.scrapy.open_visit import OpenVisit
from sonde.scrapy.request_book import LEASE, RequestBook
from sonde.sources.facts import PageVisit
from sonde.store.reader import DATABASE
from sonde.store.run import Run

_LOG = logging.getLogger("sonde.scrapy")

_TOLD = ("topic", "scorer", "estimator", "strategy", "objective")
_STOPS = {"finished": "frontier", "sonde_budget": "budget"}

BUDGET = "sonde_budget"
"""Why a spider was closed whose budget is gone."""


class SpiderRun:
    """The run of one crawler."""

    _runs: ClassVar[WeakKeyDictionary[Any, SpiderRun]] = WeakKeyDictionary()

    def __init__(self, crawler: Any) -> None:
        self._crawler = crawler
        self.session: Session | None = None
        self.open: dict[int, OpenVisit] = {}
        self.broken = ""
        """Why the run can no longer be written."""
        self._coming: dict[Any, OpenVisit] = {}
        self._queue: list[tuple[int, int, OpenVisit, Any]] = []
        self._queued = 0
        self._chained = 0  # requests that completed an item
        self._scored = False

    @classmethod
    def of(cls, crawler: Any) -> SpiderRun:
        """The one run of a crawler."""
        run = cls._runs.get(crawler)
        if run is None:
            run = cls._runs[crawler] = cls(crawler)
        return run

    # -- beginning and end ---------------------------------------------------------------------

    def begin(self, spider: Any) -> None:
        """Make the run folder, or take up the run that is there."""
        settings = self._crawler.settings
        told = {
            name: settings[f"SONDE_{name.upper()}"]
            for name in _TOLD
            if settings.get(f"SONDE_{name.upper()}") is not None
        }
        budget = settings.getint("SONDE_BUDGET") if settings.get("SONDE_BUDGET") else None
        told |= {"seed": settings.getint("SONDE_SEED", 0), "budget": budget}
        told["text"] = settings.getbool("SONDE_TEXT", True)
        self.text = told["text"]
        self.judge = getattr(spider, "sonde_score", None)
        scored = self.judge is None and ("topic" in told or "scorer" in told)
        kind = Spiders(driven=True, scored=scored)
        request = CrawlRequest(
            kind, SpiderOptions(spider.name), Settings.told(told, "SONDE_ settings"), []
        ).equipped()
        folder = _folder(settings, spider.name)
        if (folder / DATABASE).is_file():
            self.session = _resumed(folder, request)
        else:
            run = Run.create(folder, request.config())
            self.session = request.session(run)
            run.journal.meta("stop", None)
        self.run, self.logbook = self.session.run, self.session.logbook
        self.explorer = self.logbook.explorer
        self.account = self.explorer.driver.account
        source = self.session.hooks.source
        assert isinstance(source, SpiderSource)
        self._keeper, self.scorer = source.keeper, source.scorer
        learned = self._keeper.recalled("scorer")
        if learned is not None and self.scorer is not None and hasattr(self.scorer, "restore"):
            self.scorer.restore(json.loads(learned))
        self.book = RequestBook(self._keeper, spider, self._crawler.request_fingerprinter)
        self.commit()
        _LOG.info("The run is in %s: sonde show %s", folder, folder)

    def end(self, reason: str) -> None:
        """Settle what is open, and let go of the run."""
        if self.session is None:
            return
        self._coming.clear()
        for visit in list(self.open.values()):
            visit.left(set())
            if visit.queued:  # a retry or a chain that was not finished: from the start, next time
                spent = Spend(requests=visit.taken, bytes=visit.received)
                self._tell(visit, Failure("interrupted", retry=True, spent=spent), interrupt=True)
            else:
                self._tell(visit, visit.outcome())
        self._queue.clear()
        stop = _STOPS.get(reason, "interrupted")
        if stop == "frontier" and self.explorer.frontier_size and not self._affordable:
            stop = "budget"
        if self.broken:
            self.run.abandon()
        else:
            self.run.journal.meta("stop", stop)
            self.commit()
            self.run.close()
        self._stat("sonde/requests", self.account.spent.requests)
        self._stat("sonde/visits", self.explorer.visits)
        self._stat("sonde/total", self.explorer.total)
        if self.book.unkept:
            self._stat("scheduler/unserializable", self.book.unkept)
        self.session = None

    def _stat(self, name: str, value: float) -> None:
        self._crawler.stats.set_value(name, value)

    def commit(self) -> None:
        """Make safe all that happened."""
        if self._scored and self.scorer is not None and hasattr(self.scorer, "state"):
            self._keeper.keep("scorer", json.dumps(self.scorer.state()).encode())
        self._scored = False
        try:
            self.logbook.commit()
        except StoreError as error:
            self.broken = str(error)
            _LOG.error("%s", error)

    # -- what may be sent next -------------------------------------------------------------------

    @property
    def _affordable(self) -> bool:
        """Whether the budget has room for one more lease."""
        return self.account.left("requests") >= 1

    @property
    def waiting(self) -> bool:
        """Whether there is something to send, now or when a slot is free."""
        if self.broken:
            return False
        return bool(self._queue) or (self._affordable and self.explorer.frontier_size > 0)

    @property
    def over(self) -> bool:
        """Whether nothing can be sent any more, and nothing is in flight."""
        return bool(self.broken) or not (self.open or self._queue or self._affordable)

    def continued(self) -> Any:
        """The next request of a visit that is open, or ``None``."""
        while self._queue:
            _, _, visit, request = heapq.heappop(self._queue)
            visit.queued -= 1
            visit.active.add(request)
            return request
        return None

    def leased(self) -> Any:
        """The request of the best node that may be asked now, or ``None``."""
        while not self.broken and self._room():
            ready = self._ready()
            if ready is not None and not ready:
                return None
            lease = self.logbook.ask_again(ready) or self.logbook.ask(ready)
            if lease is None:
                return None
            request = self.book.take(str(lease.node))
            number = self.explorer.driver.number_of(lease.node)
            assert number is not None
            depth = self.logbook.depths[number]
            if isinstance(request, str):
                self._tell(OpenVisit(lease, None, depth), Skip(request))
                continue
            request.meta[LEASE] = lease.number
            visit = OpenVisit(lease, request, depth, active={request})
            visit.followed.add(self.book.fingerprint(request))
            self.open[lease.number] = visit
            return request
        return None

    def _room(self) -> bool:
        """Whether there is room for one more visit. Not more are open than Scrapy may send at once:
        where callbacks are slower than servers, what is chosen should wait for what they say. And
        the budget has room for what open ones may still need: a page that was begun should be
        finished, where finishing takes a chain."""
        most = self._crawler.engine.downloader.total_concurrency
        if 0 < most <= len(self.open):
            return False
        if not self._chained or not self.open:
            return True
        each = -(-self._chained // max(1, self.explorer.visits))
        return self.account.left("requests") >= 1 + each * (1 + len(self.open))

    def _ready(self) -> Collection[Group] | None:
        """The downloader's slots that can take a request now, of those that nodes wait for;
        ``None`` for all. With a delay, one request may stand before a slot, and no more: whatever
        is chosen later is chosen better."""
        downloader = self._crawler.engine.downloader
        load = Counter(map(downloader.get_slot_key, downloader.active))
        busy = {group for group, count in load.items() if count >= self._places(downloader, group)}
        if not busy:
            return None
        return [
            group for group, count in self.logbook.waiting.items() if count and group not in busy
        ]

    def _places(self, downloader: Any, group: str) -> int:
        """How many requests a slot may have at once."""
        slot = downloader.slots.get(group)
        if slot is not None:
            places = int(slot.concurrency or downloader.total_concurrency)
            return min(places, len(slot.transferring) + 1) if slot.delay else places
        told = downloader.per_slot_settings.get(group, {})
        settings, spider = self._crawler.settings, self._crawler.spider
        delay = getattr(spider, "download_delay", settings.getfloat("DOWNLOAD_DELAY"))
        if told.get("delay", delay):
            return 1
        places = downloader.ip_concurrency or downloader.domain_concurrency
        return int(told.get("concurrency", places)) or int(downloader.total_concurrency)

    # -- what comes in ---------------------------------------------------------------------------

    def admit(self, request: Any, *, again: bool) -> str:
        """A request reaches the scheduler: ``kept`` here, ``filtered`` as one that was seen, or
        for the scheduler's own queue (``repeat``). `again` says that it may have been seen."""
        parent = self._coming.pop(request, None)
        visit = self.open.get(request.meta.get(LEASE, 0))
        if visit is not None:
            fate = self._admit_further(request, visit, again)
        else:
            request.meta.pop(LEASE, None)
            fate = self._admit_node(request, again, seed=parent is None)
        if parent is not None:
            parent.coming.discard(request)
            self._settle_finished(parent)
        return fate

    def _admit_node(self, request: Any, again: bool, *, seed: bool) -> str:
        book = self.book
        if book.seen(request):
            again = again and not (
                seed and request.meta.get("is_start_request") and book.name(request) in book.resumed
            )
            return "repeat" if again else "filtered"
        name = book.store(request)
        if seed:
            self.logbook.add_seeds([(name, self.group(request))])
        return "kept"

    def _admit_further(self, request: Any, visit: OpenVisit, again: bool) -> str:
        """A retry, a redirect, or a link of a chain: it belongs to a visit that is open."""
        book, node = self.book, str(visit.lease.node)
        fingerprint = book.fingerprint(request)
        if not again and book.seen(request):
            name = book.name(request)
            # What an earlier attempt at this node has followed, this one may follow again.
            mine = name == node and fingerprint not in visit.followed
            if not (mine or book.waits(name)):
                visit.trouble = visit.trouble or "duplicate"
                return "filtered"
        visit.followed.add(fingerprint)
        book.follow(request, node)
        request.meta[LEASE] = visit.lease.number
        self._queued += 1
        heapq.heappush(self._queue, (-request.priority, self._queued, visit, request))
        visit.queued += 1
        return "kept"

    def group(self, request: Any) -> Group:
        """The downloader's slot of a request."""
        slot: str = self._crawler.engine.downloader.get_slot_key(request)
        return slot

    # -- at the wire -----------------------------------------------------------------------------

    def take(self, request: Any) -> bool:
        """Charge a request before it is sent; ``False`` where the budget has none left."""
        visit = self._charged(request)
        if self.broken:
            return False
        if visit is None:
            if not self._affordable:
                return False
            self.logbook.spend(Spend(requests=1), "aside")
            self.run.journal.sent += 1
        elif visit.taken == visit.given:
            if not self.logbook.extend(visit.lease):
                visit.trouble = "budget"
                return False
            visit.given += 1
        if visit is not None:
            visit.taken += 1
        self.commit()
        return not self.broken

    def _charged(self, request: Any) -> OpenVisit | None:
        """The open visit that a request is charged to. A robots.txt belongs to a visit that waits
        for it: what it may not ask for, it need not be charged for."""
        visit = self.open.get(request.meta.get(LEASE, 0))
        if visit is None and request.meta.get("dont_obey_robotstxt"):
            site = request.url.removesuffix("/robots.txt") + "/"
            if site != request.url + "/":
                for other in self.open.values():
                    if not other.taken and other.request.url.startswith(site):
                        return other
        return visit

    def received(self, request: Any, size: int) -> None:
        """So many bytes came back for a request."""
        visit = self.open.get(request.meta.get(LEASE, 0))
        if visit is not None:
            visit.received += size

    def failed(self, request: Any, reason: str) -> None:
        """A request came to nothing, this time."""
        visit = self.open.get(request.meta.get(LEASE, 0))
        if visit is not None and visit.trouble != "budget":
            visit.trouble = reason

    # -- what the spider says ----------------------------------------------------------------------

    def scored(self) -> None:
        """The scorer has learned from a page."""
        self._scored = True

    def expect(self, visit: OpenVisit, request: Any, score: float, text: str) -> None:
        """The spider yields a request that explores: it becomes a link of the visit, and will
        reach the scheduler."""
        visit.coming.add(request)
        self._coming[request] = visit
        link = Link(self.book.name(request), score, self.group(request), text, request.url)
        visit.links.append((request.priority, link))

    def chain(self, visit: OpenVisit, request: Any) -> None:
        """The spider yields a request that completes an item: it belongs to the visit."""
        request.meta[LEASE] = visit.lease.number
        visit.coming.add(request)
        self._coming[request] = visit
        self._chained += 1

    def said(self, visit: OpenVisit, request: Any) -> None:
        """The spider has said all there is to say of a response."""
        visit.read.add(request)
        self._settle_finished(visit)

    def sweep(self) -> None:
        """Settle the visits whose requests have all left the engine."""
        slot = getattr(self._crawler.engine, "_slot", None)
        in_progress = slot.inprogress if slot is not None else set()
        for visit in list(self.open.values()):
            coming = set(visit.coming)
            visit.left(in_progress)
            for request in coming - visit.coming:
                del self._coming[request]
            self._settle_finished(visit)

    def _settle_finished(self, visit: OpenVisit) -> None:
        if visit.finished and visit.lease.number in self.open:
            self._tell(visit, visit.outcome())

    def _tell(self, visit: OpenVisit, outcome: Outcome, *, interrupt: bool = False) -> None:
        assert self.session is not None
        lease: Lease = visit.lease
        seconds = time.monotonic() - visit.began
        gain = self.logbook.tell(lease, outcome, seconds, interrupt=interrupt)
        self.open.pop(lease.number, None)
        reason, retry, score, title = "", False, 0.0, ""
        if isinstance(outcome, Visit):
            kind, score = "visit", outcome.score
            if isinstance(outcome, PageVisit) and outcome.facts is not None:
                title = outcome.facts.title
        else:
            kind = "skip" if isinstance(outcome, Skip) else "failure"
            reason, retry = outcome.reason, outcome.retry
            if retry and visit.request is not None:
                self.book.put_back(str(lease.node), visit.request)
        self.session.meter.add(
            Settled(
                lease=lease.number,
                node=lease.node,
                outcome="interrupt" if interrupt else kind,
                reason=reason,
                retry=retry,
                score=score,
                gain=gain,
                predicted=lease.predicted,
                chooser=lease.chooser,
                requests=outcome.spent.requests,
                bytes=outcome.spent.bytes,
                seconds=seconds,
                depth=visit.depth,
                title=title,
            )
        )


def _folder(settings: Any, spider: str) -> Path:
    """Where the run is: ``SONDE_FOLDER``, or in the job directory, or a new folder in ``runs``."""
    now = time.strftime("%Y%m%d-%H%M%S")
    told = settings.get("SONDE_FOLDER")
    if told is not None:
        return Path(str(told).replace("%(name)s", spider).replace("%(time)s", now))
    if settings.get("JOBDIR"):
        return Path(settings["JOBDIR"]) / "sonde"
    folder, count = Path("runs") / f"{spider}-{now}", 1
    while folder.exists():
        count += 1
        folder = Path("runs") / f"{spider}-{now}-{count}"
    return folder


def _resumed(folder: Path, request: CrawlRequest) -> Session:
    """Take a run up where it was left. The budget may have another limit by now, and nothing
    else may have changed."""
    run = Run.open(folder)
    try:
        kept, told = run.config, request.config()
        if kept.get("source") != Spiders.name:
            raise InputError(f"{folder}: not a run of a spider, but over {kept.get('source')}")
        for name in {*kept, *told} - {"budget"}:
            if kept.get(name) != told.get(name):
                raise InputError(
                    f"{folder}: {name} was {kept.get(name)!r} and is {told.get(name)!r} now:"
                    " name another SONDE_FOLDER for a new run"
                )
        session = request.session(run)
        session.settle_interrupted(session.logbook.catch_up())
        limits = request.settings.limits
        if session.logbook.explorer.driver.account.budget != limits:
            session.logbook.raise_budget(limits)
        run.journal.meta("stop", None)
        return session
    except BaseException:
        run.close()
        raise
