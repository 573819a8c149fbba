"""Wiki pages out of a MediaWiki XML export or dump.

This process decompresses and cuts the stream after the last whole page of each batch; workers
parse. A page is parsed by itself, as a document of its own: what is malformed costs that page and
no other, and no document type, hence no entity, can be declared before it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any
from xml.parsers import expat

from sonde.errors import InputError
from sonde.lab.data.draft import Draft
from sonde.lab.data.pool import in_order
from sonde.lab.data.sheaf import Sheaf
from sonde.lab.data.streams import ahead, chunks, open_raw
from sonde.lab.data.titles import Resolver, Titles
from sonde.lab.data.topics import Topics
from sonde.lab.data.wikitext import Plain, plain
from sonde.lab.progress import Meter
from sonde.sources.web.page import WINDOW

BATCH = 1 << 21
"""Bytes of XML in a batch, about."""

MOST_PAGE = 1 << 26
"""Bytes of one page. Longer ones are left out: they would have to be held in memory."""

_PAGE = re.compile(rb"<page[\s>]")
_END = b"</page>"
_REDIRECT = re.compile(r"\s*#redirect(?:ion)?\s*:?\s*\[\[([^\]|\n]*)", re.IGNORECASE)
_WIKITEXT = ("", "wikitext")


@dataclass(frozen=True)
class Wiki:
    """What a worker must know."""

    topics: Topics
    titles: Titles
    namespaces: frozenset[int] | None
    keep_text: bool


def read_mediawiki(
    path: Path,
    draft: Draft,
    topics: Topics,
    *,
    namespaces: frozenset[int] | None,
    keep_text: bool,
    jobs: int,
    meter: Meter,
) -> None:
    """Read a dump into a draft. ``namespaces`` are those whose pages are nodes; None for all."""
    with (
        open_raw(path) as raw,
        closing(ahead(chunks(raw, path.suffix, draft.problems, jobs))) as stream,
    ):
        batches = _batches(stream, draft.problems)
        head, first = next(batches, (b"", b""))
        wiki = Wiki(topics, _titles(head), namespaces, keep_text)
        bodies = (body for part in ([(head, first)], batches) for _, body in part)
        for sheaf in in_order(partial(read_pages, wiki), bodies, jobs):
            draft.add(sheaf)
            meter.at(raw.tell())
    if not draft.document_count and not draft.problems:
        raise InputError(f"{path}: no pages in it: is it a MediaWiki XML export in UTF-8?")


def _batches(stream: Iterable[bytes], problems: Counter[str]) -> Iterator[tuple[bytes, bytes]]:
    """Whole pages, about ``BATCH`` bytes at a time; with the first, what stands before them."""
    parts: list[bytes] = []
    size = 0
    head: bytes | None = None
    for chunk in stream:
        parts.append(chunk)
        size += len(chunk)
        if size < BATCH:
            continue
        whole = b"".join(parts)
        cut = whole.rfind(_END)
        if cut < 0:
            if size > MOST_PAGE:
                problems["pages too long to read"] += 1
                whole = whole[-len(_END) :]  # the rest of it, up to its end, is no whole page
            parts, size = [whole], len(whole)
            continue
        cut += len(_END)
        if head is None:
            head = _head(whole)
        yield head, whole[:cut]
        parts, size = [whole[cut:]], len(whole) - cut
    whole = b"".join(parts)
    yield head if head is not None else _head(whole), whole


def _head(data: bytes) -> bytes:
    found = _PAGE.search(data)
    return data[: found.start()] if found else data


def _titles(head: bytes) -> Titles:
    """The namespaces that the head of a dump lists; none if it cannot be read."""
    start, end = head.find(b"<siteinfo"), head.find(b"</siteinfo>")
    names: dict[int, str] = {}
    sensitive: set[int] = set()
    current: list[int] = []

    def begin(name: str, attributes: dict[str, str]) -> None:
        current.clear()
        if name == "namespace" and attributes.get("key", "").lstrip("-").isdigit():
            number = int(attributes["key"])
            current.append(number)
            names[number] = ""
            if attributes.get("case") == "case-sensitive":
                sensitive.add(number)

    def text(data: str) -> None:
        if current:
            names[current[0]] += data

    def finish(name: str) -> None:
        del name
        current.clear()

    if 0 <= start < end:
        parser = expat.ParserCreate()
        parser.StartElementHandler = begin
        parser.CharacterDataHandler = text
        parser.EndElementHandler = finish
        try:
            parser.Parse(head[start : end + len(b"</siteinfo>")], True)
        except expat.ExpatError:
            return Titles()
    return Titles(names, frozenset(sensitive))


@dataclass
class _Page:
    """The elements of a page that matter; of its revisions the last."""

    fields: dict[str, str] = field(default_factory=dict)
    redirect: str = ""


_WANTED = frozenset(("title", "ns", "model", "text"))


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
            page.fields[name] = "".join(pieces)
            parser.CharacterDataHandler = None

    parser.StartElementHandler = begin
    parser.EndElementHandler = finish
    parser.Parse(data, True)
    return page


@lru_cache(maxsize=1)
def _resolver(names: tuple[tuple[int, str], ...], sensitive: frozenset[int]) -> Resolver:
    return Resolver(Titles(dict(names), sensitive))


def read_pages(wiki: Wiki, data: bytes) -> Sheaf:
    """The pages of one batch."""
    sheaf = Sheaf()
    resolver = _resolver(tuple(wiki.titles.names.items()), wiki.titles.sensitive)
    at = 0
    while True:
        end = data.find(_END, at)
        rest = data[at : end if end >= 0 else len(data)]
        begun = [found.start() for found in _PAGE.finditer(rest)]
        # A page that begins before another has ended, or never ends, is lost.
        lost = len(begun) - (end >= 0)
        if lost > 0:
            sheaf.problems["pages cut short"] += lost
        if end < 0:
            return sheaf.bound(len(wiki.topics))
        if begun:
            _read_page(wiki, resolver, rest[begun[-1] :] + _END, sheaf)
        at = end + len(_END)


def _read_page(wiki: Wiki, resolver: Resolver, data: bytes, sheaf: Sheaf) -> None:
    try:
        data.decode()
    except UnicodeDecodeError:
        sheaf.problems["pages with broken UTF-8"] += 1
        data = data.decode(errors="replace").encode()
    try:
        page = _parse(data)
    except expat.ExpatError:
        sheaf.problems["pages of malformed XML"] += 1
        return
    space, title = resolver.title(page.fields.get("title", "").replace("%", "%25"))
    if not title:
        sheaf.problems["pages without a title"] += 1
        return
    if page.fields.get("ns", "").lstrip("-").isdigit():
        space = int(page.fields["ns"])
    text = page.fields.get("text", "")
    redirect = page.redirect.replace("%", "%25")
    if not redirect and (found := _REDIRECT.match(text)):
        redirect = found[1]
    if redirect:
        sheaf.aliases.append((title, resolver.title(redirect)[1]))
        return
    if wiki.namespaces is not None and space not in wiki.namespaces:
        return
    if page.fields.get("model", "") in _WIKITEXT:
        shown, links = plain(text, resolver.kind)
    else:
        shown, links = Plain(" ".join(text.split()), [])
    resolved = []
    for target, start, stop in links:
        if space and target.startswith("/"):  # a page below this one
            target = f"{title}{target.rstrip('/')}"
        name = resolver.title(target)[1]
        if name:
            resolved.append((name, start, stop))
    sheaf.add(title, shown, shown, resolved, wiki.topics, WINDOW, wiki.keep_text)
