"""A page: an HTML body parsed to its text, its links with their places in it, and its metadata.

A document that is in order is read as it stands, by kernels, in one pass that sees whether it is so
and one that reads it. Of any other a parser makes a tree and writes it out again, in order (to walk
the tree from Python would cost more than all else that is done to a page).

What a reader cannot see (script, style, template, noscript, ``hidden``, ``aria-hidden="true"``,
media fall-backs) is neither text nor link: hidden links are how sites trap robots. ``text`` is all
that is visible, ``content`` its main text: what stands in ``main``, which is all but what the
page's own markup calls navigation, header, footer or aside, until its site is known (see
``main_text``).

White space is collapsed to single spaces, and a block element is a word boundary where an inline
one is not. A link keeps the span of its anchor in ``text``; its window is that span and
``WINDOW`` characters on either side.

*Hrefs* become URLs as in browsers: character references are undone (a name without its semicolon
counts only where nothing that could belong to a query follows, so that ``?a=1&copy=2`` stays what
its author meant), then the href is joined to the URL of its page. Most are plain paths and need no
parser for that.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from functools import cached_property, partial
from html.entities import html5
from operator import itemgetter
from typing import NamedTuple

import can_ada
import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborHTMLParser

from sonde.kernels.html.depth_limit import safe_length
from sonde.kernels.html.links import followed
from sonde.kernels.html.scan import ASIDE, NAVIGATION, scan
from sonde.kernels.html.tags import ELEMENTS as _ELEMENTS
from sonde.kernels.html.tags import Names
from sonde.kernels.html.wellformed import RULES, wellformed
from sonde.kernels.text.boilerplate import Imprint
from sonde.kernels.text.utf8 import characters_before
from sonde.net.charset import transcoded
from sonde.net.urls import MAX_URL, join

WINDOW = 50
"""Visible characters on either side of an anchor that belong to its window."""

MAX_SIZE = 2_000_000
"""Bytes of a document (in UTF-8) past this number are not read; the page says that it was cut."""

MAX_LINKS = 10_000
"""Links past this number on one page are not taken; the page says that it was cut."""


# An HTML parser looks through the open elements at most tags, and through a tag's attributes at
# each attribute: a million nested <div>, or tags with thousands of attributes, take it hours.
# Browsers stop nesting at 512; here the page ends there, or where its attributes are too many.
MAX_DEPTH = 512
MAX_ATTRIBUTES = 1_000
"""In one tag."""
MAX_PAIRS = 20_000_000
"""The squares of all tags' numbers of attributes, added up: each is compared with each."""
MAX_STEPS = 50_000_000
"""Open elements that are looked through at end tags, added up."""
MAX_COPIES = 500_000
"""Formatting elements that may have to be opened again, added up: 34 kB can ask for millions."""

_STYLES = "a b big code em font i nobr s small strike strong tt u"
_FORMATTING = Names(dict.fromkeys(_STYLES.split(), 1))

ELEMENTS = Names(_ELEMENTS)
"""The kernels' table of elements."""

CHARACTERS = Names(
    {name[:-1]: ord(text) for name, text in html5.items() if name[-1] == ";" and len(text) == 1}
)
"""The code points of names that end in a semicolon and stand for one, for the kernels."""

_REFERENCE = re.compile("&(?:#([0-9]+);?|#[xX]([0-9a-fA-F]+);?|([a-zA-Z0-9]+)(;?)(=?))")
_REPLACEMENT = "\ufffd"

# What needs no parser to be joined: a path below the page's directory or one above it, of segments
# that are neither dots nor anything that is written otherwise in a URL.
_PLAIN = re.compile(
    rb"((?:\.\./)*)([A-Za-z0-9_~-][A-Za-z0-9_.~-]*(?:/[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)*/?)"
)
_MOST_DIRECTORIES = 128
_MOST_HREFS = 1_024

_MOUNT = "#root:empty,#app:empty,#__next:empty,#__nuxt:empty,app-root:empty,#svelte:empty"
_MANY_SCRIPTS = 3
_SHELL_TEXT = 200
_SHELL_LINKS = 5
_NOTES = 256  # tags in a head that are looked at
_HREFS = 10  # for each link that is taken, so many hrefs are looked at

_ATTRIBUTE = re.compile(
    rb"""[\x09\x0a\x0c\x0d /]*([^\x09\x0a\x0c\x0d /][^\x09\x0a\x0c\x0d /=]*)
    (?:[\x09\x0a\x0c\x0d ]*=[\x09\x0a\x0c\x0d ]*
    (?:"([^"]*)"|'([^']*)'|([^\x09\x0a\x0c\x0d ]*)))?""",
    re.VERBOSE,
)
_NOTED = {ord(name[0]): name for name in ("html", "title", "meta", "link", "base")}
# Most links and metas say nothing of interest.
_TELLING = {
    "link": re.compile(b"canonical|(?:rss|atom)[+]xml|&", re.IGNORECASE),
    "meta": re.compile(b"robots|sonde|refresh|&", re.IGNORECASE),
}
_FEEDS = ("application/rss+xml", "application/atom+xml")
_RULES = Names(RULES)


class PageLink(NamedTuple):
    """One link, in document order: where it goes and where its anchor stands in the text."""

    url: str
    start: int
    end: int
    nofollow: bool = False


_START, _END = itemgetter(0), itemgetter(1)
_MAKE = partial(tuple.__new__, PageLink)  # of a tuple, in half the time of a call


Spans = tuple[tuple[int, int], ...]
"""Parts of a text, from character to character, in order."""


class TextLayout(NamedTuple):
    """A page's text in UTF-8, the pieces that it consists of, and the blocks around them, as
    ``scan`` has them."""

    text: bytes
    pieces: NDArray[np.intc]
    nodes: NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a browser made of a page (nothing where that brought nothing), and a sentence that says
    why it was asked to, what that cost and what it brought."""

    html: bytes
    told: str


@dataclass(frozen=True)
class Page:
    """What was read from one body. ``url`` is the address that answered, after redirects."""

    url: str
    title: str = ""
    language: str = ""
    text: str = ""
    main: Spans | None = None
    """Where main text stands in the text; ``None`` where it is all of it."""
    layout: TextLayout | None = None
    """``None`` for bare text: it is one piece."""
    links: tuple[PageLink, ...] = ()
    canonical: str | None = None
    feeds: tuple[str, ...] = ()
    robots: str = ""
    charset: str = "utf-8"
    cut: bool = False
    needs_script: bool = False
    window: int = WINDOW
    rendered: Rendered | None = None  # where a browser has drawn it, or tried to

    @cached_property
    def content(self) -> str:
        """The main text."""
        if self.main is None:
            return self.text
        return " ".join([self.text[start:end].strip(" ") for start, end in self.main])

    @cached_property
    def imprint(self) -> Imprint:
        """The page made ready to be compared with others of its site."""
        return Imprint(*(self.layout or bare_layout(self.text)))

    def anchor(self, link: PageLink) -> str:
        """The visible text of the anchor."""
        return self.text[link.start : link.end]

    def context(self, link: PageLink) -> str:
        """The main text in the anchor and in ``window`` visible characters on either side."""
        low, high = max(0, link.start - self.window), link.end + self.window
        if self.main is None:
            return self.text[low:high]
        first = bisect_right(self.main, low, key=_END)
        last = bisect_left(self.main, high, key=_START)
        return " ".join(
            [
                self.text[max(low, start) : min(high, end)].strip(" ")
                for start, end in self.main[first:last]
            ]
        )


def read_page(
    body: bytes, url: str, *, content_type: str = "", language: str = "", max_links: int = MAX_LINKS
) -> Page:
    """Read an HTML body. ``language`` is what the Content-Language header says, if anything.

    >>> page = read_page(b"<title>T</title><p>See <a href=/x>the tide gauge</a> now", "http://a.example/")
    >>> page.text, page.links[0].url, page.anchor(page.links[0])
    ('See the tide gauge now', 'http://a.example/x', 'the tide gauge')
    """
    html, charset = transcoded(body[: 2 * MAX_SIZE], content_type)  # UTF-16 has two bytes for one
    whole = len(html) <= MAX_SIZE and len(body) <= 2 * MAX_SIZE
    found = read_html(html if whole else _begun(html), url, max_links)
    return Page(
        url=url,
        title=found.title,
        language=(found.language or language).strip().replace("_", "-").partition(",")[0].lower(),
        text=found.text,
        main=found.main,
        layout=found.layout,
        links=tuple(found.links),
        canonical=found.canonical,
        feeds=tuple(found.feeds),
        robots=", ".join(found.robots),
        charset=charset,
        cut=found.cut or not whole,
        needs_script=found.shell,
    )


def _begun(html: bytes) -> bytes:
    """As much of a document as is read, and no part of a character."""
    return html[:MAX_SIZE].decode("utf-8", "ignore").encode()


def bare_layout(text: str) -> TextLayout:
    """The layout of bare text."""
    none = np.zeros((0, 3), dtype=np.intc), np.zeros((0, 4), dtype=np.uint64)
    return TextLayout(text.encode("utf-8", "replace"), *none)


def plain_page(text: str, url: str, *, title: str = "") -> Page:
    """A page made of bare text (a text file, the text of a PDF): no links."""
    collapsed = " ".join(text[:MAX_SIZE].split())
    cut = len(text) > MAX_SIZE
    return Page(url=url, title=title, text=collapsed, cut=cut)


class _Room(threading.local):
    """Where pages of up to so many bytes are read to. Each thread has its own: to have it anew for
    each page takes as long as to read the page."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.text = np.empty(size, dtype=np.uint8)
        self.stack = np.empty((size, 3), dtype=np.intc)
        self.anchors = np.empty((size // 8, 7), dtype=np.intc)
        self.notes = np.empty((_NOTES, 2), dtype=np.intc)
        self.pieces = np.empty((size // 4 + 2, 3), dtype=np.intc)
        self.nodes = np.empty((size // 4 + 2, 4), dtype=np.uint64)


_ROOM = _Room(1 << 18)


@dataclass(slots=True)
class HtmlReading:
    """What was found."""

    text: str = ""
    main: Spans | None = None
    layout: TextLayout | None = None
    title: str = ""
    language: str = ""
    canonical: str | None = None
    feeds: list[str] = field(default_factory=list)
    robots: list[str] = field(default_factory=list)
    links: list[PageLink] = field(default_factory=list)
    cut: bool = False
    shell: bool = False  # little text, few links, scripts: an application draws the page


def read_html(html: bytes, url: str, max_links: int = MAX_LINKS) -> HtmlReading:
    """Read a document in UTF-8."""
    found = HtmlReading()
    ordered = html
    if not wellformed(html, _RULES, CHARACTERS, MAX_DEPTH, MAX_ATTRIBUTES):
        within = shallow(html)
        found.cut = len(within) < len(html)
        ordered = (_tree(within).html or "").encode("utf-8", "replace")
    size = len(ordered)
    room = _ROOM if size <= _ROOM.size else _Room(size)
    text, stack, notes, pieces, nodes = room.text, room.stack, room.notes, room.pieces, room.nodes
    anchors = room.anchors[: min(size // 8, _HREFS * max_links)]
    length, hrefs, noted, scripts, cut, parts, elements = scan(
        ordered, ELEMENTS, CHARACTERS, text, stack, anchors, notes, pieces, nodes
    )
    visible = text[:length].tobytes()
    found.text = visible.decode()
    found.layout = TextLayout(visible, pieces[:parts].copy(), nodes[:elements].copy())
    found.main = _unmarked(visible, found.layout.pieces)
    base, refreshes = _heed(found, ordered, notes[:noted].tolist(), Base(url))
    links = found.links
    links += [PageLink(target, 0, 0) for target in refreshes]
    more = followed(
        ordered, anchors, hrefs, base.directory.known, base.follow, url, _MAKE, links, max_links
    )
    found.cut = found.cut or cut or more
    if scripts and len(found.text) < _SHELL_TEXT and len(links) < _SHELL_LINKS:
        found.shell = scripts >= _MANY_SCRIPTS or _tree(html).css_first(_MOUNT) is not None
    return found


def _unmarked(text: bytes, pieces: NDArray[np.intc]) -> Spans | None:
    """All but what is marked up as navigation or as something beside the text."""
    apart = (pieces[:, 1] & (NAVIGATION | ASIDE)) != 0
    if not apart.any():
        return None
    edges = np.flatnonzero(np.diff(apart, prepend=True, append=True))
    places = np.append(pieces[:, 0], len(text))[edges].astype(np.intc).reshape(-1, 2)
    characters_before(text, places)
    return tuple([(start, end) for start, end in places.tolist()])


def _tree(html: bytes) -> LexborHTMLParser:
    # ``scripting`` keeps the content of a noscript in the head from spilling into the body.
    return LexborHTMLParser(html.decode(), scripting=True)


def _attributes(tag: bytes) -> dict[str, str]:
    """The attributes of a tag, the first of each name."""
    attributes: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(tag):
        value = resolved((double or single or bare).decode())
        attributes.setdefault(name.decode().lower(), value)
    return attributes


def _heed(
    found: HtmlReading, html: bytes, places: list[list[int]], base: Base
) -> tuple[Base, list[str]]:
    """Take in what the head says; what links are relative to, and the URLs that it refreshes to."""
    refreshes: list[str] = []
    based = False
    for start, stop in places:
        name = _NOTED[html[start] | 32]
        if name == "title":
            if not found.title:
                title = html[stop + 1 : html.index(b"<", stop)]
                found.title = " ".join(resolved(title.decode()).split())
            continue
        tag = html[start + len(name) : stop]
        if name in _TELLING and _TELLING[name].search(tag) is None:
            continue
        attributes = _attributes(tag)
        if name == "html":
            found.language = found.language or attributes.get("lang", "")
        elif name == "base":
            target = base.join(attributes.get("href", "")) if not based else None
            if target is not None:
                base, based = Base(target), True
        elif name == "link":
            says = attributes.get("rel", "").lower().split()
            if found.canonical is None and "canonical" in says:
                found.canonical = base.join(attributes.get("href", ""))
            elif "alternate" in says and attributes.get("type", "").lower() in _FEEDS:
                feed = base.join(attributes.get("href", ""))
                found.feeds += [feed] if feed is not None else []
        elif attributes.get("name", "").lower() in ("robots", "sonde"):
            found.robots.append(attributes.get("content", ""))
        elif attributes.get("http-equiv", "").lower() == "refresh":
            href = attributes.get("content", "").partition("=")[2].strip(" \"'")
            target = base.join(href) if href else None
            if target is not None:
                refreshes.append(target)
    return base, refreshes


def shallow(html: bytes) -> bytes:
    """HTML in UTF-8, or as much of it as comes before it would take too long."""
    safe: int = safe_length(
        html,
        ELEMENTS,
        _FORMATTING,
        MAX_DEPTH,
        MAX_ATTRIBUTES,
        MAX_PAIRS,
        MAX_STEPS,
        MAX_COPIES,
    )
    return html if safe == len(html) else html[:safe]


def resolved(value: str) -> str:
    """The value of an attribute, its references undone.

    >>> resolved("?a=1&amp;b=2&copy=3&#x41;&eacute;")
    '?a=1&b=2&copy=3Aé'
    """
    return _REFERENCE.sub(_resolved, value) if "&" in value else value


def _resolved(reference: re.Match[str]) -> str:
    decimal, hexadecimal, name, semicolon, equals = reference.groups()
    if name is None:
        digits = (decimal or hexadecimal).lstrip("0") or "0"
        return _numbered(int(digits, 10 if decimal else 16) if len(digits) < 8 else -1)
    text = html5.get(name + semicolon)
    if text is None or (equals and not semicolon):
        return reference[0]
    return text + equals


def _numbered(code: int) -> str:
    if not 0 < code < 0x110000 or 0xD800 <= code < 0xE000:
        return _REPLACEMENT
    if 0x80 <= code < 0xA0:  # what these numbers mean on pages that were once windows-1252
        try:
            return bytes([code]).decode("cp1252")
        except UnicodeDecodeError:
            pass
    return chr(code)


class Directory:
    """Where a page stands, and what hrefs on pages there came to: a site's pages link to each
    other."""

    __slots__ = ("above", "known")

    def __init__(self, url: str) -> None:
        self.known: dict[bytes, str | None] = {}
        self.above: list[str] = []
        """This directory and those above it; empty where joining takes more than their names."""
        if url.startswith(("http://", "https://")) and "@" not in url and ";" not in url:
            root = url.index("/", 8)
            while len(url) > root:
                self.above.append(url)
                url = url[: url.rindex("/", 0, len(url) - 1) + 1]

    def plain(self, written: bytes) -> str | None:
        """The URL of an href that needs no parser."""
        parts = _PLAIN.fullmatch(written) if self.above else None
        if parts is None:
            return None
        ups = min(len(parts[1]) // 3, len(self.above) - 1)
        url = self.above[ups] + parts[2].decode()
        return url if len(url) <= MAX_URL else None


_DIRECTORIES: dict[str, Directory] = {}


def _directory_of(url: str) -> Directory:
    """The directory of a URL; those of the latest pages are kept."""
    path = url.partition("?")[0]
    name = path[: path.rindex("/") + 1]
    directory = _DIRECTORIES.pop(name, None)
    if directory is None or len(directory.known) >= _MOST_HREFS:
        directory = Directory(name)
        if len(_DIRECTORIES) >= _MOST_DIRECTORIES:
            del _DIRECTORIES[next(iter(_DIRECTORIES))]
    _DIRECTORIES[name] = directory
    return directory


class Base:
    """A parsed URL that many links are resolved against."""

    __slots__ = ("_parsed", "directory")

    def __init__(self, url: str) -> None:
        self._parsed = can_ada.parse(url)
        self.directory = _directory_of(self._parsed.href)

    def follow(self, written: bytes) -> str | None:
        """The identity of an href as it is written on this page, references and all."""
        known = self.directory.known
        if written in known:
            return known[written]
        joined = self.directory.plain(written)
        if joined is None:
            href = resolved(written.decode())
            joined = None if href.startswith("#") else self.join(href)
        # A reference that begins with a question mark is relative to the page, not its directory;
        # white space, backslashes and character references may hide one.
        if len(known) < _MOST_HREFS and (written[:1].isalnum() or written[:1] in (b"/", b".")):
            known[written] = joined
        return joined

    def join(self, href: str) -> str | None:
        """The identity of ``href`` as found on this page, or ``None`` where not crawlable."""
        return join(self._parsed, href)
