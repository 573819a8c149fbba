"""A run's pages as one WACZ file, which replay tools open (https://specs.webrecorder.net/wacz/1.1.1/).

It is a ZIP file with the WARC files as they are, not compressed anew, an index of their answers
(CDXJ), the list of visited pages, and a description with the digest of each of these.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sonde.errors import InputError
from sonde.store.atomic import new_file
from sonde.store.fastwarc import (
    ArchiveIterator,
    FastWARCError,
    WarcRecord,
    WarcRecordType,
)
from sonde.store.reader import RunReader
from sonde.store.warc import file_name, numbered, tail_of

VERSION = "1.1.1"
"""Of the format."""

_ANSWERS = WarcRecordType.response | WarcRecordType.revisit
_CHUNK = 1 << 20
_PAGES = """
SELECT final_url, title, settled FROM pages JOIN leases ON leases.number = pages.lease
ORDER BY settled, leases.number
"""


def export_wacz(run: RunReader, path: Path) -> None:
    """Write the file."""
    numbers = numbered(run.pages) if run.pages.is_dir() else []
    if not numbers:
        raise InputError(f"{run.folder}: kept no pages (pages = false), and WACZ is made of them")
    files = [run.pages / file_name(number) for number in numbers]
    # A crawl that goes on may be in the middle of writing a record.
    ends = {file: tail_of(file).end for file in files}
    resources: list[dict[str, Any]] = []
    with new_file(path) as partial, zipfile.ZipFile(partial, "w") as bundle:

        def add(name: str, parts: Iterator[bytes]) -> None:
            digest, size = hashlib.sha256(), 0
            with bundle.open(name, "w", force_zip64=True) as member:
                for part in parts:
                    member.write(part)
                    digest.update(part)
                    size += len(part)
            resources.append(
                {
                    "name": name.rpartition("/")[2],
                    "path": name,
                    "hash": f"sha256:{digest.hexdigest()}",
                    "bytes": size,
                }
            )

        lines = sorted(line for file in files for line in _index(file, ends[file]))
        add("indexes/index.cdx", (f"{line}\n".encode() for line in lines))
        add("pages/pages.jsonl", _listed(run))
        for file in files:
            add(f"archive/{file.name}", _bytes(file, ends[file]))
        about = {
            "profile": "data-package",
            "wacz_version": VERSION,
            "software": "sonde",
            "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "title": run.folder.resolve().name,
            "resources": list(resources),
        }
        description = json.dumps(about, indent=2).encode()
        add("datapackage.json", iter((description,)))
        digest = {"path": "datapackage.json", "hash": resources[-1]["hash"]}
        add("datapackage-digest.json", iter((json.dumps(digest).encode(),)))


class _Whole(io.RawIOBase):
    """A file up to where its last whole record ends."""

    def __init__(self, file: Path, end: int) -> None:
        self._file = file.open("rb")
        self._end = end

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        left = self._end - self._file.tell()
        return self._file.read(left if size < 0 else min(size, left))

    def tell(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        self._file.close()
        super().close()


def _bytes(file: Path, end: int) -> Iterator[bytes]:
    with _Whole(file, end) as content:
        while part := content.read(_CHUNK):
            yield part


def _listed(run: RunReader) -> Iterator[bytes]:
    """The visited pages, a JSON object a line."""
    yield b'{"format": "json-pages-1.0", "id": "pages", "title": "Visited pages"}\n'
    for number, (url, title, settled) in enumerate(run.rows(_PAGES), 1):
        moment = datetime.fromtimestamp(settled, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        page = {"id": f"page-{number}", "url": url, "title": title, "ts": moment}
        yield json.dumps(page, ensure_ascii=False).encode() + b"\n"


def _index(file: Path, end: int) -> Iterator[str]:
    """A line of CDXJ for each answer in a WARC file."""
    starts: list[tuple[int, str, dict[str, str]]] = []
    with _Whole(file, end) as content:
        try:
            for record in ArchiveIterator(content, record_types=WarcRecordType.any_type):
                answer = _answer(record) if record.record_type & _ANSWERS else ("", {})
                starts.append((record.stream_pos, *answer))
        except (FastWARCError, OSError, EOFError, ValueError) as error:
            raise InputError(f"{file}: damaged: {error}") from None
    following = [place for place, _, _ in starts[1:]] + [end]
    for (place, key, fields), after in zip(starts, following, strict=True):
        if key:
            where = {"offset": str(place), "length": str(after - place), "filename": file.name}
            yield f"{key} {json.dumps(fields | where)}"


def _answer(record: WarcRecord) -> tuple[str, dict[str, str]]:
    """The key and the fields of an answer."""
    url = record.headers.get("WARC-Target-URI") or ""
    moment = "".join(c for c in record.headers.get("WARC-Date") or "" if c.isdigit())[:14]
    http = record.http_headers
    media = "" if http is None else (http.get("Content-Type") or "").partition(";")[0].strip()
    revisit = record.record_type == WarcRecordType.revisit
    fields = {
        "url": url,
        "mime": "warc/revisit" if revisit else media or "unk",
        "status": "" if http is None else str(http.status_code or ""),
        "digest": record.headers.get("WARC-Payload-Digest") or "",
    }
    return f"{surt(url)} {moment}", {name: value for name, value in fields.items() if value}


def surt(url: str) -> str:
    """A URL with its host turned around, so that the pages of a domain sort together."""
    netloc, slash, path = url.partition("://")[2].partition("/")
    host, colon, port = netloc.rpartition(":") if not netloc.endswith("]") else (netloc, "", "")
    if not colon:
        host = netloc
    plain = host.startswith("[") or host.replace(".", "").isdigit()
    turned = host if plain else ",".join(reversed(host.split(".")))
    return f"{turned}{colon}{port if colon else ''}){slash}{path}".lower()
