"""Bombs: answers made to stop a crawler, each on a host of its own beside two innocent hosts.

Whatever the bomb: the innocent hosts get all their requests, the budget holds, the crawl ends by
itself, and no single step of the event loop takes longer than a second of processor time.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import multiprocessing
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import brotli
import zstandard
from crawl_sites import prose
from outcome import Part

from sonde.crawling import Crawl

INNOCENT = 12  # pages of each of two hosts
MEGABYTE = 1_000_000


def head(
    status: str = "200 OK", kind: str = "text/html", length: int | None = None, more: str = ""
) -> bytes:
    size = "" if length is None else f"Content-Length: {length}\r\n"
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{size}{more}\r\n".encode("latin-1")


def whole(body: bytes, kind: str = "text/html", more: str = "", status: str = "200 OK") -> bytes:
    return head(status, kind, len(body), more) + body


def packed(body: bytes, coding: str, kind: str = "text/html") -> bytes:
    return whole(body, kind, f"Content-Encoding: {coding}\r\n")


def pdf(operators: int, sheets: int) -> bytes:
    """Pages that share one stream of operators which show nothing."""
    stream = zlib.compress(b"BT /F1 1 Tf () Tj ET\n" * operators)
    kids = " ".join(f"{5 + number} 0 R" for number in range(sheets))
    page = "<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {sheets} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(stream), stream),
        *[page.encode()] * sheets,
    ]
    body = b"%PDF-1.4\n"
    for number, each in enumerate(objects, 1):
        body += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    return body + b"trailer << /Root 1 0 R >>\n%%EOF\n"


Parts = Iterator[bytes | float]
"""What a server sends: bytes, and seconds to wait."""


def endless(start: bytes, part: bytes, pause: float = 0.0) -> Callable[[], Parts]:
    def sent() -> Parts:
        yield start
        while True:
            yield part
            if pause:
                yield pause

    return sent


def links(count: int, form: str) -> bytes:
    return "".join(form.format(number) for number in range(count)).encode()


def words(size: int) -> bytes:
    """Words, no two of them alike."""
    return b" ".join(b"w%x" % number for number in range(size // 7))


def pages() -> dict[str, bytes | Callable[[], Parts]]:
    """What the bomb's page may be."""
    html = b"<!doctype html><title>bomb</title>"
    many = 2 * MEGABYTE
    nested = {
        name: whole(html + part * (many // len(part)))
        for name, part in {
            "divs without end": b"<div>",
            "misnested formatting": b"<b><i><u>",
            "tables in tables": b"<table><tr><td>",
            "anchors in paragraphs": b"<p><a href=x>",
            "lists in lists": b"<ul><li>",
            "svg in svg": b"<svg><g>",
            "nothing but <": b"<",
            "open comments": b"<!--",
            "entities": b"&amp;",
            "numbers of characters": b"&#x10FFFF;",
            "half tags": b"<a href='",
            "closing tags": b"</b></i>",
            "options": b"<select><option>",
            "templates": b"<template>",
            "titles": b"<title>",
            "bases": b"<base href=/x/>",
            "blanks": b" ",
            "not UTF-8": b"\xff\xfe\x80",
            "NULs": b"\x00",
            "surrogates": b"\xed\xa0\x80",
        }.items()
    }
    gz = gzip.compress
    return {
        **nested,
        "10,000 links of 1,900 characters": whole(
            html + links(10_000, "<a href=/{}" + "a1-" * 60 + ">tide gauge</a>")
        ),
        "links with hashes": whole(html + links(3000, "<a href=/{0:032x}/{0:064x}>tide</a>")),
        "a token of its own on every link": whole(
            html + links(3000, "<a href='/p?token={0:016x}'>tide gauge</a>")
        ),
        "a host of its own on every link": whole(
            html + links(3000, "<a href='http://h{0}.bomb.example/'>tide gauge</a>")
        ),
        "10 MB of words": whole(b"<p>" + words(10 * MEGABYTE)),
        "10 MB of plain words": whole(words(10 * MEGABYTE), "text/plain"),
        "10 MB of the topic": whole(b"<p>" + b"tide gauge " * 900_000),
        "10 MB of links": whole(links(120_000, "<p>word{0} <a href=/p/{0}/tide-gauge>tide</a> ")),
        "one attribute of 2 MB": whole(b"<a href='" + b"x" * many + b"'>tide</a>"),
        "100,000 attributes": whole(b"<a " + b"b=1 " * 100_000 + b">tide</a>"),
        "a title of 2 MB": whole(b"<title>" + b"tide " * (many // 5)),
        "gzip bomb": packed(gz(bytes(200 * MEGABYTE), 9), "gzip"),
        "gzip in gzip": packed(gz(gz(bytes(200 * MEGABYTE))), "gzip, gzip"),
        "gzip members": packed(gz(b"") * 100_000, "gzip"),
        "gzip members in gzip": packed(gz(gz(b"") * 500_000), "gzip, gzip"),
        "deflate bomb": packed(zlib.compress(bytes(200 * MEGABYTE)), "deflate"),
        "brotli bomb": packed(brotli.compress(bytes(100 * MEGABYTE), quality=1), "br"),
        "zstd bomb": packed(zstandard.compress(bytes(200 * MEGABYTE)), "zstd"),
        "zstd frames": packed(zstandard.compress(b"") * 100_000, "zstd"),
        "three layers": packed(gz(gz(gz(b"x"))), "gzip, gzip, gzip"),
        "half a gzip": packed(gz(prose(1).encode() * 99)[:200], "gzip"),
        "not what it says": packed(b"plain", "br"),
        "a PDF for ever": whole(pdf(20_000, 200), "application/pdf"),
        "half a PDF": whole(pdf(10, 2)[:300], "application/pdf"),
        "a sitemap of a gzip bomb": whole(gz(b"<urlset>" + b"<url>" * 10**7), "application/gzip"),
        "entities of entities": whole(
            b"<!DOCTYPE r [<!ENTITY a '" + b"x" * 9999 + b"'>]><rss>" + b"&a;" * 99_999,
            "application/xml",
        ),
        "a feed, deep": whole(b"<rss><channel>" + b"<a>" * 300_000, "application/xml"),
        "a feed of 50,000": whole(
            b"<urlset>" + links(50_000, "<url><loc>/p/{}</loc></url>"), "application/xml"
        ),
        "ETag that is no UTF-8": whole(b"tide", more='ETag: "\xe9"\r\n'),
        "dates that are no UTF-8": whole(b"tide", more="Last-Modified: \xff\xfe\r\n"),
        "language that is no UTF-8": whole(b"tide", more="Content-Language: \xff\r\n"),
        "a header of 300 kB": whole(b"tide", more="X-Long: " + "x" * 300_000 + "\r\n"),
        "9,000 headers": whole(b"tide", more="".join(f"X-{n}: {n}\r\n" for n in range(9000))),
        "a length that is none": head(length=None, more="Content-Length: 9e99\r\n") + b"tide",
        "a negative length": head(more="Content-Length: -5\r\n") + b"tide",
        "a chunk of 2^64": head(more="Transfer-Encoding: chunked\r\n") + b"ffffffffffffffff\r\nx",
        "a redirect to itself": whole(b"", more="Location: /\r\n", status="302 Found"),
        "a redirect for ever": whole(b"", more="Location: /x{}\r\n", status="302 Found"),
        "a redirect to nowhere": whole(b"", more="Location: http://[::1\r\n", status="302 Found"),
        "a redirect to a private address": whole(
            b"", more="Location: http://169.254.169.254/latest\r\n", status="302 Found"
        ),
        "no status": b"\r\n\r\n\r\n",
        "not HTTP": b"SSH-2.0-OpenSSH_9.9\r\n" * 50,
        "status 999": whole(b"tide", status="999 Odd"),
        "retry after years": whole(b"", more="Retry-After: " + "9" * 300, status="503 No"),
        "100 Continue for ever": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 50),
        "a head for ever": endless(b"HTTP/1.1 200 OK\r\n", b"X-Header: tide\r\n" * 50),
        "a body for ever": endless(head(), b"<p>tide gauge " * 500),
        "chunks of one byte for ever": endless(
            head(more="Transfer-Encoding: chunked\r\n"), b"1\r\nx\r\n" * 200
        ),
        "a byte a second": endless(head(), b"x", 1.0),
        "silence": endless(b"", b"", 1.0),
    }


ROBOTS = {
    "29,000 wildcards": "User-agent: *\n"
    + "".join(f"Disallow: /*{n}abc*\n" for n in range(29_000)),
    "stars": "User-agent: *\n" + ("Disallow: /" + "*a" * 400 + "\n") * 600,
    "a request in 10^400 seconds": "User-agent: *\nRequest-rate: 1/" + "9" * 400,
    "a pause of a day": "User-agent: *\nCrawl-delay: 86400",
    "a pause that is no number": "User-agent: *\nCrawl-delay: nan",
    "20,000 agents": "".join(f"User-agent: a{n}\nDisallow: /\n" for n in range(20_000)),
}


class BombSite:
    """Three hosts in a thread: two innocent ones, and the bomb's."""

    def __init__(self, page: bytes | Callable[[], Parts], robots: str) -> None:
        self.page = page
        self.robots = robots
        self.counts = {1: 0, 2: 0, 3: 0}
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._up = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def url(self, host: int) -> str:
        return f"http://127.0.0.{host}:{self.port}/"

    async def _innocent(self, path: str) -> bytes:
        depth = len(path)
        if path == "/robots.txt":
            return whole(b"", status="404 Not Found")
        following = f"<a href={path}x>tide gauge</a>" if depth < INNOCENT else ""
        return whole(f"<p>{prose(depth)} tide gauge {following}".encode())

    async def _talk(
        self, host: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                self.counts[host] += 1
                path = request.split(b" ")[1].decode()
                if host < 3:
                    writer.write(await self._innocent(path))
                elif path == "/robots.txt":
                    writer.write(whole(self.robots.encode(), "text/plain"))
                elif isinstance(self.page, bytes):
                    writer.write(self.page.replace(b"{}", b"%d" % self.counts[3]))
                else:
                    for part in self.page():
                        if isinstance(part, float):
                            await asyncio.sleep(part)
                        else:
                            writer.write(part)
                            await writer.drain()
                await writer.drain()
        writer.close()

    async def _open(self) -> None:
        self._servers = []
        for host in (1, 2, 3):

            async def talk(
                reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: int = host
            ) -> None:
                await self._talk(host, reader, writer)

            server = await asyncio.start_server(talk, f"127.0.0.{host}", self.port)
            self.port = server.sockets[0].getsockname()[1]
            self._servers.append(server)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._open())
        self._up.set()
        self._loop.run_forever()

    @contextmanager
    def serving(self) -> Iterator[BombSite]:
        self._thread.start()
        assert self._up.wait(10)
        try:
            yield self
        finally:
            for server in self._servers:
                self._loop.call_soon_threadsafe(server.close)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(10)
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            with suppress(RuntimeError):
                self._loop.run_until_complete(asyncio.sleep(0))
            self._loop.close()


def _slowest_step(out: list[float]) -> None:
    """Have every step of the event loop measured, in seconds of its thread."""
    run = asyncio.events.Handle._run

    def measured(handle: asyncio.Handle) -> None:
        began = time.thread_time()
        run(handle)
        out[0] = max(out[0], time.thread_time() - began)

    asyncio.events.Handle._run = measured  # type: ignore[method-assign, assignment]


def _crawled(urls: list[str], folder: str, budget: int, answer: Any) -> None:
    """In a process of its own: crawl, and say what came of it."""
    slowest = [0.0]
    _slowest_step(slowest)
    crawl = Crawl(
        urls,
        path=folder,
        topic="tide gauge",
        budget=budget,
        host_budget=INNOCENT + 1,  # a bomb may say that it has more pages than there is budget
        delay=0.0,
        scope="host",
        allow_private=True,
        sitemaps="no",
        contact="torture@localhost",
        timeout=4.0,
        retries=0,
        concurrency=8,
    )
    try:
        result = asyncio.run(crawl.run())
        said = {"reason": result.stop_reason, "requests": result.requests}
    except BaseException as error:
        said = {"error": repr(error)[:300]}
    answer.send({**said, "slowest": slowest[0]})


def one_bomb(name: str, page: bytes | Callable[[], Parts], robots: str, folder: Path) -> str:
    """What did not hold, or the seconds of the slowest step."""
    from sonde.sources.web import pdf as reader

    reader.MAX_SECONDS = 3
    site = BombSite(page, robots)
    budget = 3 * (INNOCENT + 1)
    with site.serving():
        ours, theirs = multiprocessing.get_context("fork").Pipe()
        urls = [site.url(3), site.url(1), site.url(2)]
        process = multiprocessing.get_context("fork").Process(
            target=_crawled, args=(urls, str(folder / name.replace("/", "-")), budget, theirs)
        )
        process.start()
        theirs.close()
        said: dict[str, Any] = {"error": "it was still running after 90 s"}
        with suppress(EOFError):
            if ours.poll(90):
                said = ours.recv()
        process.kill()
        process.join()
        ours.close()
    if "error" in said:
        return str(said["error"])
    arrived = sum(site.counts.values())
    if arrived > budget or arrived > said["requests"]:
        return f"{arrived} requests arrived, {said['requests']} were counted, of {budget}"
    for host in (1, 2):
        if site.counts[host] != INNOCENT + 1:
            return f"innocent host {host} got {site.counts[host]} requests of {INNOCENT + 1}"
    if said["slowest"] > 1.0:
        return f"a step of the loop took {said['slowest']:.2f} s"
    return f"{said['slowest']:.4f}"


def bombs(folder: Path, most: int) -> Part:
    """So many bombs, the first ones of all."""
    part = Part(
        "bombs", "innocent hosts get all they are due, the crawl ends, no step takes a second"
    )
    planned: list[tuple[str, bytes | Callable[[], Parts], str]] = [
        *((name, page, "") for name, page in pages().items()),
        *((f"robots.txt: {name}", whole(b"tide"), text) for name, text in ROBOTS.items()),
    ]
    step = max(1, len(planned) // most)
    slowest: list[tuple[float, str]] = []
    for name, page, robots in planned[::step][:most] if most < len(planned) else planned:
        what = one_bomb(name, page, robots, folder)
        held = what.replace(".", "").isdigit()
        part.check(held, f"{name}: {what}")
        if held:
            slowest.append((float(what), name))
    if slowest:
        seconds, name = max(slowest)
        part.figures.append(f"slowest step of the loop {seconds:.2f} s of CPU ({name})")
    return part


if __name__ == "__main__":
    import tempfile

    found = bombs(Path(tempfile.mkdtemp()), int(sys.argv[1]) if len(sys.argv) > 1 else 999)
    print(json.dumps({"tried": found.tried, "broken": found.broken, "figures": found.figures}))
