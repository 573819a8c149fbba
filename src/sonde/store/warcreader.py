"""One page out of a run's WARC files, by its place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sonde.errors import InputError
from sonde.store.fastwarc import FastWARCError, GzipReader, WarcRecord, WarcRecordType
from sonde.store.warc import RecordPlace

_KINDS = (WarcRecordType.response, WarcRecordType.revisit, WarcRecordType.conversion)


@dataclass(frozen=True, slots=True)
class Archived:
    """An answer as it was stored: content codings still on, transfer coding undone."""

    url: str
    date: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str:
        """The first header of this name, in any case; empty where there is none."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), "")


def read_archived(folder: Path, place: str) -> Archived:
    """The answer stored at a place; a revisit brings the body that it refers to."""
    found, refers = _read(folder, RecordPlace.parse(place))
    if refers is None:
        return found
    original, further = _read(folder, refers)
    if further is not None:
        raise InputError(f"{folder / refers.name}: the record at {refers.offset} has no body")
    return Archived(found.url, found.date, found.headers, original.body)


def split_response(block: bytes) -> tuple[tuple[tuple[str, str], ...], bytes]:
    """The headers and the body of a response as it was on the wire."""
    head, _, body = block.partition(b"\r\n\r\n")
    fields = (line.partition(b":") for line in head.split(b"\r\n")[1:])
    headers = tuple(
        (name.decode("latin-1").strip(), value.decode("latin-1").strip())
        for name, _, value in fields
    )
    return headers, body


def _read(folder: Path, place: RecordPlace) -> tuple[Archived, RecordPlace | None]:
    path = folder / place.name
    try:
        with path.open("rb") as file:
            file.seek(place.offset)
            record = WarcRecord.from_reader(GzipReader(file))
            block = record.reader.read()
    except (FastWARCError, OSError, ValueError, EOFError) as error:
        if isinstance(error, OSError) and error.strerror:
            raise InputError(f"{path}: {error.strerror}") from None
        raise InputError(f"{path}: no record at byte {place.offset}: {error}") from None
    if record.record_type not in _KINDS or len(block) != record.content_length:
        raise InputError(f"{path}: no whole response at byte {place.offset}")
    target = record.headers.get("WARC-Target-URI") or ""
    date = record.headers.get("WARC-Date") or ""
    if record.record_type == WarcRecordType.conversion:  # a page as a browser drew it
        kind = record.headers.get("Content-Type") or ""
        return Archived(target, date, (("Content-Type", kind),), block), None
    headers, body = split_response(block)
    found = Archived(target, date, headers, body)
    if record.record_type == WarcRecordType.revisit:
        name = record.headers.get("WARC-Refers-To-Filename") or ""
        offset = record.headers.get("WARC-Refers-To-File-Offset") or ""
        return found, RecordPlace.parse(f"{name}:{offset}")
    return found, None
