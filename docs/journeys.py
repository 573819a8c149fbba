"""Traces which files a page, a simulated step, a resume, an explanation and a track step pass.

    python docs/journeys.py                 # prints the journeys as Markdown
    python docs/journeys.py --write         # puts them into docs/concepts/architecture.md

A small site is served on loopback, crawled with WARC files, taken up again, explained, tracked.
Each
Python call inside the package is seen by a profile hook; the compiled kernels are not, as they are
not Python. A file counts once a journey. What is imported on the way does not count: only what is
called.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from typing import Any

import sonde
from sonde.sources.graph import topical

PAGE = Path(__file__).parent / "concepts" / "architecture.md"
START, END = "<!-- journeys:start -->", "<!-- journeys:end -->"
PACKAGE = Path(sonde.__file__).parent
BEFORE = {"page": 39, "step": 12, "resume": 46, "explain": 25, "track": 34}
"""Files before the house was put in order, counted on commit 5523d06."""
STEADY = 20  # pages until a crawl is in its stride


@dataclass
class Journey:
    """The files that were passed, in the order in which they were first called."""

    files: list[str] = field(default_factory=list)
    calls: int = 0

    def hook(self, frame: FrameType, event: str, argument: object) -> None:
        """A profile hook: notes calls of functions of the package."""
        if event != "call":
            return
        name = frame.f_code.co_filename
        if not name.startswith(str(PACKAGE)) or frame.f_code.co_name == "<module>":
            return
        self.calls += 1
        file = str(Path(name).relative_to(PACKAGE))
        if file not in self.files:
            self.files.append(file)


@contextmanager
def traced() -> Iterator[Journey]:
    """The journey of what runs inside, in this thread."""
    journey = Journey()
    sys.setprofile(journey.hook)
    try:
        yield journey
    finally:
        sys.setprofile(None)


class _Handler(BaseHTTPRequestHandler):
    """Forty pages that link to the ten after them."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/robots.txt":
            status, body = 200, "User-agent: *\nDisallow: /private/\n"
        elif self.path.strip("/").isdigit() or self.path == "/":
            number = int(self.path.strip("/") or 0)
            words = " ".join(f"word{chr(97 + number % 26)}{number}x{i}" for i in range(120))
            links = "".join(
                f'<p><a href="/{number + i}">tide {number + i}</a> text</p>' for i in range(1, 11)
            )
            status = 200
            body = (
                f"<!doctype html><html><head><title>Page {number}</title></head>"
                f"<body><p>tide gauge {words}</p>{links}</body></html>"
            )
        else:
            status, body = 404, "nothing here"
        data = body.encode()
        self.send_response(status)
        kind = "text/plain" if self.path == "/robots.txt" else "text/html; charset=utf-8"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def served() -> Iterator[str]:
    """The site's first URL, while it is up."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


SETTINGS: dict[str, Any] = {
    "topic": "tide gauge",
    "budget": 2 * STEADY + 2,
    "delay": 0.0,
    "concurrency": 1,
    "allow_private": True,
}


def one_page(url: str, run: Path) -> Journey:
    """Pages of a live crawl in its stride, WARC on: from one visit being reported to a later one,
    as they are reported several at a time."""
    journey = Journey()
    for number, _ in enumerate(sonde.Crawl(url, path=run, **SETTINGS)):
        if number == STEADY:
            sys.setprofile(journey.hook)
        elif number == STEADY + 10:
            sys.setprofile(None)
    return journey


def one_step() -> Journey:
    """Twenty steps of a simulated crawl, compiled."""
    graph = topical(500, 4000, seed=7, topics=5)
    sonde.simulate(graph, random_seeds=3, budget=20)  # whatever is made once is made
    with traced() as journey:
        sonde.simulate(graph, random_seeds=3, budget=20)
    return journey


def one_resume(run: Path) -> Journey:
    """A run taken up again, until its driver is ready."""
    from sonde.crawling.setup import resumed_run

    with traced() as journey:
        session = resumed_run(run, None, {}, None, {})
    session.run.close()
    return journey


def one_explanation(run: Path, url: str) -> Journey:
    """``sonde explain`` of a page."""
    from sonde.cli import main

    with contextlib.redirect_stdout(io.StringIO()), traced() as journey:
        main(["explain", str(run), url])
    return journey


def one_track_step(run: Path) -> Journey:
    """Two steps of ``sonde track``: from one visit being reported to the next but one."""
    from sonde.track import LiveTracker, TrackedVisit

    journey, visits = Journey(), 0

    def hear(event: object) -> None:
        nonlocal visits
        visits += isinstance(event, TrackedVisit)
        if visits == STEADY // 2:
            sys.setprofile(journey.hook)
        elif visits == STEADY // 2 + 2:
            sys.setprofile(None)
            tracker.stop()

    plan = {"per_hour": 1_000_000, "budget": STEADY}
    tracker = LiveTracker(run, on_event=hear, plan=plan, allow_private=True, delay=0.0)
    try:
        asyncio.run(tracker.run())
    finally:
        sys.setprofile(None)
    return journey


JOURNEYS: dict[str, tuple[str, str]] = {
    "page": ("A live page", "ten pages of a live crawl in its stride, with WARC"),
    "step": ("A simulated step", "twenty steps of `simulate`; the steps themselves are compiled"),
    "resume": ("A resume", "a run taken up again, until its driver is ready"),
    "explain": ("An explanation", "`sonde explain run/ URL`"),
    "track": ("A track step", "two visits of `sonde track`"),
}


def all_journeys(folder: Path, wanted: set[str]) -> dict[str, Journey]:
    """The journeys of one small run."""
    found: dict[str, Journey] = {}
    with served() as url:
        run = folder / "run"
        makers: dict[str, Callable[[], Journey]] = {
            "page": lambda: one_page(url, run),
            "step": one_step,
            "resume": lambda: one_resume(run),
            "explain": lambda: one_explanation(run, f"{url}7"),
            "track": lambda: one_track_step(run),
        }
        for name, make in makers.items():
            if name in wanted:
                found[name] = make()
    return found


def as_markdown(found: dict[str, Journey]) -> str:
    """A table of counts, and the files of each journey."""
    lines = ["| journey | what | files before | files now | calls |", "|---|---|---:|---:|---:|"]
    for name, journey in found.items():
        title, what = JOURNEYS[name]
        lines.append(
            f"| {title} | {what} | {BEFORE[name]} | {len(journey.files)} | {journey.calls} |"
        )
    for name, journey in found.items():
        lines += ["", f"### {JOURNEYS[name][0]}", ""]
        lines += [", ".join(f"`{file}`" for file in journey.files)]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"put them into {PAGE.name}")
    parser.add_argument("--only", default=",".join(JOURNEYS), help="some of " + ", ".join(JOURNEYS))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = as_markdown(all_journeys(Path(folder), set(args.only.split(","))))
    if not args.write:
        print(text)
        return 0
    page = PAGE.read_text()
    head, _, rest = page.partition(START)
    PAGE.write_text(f"{head}{START}\n\n{text}\n{END}{rest.partition(END)[2]}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
