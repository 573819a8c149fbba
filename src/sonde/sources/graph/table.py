"""What a table of rows is; tables that are in memory, and in files, which may be compressed."""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol, cast

import pyarrow as pa
import pyarrow.parquet as pq

from sonde.errors import GraphError

COMPRESSIONS = (".gz", ".xz", ".zst")

UNREADABLE = (OSError, EOFError, lzma.LZMAError, pa.ArrowException, UnicodeDecodeError)
"""What reading a missing, truncated or corrupt file raises, whichever library reads it."""


def open_stream(path: Path) -> BinaryIO:
    """The bytes of a file, decompressed as its suffix says."""
    if path.suffix == ".xz":
        return cast("BinaryIO", lzma.open(path))
    codec = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix)
    return cast("BinaryIO", pa.input_stream(str(path), compression=codec))


def in_one_line(error: BaseException) -> str:
    """What an error says, fit for the end of a one-line message."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(text.split())[:200]


BATCH_ROWS = 1 << 17
"""Rows held at a time: enough to make the cost of a batch vanish, little beside any large graph."""

PAGE_BUFFER = 1 << 20
"""Bytes of a column read ahead. Without it Arrow would hold whole row groups, of any size."""


class Table(Protocol):
    """Rows of `nodes` or of `edges`, read once from the first to the last."""

    @property
    def label(self) -> str:
        """What a message calls the table: the file's path."""

    @property
    def schema(self) -> pa.Schema:
        """The columns."""

    @property
    def row_count(self) -> int | None:
        """How many rows there are, where that is known before reading them."""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, in order."""

    def place(self, row: int) -> str:
        """Where a person finds a row, counted from 0: the file, and the row or line in it."""


@dataclass(frozen=True)
class MemoryTable:
    """A table that the user holds."""

    label: str
    table: pa.Table

    @property
    def schema(self) -> pa.Schema:
        return self.table.schema

    @property
    def row_count(self) -> int:
        return int(self.table.num_rows)

    def batches(self) -> Iterator[pa.RecordBatch]:
        yield from self.table.to_batches(max_chunksize=BATCH_ROWS)

    def place(self, row: int) -> str:
        return f"{self.label}, row {row + 1}"


class ParquetTable:
    """A Parquet file; one that is compressed once more as a whole is unpacked in memory."""

    def __init__(self, path: Path) -> None:
        self.label = str(path)
        try:
            self._file = pq.ParquetFile(
                _unpacked(path) if path.suffix in COMPRESSIONS else str(path),
                buffer_size=PAGE_BUFFER,
                pre_buffer=False,
            )
            self.schema = self._file.schema_arrow
        except UNREADABLE as error:
            raise GraphError(f"{self.label}: cannot be read: {in_one_line(error)}") from None
        self.row_count: int = self._file.metadata.num_rows

    def batches(self) -> Iterator[pa.RecordBatch]:
        rows = 0
        try:
            with self._file as file:
                for batch in file.iter_batches(batch_size=BATCH_ROWS, use_threads=False):
                    self._check_text(batch, rows)
                    yield batch
                    rows += batch.num_rows
        except UNREADABLE as error:
            message = f"{self.place(rows)} or after: cannot be read: {in_one_line(error)}"
            raise GraphError(message) from None

    def place(self, row: int) -> str:
        return f"{self.label}, row {row + 1}"

    def _check_text(self, batch: pa.RecordBatch, rows: int) -> None:
        """Arrow takes text from Parquet on trust; what is not UTF-8 would fail much later."""
        try:
            batch.validate(full=True)
        except pa.ArrowInvalid as error:
            for row in range(batch.num_rows):
                try:
                    batch.slice(row, 1).validate(full=True)
                except pa.ArrowInvalid as flaw:
                    raise GraphError(f"{self.place(rows + row)}: {in_one_line(flaw)}") from None
            raise error


def _unpacked(path: Path) -> pa.BufferReader:
    with open_stream(path) as stream:
        return pa.BufferReader(stream.read())
