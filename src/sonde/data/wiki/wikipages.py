"""Pieces of a MediaWiki dump, read by a worker: pages parsed, their text and links counted.

A page is parsed by itself, as a document of its own: what is malformed costs that page and no
other, and no document type, hence no entity, can be declared before it. Pages as MediaWiki writes
them are read by ``kernels.text.wikidump``; whatever else there is goes to a parser.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple
from xml.parsers import expat
from xml.sax.saxutils import unescape

from sonde.data import bzip
from sonde.data.draft import DocumentBatch
from sonde.data.topics import Topics
from sonde.data.wiki.titles import Resolver, Titles
from sonde.kernels.text import wikidump, wikimarks
from sonde.kernels.text import wikitext as kernel
from sonde.sources.page import WINDOW

_TABLE = re.compile(r"\n[ \t:]*(?:\{\|.*|\|-.*|\|\}|\|\+)")
_CELL = re.compile(r"""\n[ \t]*+[|!](?:\s*+[\w-]++\s*+=\s*+(?:"[^"\n]*+"|[\w%]++))++\s*+\|""")
_SET_ASIDE = re.compile(rb"\x01([0-9]{8})")
_REFERENCE = re.compile(rb"&[#A-Za-z]")
_OPTION = re.compile(
    r"(?:thumb|thumbnail|frame|frameless|border|left|right|center|none|upright|baseline|middle|top"
    r"|bottom|sub|super|\d*(?:x\d+)?px|(?:alt|link|class|page|lang|upright|thumb)\s*=.*)",
    re.DOTALL | re.IGNORECASE,
)


class Plain(NamedTuple):
    """UTF-8 with its white space collapsed; links are (target as written, start, end in characters)
    by their place."""

    text: bytes
    links: list[tuple[bytes, int, int]]


def plain(wikitext: bytearray, size: int, kind_of: Callable[[bytes], str]) -> Plain:
    """The visible text of wikitext between two line ends, ``size`` bytes of UTF-8.

    It must not have characters that XML does not allow. ``kind_of`` a target is "file", "category"
    or anything else. The buffer is not to be used again.
    """
    return _settled(*wikimarks.marked(wikitext, size, kind_of, _caption))


def _settled(text: bytearray, size: int, targets: list[bytes], verbatim: list[bytes]) -> Plain:
    """Without the rest of the markup."""
    braces = text.find(b"{", 0, size) >= 0
    if braces and text.find(b"{|", 0, size) >= 0:
        shown = text[:size].decode("utf-8", "surrogatepass")
        shown = _CELL.sub(" ", _TABLE.sub("\n", shown)).replace("!!", " ")
        text = bytearray(shown, "utf-8", "surrogatepass")
        size = len(text)
    size = kernel.strip(text, size, braces)
    if verbatim:
        text = bytearray(_SET_ASIDE.sub(lambda found: verbatim[int(found[1])], text[:size]))
        size = len(text)
    if text.find(b"&", 0, size) >= 0 and _REFERENCE.search(text, 0, size):
        shown = html.unescape(text[:size].decode("utf-8", "surrogatepass"))
        text = bytearray(shown, "utf-8", "surrogatepass")
        size = len(text)
    size, links = kernel.settle(text, size, targets)
    return Plain(bytes(text[:size]), links)


def _caption(options: bytes) -> bytes:
    """The last option of a file that is not a setting."""
    parts = [part.strip() for part in options.decode("utf-8", "surrogatepass").split("|")[1:]]
    parts = [part for part in parts if not _OPTION.fullmatch(part)]
    return parts[-1].encode("utf-8", "surrogatepass") if parts else b""


PAGE = re.compile(rb"<page[\s>]")
END = b"</page>"
_REDIRECT = re.compile(r"\s*#redirect(?:ion)?\s*:?\s*\[\[([^\]|\n]*)", re.IGNORECASE)
_WIKITEXT = ("", "wikitext")
_QUOTES = {"&quot;": '"', "&apos;": "'"}


@dataclass(frozen=True)
class DumpSlice:
    """Some blocks of a dump: whole pages, and the ends of pages that other blocks have a part of.

    ``head`` ends with the first end of a page, ``tail`` begins after the last one. Where no page
    ends, ``head`` is all there is.
    """

    head: bytes
    pages: DocumentBatch | None
    tail: bytes


@dataclass(frozen=True)
class WikiReader:
    """What a worker must know to read pages; ``namespaces`` are those of nodes, None for all."""

    topics: Topics
    namespaces: frozenset[int] | None
    keep_text: bool

    def read_blocks(self, titles: Titles, group: bzip.Group) -> DumpSlice | None:
        """The pages in some blocks of a .bz2; None if a block is not as it should be."""
        data = bzip.opened(group)
        if data is None:
            return None
        first = data.find(END) + len(END)
        if first < len(END):
            return DumpSlice(data, None, b"")
        last = data.rfind(END) + len(END)
        return DumpSlice(data[:first], self.read_pages((titles, data[first:last])), data[last:])

    def read_pages(self, batch: tuple[Titles, bytes]) -> DocumentBatch:
        """The pages of one batch."""
        titles, data = batch
        documents = DocumentBatch()
        resolver = _resolver(tuple(titles.names.items()), titles.sensitive)
        at = 0
        while True:
            end = data.find(END, at)
            stop = end + len(END) if end >= 0 else len(data)
            begin = data.find(b"<page", at, stop)
            page = _scan(data, begin, stop) if begin >= 0 and end >= 0 else None
            if page is None:  # not one page as dumps have them
                begun = [found.start() for found in PAGE.finditer(data, at, stop)]
                # A page that begins before another has ended, or never ends, is lost.
                lost = len(begun) - (end >= 0)
                if lost > 0:
                    documents.problems["pages cut short"] += lost
                if begun and end >= 0:
                    page = _parsed(data[begun[-1] : stop], documents.problems)
            if page is not None:
                self._add(documents, resolver, page)
            if end < 0:
                return documents.completed(len(self.topics))
            at = stop

    def _add(self, documents: DocumentBatch, resolver: Resolver, page: _Page) -> None:
        space, title = resolver.title(page.title.replace("%", "%25"))
        if not title:
            documents.problems["pages without a title"] += 1
            return
        if page.ns.lstrip("-").isdigit():
            space = int(page.ns)
        redirect = page.redirect.replace("%", "%25") or _redirect(page)
        if redirect:
            documents.aliases.append((title, resolver.title(redirect)[1]))
            return
        if self.namespaces is not None and space not in self.namespaces:
            return
        text, size = page.wikitext()
        if page.model in _WIKITEXT:
            shown, links = plain(text, size, resolver.kind)
        else:
            shown, links = Plain(" ".join(text[:size].decode().split()).encode(), [])
        resolved = []
        known = resolver.known
        for target, start, stop in links:
            if space and target.startswith(b"/"):  # a page below this one
                name = resolver.title(title + target.decode().rstrip("/"))[1]
            else:
                name = (known.get(target) or resolver.link(target))[0]
            if name:
                resolved.append((name, start, stop))
        documents.add(title, shown, shown, resolved, self.topics, WINDOW, self.keep_text)


@dataclass
class _Page:
    """The elements of a page that matter, those of its last revision.

    ``text`` is a piece of XML from ``begin`` to ``end``, if it was only scanned.
    """

    title: str = ""
    ns: str = ""
    model: str = ""
    text: str | bytes = ""
    redirect: str = ""
    begin: int = 0
    end: int = 0

    def wikitext(self) -> tuple[bytearray, int]:
        """The text between two line ends, and how many bytes that is."""
        if isinstance(self.text, bytes):
            return wikidump.unescaped(self.text, self.begin, self.end)  # type: ignore[no-any-return]
        text = bytearray(f"\n{self.text}\n", "utf-8")
        return text, len(text)

    def begins_with_text(self) -> bool:
        """Whether a letter or the like comes first: then it is no redirect."""
        if isinstance(self.text, bytes):
            return self.begin < self.end and self.text[self.begin] in _TEXTUAL
        return False


_WANTED = frozenset(("title", "ns", "model", "text"))
_TEXTUAL = frozenset(range(0x21, 0x7F)) - frozenset(b"#&")
_scanner = wikidump.Scanner()


def _scan(data: bytes, begin: int, end: int) -> _Page | None:
    """A page as dumps have it; None for any other."""
    places = _scanner.scan(data, begin, end)
    if places is None or (_scanner.foreign and not _is_utf8(data[begin:end])):
        return None
    title, ns, model, text, redirect = places
    return _Page(
        _field(data, *title),
        _field(data, *ns),
        _field(data, *model),
        data,
        _field(data, *redirect),
        *text,
    )


def _field(data: bytes, begin: int, end: int) -> str:
    if begin >= end:
        return ""
    found = data[begin:end].decode()
    return unescape(found, _QUOTES) if "&" in found else found


def _parse(data: bytes) -> _Page:
    page = _Page()
    pieces: list[str] = []
    parser: Any = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.buffer_size = 1 << 16

    def begin(name: str, attributes: dict[str, str]) -> None:
        if name in _WANTED:
            pieces.clear()
            parser.CharacterDataHandler = pieces.append
        elif name == "redirect":
            page.redirect = attributes.get("title", "")

    def finish(name: str) -> None:
        if name in _WANTED:
            setattr(page, name, "".join(pieces))
            parser.CharacterDataHandler = None

    parser.StartElementHandler = begin
    parser.EndElementHandler = finish
    parser.Parse(data, True)
    return page


@lru_cache(maxsize=1)
def _resolver(names: tuple[tuple[int, str], ...], sensitive: frozenset[int]) -> Resolver:
    return Resolver(Titles(dict(names), sensitive))


def _parsed(data: bytes, problems: Counter[str]) -> _Page | None:
    """A page that may be malformed."""
    if not _is_utf8(data):
        problems["pages with broken UTF-8"] += 1
        data = data.decode(errors="replace").encode()
    try:
        return _parse(data)
    except expat.ExpatError:
        problems["pages of malformed XML"] += 1
        return None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _redirect(page: _Page) -> str:
    """The target of a page whose text begins with ``#redirect``."""
    if page.begins_with_text():
        return ""
    text, size = page.wikitext()
    found = _REDIRECT.match(text[1:size].decode())
    return found[1] if found else ""
