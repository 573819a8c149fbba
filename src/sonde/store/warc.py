"""Pages as WARC 1.1: what went over the wire, in files that any archive tool reads.

Life cycle of a file: it opens with a ``warcinfo`` record; each exchange adds its ``response`` and
``request``; past the size limit the next file begins. Records of one fetch go to the kernel in
one write, before `write` returns, so a killed process loses none that was reported; `sync` makes
them outlast a power cut. A body that was stored a short while ago is not stored again: its
``revisit`` record says where it is.

Every record is one gzip member, so a record can be read from its offset alone, and a file that
ends with a whole member ends with a whole record. A place is written ``name:offset``.

After a crash the last record may be half there. Opening cuts it off and says so (``report``). A
file that is damaged in any other way is left as it is, and writing goes on in a new one.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import time
import zlib
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import NamedTuple, Protocol

from sonde.errors import InputError, StoreError
from sonde.store.fastwarc import GzipWriter, WarcRecord, WarcRecordType
from sonde.system import is_starved, sync_file, sync_folder

FILE_SIZE = 1_000_000_000
"""Bytes after which the next file begins, as archives have them by custom."""

PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"

_NAME = re.compile(r"pages-(\d{5,})\.warc\.gz")
_CHUNK = 65_536
_LEVEL = 1
_REMEMBERED = 20_000  # bodies; a few megabytes of memory
_WORTHWHILE = 1_024  # bytes of body; a revisit record is not much smaller
_TRUNCATED = {"size": "length", "broken": "disconnect"}
# Bodies are stored without their transfer coding, which a reader would try to undo once more.
_TRANSFER = re.compile(rb"^(transfer-encoding\s*:)", re.IGNORECASE | re.MULTILINE)
_BREAKS = re.compile(r"[\x00-\x20\x7f]")


class RecordPlace(NamedTuple):
    """Where a record begins."""

    name: str
    offset: int

    def __str__(self) -> str:
        return f"{self.name}:{self.offset}"

    @classmethod
    def parse(cls, text: str) -> RecordPlace:
        """The place that a database names; nothing but a file of the folder itself."""
        name, _, offset = text.rpartition(":")
        if not _NAME.fullmatch(name) or not (offset.isascii() and offset.isdigit()):
            raise InputError(f"{text!r:.100} is not a place in a WARC file")
        return cls(name, int(offset))


@dataclass(frozen=True, slots=True)
class Tail:
    """How a file ends. ``end`` is where the last whole record ends; ``damage`` says what follows:
    nothing, a record that was ``cut`` short, or bytes that are no record (``corrupt``)."""

    end: int
    size: int
    damage: str = ""


def file_name(number: int) -> str:
    """The name of the n-th file."""
    return f"pages-{number:05d}.warc.gz"


def number_of(name: str) -> int:
    """The number in the name of a file."""
    found = _NAME.fullmatch(name)
    return 0 if found is None else int(found[1])


def numbered(folder: Path) -> list[int]:
    """The numbers of the files in a folder, in order."""
    names = (_NAME.fullmatch(path.name) for path in folder.iterdir())
    return sorted(int(name[1]) for name in names if name is not None)


def tail_of(path: Path, start: int = 0) -> Tail:
    """How a file ends, read from `start`, which must be the beginning of a record."""
    size = path.stat().st_size
    if start > size:  # what the database knew is not there any more
        start = 0
    end = place = start
    member = None
    with path.open("rb") as file:
        file.seek(start)
        while chunk := file.read(_CHUNK):
            while chunk:
                if member is None:
                    member = zlib.decompressobj(31)
                try:
                    member.decompress(chunk)
                except zlib.error:
                    return Tail(end, size, "corrupt")
                place += len(chunk) - len(member.unused_data)
                chunk = member.unused_data
                if member.eof:
                    end, member = place, None
    return Tail(end, size, "" if end == size else "cut")


class Exchanged(Protocol):
    """One request and its answer: ``sonde.net.exchange.Exchange`` is one."""

    @property
    def url(self) -> str: ...
    @property
    def request_head(self) -> bytes: ...
    @property
    def response_head(self) -> bytes: ...
    @property
    def body(self) -> bytes: ...
    @property
    def ip(self) -> str: ...


class _Stored(NamedTuple):
    place: RecordPlace
    record: str
    url: str
    date: str


class WarcWriter:
    """Appends exchanges to the WARC files of a folder. One thread writes; any may `sync`.

    ``since`` is a place that the database knows to be good; only what follows it is checked.
    A disk that is full raises ``StoreError`` and leaves whole records.
    """

    def __init__(
        self,
        folder: Path,
        *,
        software: str = "sonde",
        size: int = FILE_SIZE,
        since: str | None = None,
    ) -> None:
        self.report = ""
        self._folder = folder
        self._software = software
        self._limit = size
        self._stored: OrderedDict[bytes, _Stored] = OrderedDict()
        self._last = ""  # the id of the last response
        self._file: io.FileIO | None = None
        self._swapping = Lock()  # a file is not closed while another thread syncs it
        self._name = ""
        self._end = 0
        self._unsynced = True  # something was written since
        try:
            folder.mkdir(parents=True, exist_ok=True)
            numbers = numbered(folder)
            place = None if since is None else RecordPlace.parse(since)
            # Files that are gone keep their numbers: the database has places in them.
            last = 0 if place is None else number_of(place.name)
            self._number = max([last, *numbers])
            if numbers and numbers[-1] >= last:
                self._go_on(place)
            elif last:
                self.report = f"{folder / file_name(last)}: not there any more"
        except OSError as error:
            if is_starved(error):
                raise
            raise StoreError(f"{folder}: cannot be written: {error.strerror}") from None

    def _go_on(self, since: RecordPlace | None) -> None:
        path = self._folder / file_name(self._number)
        if since is not None and since.name == path.name and since.offset >= path.stat().st_size:
            self.report = f"{path}: not the file that was written; it is left as it is"
            return
        tail = tail_of(path, since.offset if since is not None and since.name == path.name else 0)
        if tail.damage == "corrupt":
            self.report = f"{path}: damaged from byte {tail.end} on; it is left as it is"
            return
        file = path.open("ab", buffering=0)
        if tail.damage == "cut":
            file.truncate(tail.end)
            self.report = f"{path}: cut {tail.size - tail.end} bytes of a half-written record"
        self._file, self._name, self._end = file, path.name, tail.end
        if not tail.end:
            self._append(self._info())

    def write(
        self, exchanges: Sequence[Exchanged], cut: str = "", *, when: float | None = None
    ) -> str:
        """Store the exchanges of one fetch; the place of the last one's response.

        ``cut`` is how the last body was cut, as ``Response.cut`` says it.
        """
        if not exchanges:
            raise InputError("a fetch without an exchange leaves nothing to store")
        try:
            return self._write(exchanges, time.time() if when is None else when, cut)
        except OSError as error:
            if is_starved(error):  # the disk is well; whoever opens so many files knows what to do
                raise
            raise StoreError(f"{self._folder}: cannot be written: {error.strerror}") from None

    def _write(self, exchanges: Sequence[Exchanged], when: float, cut: str) -> str:
        self._begin_file()
        date = _date(when)
        out = io.BytesIO()
        place = RecordPlace(self._name, self._end)
        stored: list[tuple[bytes, _Stored]] = []
        for exchange in exchanges:
            place = RecordPlace(self._name, self._end + out.tell())
            last = exchange is exchanges[-1]
            key, record = self._response(exchange, date, cut if last else "", out)
            if key:
                stored.append((key, _Stored(place, record, exchange.url, date)))
            _request(exchange, date, record, out)
            self._last = record
        self._append(out.getvalue())
        self._remember(stored)
        return str(place)

    def write_rendered(self, url: str, html: bytes, *, when: float | None = None) -> str:
        """Store what a browser made of the response that was stored last, as a ``conversion`` of
        it; its place."""
        record = WarcRecord()
        record.init_headers(WarcRecordType.conversion)
        headers = record.headers
        headers["WARC-Date"] = _date(time.time() if when is None else when)
        headers["WARC-Target-URI"] = _field(url)
        if self._last:
            headers["WARC-Refers-To"] = f"<{self._last}>"
        headers["Content-Type"] = "text/html; charset=utf-8"
        record.set_bytes_content(html)
        out = io.BytesIO()
        _pack(record, out)
        try:
            self._begin_file()
            place = RecordPlace(self._name, self._end)
            self._append(out.getvalue())
        except OSError as error:
            raise StoreError(f"{self._folder}: cannot be written: {error.strerror}") from None
        return str(place)

    def sync(self) -> None:
        """Wait until all that was written is on the disk."""
        with self._swapping:
            if self._file is not None and self._unsynced:
                self._unsynced = False
                sync_file(self._file.fileno())

    def close(self) -> None:
        """Sync and close. Closing twice does nothing."""
        self.sync()
        with self._swapping:
            if self._file is not None:
                self._file.close()
                self._file = None

    def __enter__(self) -> WarcWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- files ---------------------------------------------------------------------------------

    def _begin_file(self) -> None:
        if self._file is not None and self._end < self._limit:
            return
        self.close()
        self._number += 1
        self._name = file_name(self._number)
        self._file = (self._folder / self._name).open("xb", buffering=0)
        self._end = 0
        self._append(self._info())
        sync_folder(self._folder)  # a power cut must not take the name of a file with good records

    def _append(self, data: bytes) -> None:
        assert self._file is not None
        self._check_place()
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError:
            with suppress(OSError):  # opening the folder again would cut the rest off
                self._file.truncate(self._end)
                self._file.seek(self._end)
            raise
        self._end += len(data)
        self._unsynced = True

    def _check_place(self) -> None:
        """What is written to a file that was removed or replaced is nowhere to be found."""
        assert self._file is not None
        path = self._folder / self._name
        try:
            there = path.stat()
        except FileNotFoundError:
            raise StoreError(
                f"{path} was removed while it was being written: what was in it is lost; the run"
                " resumes, and goes on in another file"
            ) from None
        here = os.fstat(self._file.fileno())
        if (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino):
            raise StoreError(
                f"{path} was replaced while it was being written; the run resumes, and goes on in"
                " another file"
            )

    # -- records -------------------------------------------------------------------------------

    def _info(self) -> bytes:
        out = io.BytesIO()
        fields = f"software: {self._software}\r\nformat: WARC File Format 1.1\r\n"
        record = WarcRecord()
        record.init_headers(WarcRecordType.warcinfo)
        record.headers["WARC-Filename"] = self._name
        record.headers["Content-Type"] = "application/warc-fields"
        record.set_bytes_content(fields.encode())
        _pack(record, out)
        return out.getvalue()

    def _response(
        self, exchange: Exchanged, date: str, cut: str, out: io.BytesIO
    ) -> tuple[bytes, str]:
        """Add a response, or a revisit; the key of a body to remember, and the record's id."""
        head = exchange.response_head
        if b"ransfer-" in head or b"RANSFER-" in head:
            head = _TRANSFER.sub(rb"X-Crawl-\1", head)
        body = exchange.body
        key = hashlib.sha1(body, usedforsecurity=False).digest()
        known = self._stored.get(key) if len(body) >= _WORTHWHILE else None
        record = _http_record(
            WarcRecordType.response if known is None else WarcRecordType.revisit, exchange, date
        )
        headers = record.headers
        headers["WARC-Payload-Digest"] = "sha1:" + base64.b32encode(key).decode()
        if cut in _TRUNCATED:
            headers["WARC-Truncated"] = _TRUNCATED[cut]
        if known is not None:
            headers["Content-Type"] = "application/http; msgtype=response"
            headers["WARC-Profile"] = PROFILE
            headers["WARC-Refers-To"] = f"<{known.record}>"
            headers["WARC-Refers-To-Target-URI"] = _field(known.url)
            headers["WARC-Refers-To-Date"] = known.date
            headers["WARC-Refers-To-Filename"] = known.place.name
            headers["WARC-Refers-To-File-Offset"] = str(known.place.offset)
            record.set_bytes_content(head)
        else:
            record.set_bytes_content(head + body)
        _pack(record, out)
        new = known is None and len(body) >= _WORTHWHILE
        return (key if new else b""), _bare_id(record)

    def _remember(self, stored: list[tuple[bytes, _Stored]]) -> None:
        for key, where in stored:
            self._stored[key] = where
        while len(self._stored) > _REMEMBERED:
            self._stored.popitem(last=False)


def _http_record(kind: WarcRecordType, exchange: Exchanged, date: str) -> WarcRecord:
    record = WarcRecord()
    record.init_headers(kind)
    record.is_http = True
    headers = record.headers
    headers["WARC-Date"] = date
    headers["WARC-Target-URI"] = _field(exchange.url)
    if exchange.ip:
        headers["WARC-IP-Address"] = _field(exchange.ip)
    return record


def _request(exchange: Exchanged, date: str, response: str, out: io.BytesIO) -> None:
    record = _http_record(WarcRecordType.request, exchange, date)
    record.headers["WARC-Concurrent-To"] = f"<{response}>"
    record.set_bytes_content(exchange.request_head)
    _pack(record, out)


def _pack(record: WarcRecord, out: io.BytesIO) -> None:
    packer = GzipWriter(out, compression_level=_LEVEL)
    record.write(packer)
    packer.finish()


def _bare_id(record: WarcRecord) -> str:
    return (record.record_id or "").strip("<>")


def _field(value: str) -> str:
    """A header value in one line, whatever was in it."""
    return _BREAKS.sub(lambda found: f"%{ord(found[0]):02X}", value)


def _date(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
