"""Tables in text files: TSV, which is plain, and CSV, whose fields may be quoted.

Arrow parses text files at hundreds of megabytes a second and cannot say on which line it stood.
So ``TextTable`` has Arrow read, and ``Lines`` is called when there is a line to be named: it reads
line by line, slowly, but knows at every moment which line it is. It splits lines as Arrow does: a
quote opens only at the start of a field, is doubled inside, and may span lines; wholly empty lines
are skipped.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from sonde.errors import GraphError
from sonde.sources.graph.table import UNREADABLE, in_one_line, open_stream

BLOCK_BYTES = 1 << 22
"""Bytes that Arrow parses at a time, and so the longest row that it can read."""

NUMBER = re.compile(
    r"[ \t]*([+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan(\(\w*\))?))?[ \t]*",
    re.IGNORECASE | re.ASCII,
)
NOT_UTF8 = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True)
class Dialect:
    """How a text file separates its fields."""

    delimiter: str
    quoting: bool


TSV = Dialect("\t", quoting=False)
CSV = Dialect(",", quoting=True)


class TextTable:
    """A text file. All columns but `score` are text: nothing in such a file says otherwise."""

    row_count = None

    def __init__(self, path: Path, dialect: Dialect) -> None:
        self.label = str(path)
        self._path = path
        self._dialect = dialect
        self._lines = Lines(path, dialect)
        self.schema = pa.schema(
            [
                (name, pa.float64() if name == "score" else pa.string())
                for name in self._lines.header()
            ]
        )

    def batches(self) -> Iterator[pa.RecordBatch]:
        last = None
        try:
            with open_stream(self._path) as stream:
                for batch in self._reader(stream):
                    yield batch
                    last = batch if batch.num_rows else last
        except UNREADABLE as error:
            if self._lines.check() == 0:
                return  # Arrow will not read a header that no line end follows
            raise GraphError(f"{self.label}: cannot be read: {in_one_line(error)}") from None
        # At the end of a file Arrow closes an open quote by itself, and everything after the
        # quote has become one field: the very last one, with line ends in it.
        if self._dialect.quoting and last is not None and "\n" in str(last.column(-1)[-1]):
            self._lines.check()

    def place(self, row: int) -> str:
        return f"{self.label}, line {self._lines.line_of(row)}"

    def _reader(self, stream: object) -> csv.CSVStreamingReader:
        quoting = self._dialect.quoting
        return csv.open_csv(
            stream,
            read_options=csv.ReadOptions(use_threads=False, block_size=BLOCK_BYTES),
            parse_options=csv.ParseOptions(
                delimiter=self._dialect.delimiter,
                quote_char='"' if quoting else False,
                newlines_in_values=quoting,
            ),
            convert_options=csv.ConvertOptions(
                column_types=self.schema,
                null_values=[""],
                strings_can_be_null=False,  # an empty text is a text; an empty score is none
            ),
        )


@dataclass(frozen=True)
class Lines:
    """A text file's rows with the numbers of the lines that they start on."""

    path: Path
    dialect: Dialect

    def header(self) -> list[str]:
        for number, fields in self._rows():
            self._check_utf8(number, fields)
            return fields
        raise GraphError(f"{self.path}, line 1: the file is empty, a header row is expected")

    def line_of(self, row: int) -> int:
        """The line on which data row `row`, counted from 0, starts."""
        for index, (number, _) in enumerate(self._rows()):
            if index == row + 1:  # the header is a row too
                return number
        raise IndexError(row)

    def check(self) -> int:
        """Complain about the first row that is malformed; else give the number of data rows."""
        count = 0
        header: list[str] = []
        for number, fields in self._rows():
            self._check_utf8(number, fields)
            if count == 0:
                header = fields
            elif len(fields) != len(header):
                raise GraphError(
                    f"{self.path}, line {number}: expected {len(header)} fields, got {len(fields)}"
                )
            else:
                for name, field in zip(header, fields, strict=True):
                    if name == "score" and not NUMBER.fullmatch(field):
                        raise GraphError(
                            f"{self.path}, line {number}: score {field[:80]!r} is not a number"
                        )
            count += 1
        return count - 1

    def _check_utf8(self, number: int, fields: list[str]) -> None:
        if any(NOT_UTF8.search(field) for field in fields):
            raise GraphError(f"{self.path}, line {number}: the text is not valid UTF-8")

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        number = 0
        splitter = _Splitter(self.dialect)
        try:
            with (
                open_stream(self.path) as stream,
                # Bytes that are not UTF-8 come through as lone surrogates, for `check` to find.
                io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape") as text,
            ):
                for number, line in enumerate(text, start=1):
                    fields = splitter.feed(number, line)
                    if fields is not None:
                        yield splitter.first_line, fields
        except UNREADABLE as error:
            raise GraphError(
                f"{self.path}, line {number + 1}: cannot be read: {in_one_line(error)}"
            ) from None
        if splitter.quoted:
            raise GraphError(
                f"{self.path}, line {splitter.first_line}: a quote is opened and never closed"
            )


class _Splitter:
    """Splits lines into fields; a row goes on over line ends while a quote is open."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.quoted = False
        self.first_line = 0
        self._fields: list[str] = []
        self._field: list[str] = []

    def feed(self, number: int, line: str) -> list[str] | None:
        """The fields of the row that this line ends, or None if it ends none."""
        if not self.quoted:
            self.first_line = number
            line = line.removesuffix("\n")
            if not line:
                return None
            if not self.dialect.quoting or '"' not in line:
                return line.split(self.dialect.delimiter)
            self._fields, self._field = [], []
        return self._split(line)

    def _split(self, line: str) -> list[str] | None:
        closed_at = -1
        at_start = not self.quoted
        for at, character in enumerate(line):
            if self.quoted:
                if character == '"':
                    self.quoted, closed_at = False, at
                else:
                    self._field.append(character)
            elif character == '"' and (at_start or closed_at == at - 1 >= 0):
                # At the start of a field a quote opens it; right after a closing quote it was
                # no closing quote but half of a doubled one.
                if not at_start:
                    self._field.append('"')
                self.quoted = True
            elif character == self.dialect.delimiter:
                self._end_field()
            elif character != "\n":
                self._field.append(character)
            at_start = not self.quoted and character == self.dialect.delimiter
        if self.quoted:
            return None
        self._end_field()
        return self._fields

    def _end_field(self) -> None:
        self._fields.append("".join(self._field))
        self._field = []
