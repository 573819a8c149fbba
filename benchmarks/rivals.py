"""The duel: crawlers on the same sites under the same limit, counted at the server.

    python benchmarks/rivals.py [--site NAME ...] [--others PYTHON] [-o docs/results/rivals.md]

Three real documentation sites, as Debian packages them, and a generated one, on loopback. A page
is on topic when its text has the topic's words. What counts: requests that reach the server
(robots.txt included), pages on topic among them, CPU of the contestant (its imports included).
Crawl4AI takes part where OTHERS, the Python of another environment, has it installed. (The spider
of trafilatura was tried: it asks nothing of a host without a domain.) Figures are kept in
benchmarks/results/rivals.json.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from machine import describe
from selectolax.lexbor import LexborHTMLParser

HERE = Path(__file__).resolve().parent
KEPT = HERE / "results" / "rivals.json"
PATIENCE = 600.0
"""Seconds after which a contestant is stopped: far more than any needs on a quiet machine."""

CONTESTANTS = {
    "sonde": "a crawl for the topic",
    "Scrapy": "2.19 as in its tutorial, `CLOSESPIDER_PAGECOUNT`",
    "Scrapy, breadth-first": "with the settings that its documentation gives for that order",
    "Scrapy, tuned": "breadth-first, selectolax, a set of URLs before any `Request` is made",
    "Scrapy with sonde, items": "the spider of the tutorial, two lines of settings",
    "Scrapy with sonde, topic": "the same with `SONDE_TOPIC`",
    "Crawl4AI BFS": "0.9.5 without a browser, `BFSDeepCrawlStrategy`, `max_pages`",
    "Crawl4AI BestFirst": "`BestFirstCrawlingStrategy` with `KeywordRelevanceScorer`",
    "Crawl4AI Adaptive": "`AdaptiveCrawler` with its defaults but `max_pages`",
    "Crawl4AI Adaptive, thorough": "`confidence_threshold=0.95`, `top_k_links=10`",
}
OTHERS = ("Crawl4AI",)


@dataclass(frozen=True)
class DuelSite:
    """A site, where to start, what to look for, and how many requests to ask for."""

    about: str
    start: str
    topic: str
    limit: int
    folder: str = ""
    said: str = ""

    @property
    def phrase(self) -> str:
        """What a page on topic says: the topic, unless pages name it that are not about it."""
        return self.said or self.topic


SITES = {
    "postgresql": DuelSite(
        "the PostgreSQL manual (postgresql-doc-15)",
        "/index.html",
        "logical replication",
        200,
        "/usr/share/doc/postgresql-doc-15/html",
    ),
    "python": DuelSite(
        "the Python documentation (python3.11-doc)",
        "/index.html",
        "coroutine",
        100,
        "/usr/share/doc/python3.11/html",
    ),
    "cpp": DuelSite(
        "the C++ reference (cppreference-doc-en-html)",
        "/en/index.html",
        "memory order",
        300,
        "/usr/share/cppreference/doc/html",
    ),
    "generated": DuelSite(
        "generated: 3,000 pages, a tenth on topic, URLs that say nothing",
        "/",
        "tide gauge",
        300,
        said="the tide gauge of the harbour",
    ),
}


def generated(pages: int = 3_000) -> dict[str, tuple[int, bytes]]:
    """A site whose pages on topic link to each other more often than not. One URL in 23 redirects,
    one in 31 is gone."""
    dice = random.Random(1)
    on_topic = [dice.random() < 0.1 for _ in range(pages)]
    near = [number for number in range(pages) if on_topic[number]]
    answers: dict[str, tuple[int, bytes]] = {}

    def linked(number: int, count: int) -> str:
        links = []
        for _ in range(count):
            close = on_topic[number] and dice.random() < 0.5
            target = dice.choice(near) if close else dice.randrange(pages)
            word = "tide gauge" if on_topic[target] else "plain matter"
            kind = "r" if target % 23 == 7 else "p"
            links.append(f'<p><a href="/{kind}/{target}">{word} no. {target}</a></p>')
        return "".join(links)

    for number in range(pages):
        said = "The tide gauge of the harbour. " * 3 if on_topic[number] else "Nothing of it. "
        said += " ".join("".join(dice.choices("abcdefghijklmnop", k=7)) for _ in range(120))
        body = f"<html><title>no. {number}</title><body><p>{said}</p>{linked(number, 12)}</body>"
        gone = number % 31 == 11 and not on_topic[number]
        answers[f"/p/{number}"] = (404, b"gone") if gone else (200, body.encode())
        answers[f"/r/{number}"] = (302, f"/p/{number}".encode())
    answers["/"] = (200, f"<html><title>start</title><body>{linked(0, 40)}</body>".encode())
    return answers


class DuelServer:
    """Serves a site in a thread, and keeps what was asked for."""

    def __init__(self, site: DuelSite) -> None:
        self.site = site
        self.asked: list[str] = []
        self._answers = {} if site.folder else generated()
        self._loop = asyncio.new_event_loop()
        self._server = self._loop.run_until_complete(
            self._loop.create_server(lambda: _Protocol(self), "127.0.0.1", 0, backlog=512)
        )
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def answer(self, path: str) -> tuple[int, bytes]:
        if path not in self._answers and self.site.folder:
            file = Path(self.site.folder) / unquote(path.partition("?")[0]).lstrip("/")
            fine = file.is_file() and file.suffix in (".htm", ".html")
            # Some parsers stumble over the declaration of XML that PostgreSQL's pages begin with.
            body = re.sub(rb"^<\?xml[^>]*\?>", b"", file.read_bytes()) if fine else b"gone"
            self._answers[path] = (200 if fine else 404, body)
        return self._answers.get(path, (404, b"gone"))

    def on_topic(self) -> int:
        """Pages on topic among what was asked for, each once."""
        found = 0
        for path in set(self.asked):
            status, body = self.answer(path)
            if status == 200:
                text = LexborHTMLParser(body).text(separator=" ").lower()
                found += self.site.phrase in " ".join(text.split())
        return found


class _Protocol(asyncio.Protocol):
    """The least of HTTP that a crawler needs."""

    def __init__(self, server: DuelServer) -> None:
        self._server = server
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while b"\r\n\r\n" in self._buffer:
            head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
            method, path, _ = head.decode("latin-1").split(" ", 2)
            self._server.asked.append(path)
            status, body = self._server.answer(path)
            where = f"Location: {body.decode()}\r\n" if status == 302 else ""
            body = b"" if status == 302 else body
            said = (
                f"HTTP/1.1 {status} X\r\nContent-Type: text/html; charset=utf-8\r\n{where}"
                f"Content-Length: {len(body)}\r\n\r\n"
            )
            self._transport.write(said.encode() + (b"" if method == "HEAD" else body))


def measured(site: DuelSite, contestant: str, python: str) -> dict[str, float] | None:
    """One contestant on one site; ``None`` where it cannot take part."""
    server = DuelServer(site)
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "CRAWL4_AI_BASE_DIRECTORY": home, "HOME": home}
        words = [contestant, server.url + site.start, site.topic, site.phrase, str(site.limit)]
        began = time.monotonic()
        process = subprocess.Popen(
            [python, "-W", "ignore", str(HERE / "rivals_run.py"), *words],
            cwd=home,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        timer = threading.Timer(PATIENCE, process.kill)
        timer.start()
        assert process.stderr is not None
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stderr.close()
    if process.returncode > 0:
        print(said.decode("utf-8", "replace")[-800:], file=sys.stderr)
        return None
    return {
        "requests": len(server.asked),
        "on_topic": server.on_topic(),
        "cpu": usage.ru_utime + usage.ru_stime,
        "wall": time.monotonic() - began,
        "stopped": process.returncode != 0,
    }


def spread(values: Sequence[float], form: str = ".0f") -> str:
    """The median, with the least and the most where they differ."""
    middle, least, most = (f(values) for f in (statistics.median, min, max))
    shown = format(middle, form)
    if format(least, form) == format(most, form):
        return shown
    return f"{shown} ({format(least, form)}–{format(most, form)})"


def report(kept: Mapping[str, Mapping[str, Sequence[Mapping[str, float]]]]) -> str:
    """All figures, as Markdown."""
    how = (
        f"{describe()}. `make bench-rivals`: sites on loopback, 16 requests at once where that can"
        " be said, no delay; the median of runs, with the least and the most. Requests are those"
        " that reached the server, robots.txt included; pages on topic are those among them whose"
        " text has the topic's words, each once; CPU is that of the contestant, imports included."
        " Every contestant was given the limit by its own means."
    )
    lines = ["# The duel: crawlers on the same sites", "", how, "", "| contestant | |", "|---|---|"]
    lines += [f"| {name} | {about} |" for name, about in CONTESTANTS.items()]
    for name, site in SITES.items():
        if name not in kept:
            continue
        lines += ["", f"## {site.about[0].upper()}{site.about[1:]}", ""]
        lines += [
            f'Topic "{site.topic}", limit {site.limit}.',
            "",
            "| contestant | runs | requests sent | pages on topic | CPU (s) |",
            "|---|---|---|---|---|",
        ]
        for contestant in CONTESTANTS:
            found = kept[name].get(contestant)
            if found:
                requests, on_topic, cpu = (
                    [each[figure] for each in found] for figure in ("requests", "on_topic", "cpu")
                )
                note = ", stopped" if any(each["stopped"] for each in found) else ""
                lines.append(
                    f"| {contestant}{note} | {len(found)} | {spread(requests)} |"
                    f" {spread(on_topic)} | {spread(cpu, '.1f')} |"
                )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", action="append", choices=SITES, default=[])
    parser.add_argument("--contestant", action="append", default=[])
    parser.add_argument("--others", metavar="PYTHON", help="a Python that has Crawl4AI")
    parser.add_argument("--keep", action="store_true", help="add to the runs that were kept")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    kept = json.loads(KEPT.read_text()) if args.keep and KEPT.exists() else {}
    for name in (args.site or list(SITES)) * args.rounds:
        site = SITES[name]
        if site.folder and not Path(site.folder).is_dir():
            print(f"{name}: not installed", file=sys.stderr)
            continue
        for contestant in args.contestant or CONTESTANTS:
            other = contestant.startswith(OTHERS)
            if other and args.others is None:
                continue
            found = measured(site, contestant, args.others if other else sys.executable)
            print(name, contestant, found, file=sys.stderr, flush=True)
            if found is not None:
                kept.setdefault(name, {}).setdefault(contestant, []).append(found)
            KEPT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    if args.output is not None:
        args.output.write_text(report(kept))


if __name__ == "__main__":
    main()
