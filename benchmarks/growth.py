"""What the worst inputs cost, by size: each reader of outside bytes, and a whole visit.

python benchmarks/growth.py -o benchmarks/results/growth.md

Three sizes each; the growth is the power of the size that the time follows between the first and
the last (1 is linear, 2 quadratic). No reader may take more than half a second in the event loop
for one response of 10 MB.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import brotli
import zstandard
from machine import describe

from sonde.net.decoding import unpack
from sonde.net.exchange import Limits
from sonde.net.hosts import Hosts
from sonde.net.retries import retry_after
from sonde.net.robots import RobotsRecord, RobotsRules, directives
from sonde.net.urls import domain_of, group_of, normalise
from sonde.scorers.bm25 import Bm25Scorer
from sonde.scorers.keywords import KeywordScorer
from sonde.sources.page import plain_page, read_page
from sonde.sources.peers.messages import answer_from, message_of
from sonde.sources.social.source import ANSWER
from sonde.sources.web.feeds import read_feed
from sonde.whole_text import whole

URL = "https://a.example/b/c.html"
MEGABYTE = 1_000_000
SIZES = (MEGABYTE, 3 * MEGABYTE, 10 * MEGABYTE)
BOUND = 0.5
UNPACKED = Limits().unpacked


@dataclass(frozen=True)
class Case:
    """A reader and the input of a size that it likes least."""

    what: str
    made: Callable[[int], bytes]
    read: Callable[[bytes], object]
    sizes: tuple[int, ...] = SIZES


def repeated(part: bytes, before: bytes = b"", after: bytes = b"") -> Callable[[int], bytes]:
    return lambda size: before + part * ((size - len(before) - len(after)) // len(part)) + after


def page(body: bytes) -> object:
    return read_page(body, URL, content_type="text/html; charset=utf-8")


def numbered(form: bytes) -> Callable[[int], bytes]:
    def made(size: int) -> bytes:
        parts: list[bytes] = []
        length = 0
        while length < size:
            parts.append(form % len(parts))
            length += len(parts[-1])
        return b"".join(parts)

    return made


def unpacked(coding: str) -> Callable[[bytes], object]:
    return lambda body: unpack(body, coding, UNPACKED)


def robots(text: bytes) -> object:
    record = RobotsRecord("https://a.example", "rules", text.decode(), 0.0, 1.0)
    rules = RobotsRules()
    rules.delay(record)
    return [rules.allowed(record, f"https://a.example/{n}{'a1b' * 600}") for n in range(10)]


def scored(body: bytes) -> object:
    found = plain_page(body.decode(), URL)
    return KeywordScorer("tide gauge, sea level, aaab").score(found)


def ranked(body: bytes) -> object:
    return Bm25Scorer("tide gauge sea level aaab").score(plain_page(body.decode(), URL))


def joined(body: bytes) -> object:
    return [normalise(line.decode(), base=URL) for line in body.split(b"\n")[:10_000]]


def hosts(body: bytes) -> object:
    table = Hosts()
    for name in body.decode().split()[:10_000]:
        table.add(name, 0.0)
    return [table.offered(table.ready(0.0)) for _ in range(10)]


HTML = "<!doctype html><title>t</title>"
NESTED = (b"<div>", b"<b><i>", b"<p><a href=x>", b"<table><tr><td>", b"<ul><li>", b"<svg><g>")
FLAT = (
    b"<a href=/x>tide</a> ",
    b"<",
    b"<!--",
    b"&amp;",
    b"&#x41",
    b"<p",
    b"<a href='",
    b"</b>",
    b"<b></i>",
    b"<script>",
    b"<title>",
    b"<select><option>",
    b"<template>",
    b" ",
    b"\xff",
    b"<a " + b"b=1 " * 100 + b">",
    b"<base href=/x>",
    b"<meta charset=utf-7>",
    b"<br>",
)

CASES = [
    *(Case(f"HTML, `{part.decode('latin-1')[:24]}` for ever", repeated(part, HTML.encode()), page)
      for part in (*NESTED, *FLAT)),
    Case("HTML, a link of its own each", numbered(b"<a href=/p/%d>tide</a>\n"), page),
    Case("HTML, attributes of their own", lambda n: b"<a " + numbered(b"a%d=1 ")(n) + b">x", page),
    Case("HTML in UTF-16", lambda n: ("<p>tide " * (n // 16)).encode("utf-16"), page),
    Case("plain text", repeated(b"tide gauge "), lambda body: plain_page(body.decode(), URL)),
    Case("sitemap", numbered(b"<url><loc>https://a.example/%d</loc></url>"),
         lambda body: read_feed(b"<urlset>" + body + b"</urlset>", URL)),
    Case("feed, deep", repeated(b"<a>", b"<rss><channel>"), lambda body: read_feed(body, URL)),
    Case("feed, entities", repeated(b"&a;", b"<!DOCTYPE r [<!ENTITY a '%s'>]><rss>" % (b"x" * 999)),
         lambda body: read_feed(body, URL)),
    Case("sitemap of a gzip bomb", lambda n: gzip.compress(b"<urlset>" + b"<url>" * (3 * n)),
         lambda body: read_feed(body, URL)),
    Case("gzip members of nothing", repeated(gzip.compress(b"")), unpacked("gzip")),
    Case("gzip members of two bytes", repeated(gzip.compress(b"ab")), unpacked("gzip")),
    Case("gzip bomb", lambda n: gzip.compress(bytes(80 * n)), unpacked("gzip")),
    Case("gzip in gzip", lambda n: gzip.compress(gzip.compress(b"") * (n // 20)),
         unpacked("gzip, gzip")),
    Case("deflate bomb", lambda n: zlib.compress(bytes(80 * n)), unpacked("deflate")),
    Case("brotli bomb", lambda n: brotli.compress(bytes(8 * n), quality=1), unpacked("br")),
    Case("zstd frames of nothing", repeated(zstandard.compress(b"")), unpacked("zstd")),
    Case("zstd bomb", lambda n: zstandard.compress(bytes(8 * n)), unpacked("zstd")),
    Case("robots.txt, wildcards, 10 URLs", numbered(b"Disallow: /*%dabc*\n"),
         lambda body: robots(b"User-agent: *\n" + body), (50_000, 150_000, 500_000)),
    Case("robots.txt, stars, 10 URLs", repeated(b"Disallow: /" + b"*a" * 400 + b"\n"),
         lambda body: robots(b"User-agent: *\n" + body), (50_000, 150_000, 500_000)),
    Case("robots.txt, agents", numbered(b"User-agent: a%d\nDisallow: /\n"), robots,
         (50_000, 150_000, 500_000)),
    Case("X-Robots-Tag", repeated(b"noindex, a: "), lambda b: directives(b.decode()),
         (10_000, 30_000, 100_000)),
    Case("Retry-After", repeated(b"9"), lambda b: retry_after(b.decode(), 0.0),
         (10_000, 30_000, 100_000)),
    Case("10,000 long URLs", numbered(b"/%d/" + b"a1-" * 600 + b"\n"), joined),
    Case("keywords", repeated(b"aaa tide "), scored),
    Case("bm25", repeated(b"aaa tide "), ranked),
    Case("words that are no words", repeated("\u0130\u0301".encode()), scored),
    Case("half characters", repeated(b"\\ud800"),
         lambda body: whole(json.loads(b'"' + body[: ANSWER // 6 * 6] + b'"')), SIZES),
    Case("a peer's answer", lambda n: json.dumps({"sonde": 1, "score": 1, "neighbours":
         [["127.0.0.1:7001", 1.0]] * (n // 24)}).encode(),
         lambda body: answer_from(message_of(body)), (100_000, 300_000, 1_000_000)),
    Case("JSON, deep", repeated(b"["), lambda body: _json(body)),
    Case("names of one domain", numbered(b"h%d.a.example\n"), hosts, (10_000, 30_000, 100_000)),
    Case("domains", numbered(b"a.b%d.co.uk\n"), lambda body: [
        domain_of(name) for name in body.decode().split()[:10_000]], SIZES),
    Case("groups", numbered(b"https://h%d.example/\n"), lambda body: [
        group_of(url) for url in body.decode().split()[:10_000]], SIZES),
]  # fmt: skip


def _json(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def cost(case: Case, size: int) -> float:
    """CPU seconds of one reading, the best of three."""
    body = case.made(size)
    best = math.inf
    for _ in range(3):
        began = time.thread_time()
        with suppress(ValueError):
            case.read(body)
        best = min(best, time.thread_time() - began)
        if best > 2.0:
            break
    return best


def main() -> None:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--only", default="", help="those that have this in their names")
    parser.add_argument("--after", default="", help="those after the first with this in its name")
    args = parser.parse_args()
    lines = [
        "# What the worst inputs cost",
        "",
        f"{describe()}. CPU seconds of the thread, the best of three; sizes are of the input.",
        f"Bodies unpack to at most {UNPACKED // MEGABYTE} MB.",
        "",
        "| reader, and what it is given | sizes | CPU seconds | growth | below 0.5 s |",
        "|---|---|---|---:|---|",
    ]
    names = [case.what for case in CASES]
    first = next((at + 1 for at, name in enumerate(names) if args.after in name), 0)
    for case in CASES[first if args.after else 0 :]:
        if args.only not in case.what:
            continue
        costs = [cost(case, size) for size in case.sizes]
        growth = math.log(max(costs[-1], 1e-6) / max(costs[0], 1e-6)) / math.log(
            case.sizes[-1] / case.sizes[0]
        )
        sizes = ", ".join(f"{size / MEGABYTE:g}" for size in case.sizes)
        took = ", ".join(f"{each:.4f}" for each in costs)
        kept = "yes" if costs[-1] <= BOUND else "**NO**"
        what = case.what.replace("|", "\\|")
        lines.append(f"| {what} | {sizes} MB | {took} | {growth:.1f} | {kept} |")
        print(lines[-1], flush=True)
    if args.output:
        args.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
