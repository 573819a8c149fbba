"""``sonde demo``: serve the Python documentation on loopback, and crawl it for a topic.

example:
  sonde demo --topic "socket, network, http" --budget 150
"""

from __future__ import annotations

import argparse
import pydoc
import re
import shlex
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from sonde.cli._print import counted, harmless
from sonde.crawling import CrawlResult, crawl
from sonde.figures import harvest_chart


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--topic", default="socket, network, http, server, client")
    parser.add_argument("--budget", type=int, default=120, metavar="N")
    parser.add_argument("-o", "--output", metavar="RUN", help="where to keep the run")


# To describe a module pydoc imports it, so only the standard library is served, without the
# modules that do something when they are imported.
_ACTIVE = frozenset(
    ["antigravity", "idlelib", "lib2to3", "test", "this", "turtle", "turtledemo", "tkinter"]
)
_MODULES = frozenset(
    name for name in sys.stdlib_module_names if name[0] != "_" and name not in _ACTIVE
)
_PAGE = re.compile(r"/([a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*)\.html")


def _page(path: str) -> str | None:
    """The documentation at a path, or ``None``."""
    if path in ("/", "/index.html"):
        return "<h1>Modules</h1>" + " ".join(
            f'<a href="{name}.html">{name}</a>' for name in sorted(_MODULES)
        )
    found = _PAGE.fullmatch(path)
    if found is None or found[1].partition(".")[0] not in _MODULES or ".test" in found[1]:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # modules on their way out of the library
        try:
            described = pydoc.locate(found[1])
            return pydoc.html.page(
                pydoc.describe(described), pydoc.html.document(described, found[1])
            )
        except Exception:  # a module for another system
            return None


class _Handler(BaseHTTPRequestHandler):
    """Pages are made one at a time, and kept."""

    protocol_version = "HTTP/1.1"
    lock = threading.Lock()
    kept: dict[str, str | None] = {}  # noqa: RUF012 (shared by all requests on purpose)

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        with self.lock:
            if path not in self.kept:
                self.kept[path] = _page(path)
            text = self.kept[path]
        body = (text or "").encode("utf-8", "replace")
        self.send_response(404 if text is None else 200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nobody wants to read it."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A connection that the crawler has closed."""


@contextmanager
def documentation() -> Iterator[str]:
    """The address of a server of the Python documentation, for as long as it is needed."""
    server = _Server(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def run(args: argparse.Namespace) -> int:
    """Crawl twice, with sonde's choice and breadth first, and compare."""
    folder = Path(args.output) if args.output else Path(tempfile.mkdtemp(prefix="sonde-demo-"))
    settings: dict[str, Any] = {
        "topic": args.topic,
        "budget": args.budget,
        "delay": 0,
        "per_host": 2,
        "concurrency": 2,
        "allow_private": True,
        "contact": "demo@localhost",
        "pages": False,
    }
    print(f"topic: {args.topic}; budget: {counted(args.budget, 'request')}", file=sys.stderr)
    with documentation() as root:
        start = f"{root}/socket.html"
        found = crawl(start, path=folder / "run", **settings)
        plain = crawl(start, path=folder / "breadth-first", estimator="bfs", **settings)
    _print(found, plain, folder)
    return 0


def _print(found: CrawlResult, plain: CrawlResult, folder: Path) -> None:
    print(harvest_chart({"sonde": _curve(found), "breadth first": _curve(plain)}), end="\n\n")
    for page in found.best(8):
        print(f"{page['score']:6.2f}  {harmless(page['title'], 40):40}  {harmless(page['node'])}")
    share = found.total / plain.total if plain.total else float("inf")
    print(
        f"\n{found.total:.1f} for {counted(found.requests, 'request')}; breadth first brought"
        f" {plain.total:.1f} for {plain.requests}: {share:.2f} times as much"
    )
    print(f"the run is in {folder / 'run'}: sonde show {shlex.quote(str(folder / 'run'))}")


def _curve(result: CrawlResult) -> list[float]:
    total = 0.0
    curve = []
    for gain in result.frame()["gain"].to_pylist():
        total += gain
        curve.append(total)
    return curve
