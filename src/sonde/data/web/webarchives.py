"""Pages out of WARC files, and out of WACZ files, which hold such files in a ZIP."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sonde.data.streams import open_raw
from sonde.data.web.pagefiles import MOST_PAGE, RawPage
from sonde.net.decoding import BadEncoding, unpack
from sonde.net.urls import normalise

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
