"""Web pages into a draft, read by the same reader as in a live crawl: files, and pages out of
WARC files and of WACZ files, which hold such files in a ZIP."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sonde.data.draft import DocumentBatch, Draft
from sonde.data.streams import open_raw
from sonde.data.topics import Topics
from sonde.data.web.pagefiles import (
    MOST_PAGE,
    RawPage,
    is_tar,
    pages_in_file,
    pages_in_tar,
    shown,
)
from sonde.errors import InputError
from sonde.meter import Meter
from sonde.net.decoding import BadEncoding, unpack
from sonde.net.urls import normalise
from sonde.pool import in_order
from sonde.sources.main_text import judged_together
from sonde.sources.page import WINDOW, read_page
from sonde.store.reader import DATABASE, PAGES

if TYPE_CHECKING:
    from fastwarc.warc import WarcRecord

_WARC = (".warc", ".warc.gz", ".warc.zst", ".warc.lz4")


def is_archive(path: Path) -> bool:
    """Whether a file's name says that it is a WARC or WACZ file."""
    return path.suffix == ".wacz" or path.name.endswith(_WARC)


def pages_in_archive(
    path: Path, problems: Counter[str], at: Callable[[int], None]
) -> Iterator[RawPage]:
    """The HTML answers of an archive, and its redirects, in its order."""
    with open_raw(path) as raw:
        if path.suffix != ".wacz":
            yield from _records(raw, problems, lambda: at(raw.tell()))
            return
        try:
            with zipfile.ZipFile(raw) as bundle:
                for name in sorted(bundle.namelist()):
                    if name.endswith(_WARC):
                        with bundle.open(name) as member:
                            yield from _records(member, problems, lambda: at(raw.tell()))
        except (zipfile.BadZipFile, OSError, ValueError, RuntimeError):
            problems["truncated archives"] += 1


def _records(file: Any, problems: Counter[str], tell: Callable[[], None]) -> Iterator[RawPage]:
    # Imported where it is used: most graphs are made of something else.
    from fastwarc.stream_io import FastWARCError
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    try:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response):
            tell()
            yield from _answer(record, problems)
    except (FastWARCError, OSError, EOFError, ValueError):
        problems["truncated archives"] += 1


def _answer(record: WarcRecord, problems: Counter[str]) -> Iterator[RawPage]:
    url = normalise(record.headers.get("WARC-Target-URI") or "")
    answer = record.http_headers
    if url is None or answer is None:
        problems["records that hold no web page's answer"] += 1
        return
    status = answer.status_code or 0
    if 300 <= status < 400:
        moved = normalise(answer.get("Location") or "", url)
        if moved is not None and moved != url:
            yield RawPage(url, b"", moved=moved)
        return
    content_type = answer.get("Content-Type") or ""
    if status != 200 or "html" not in content_type.lower():
        return
    body = record.reader.read(MOST_PAGE + 1)
    if len(body) > MOST_PAGE:
        problems["pages too long to read"] += 1
        return
    if len(body) < record.content_length and not answer.get("Transfer-Encoding"):
        problems["pages cut short"] += 1
    try:
        body, _ = unpack(body, answer.get("Content-Encoding") or "", MOST_PAGE)
    except BadEncoding:
        problems["pages that cannot be decompressed"] += 1
        return
    yield RawPage(url, body, content_type)


BATCH = 1 << 22
"""Bytes of pages in a batch, about. What the pages of a batch say again and again is not their main
text: a batch should have many of them."""

_INDEX = ("index.html", "index.htm")


@dataclass(frozen=True)
class PageReader:
    """What a worker must know to read pages; ``base`` is where they live on the Web."""

    topics: Topics
    base: str
    keep_text: bool

    def read(self, pages: list[RawPage]) -> DocumentBatch:
        """The pages of one batch, read and counted."""
        documents = DocumentBatch()
        name_of: Callable[[str], str] = partial(shown, base=self.base)
        read = []
        for raw in pages:
            if raw.moved:
                documents.aliases.append((name_of(raw.url), name_of(raw.moved)))
            else:
                read.append(read_page(raw.body, raw.url, content_type=raw.content_type))
        for page in judged_together(read):
            name = name_of(page.url)
            if "\ufffd" in page.text:
                documents.problems["pages with broken characters"] += 1
            if page.cut:
                documents.problems["pages read in part"] += 1
            links = [(name_of(link.url), link.start, link.end) for link in page.links]
            documents.add(
                name,
                page.text,
                page.content if self.keep_text else "",
                links,
                self.topics,
                WINDOW,
                self.keep_text,
                page.main or ((0, len(page.text)),),
            )
        return documents.completed(len(self.topics))


def read_webpages(
    source: Path,
    draft: Draft,
    topics: Topics,
    *,
    base: str,
    keep_text: bool,
    jobs: int,
    meter: Meter,
) -> None:
    """Read a folder, a tar archive, a WARC or a WACZ file into a draft."""
    pages = _pages(source, draft.problems, meter, base, jobs)
    reader = PageReader(topics, base, keep_text)
    for documents in in_order(reader.read, _batches(pages), jobs):
        draft.add(documents)
    if not draft.document_count and not draft.problems:
        raise InputError(f"{source}: no HTML pages in it")


def index_pages(name: str) -> list[str]:
    """Under which other names a page may be there: a folder's page has several spellings."""
    if name.endswith("/") or not name:
        return [name + index for index in _INDEX]
    folder, slash, last = name.rpartition("/")
    if last in _INDEX:
        return [folder + slash]
    if "." in last:
        return []
    return [f"{name}/", *(f"{name}/{index}" for index in _INDEX)]


def size_of(source: Path) -> int:
    """Bytes to read, for the progress."""
    return sum(path.stat().st_size for path in _files(source))


def _files(source: Path) -> list[Path]:
    """The files that may hold pages; of a run folder its WARC files alone."""
    if not source.is_dir():
        return [source]
    if not (source / DATABASE).exists():
        return sorted(path for path in source.rglob("*") if path.is_file())
    files = sorted(path for path in (source / PAGES).glob("*") if is_archive(path))
    if not files:
        raise InputError(
            f"{source}: a run that kept no pages; sonde export {source} --graph makes its graph"
        )
    return files


def _pages(
    source: Path, problems: Counter[str], meter: Meter, base: str, threads: int
) -> Iterator[RawPage]:
    done = 0

    def at(place: int) -> None:
        meter.at(done + place)

    for path in _files(source):
        if is_archive(path):
            yield from pages_in_archive(path, problems, at)
        elif is_tar(path):
            yield from pages_in_tar(path, problems, at, base, threads)
        else:
            name = path.relative_to(source).as_posix() if source.is_dir() else path.name
            yield from pages_in_file(path, name, problems, base)
        done += path.stat().st_size
        at(0)


def _batches(pages: Iterable[RawPage]) -> Iterator[list[RawPage]]:
    batch: list[RawPage] = []
    size = 0
    for page in pages:
        batch.append(page)
        size += len(page.body)
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
