"""Tables in text files: TSV, which is plain, and CSV, whose fields may be quoted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from sonde.errors import GraphError
from sonde.sources.graph.compression import UNREADABLE, in_one_line, open_stream
from sonde.sources.graph.lines import Dialect, Lines

BLOCK_BYTES = 1 << 22
"""Bytes that Arrow parses at a time, and so the longest row that it can read."""


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
