"""What a table of rows is; tables that are in memory, and in files, which may be compressed; rows
that have been checked: names without gaps, scores without surprises."""

from __future__ import annotations

import lzma
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
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


NODE_NAMES = ("node",)
EDGE_NAMES = ("source", "target")

Flaw = tuple[int, str]
"""A row of a batch, and what is wrong with it."""


@dataclass(frozen=True)
class Rows:
    """One batch: a column of names for each name column of the table, and the scores."""

    names: tuple[pa.Array, ...]
    scores: npt.NDArray[np.float64]
    further: pa.RecordBatch


def name_type(columns: Sequence[tuple[Table | None, tuple[str, ...]]]) -> pa.DataType:
    """Integers if every name column holds them, else text; complains about missing columns."""
    types = []
    for table, names in columns:
        if table is not None:
            _check_columns(table, names)
            types += [_plain(table.schema.field(name).type) for name in names]
    known = [kind for kind in types if not pa.types.is_null(kind)]
    return pa.int64() if known and all(map(pa.types.is_integer, known)) else pa.string()


def further_schema(table: Table, name_columns: tuple[str, ...]) -> pa.Schema:
    """The columns that the graph only carries along."""
    return pa.schema([f for f in table.schema if f.name not in (*name_columns, "score")])


def checked_rows(table: Table, name_columns: tuple[str, ...], kind: pa.DataType) -> Iterator[Rows]:
    """The table batch by batch; complains about the first row of a batch that has a flaw."""
    further = further_schema(table, name_columns).names
    before = 0
    for batch in table.batches():
        flaws: list[Flaw] = []
        names = tuple(_names(batch, column, kind, flaws) for column in name_columns)
        scores = _scores(batch, flaws)
        if flaws:
            row, words = min(flaws)
            raise GraphError(f"{table.place(before + row)}: {words}")
        yield Rows(names, scores, batch.select(further))
        before += batch.num_rows


def _check_columns(table: Table, name_columns: tuple[str, ...]) -> None:
    present = table.schema.names
    for name in present:
        if present.count(name) > 1:
            raise GraphError(f"{table.label}: column {name!r} appears twice")
    for name in name_columns:
        if name not in present:
            found = ", ".join(map(repr, present)) or "none"
            raise GraphError(f"{table.label}: column {name!r} is missing (found: {found[:200]})")
        kind = table.schema.field(name).type
        if not _holds_names(_plain(kind)):
            raise GraphError(f"{table.label}: column {name!r} is {kind}, not text or integers")
    if "score" in present:
        kind = table.schema.field("score").type
        if not _holds_numbers(_plain(kind)):
            raise GraphError(f"{table.label}: column 'score' is {kind}, not numbers")


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _holds_names(kind: pa.DataType) -> bool:
    types = pa.types
    tests = (
        types.is_integer,
        types.is_string,
        types.is_large_string,
        types.is_string_view,
        types.is_null,
    )
    return any(test(kind) for test in tests)


def _holds_numbers(kind: pa.DataType) -> bool:
    types = pa.types
    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_null)
    return any(test(kind) for test in tests)


def _names(batch: pa.RecordBatch, column: str, kind: pa.DataType, flaws: list[Flaw]) -> pa.Array:
    values = batch.column(column)
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if values.null_count:
        flaws.append((pc.index(values.is_null(), True).as_py(), f"{column} is missing"))
    try:
        names = values.cast(kind)
    except pa.ArrowInvalid as error:  # an unsigned integer beyond the signed ones
        row = next((row for row, value in enumerate(values.to_pylist()) if _beyond(value)), 0)
        flaws.append((row, f"{column}: {in_one_line(error)}"))
        return pa.nulls(len(values), kind)
    if pa.types.is_string(kind):
        empty = pc.index(pc.binary_length(names), 0).as_py()
        if empty >= 0:
            flaws.append((empty, f"{column} is empty"))
    return names


def _beyond(value: Any) -> bool:
    return isinstance(value, int) and value >= 1 << 63


def _scores(batch: pa.RecordBatch, flaws: list[Flaw]) -> npt.NDArray[np.float64]:
    if "score" not in batch.schema.names:
        return np.zeros(batch.num_rows)
    values = batch.column("score")
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    filled = values.cast(pa.float64(), safe=False).fill_null(0.0)
    # Adding zero turns minus zero into zero, which no score should differ from in its sign.
    scores: npt.NDArray[np.float64] = filled.to_numpy(zero_copy_only=False) + 0.0
    sound = (scores >= 0) & (scores < np.inf)
    if not sound.all():
        row = int(np.argmin(sound))
        score = float(scores[row])
        what = "not a number" if np.isnan(score) else "infinite" if np.isinf(score) else "negative"
        flaws.append((row, f"score {score!r} is {what}"))
    return scores
