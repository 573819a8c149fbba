"""Signals: Ctrl-C and SIGTERM, at any moment of a crawl whose every page is a bomb.

How long it takes until one is answered is counted in seconds of the process's own work, so that a
busy machine does not count.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import zstandard
from aiohttp import web
from crawl_sites import Site, prose
from outcome import Part

TICK = 1 / os.sysconf("SC_CLK_TCK")
BOUND = 1.0


def work_of(process: int) -> float:
    """Seconds of processor time of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK


def one_signal(site: Site, run: Path, number: int, wait: float) -> float | str:
    """Seconds of work until a signal was answered; words where it was not."""
    polite = ["--topic", "tide", "--delay", "0", "--allow-private", "--sitemaps", "no"]
    polite += ["--budget", "100000"]
    with subprocess.Popen(
        [sys.executable, "-m", "sonde", "crawl", site.url("/"), *polite, "-o", str(run)],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stderr is not None
        lines: list[str] = []
        answered = threading.Event()

        def read() -> None:
            assert process.stderr is not None
            for line in process.stderr:
                lines.append(line)
                if "finishing" in line:
                    answered.set()

        threading.Thread(target=read, daemon=True).start()
        while not site.total and process.poll() is None:
            time.sleep(0.01)
        time.sleep(wait)
        before = work_of(process.pid)
        process.send_signal(number)
        heard = answered.wait(60)
        worked = work_of(process.pid) - before
        process.send_signal(number)  # twice: at once
        try:
            status = process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            return "it did not end"
    if not heard:
        return f"it was not heard: {lines[-1:]}"
    return worked if status in (0, 130) else f"status {status}: {lines[-1:]}"


def interrupts(folder: Path, most: int) -> Part:
    """So many signals, each in a crawl of its own."""
    part = Part("signals", f"one is answered within {BOUND:g} s of work, at any moment")
    if not Path("/proc/self/stat").exists():
        return part
    bomb = zstandard.compress(b"<a href=x>tide</a> " * 2_000_000)
    dice = random.Random(3)
    took = []
    for number in range(most):

        async def answer(request: web.Request) -> web.StreamResponse:
            if request.path == "/robots.txt":
                return web.Response(status=404)
            if request.path == "/":
                links = "".join(f"<a href=/{page}>tide {prose(page, 3)}</a> " for page in range(99))
                return web.Response(text=links, content_type="text/html")
            headers = {"Content-Encoding": "zstd"}
            return web.Response(body=bomb, content_type="text/html", headers=headers)

        with Site(answer) as site:
            kind = signal.SIGINT if number % 2 else signal.SIGTERM
            found = one_signal(site, folder / f"run-{number}", kind, dice.uniform(0.0, 2.0))
        if isinstance(found, str):
            part.check(False, found)
        else:
            took.append(found)
            part.check(found <= BOUND, f"it took {found:.2f} s of work")
    if took:
        part.figures.append(f"at most {max(took):.2f} s of work until one was answered")
    return part
