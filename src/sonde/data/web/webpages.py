"""Web pages into a draft, read by the same reader as in a live crawl."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sonde.data.batch import DocumentBatch
from sonde.data.draft import Draft
from sonde.data.topics import Topics
from sonde.data.web.pagefiles import (
    RawPage,
    is_tar,
    pages_in_file,
    pages_in_tar,
    shown,
)
from sonde.data.web.webarchives import is_archive, pages_in_archive
from sonde.errors import InputError
from sonde.meter import Meter
from sonde.pool import in_order
from sonde.sources.page import WINDOW, read_page
from sonde.store.reader import DATABASE, PAGES

BATCH = 1 << 20
"""Bytes of pages in a batch, about."""

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
        for raw in pages:
            name = name_of(raw.url)
            if raw.moved:
                documents.aliases.append((name, name_of(raw.moved)))
                continue
            page = read_page(raw.body, raw.url, content_type=raw.content_type)
            if "\ufffd" in page.text:
                documents.problems["pages with broken characters"] += 1
            if page.cut:
                documents.problems["pages read in part"] += 1
            links = [(name_of(link.url), link.start, link.end) for link in page.links]
            documents.add(name, page.text, page.content, links, self.topics, WINDOW, self.keep_text)
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
