"""Lists of pages that are not pages: sitemaps, sitemap indexes, RSS and Atom feeds.

Read as a stream by expat, with entities refused where they are declared, so that nothing can
expand; broken XML gives what came before the break. Gzipped files are unpacked up to a limit.
A sitemap may also be plain text, one URL a line.
"""

from __future__ import annotations

import xml.parsers.expat as expat
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from sonde.net.decoding import BadEncoding, unpack
from sonde.sources.page import Base

MAX_LINKS = 50_000
"""What the sitemap protocol allows in one file."""

_MAX_SIZE = 20_000_000
_MAX_ELEMENTS = 400_000  # eight for each link: an image or two, some dates
_MAX_DEPTH = 64
_MAX_FIELD = 8_192
_CHUNK = 65_536
_ROOTS = {
    "urlset": "sitemap",
    "sitemapindex": "index",
    "rss": "rss",
    "RDF": "rss",
    "feed": "atom",
}
_ENTRIES = frozenset(("url", "sitemap", "item", "entry"))
_DATES = frozenset(("lastmod", "pubDate", "date", "updated", "published"))
_TEXTS = frozenset(("loc", "link", "title", "priority")) | _DATES


class FeedLink(NamedTuple):
    """A page that a feed names; ``modified`` in seconds since 1970, ``priority`` from 0 to 1 and
    ``size`` in bytes, where it says so."""

    url: str
    modified: float | None = None
    title: str = ""
    priority: float | None = None
    size: int | None = None


@dataclass(slots=True)
class Feed:
    """``kind`` is sitemap, index (its links are sitemaps), rss, atom or text."""

    kind: str
    links: list[FeedLink] = field(default_factory=list)
    cut: bool = False


def is_feed(body: bytes, media_type: str = "") -> bool:
    """Whether a body looks like a sitemap or a feed."""
    if body.startswith(b"\x1f\x8b"):
        return True
    head = body[:1_024].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head.startswith(b"<"):
        return False
    named = media_type in ("application/rss+xml", "application/atom+xml")
    marks = (b"<urlset", b"<sitemapindex", b"<rss", b"<feed", b"<rdf:RDF")
    return named or any(mark in head for mark in marks)


def read_feed(body: bytes, url: str, *, max_links: int = MAX_LINKS) -> Feed | None:
    """The links of a sitemap or a feed, or ``None`` where it is neither."""
    cut = False
    if body.startswith(b"\x1f\x8b"):
        try:
            body, cut = unpack(body, "gzip", _MAX_SIZE)
        except BadEncoding:
            return None
    if not body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return _read_lines(body, url, max_links)
    reader = _Reader(url, max_links)
    reader.read(body)
    if reader.feed is not None:
        reader.feed.cut = reader.feed.cut or cut
    return reader.feed


def _read_lines(body: bytes, url: str, max_links: int) -> Feed | None:
    feed = Feed("text")
    base = Base(url)
    for line in body.decode("utf-8-sig", "replace").splitlines():
        line = line.strip()
        if not line:
            continue
        target = base.join(line) if line.startswith(("http://", "https://")) else None
        if target is None:
            return None  # not a list of URLs
        if len(feed.links) == max_links:
            feed.cut = True
            break
        feed.links.append(FeedLink(target))
    return feed if feed.links else None


class _Stop(Exception):
    """Enough, or too dangerous, to go on."""


class _Reader:
    """Turns expat's events into links."""

    def __init__(self, url: str, max_links: int) -> None:
        self.feed: Feed | None = None
        self._base = Base(url)
        self._max_links = max_links
        self._depth = 0
        self._elements = 0
        self._text: list[str] | None = None
        self._size = 0
        self._entry: dict[str, str] | None = None
        self._entry_depth = 0

    def read(self, body: bytes) -> None:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = self._entity
        try:
            for at in range(0, len(body), _CHUNK):
                parser.Parse(body[at : at + _CHUNK], False)
            parser.Parse(b"", True)
        except (expat.ExpatError, ValueError, LookupError, _Stop):
            if self.feed is not None:
                self.feed.cut = True

    def _entity(self, *declaration: object) -> None:
        raise _Stop

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        self._depth += 1
        self._elements += 1
        if self._depth > _MAX_DEPTH or self._elements > _MAX_ELEMENTS:
            raise _Stop
        if self._depth == 1:
            kind = _ROOTS.get(local)
            if kind is None:
                raise _Stop
            self.feed = Feed(kind)
        elif self._entry is None and local in _ENTRIES:
            self._entry = {}
            self._entry_depth = self._depth
        elif self._entry is not None and self._depth == self._entry_depth + 1 and local in _TEXTS:
            self._text, self._size = [], 0
            if local == "link" and "href" in attributes:  # Atom
                if attributes.get("rel", "alternate") == "alternate":
                    self._entry.setdefault("link", attributes["href"])
                    self._entry.setdefault("length", attributes.get("length", ""))
                self._text = None

    def _characters(self, data: str) -> None:
        if self._text is not None and self._size < _MAX_FIELD:
            self._text.append(data)
            self._size += len(data)

    def _end(self, name: str) -> None:
        local = name.rpartition(" ")[2]
        if self._entry is not None:
            if self._depth == self._entry_depth:
                self._finish(self._entry)
                self._entry = None
            elif self._text is not None and self._depth == self._entry_depth + 1:
                key = "modified" if local in _DATES else "link" if local == "loc" else local
                self._entry.setdefault(key, "".join(self._text).strip())
                self._text = None
        self._depth -= 1

    def _finish(self, entry: dict[str, str]) -> None:
        assert self.feed is not None
        target = self._base.join(entry["link"]) if entry.get("link") else None
        if target is None:
            return
        if len(self.feed.links) == self._max_links:
            raise _Stop
        title = " ".join(entry.get("title", "").split())
        self.feed.links.append(
            FeedLink(
                target,
                moment(entry.get("modified", "")),
                title,
                _share(entry.get("priority", "")),
                _size(entry.get("length", "")),
            )
        )


def _share(text: str) -> float | None:
    try:
        share = float(text)
    except ValueError:
        return None
    return share if 0.0 <= share <= 1.0 else None


def _size(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


def moment(text: str) -> float | None:
    """A date of a sitemap or a feed (ISO 8601 or RFC 822), in seconds since 1970."""
    if not text:
        return None
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        try:
            when = parsedate_to_datetime(text)
        except (TypeError, ValueError, OverflowError):
            return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    try:
        return when.timestamp()
    except (OverflowError, ValueError):
        return None
