"""Readers under fire: a small corpus, changed at random again and again, must be read or refused.

``make fuzz`` runs this with kernels that were built with AddressSanitizer and UBSan; a test runs a
little of it with the usual ones.

    python tests/fuzz/mutations.py --rounds 5000
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sonde.data.recipe import Recipe, build
from sonde.data.wiki.wikipages import plain
from sonde.errors import InputError
from sonde.link_words import link_words
from sonde.net.urls import domain_of, group_of, host_of, normalise, origin_of
from sonde.scorers.keyword_matcher import KeywordMatcher
from sonde.scorers.topic import Topic
from sonde.sources.main_text import SiteTemplates
from sonde.sources.page import plain_page, read_html
from sonde.sources.web.feeds import read_feed
from sonde.sources.web.markdown import main_markdown
from sonde.sources.web.staleness import Staleness
from sonde.sources.web.twins import printed
from sonde.store.warc import tail_of
from sonde.store.warcreader import read_archived
from sonde.url_measures import Surroundings, keys_of

CORPUS = Path(__file__).parent / "corpus"
URL = "https://example.org/sea/level.html"
WORDS = (
    b"<", b">", b"&", b'"', b"'", b"</", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<a href=", b"<p>",
    b"</p>", b"<b>", b"<table>", b"<template>", b"<svg>", b"<script>", b"</script>", b"<title>",
    b"&#", b"&#x10FFFF;", b"&amp;", b"[[", b"]]", b"{{", b"}}", b"{|", b"|}", b"'''", b"==", b"\n",
    b"<ref>", b"<nowiki>", b"\x00", b"\xff", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"%", b"://",
    b"?", b"#", b"..", b"/" * 50, b" " * 300, b"9" * 40, "é".encode(), "ß".encode(), "İ".encode(),
    "漢字".encode(), "\u202e".encode(), b"WARC/1.1\r\n", b"Content-Length: 99999999999\r\n",
    b"\r\n\r\n",
)  # fmt: skip


@dataclass(frozen=True)
class Target:
    """A reader, and what it is given to begin with."""

    seeds: tuple[bytes, ...]
    read: Callable[[bytes, Path], object]
    share: int = 1
    """One round in so many, for those that take long."""


def corpus(*names: str) -> tuple[bytes, ...]:
    return tuple((CORPUS / name).read_bytes() for name in names)


def archive() -> bytes:
    """Two records, as they are stored."""
    body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<a href=x>tide</a>"
    head = (
        b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: https://example.org/\r\n"
        b"WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
        b"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n"
        % len(body)
    )
    return 2 * gzip.compress(head + body + b"\r\n\r\n", mtime=0)


def text_of(body: bytes) -> str:
    return body.decode("utf-8", "replace")


def of_urls(body: bytes, _: Path) -> None:
    found = [normalise(line, URL) for line in text_of(body).split("\n")]
    urls = [url for url in found if url is not None]
    for url in urls:
        origin_of(url), group_of(url), domain_of(host_of(url)), keys_of(url)
    around = Surroundings(urls)
    for url in urls:
        around.rfu(url), around.bfu(url)


def of_text(body: bytes, _: Path) -> None:
    text = text_of(body)
    with contextlib.suppress(InputError):  # a topic may be wrong, and is nothing worse
        KeywordMatcher(Topic.of(f"tide gauge, sea, C++, {text[:20]}").phrases, text[:2]).spans(text)
    link_words(text[:500], URL, text[500:900])
    page, main = SiteTemplates().judge(plain_page(text, URL))
    Staleness().observe(page.url, main, None), printed(main)


def of_wikitext(body: bytes, _: Path) -> None:
    # As it comes out of XML, which allows no other control characters, between two line ends.
    text = "".join(letter for letter in text_of(body) if letter >= " " or letter in "\t\n\r")
    given = f"\n{text}\n".encode()
    plain(bytearray(given), len(given), lambda to: "file" * to.lower().startswith(b"file:"))


def of_dump(body: bytes, folder: Path) -> None:
    (folder / "dump.xml").write_bytes(body)
    build(Recipe("mediawiki", folder / "dump.xml", ("tide",)), folder / "graph", jobs=1)


def of_archive(body: bytes, folder: Path) -> None:
    (folder / "sonde-00001.warc.gz").write_bytes(body)
    tail_of(folder / "sonde-00001.warc.gz")
    read_archived(folder, "sonde-00001.warc.gz:0")


def of_archive_within(body: bytes, folder: Path) -> None:
    """What is damaged before it is compressed gets past the checks of gzip."""
    of_archive(gzip.compress(body, mtime=0), folder)


TARGETS = {
    "html": Target(
        corpus("page.html", "wild.html"),
        lambda body, _: read_html(text_of(body).encode(), URL),
    ),
    "markdown": Target(
        corpus("page.html", "wild.html"), lambda body, _: main_markdown(body, URL), share=4
    ),
    "wikitext": Target(
        corpus("article.wiki"),
        of_wikitext,
    ),
    "wiki dump": Target(corpus("dump.xml"), of_dump, share=40),
    "feed": Target(
        corpus("feed.rss", "feed.atom", "sitemap.xml"), lambda body, _: read_feed(body, URL)
    ),
    "urls": Target(corpus("urls.txt"), of_urls),
    "text": Target(corpus("article.wiki", "urls.txt"), of_text),
    "archive": Target((archive(),), of_archive, share=4),
    "archive within": Target((gzip.decompress(archive()),), of_archive_within, share=4),
}


def mutated(dice: random.Random, seeds: tuple[bytes, ...]) -> bytes:
    """One of the seeds, changed in a few places."""
    body = bytearray(dice.choice(seeds))
    for _ in range(1 + min(int(dice.expovariate(0.4)), 12)):
        place = dice.randrange(len(body) + 1)
        length = min(int(dice.expovariate(0.05)), len(body) - place)
        part = body[place : place + length]
        how = dice.randrange(7)
        if how == 0 and body:
            body[min(place, len(body) - 1)] ^= 1 << dice.randrange(8)
        elif how == 1:
            del body[place : place + length]
        elif how == 2:
            body[place:place] = part * dice.choice((1, 2, 3, 50))
        elif how == 3:
            body[place:place] = dice.choice(WORDS) * dice.choice((1, 1, 1, 2, 600))
        elif how == 4:
            other = dice.choice(seeds)
            start = dice.randrange(len(other) + 1)
            body[place : place + length] = other[start : start + length]
        elif how == 5:
            body[place : place + length] = dice.randbytes(length)
        else:
            del body[place:]
    return bytes(body[:200_000])


def attacked(name: str, rounds: int, seed: str) -> Iterator[bytes]:
    """What a reader could neither read nor refuse: the input that made it fail."""
    target = TARGETS[name]
    dice = random.Random(f"{seed} {name}")
    for _ in range(max(1, rounds // target.share)):
        body = mutated(dice, target.seeds)
        with tempfile.TemporaryDirectory() as folder:
            try:
                target.read(body, Path(folder))
            except InputError:
                pass
            except Exception as error:
                print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
                yield body


def main() -> int:
    """Attack all of them; 1 if one fell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2_000)
    parser.add_argument("--seed", default=str(time.time_ns()))
    args = parser.parse_args()
    fell = 0
    print(f"seed {args.seed}", flush=True)
    for name in TARGETS:
        finds = list(attacked(name, args.rounds, args.seed))
        print(f"{name}: {len(finds)} failures", flush=True)
        for body in finds[:1]:
            kept = Path(tempfile.gettempdir(), f"sonde-fuzz-{name.replace(' ', '-')}.bin")
            kept.write_bytes(body)
            print(f"  such as {kept}")
        fell += len(finds)
    return int(fell > 0)


if __name__ == "__main__":
    sys.exit(main())
