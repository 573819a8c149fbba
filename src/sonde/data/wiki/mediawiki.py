"""A MediaWiki XML export or dump into a draft.

Workers parse (``wikipages``). Of a ``.bz2``, whose decompression takes as long as all the rest,
they get blocks to decompress as well, and hand back what stands before the first end of a page and
after the last one, which belongs to pages that begin or end in other blocks: this process puts
those together. Anything else is decompressed here, and cut after the last whole page of each batch.
So is what is left of a ``.bz2`` from the first damaged block on.
"""

from __future__ import annotations

import bz2
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO
from xml.parsers import expat

from sonde.data import bzip
from sonde.data.draft import Draft
from sonde.data.streams import STEP, ahead, chunks, open_raw
from sonde.data.topics import Topics
from sonde.data.wiki.titles import Titles
from sonde.data.wiki.wikipages import END, PAGE, WikiReader
from sonde.errors import InputError
from sonde.meter import Meter
from sonde.pool import in_order

BATCH = 1 << 21
"""Bytes of XML in a batch, about."""

MOST_PAGE = 1 << 26
"""Bytes of one page. Longer ones are left out: they would have to be held in memory."""


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
    reading = _Reading(draft, WikiReader(topics, namespaces, keep_text), jobs, meter)
    with open_raw(path) as raw:
        if path.suffix == ".bz2":
            reading.blocks(path, raw)
        else:
            reading.stream(raw, chunks(raw, path.suffix, draft.problems, jobs))
    if not draft.document_count and not draft.problems:
        raise InputError(f"{path}: no pages in it: is it a MediaWiki XML export in UTF-8?")


@dataclass(frozen=True)
class _Reading:
    draft: Draft
    reader: WikiReader
    jobs: int
    meter: Meter

    def stream(self, raw: BinaryIO, data: Iterator[bytes], titles: Titles | None = None) -> None:
        """Read decompressed bytes; the head says what there is of titles unless it is given."""
        with closing(ahead(data)) as stream:
            batches = _batches(stream, self.draft.problems, titles)
            for documents in in_order(self.reader.read_pages, batches, self.jobs):
                self.draft.add(documents)
                self.meter.at(raw.tell())

    def blocks(self, path: Path, raw: BinaryIO) -> None:
        """Read the blocks of a .bz2."""
        draft, problems = self.draft, self.draft.problems
        titles = _titles(_beginning(path))
        waiting: deque[bzip.Group] = deque()
        groups = bzip.groups(raw)

        def sent() -> Iterator[bzip.Group]:
            for group in groups:
                waiting.append(group)
                yield group

        carried = b""  # from the last end of a page on
        work = partial(self.reader.read_blocks, titles)
        with closing(in_order(work, sent(), self.jobs)) as parts:
            for part in parts:
                if part is None:
                    break
                waiting.popleft()
                self.meter.at(raw.tell())
                carried += part.head
                if part.pages is None:
                    carried = _shortened(carried, problems)
                    continue
                draft.add(self.reader.read_pages((titles, carried)))
                draft.add(part.pages)
                carried = part.tail
            else:
                draft.add(self.reader.read_pages((titles, carried)))
                return
        pieces = (piece for group in chain(waiting, groups) for piece in group.pieces)
        self.stream(raw, chain([carried], bzip.joined(pieces, problems, self.jobs)), titles)


def _shortened(page: bytes, problems: Counter[str]) -> bytes:
    """The beginning of a page, if it is not too long to be held."""
    if len(page) <= MOST_PAGE:
        return page
    problems["pages too long to read"] += 1
    return page[-len(END) :]  # the rest of it, up to its end, is no whole page


def _beginning(path: Path) -> bytes:
    """What stands before the first page of a .bz2, as far as it is in a batch and can be read."""
    data = b""
    with bz2.open(path) as stream, suppress(OSError, EOFError):
        while len(data) < BATCH and not PAGE.search(data):
            more = stream.read(STEP)
            if not more:
                break
            data += more
    return _head(data)


def _batches(
    stream: Iterable[bytes], problems: Counter[str], titles: Titles | None
) -> Iterator[tuple[Titles, bytes]]:
    """Whole pages, about ``BATCH`` bytes at a time, with what the head says of titles."""
    parts: list[bytes] = []
    size = 0
    for chunk in stream:
        parts.append(chunk)
        size += len(chunk)
        if size < BATCH:
            continue
        whole = b"".join(parts)
        cut = whole.rfind(END)
        if cut < 0:
            whole = _shortened(whole, problems)
            parts, size = [whole], len(whole)
            continue
        cut += len(END)
        if titles is None:
            titles = _titles(_head(whole))
        yield titles, whole[:cut]
        parts, size = [whole[cut:]], len(whole) - cut
    whole = b"".join(parts)
    yield titles if titles is not None else _titles(_head(whole)), whole


def _head(data: bytes) -> bytes:
    found = PAGE.search(data)
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
