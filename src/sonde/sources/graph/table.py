"""What a table of rows is, and the table that is already in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

BATCH_ROWS = 1 << 17
"""Rows held at a time: enough to make the cost of a batch vanish, little beside any large graph."""


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
