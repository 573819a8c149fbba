"""Text files of rows, read as far as they make sense.

Rows that are half written, or whose bytes are not UTF-8, are counted; comments (``#``) before and
between rows are skipped. Values stay text: what they mean is for the reader of the rows, times
apart, which people and programs write in several ways. A file of
which most makes no sense is no file of rows.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
from pyarrow import csv

from sonde.data.streams import SUFFIXES, ahead, chunks, open_raw
from sonde.errors import InputError
from sonde.interruption import check
from sonde.meter import Meter

BLOCK = 1 << 22
"""Bytes parsed at a time, about."""

HALF = "half-written rows"

_OTHERS = (
    (re.compile(rb"[^\n]*\0"), "binary data"),
    (re.compile(rb"\s*<(!|\?|html|mediawiki)", re.IGNORECASE), "HTML or XML"),
    (re.compile(rb"\s*(\{\s*($|\")|\[\s*($|\{|\[))"), "JSON"),
)
_BLANKS = re.compile(rb"[ \t]+")
_ENDS = {"from": "source", "src": "source", "to": "target", "dst": "target", "id": "node"}


def blocks(
    raw: BinaryIO,
    suffix: str,
    problems: Counter[str],
    *,
    quoted: bool = False,
    size: int = BLOCK,
    threads: int = 1,
) -> Iterator[bytes]:
    """Whole lines, about ``size`` bytes at a time; with ``quoted`` none is cut within quotes."""
    parts: list[bytes] = []
    held = 0
    with closing(ahead(chunks(raw, suffix, problems, threads))) as stream:
        for chunk in stream:
            check()
            parts.append(chunk)
            held += len(chunk)
            if held < size:
                continue
            whole = b"".join(parts)
            cut = _last_line_end(whole, quoted)
            if cut:
                yield whole[:cut]
            parts, held = [whole[cut:]], len(whole) - cut
    whole = b"".join(parts)
    if whole:
        yield whole


def _last_line_end(data: bytes, quoted: bool) -> int:
    cut = data.rfind(b"\n") + 1
    if not quoted:
        return cut
    odd = data.count(b'"', 0, cut) % 2
    while cut and odd:
        before = data.rfind(b"\n", 0, cut - 1) + 1
        odd ^= data.count(b'"', before, cut) % 2
        cut = before
    return cut


class RowFile:
    """A file of rows. ``columns`` names them where the file has no header."""

    def __init__(self, path: Path, wanted: str, columns: Sequence[str] | None = None) -> None:
        self.path = path
        self._suffix = path.suffix if path.suffix in SUFFIXES else ""
        first = self._first_line()
        self._blank = False
        form = Path(path.stem).suffix if self._suffix else path.suffix
        if form == ".csv" or (form != ".tsv" and b"\t" not in first and b"," in first):
            self._delimiter = ","
        elif form == ".tsv" or b"\t" in first:
            self._delimiter = "\t"
        else:
            self._delimiter, self._blank = "\t", True
        fields = self._split(first)
        known = [_ENDS.get(field.lower(), field.lower()) for field in fields]
        self._header = columns is None and wanted in known
        if self._header:
            self.columns = [
                name if name in (wanted, "target", "node") else field
                for name, field in zip(known, fields, strict=True)
            ]
        elif columns is not None:
            self.columns = list(columns)
        else:
            self.columns = ["source", "target", *(f"column{n}" for n in range(3, 99))][
                : max(2, len(fields))
            ]
        for name in self.columns:
            if self.columns.count(name) > 1:
                raise InputError(f"{path}: column {name!r} appears twice")

    def batches(self, problems: Counter[str], meter: Meter, threads: int) -> Iterator[pa.Table]:
        """The rows, all columns text. An error at the end if most rows were not of that form."""
        header = self._header
        before, sound = problems[HALF], 0
        with open_raw(self.path) as raw:
            quoted = self._delimiter == ","
            for block in blocks(raw, self._suffix, problems, quoted=quoted, threads=threads):
                meter.at(raw.tell())
                lines = self._clean(block, problems)
                if header and lines:
                    lines, header = lines.partition(b"\n")[2], False
                if lines.strip():
                    table = self._parse(lines, problems)
                    sound += table.num_rows
                    yield table
        broken = problems[HALF] - before
        if broken > sound:
            raise InputError(
                f"{self.path}: {broken:,} of {broken + sound:,} rows do not have the"
                f" {len(self.columns)} columns {', '.join(self.columns)[:200]}: not such a table"
            )

    def require(self, names: Sequence[str]) -> None:
        """Complain about the first of these columns that is not there."""
        for name in names:
            if name not in self.columns:
                found = ", ".join(self.columns)
                raise InputError(f"{self.path}: no column {name!r} (found: {found[:200]})")

    def _first_line(self) -> bytes:
        with open_raw(self.path) as raw:
            for block in blocks(raw, self._suffix, Counter(), size=1 << 16):
                for line in block.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
                    if line.strip() and not line.startswith(b"#"):
                        self._refuse(line)
                        return line.rstrip(b"\r")
        raise InputError(f"{self.path}: there are no rows in it")

    def _refuse(self, line: bytes) -> None:
        """What begins like this has no rows, even where its lines can be split."""
        for opening, what in _OTHERS:
            if opening.match(line):
                raise InputError(f"{self.path}: {what}, not rows of columns")

    def _split(self, line: bytes) -> list[str]:
        text = line.decode(errors="replace")
        if self._blank:
            return text.split()
        return [field.strip().strip('"') for field in text.split(self._delimiter)]

    def _clean(self, block: bytes, problems: Counter[str]) -> bytes:
        block = block.removeprefix(b"\xef\xbb\xbf")
        if b"#" in block and self._delimiter != ",":
            block = b"".join(
                line for line in block.splitlines(keepends=True) if not line.startswith(b"#")
            )
        elif block.startswith(b"#"):
            lines = block.splitlines(keepends=True)
            while lines and lines[0].startswith(b"#"):
                lines.pop(0)
            block = b"".join(lines)
        if self._blank:
            rows = (line.strip() for line in _BLANKS.sub(b"\t", block).split(b"\n"))
            block = b"\n".join(row for row in rows if row) + b"\n"
        try:
            block.decode()
        except UnicodeDecodeError:
            text = block.decode(errors="replace")
            problems["rows with broken UTF-8"] += sum("\ufffd" in x for x in text.split("\n"))
            block = text.encode()
        return block

    def _parse(self, lines: bytes, problems: Counter[str]) -> pa.Table:
        def skip(row: csv.InvalidRow) -> str:
            del row
            problems[HALF] += 1
            return "skip"

        quoting = self._delimiter == ","
        try:
            return csv.read_csv(
                io.BytesIO(lines),
                read_options=csv.ReadOptions(
                    column_names=self.columns, use_threads=False, block_size=2 * len(lines) + 1
                ),
                parse_options=csv.ParseOptions(
                    delimiter=self._delimiter,
                    quote_char='"' if quoting else False,
                    newlines_in_values=quoting,
                    invalid_row_handler=skip,
                ),
                convert_options=csv.ConvertOptions(
                    column_types=dict.fromkeys(self.columns, pa.string()),
                    strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid as error:
            problems["blocks of rows that cannot be parsed"] += 1
            del error
            return pa.schema([(name, pa.string()) for name in self.columns]).empty_table()


_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d*)?")


def seconds_from(text: str) -> int | None:
    """Numbers as they are, ISO 8601, e-mail and Twitter dates; UTC where no zone is named.

    >>> seconds_from("1970-01-02"), seconds_from("1970-01-01T01:00:00+01:00"), seconds_from("soon")
    (86400, 0, None)
    """
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return int(float(text)) if "." in text else int(text)
    for read in (datetime.fromisoformat, _twitter, parsedate_to_datetime):
        try:
            found = read(text)
            break
        except (ValueError, TypeError, OverflowError, IndexError):
            continue
    else:
        return None
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC)
    try:
        return int(found.timestamp())
    except (OverflowError, ValueError):
        return None


def _twitter(text: str) -> datetime:
    return datetime.strptime(text, "%a %b %d %H:%M:%S %z %Y")
