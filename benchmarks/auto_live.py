"""What `auto` costs a live crawl: the share of its CPU time that goes into choosing and learning.

    python benchmarks/auto_live.py FOLDER START [--pages 1000]

FOLDER holds HTML files, START is the page among them to begin with. A process of its own serves
them on loopback. Counted are asking, telling, finding the words of links and packing them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sonde.crawling import crawl, logbook
from sonde.explorer import Explorer
from sonde.sources.web import visit

SERVER = (
    "import asyncio, sys; from pathlib import Path; import web; asyncio.run(web.serve(Path({!r})))"
)


class Clock:
    """The CPU time inside the functions that it wraps."""

    def __init__(self) -> None:
        self.spent = 0.0
        self.inside = False

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **options: Any) -> Any:
            if self.inside:
                return function(*args, **options)
            self.inside = True
            started = time.thread_time()
            try:
                return function(*args, **options)
            finally:
                self.spent += time.thread_time() - started
                self.inside = False

        return timed


def measure(start: str, pages: int, estimator: str, topic: str) -> tuple[float, float, int]:
    """CPU seconds of a crawl, those spent on choosing, and its visits."""
    clock = Clock()
    wrapped = [
        (Explorer, "ask"),
        (Explorer, "tell"),
        (Explorer, "rank"),
        (visit, "page_words"),
        (logbook, "pack_words"),
    ]
    kept = [getattr(owner, name) for owner, name in wrapped]
    for (owner, name), function in zip(wrapped, kept, strict=True):
        setattr(owner, name, clock.around(function))
    try:
        with tempfile.TemporaryDirectory() as folder:
            began = time.process_time()
            result = crawl(
                start,
                path=Path(folder) / "run",
                topic=topic,
                budget=pages,
                estimator=estimator,
                delay=0,
                concurrency=16,
                per_host=16,
                allow_private=True,
                contact="bench@localhost",
            )
            return time.process_time() - began, clock.spent, result.visits
    finally:
        for (owner, name), function in zip(wrapped, kept, strict=True):
            setattr(owner, name, function)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("start")
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--topic", default="thread, mutex, atomic")
    args = parser.parse_args()
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER.format(str(args.folder))],
        cwd=Path(__file__).parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        start = f"http://127.0.0.1:{int(server.stdout.readline())}/{args.start}"
        measure(start, 50, "auto", args.topic)  # imports, caches
        for estimator in ("n", "auto:words=0", "auto") * 2:
            total, choosing, visits = measure(start, args.pages, estimator, args.topic)
            print(
                f"{estimator:<13} {visits:,} visits, {1000 * total / visits:.2f} ms CPU a visit,"
                f" {choosing / total:.1%} of it for choosing, learning and words"
            )
    finally:
        server.terminate()
        server.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
