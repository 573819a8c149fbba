"""Real servers on loopback for the crawl tests: many hosts, every request counted."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def html(body: str, *, head: str = "", status: int = 200, **headers: str) -> web.Response:
    return web.Response(
        text=f"<!doctype html><html lang=en><head>{head}</head><body>{body}</body></html>",
        content_type="text/html",
        status=status,
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )


class Site:
    """Serves on 127.0.0.1 to 127.0.0.<hosts>, one port, in a thread; a context manager.

    ``counts`` has every request that arrived, by path; robots.txt is 404 unless it is handled.
    """

    def __init__(
        self, handler: Handler, *, hosts: int = 1, tls: ssl.SSLContext | None = None
    ) -> None:
        self._handler = handler
        self._hosts = hosts
        self._tls = tls
        self.counts: Counter[str] = Counter()
        self.most_at_once = 0
        self._now = 0
        self.starts: list[tuple[float, str]] = []
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._up = threading.Event()

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def url(self, path: str = "/", host: int | str = 1) -> str:
        name = f"127.0.0.{host}" if isinstance(host, int) else host
        return f"{'https' if self._tls else 'http'}://{name}:{self.port}{path}"

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        self.counts[request.path_qs] += 1
        self.starts.append((self._loop.time(), request.host))
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        try:
            return await self._handler(request)  # type: ignore[arg-type]
        finally:
            self._now -= 1

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._open())
        self._up.set()
        self._loop.run_forever()
        self._loop.run_until_complete(self._runner.cleanup())
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _open(self) -> None:
        self._runner = web.ServerRunner(web.Server(self._answer), shutdown_timeout=0.1)
        await self._runner.setup()
        for number in range(1, self._hosts + 1):
            site = web.TCPSite(
                self._runner, f"127.0.0.{number}", self.port, ssl_context=self._tls, backlog=1024
            )
            await site.start()
            if not self.port:
                assert site._server is not None
                self.port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]

    def __enter__(self) -> Site:
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


def prose(number: int, length: int = 60) -> str:
    """Text that differs from page to page, so that no page is nearly another."""
    state = (number * 2654435761 + 12345) % 2**32
    words = []
    for _ in range(length):
        state = (state * 1664525 + 1013904223) % 2**32
        words.append("".join(chr(97 + (state >> shift) % 26) for shift in (8, 13, 18, 23)))
    return " ".join(words)


def tree(pages: int = 500, fan: int = 5) -> Handler:
    """Page n links to n*fan+1 .. n*fan+fan; every third page says "tide gauge"."""

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt":
            return web.Response(status=404)
        number = int(request.path.strip("/") or 0)
        if number >= pages:
            return web.Response(status=404)
        links = "".join(
            f'<p>{prose(child, 12)} <a href="/{child}">page {child}</a></p>'
            for child in range(number * fan + 1, number * fan + fan + 1)
            if child < pages
        )
        topic = "tide gauge " * (number % 4) if number % 3 == 0 else ""
        return html(f"<h1>Page {number}</h1><p>{prose(number)}</p><p>{topic}</p>{links}")

    return answer


FAST: dict[str, Any] = {
    "topic": "tide gauge",
    "delay": 0,
    "per_host": 64,
    "allow_private": True,
    "contact": "tests@localhost",
    "pages": False,
    "sitemaps": "no",
}
"""Settings without politeness, for servers of one's own."""
