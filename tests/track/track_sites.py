"""A site on loopback that changes under a script, a clock that the test turns, and runs of it."""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from aiohttp import web

from sonde.crawling import Crawl
from sonde.track import Clock, LiveTracker

DAY = 86_400.0
BEGIN = 1_800_000_000.0


class TurnedClock(Clock):
    """Time passes when somebody sleeps, and at no other time."""

    def __init__(self, moment: float = BEGIN) -> None:
        self.moment = moment

    def not_before(self, moment: float) -> None:
        self.moment = max(self.moment, moment)

    def now(self) -> float:
        return self.moment

    async def sleep(self, seconds: float) -> None:
        self.moment += seconds
        await asyncio.sleep(0)


Answer = tuple[int, str, dict[str, str]]
"""Status, body, headers."""


class ChangingSite:
    """Serves what a script says of a path at a time, with ETags; a context manager.

    ``log`` has each request: when, path, status, and whether it was conditional.
    """

    def __init__(self, script: Callable[[str, float], Answer], clock: Clock) -> None:
        self.script = script
        self.clock = clock
        self.log: list[tuple[float, str, int, bool]] = []
        self.starts: list[float] = []  # on the clock of the wall
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._up = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    @property
    def statuses(self) -> Counter[int]:
        return Counter(status for _, _, status, _ in self.log)

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        now = self.clock.now()
        status, body, headers = self.script(request.path_qs, now)
        tag = f'"{hashlib.sha1(body.encode()).hexdigest()}"'
        asked = request.headers.get("If-None-Match")
        if status == 200 and "ETag" not in headers:
            headers = {"ETag": tag, **headers}
            if asked == tag:
                status, body = 304, ""
        dated = headers.get("Last-Modified")
        since = request.headers.get("If-Modified-Since")
        if status == 200 and dated is not None and since == dated:
            status, body = 304, ""
        conditional = asked is not None or since is not None
        self.log.append((now, request.path_qs, status, conditional))
        self.starts.append(time.monotonic())
        kind = headers.pop("Content-Type", "text/html; charset=utf-8")
        return web.Response(
            status=status, body=body.encode(), headers={"Content-Type": kind, **headers}
        )

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._open())
        self._up.set()
        self._loop.run_forever()
        self._loop.run_until_complete(self._runner.cleanup())
        self._loop.close()

    async def _open(self) -> None:
        self._runner = web.ServerRunner(web.Server(self._answer), shutdown_timeout=0.1)
        await self._runner.setup()
        for host in ("127.0.0.1", "127.0.0.2"):
            site = web.TCPSite(self._runner, host, self.port)
            await site.start()
            if not self.port:
                assert site._server is not None
                self.port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]

    def __enter__(self) -> ChangingSite:
        self._thread.start()
        assert self._up.wait(10)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)


def page(title: str, links: list[str], head: str = "") -> Answer:
    """A page of words of its own that links to paths."""
    anchors = "".join(f'<p><a href="{link}">{link}</a></p>' for link in links)
    words = " ".join(hashlib.sha1(f"{title} {n}".encode()).hexdigest()[:7] for n in range(60))
    body = f"<h1>{title}</h1><p>{words}</p>{anchors}"
    return 200, f"<html><head><title>{title}</title>{head}</head><body>{body}</body></html>", {}


NOT_FOUND: Answer = (404, "nothing", {})

POLITE: dict[str, Any] = {
    "topic": "page",
    "delay": 0,
    "per_host": 8,
    "allow_private": True,
    "contact": "tests@localhost",
    "scope": "host",
}


def crawled(folder: Path, seeds: list[str], budget: int, **more: Any) -> Path:
    """A run of ``sonde crawl``, told to have happened at the beginning of the clock."""
    settings = {**POLITE, "pages": False, "budget": budget, **more}
    Crawl(seeds, path=folder, **settings).run_to_end()
    import sqlite3

    database = sqlite3.connect(folder / "run.sqlite")
    with database:
        database.execute("UPDATE leases SET settled = ?, asked = ?", (BEGIN, BEGIN))
    database.close()
    return folder


def tracked(folder: Path, clock: Clock, days: float, **plan: Any) -> LiveTracker:
    """Track a run for some days of the clock."""
    events = plan.pop("on_event", lambda event: None)
    tracker = LiveTracker(folder, duration=days * DAY, clock=clock, plan=plan, on_event=events)
    tracker.stopped = asyncio.run(tracker.run())  # type: ignore[attr-defined]
    return tracker
