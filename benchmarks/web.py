"""Pages per CPU-second of a crawl of real HTML on loopback, beside what people use otherwise.

    python benchmarks/web.py FOLDER [--pages N] [--rounds N] [-o benchmarks/results/web.md]

FOLDER holds HTML files (the Schools Wikipedia selection, or documentation that Debian installs). A
server in a process of its own serves them; each contestant is a process of its own, too, and they
take turns, so that what else the machine does falls on all of them. What counts is the CPU time of
the contestant. All of them fetch, parse, make links absolute, extract the text; sonde also scores,
chooses, and stores. Scrapy takes part where it is installed.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import unquote

CONCURRENCY = 32
CONTESTANTS = (
    "sonde --no-pages",
    "sonde --no-pages --no-text",
    "sonde with WARC",
    "Scrapy, idiomatic",
    "Scrapy, selectolax",
    "Scrapy, tuned",
    "bare loop",
)
TOPIC = "physics, energy, electron"


# -- the server ----------------------------------------------------------------------------------


class _Files(asyncio.Protocol):
    """The least of HTTP that a crawler needs; files are kept in memory, already framed."""

    root: Path
    kept: dict[str, bytes] = {}  # noqa: RUF012 (shared by all connections on purpose)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.buffer = b""

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while b"\r\n\r\n" in self.buffer:
            head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
            self.transport.write(self.answer(head.split(b" ", 2)[1].decode("latin-1")))

    def answer(self, path: str) -> bytes:
        found = self.kept.get(path)
        if found is None:
            file = self.root / unquote(path.partition("?")[0]).lstrip("/")
            body, status = b"", b"404 Not Found"
            if file.is_file() and file.suffix in (".htm", ".html"):
                body, status = file.read_bytes(), b"200 OK"
            found = b"HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (
                status,
                len(body),
                body,
            )
            self.kept[path] = found
        return found


async def serve(root: Path) -> None:
    _Files.root = root
    server = await asyncio.get_running_loop().create_server(_Files, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)  # until the parent ends


# -- the contestants -----------------------------------------------------------------------------


def run_sonde(start: str, pages: int, *, warc: bool, text: bool) -> int:
    from sonde.crawling import crawl

    with tempfile.TemporaryDirectory() as folder:
        result = crawl(
            start,
            path=Path(folder) / "run",
            topic=TOPIC,
            budget=pages,
            delay=0,
            concurrency=CONCURRENCY,
            per_host=CONCURRENCY,
            allow_private=True,
            contact="bench@localhost",
            pages=warc,
            text=text,
        )
        return result.visits


def run_bare(start: str, pages: int) -> int:
    import aiohttp
    import can_ada
    import uvloop
    from selectolax.lexbor import LexborHTMLParser

    origin = start[: start.index("/", 8) + 1]

    async def main() -> int:
        seen = {start}
        todo = [start]
        done = 0
        async with aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=CONCURRENCY)
        ) as session:

            async def visit(url: str) -> None:
                nonlocal done
                async with session.get(url) as answer:
                    body = await answer.read()
                    if answer.status != 200:
                        return
                done += 1
                tree = LexborHTMLParser(body)
                base = can_ada.parse(url)
                for node in tree.css("a[href]"):
                    try:
                        target = (base + (node.attributes["href"] or "")).href.partition("#")[0]
                    except ValueError:
                        continue
                    node.text()
                    if target not in seen and target.startswith(origin):
                        seen.add(target)
                        todo.append(target)
                tree.text()

            asked = 0
            active: set[asyncio.Task[None]] = set()
            while ((todo or active) and asked < pages) or active:
                while todo and len(active) < CONCURRENCY and asked < pages:
                    asked += 1
                    active.add(asyncio.create_task(visit(todo.pop(0))))
                _, active = await asyncio.wait(active, return_when=asyncio.FIRST_COMPLETED)
        return done

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main())


def run_scrapy(start: str, pages: int, *, fast: bool, seen: set[str] | None = None) -> int:
    """With ``fast`` the parser is selectolax. With a set of seen URLs no request is made for one of
    them: the work of making it, and of taking its fingerprint, is what a link costs."""
    from typing import Any

    import scrapy
    from scrapy.crawler import CrawlerProcess
    from scrapy.linkextractors import LinkExtractor

    done = 0
    origin = start[: start.index("/", 8) + 1]

    class Spider(scrapy.Spider):  # type: ignore[misc]
        name = "bench"
        start_urls = [start]  # noqa: RUF012
        extractor = LinkExtractor()

        def parse(self, response: Any) -> Any:
            nonlocal done
            done += 1
            if fast:
                from selectolax.lexbor import LexborHTMLParser

                tree = LexborHTMLParser(response.body)
                tree.text()
                links = {
                    response.urljoin(node.attributes["href"] or "") for node in tree.css("a[href]")
                }
            else:
                " ".join(response.css("body ::text").getall())
                links = {link.url for link in self.extractor.extract_links(response)}
            for link in links:
                url = link.partition("#")[0]
                if url.startswith(origin) and (seen is None or url not in seen):
                    if seen is not None:
                        seen.add(url)
                    yield scrapy.Request(url, dont_filter=seen is not None)

    process = CrawlerProcess(
        {
            "CONCURRENT_REQUESTS": CONCURRENCY,
            "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY,
            "DOWNLOAD_DELAY": 0,
            "ROBOTSTXT_OBEY": False,
            "LOG_LEVEL": "ERROR",
            "TELNETCONSOLE_ENABLED": False,
            "CLOSESPIDER_PAGECOUNT": pages,
        }
    )
    process.crawl(Spider)
    process.start()
    return done


def contend(name: str, start: str, pages: int) -> None:
    began = time.monotonic()
    if name.startswith("sonde"):
        done = run_sonde(start, pages, warc="WARC" in name, text="no-text" not in name)
    elif name.startswith("Scrapy"):
        tuned = "tuned" in name
        seen = {start} if tuned else None
        done = run_scrapy(start, pages, fast=tuned or "selectolax" in name, seen=seen)
    else:
        done = run_bare(start, pages)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps(
            {
                "pages": done,
                "cpu": usage.ru_utime + usage.ru_stime,
                "wall": time.monotonic() - began,
                "memory": usage.ru_maxrss / 1024,
            }
        )
    )


def idle(name: str) -> None:
    """What importing costs, which is no part of a page."""
    modules = {
        "sonde": ["sonde.crawling", "sonde.sources.web.source", "sonde.kernels"],
        "Scrapy": ["scrapy.crawler", "scrapy.linkextractors", "selectolax.lexbor"],
        "bare": ["aiohttp", "can_ada", "selectolax.lexbor", "uvloop"],
    }
    for module in modules[name.partition(" ")[0].rstrip(",")]:
        imported = importlib.import_module(module)
        if module == "sonde.kernels":
            imported.load("compiled")
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"cpu": usage.ru_utime + usage.ru_stime}))


def known_urls(count: int) -> None:
    """Resident memory with so many URLs known to the explorer and the book of a crawl. Every link
    has words of its own, as many as there can be."""
    from sonde.crawling.logbook import Logbook
    from sonde.explorer import Explorer
    from sonde.link_words import link_words
    from sonde.records import LinkColumns, Spend, Visit
    from sonde.store.run import Run

    with tempfile.TemporaryDirectory() as folder:
        run = Run.create(Path(folder) / "run", {})
        book = Logbook(Explorer(budget=10**9, grouped=True), run, Spend(requests=1))
        book.add_seeds([("https://www.host-0.example/", "www.host-0.example")])
        made = 0
        window = " ".join(map(str, range(10, 30)))
        while book.explorer.driver.known < count:
            lease = book.ask(None)
            assert lease is not None
            urls, hosts, words = [], [], []
            for _ in range(100):
                made += 1
                host = sys.intern(f"www.host-{made % 1000}.example")
                url = f"https://{host}/section/{made % 97}/a-page-about-something-{made}.html"
                urls.append(url)
                hosts.append(host)
                words.append(link_words("a page about something", url, window))
            links = LinkColumns(urls, [(place % 7) / 7 for place in range(100)], hosts, words)
            book.tell(lease, Visit(score=float(made % 3), links=links))
            run.journal.commit()
        status = Path("/proc/self/status").read_text()
        found = dict(line.split(":", 1) for line in status.splitlines())
        resident, peak = (int(found[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))
        print(json.dumps({"memory": resident, "peak": peak}))
        run.close()


# -- the report ----------------------------------------------------------------------------------


def call(*words: str, python: str = sys.executable) -> dict[str, float] | None:
    done = subprocess.run([python, __file__, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr[-600:], file=sys.stderr)
        return None
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def machine() -> str:
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    return f"{os.cpu_count()} cores ({model}), Python {platform.python_version()}, Linux"


def compare(folder: Path, site: str, pages: int, rounds: int, scrapy: str) -> str:
    # The page with the most links: a crawl that starts there does not run dry.
    start_file = max(
        sorted(folder.rglob("*.htm*")), key=lambda path: path.read_bytes().count(b"<a ")
    )
    with subprocess.Popen(
        [sys.executable, __file__, "--serve", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        port = server.stdout.readline().strip()
        start = f"http://127.0.0.1:{port}/{start_file.relative_to(folder)}"
        figures: dict[str, list[dict[str, float]]] = {name: [] for name in CONTESTANTS}
        for _ in range(rounds):
            for name in CONTESTANTS:
                print(name, file=sys.stderr)
                python = scrapy if name.startswith("Scrapy") else sys.executable
                found = call("--run", name, start, str(pages), python=python)
                before = call("--idle", name, python=python)
                if found is not None and before is not None:
                    found["rate"] = found["pages"] / (found["cpu"] - before["cpu"])
                    figures[name].append(found)
        server.stdin.close()
    known = call("--known", "1000000")
    rates = {
        name: statistics.median(one["rate"] for one in found)
        for name, found in figures.items()
        if found
    }
    setting = (
        f"{machine()}. {site}. Up to {pages:,} requests each, {rounds} interleaved rounds,"
        f" {CONCURRENCY} at once, no delay; medians. CPU of the crawler alone, less what its"
        " imports cost; the server is a process of its own."
    )
    lines = [
        "# A crawl of real HTML on loopback",
        "",
        setting,
        "",
        "| crawler | pages per CPU-second | against sonde --no-pages | peak memory (MB) |",
        "|---|---|---|---|",
    ]
    base = rates.get(CONTESTANTS[0], float("nan"))
    for name in CONTESTANTS:
        if name not in rates:
            lines.append(f"| {name} | not installed here | | |")
            continue
        memory = max(one["memory"] for one in figures[name])
        lines.append(f"| {name} | {rates[name]:.0f} | {rates[name] / base:.2f} | {memory:.0f} |")
    if known is not None:
        memory, peak = known["memory"], known["peak"]
        lines += [
            "",
            f"Resident memory with 1,000,000 known URLs: {memory:.0f} MB, at most {peak:.0f} MB.",
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--site", help="what the folder holds, for the report")
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--scrapy", default=sys.executable, help="a Python that has Scrapy")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--idle", help=argparse.SUPPRESS)
    parser.add_argument("--known", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve is not None:
        asyncio.run(serve(args.serve))
    elif args.run is not None:
        contend(args.run[0], args.run[1], int(args.run[2]))
    elif args.idle is not None:
        idle(args.idle)
    elif args.known is not None:
        known_urls(args.known)
    elif args.folder is None:
        parser.error("name a folder of HTML files")
    else:
        site = args.site or f"The HTML files of {args.folder.name}"
        report = compare(args.folder, site, args.pages, args.rounds, args.scrapy)
        if args.output is not None:
            args.output.write_text(report)
        print(report)


if __name__ == "__main__":
    main()
