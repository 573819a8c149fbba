"""A run, written for other programs: tables, lines, a graph, pages, a data set.

Every export appears whole or not at all, and says how many rows it has.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol, TextIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv as pa_csv

from sonde.errors import InputError
from sonde.sources.context import RECORD_KINDS
from sonde.sources.facts import Record
from sonde.sources.options import text_of_file
from sonde.store.answer import answer, written
from sonde.store.atomic import new_file, new_folder
from sonde.store.dataset import DatasetPlan, write_dataset
from sonde.store.graphml import write_graphml
from sonde.store.page_content import text_hash
from sonde.store.reader import RunReader
from sonde.store.run_pages import run_pages
from sonde.store.run_records import read_records, run_records
from sonde.store.run_tables import RunTables
from sonde.store.wacz import export_wacz

Progress = Callable[[str, int, int], None]
"""Told of a file: how many rows are written, of how many there may be."""


class Readable(Protocol):
    """What has a run to read: a ``CrawlResult``."""

    def reader(self) -> AbstractContextManager[RunReader]: ...


@dataclass(frozen=True, slots=True)
class Written:
    """A file that an export has written, with its rows: how many of them have no text, and how many
    pages were left out, by reason."""

    path: str
    rows: int
    missing: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)


def export(
    run: str | Path | RunReader | Readable,
    *,
    parquet: str | Path | None = None,
    csv: str | Path | None = None,
    jsonl: str | Path | None = None,
    markdown: bool = False,
    records: str | Path | None = None,
    fields: str | Path | None = None,
    dataset: str | Path | None = None,
    shards: str = "jsonl.zst",
    near: float | None = 0.9,
    passages: str | Path | None = None,
    question: str | None = None,
    tokens: int | None = None,
    graph: str | Path | None = None,
    graphml: str | Path | None = None,
    wacz: str | Path | None = None,
    threshold: float = 0.0,
    progress: Progress | None = None,
) -> list[Written]:
    """Write a run for other programs; what was written.

    ``parquet`` and ``csv`` are folders of tables, ``jsonl`` a file with one object a page (``-``
    for standard output), ``records`` a file that ends in .jsonl, .csv or .parquet, ``dataset`` a
    folder of shards for language models, ``passages`` what answers a ``question``. ``sonde export
    --help`` says what is in them.
    """
    plan = DatasetPlan(shards, near)
    with _opened(run) as reader:
        writer = _Exporter(reader, progress or (lambda path, done, total: None))
        if parquet is not None:
            writer.tables(Path(parquet), ".parquet", threshold)
        if csv is not None:
            writer.tables(Path(csv), ".csv", threshold)
        if graph is not None:
            writer.graph(Path(graph))
        if graphml is not None:
            writer.graphml(Path(graphml))
        if wacz is not None:
            writer.wacz(Path(wacz))
        if jsonl is not None:
            writer.lines(str(jsonl), markdown)
        if records is not None:
            writer.records(Path(records), None if fields is None else text_of_file(fields))
        if dataset is not None:
            writer.dataset(Path(dataset), plan)
        if passages is not None:
            writer.passages(Path(passages), question, tokens)
        return writer.written


def _opened(run: str | Path | RunReader | Readable) -> AbstractContextManager[RunReader]:
    if isinstance(run, RunReader):
        return nullcontext(run)
    return RunReader(Path(run)) if isinstance(run, (str, Path)) else run.reader()


class _Exporter:
    def __init__(self, run: RunReader, progress: Progress) -> None:
        self._run = run
        self._progress = progress
        self.written: list[Written] = []

    def tables(self, folder: Path, suffix: str, threshold: float) -> None:
        """``visits`` with their texts, ``links`` with anchors, ``ledger`` (one row a lease; a visit
        that scores above the threshold counts as a find in its measures), ``not_taken`` and
        ``records``."""
        tables = RunTables(self._run)
        count = self._run.count
        with new_folder(folder) as partial:
            for name, rows, total in (
                ("visits", tables.visits(), count("SELECT count(*) FROM pages")),
                ("links", tables.links(), self._links()),
                ("ledger", tables.ledger(threshold), count("SELECT count(*) FROM leases")),
                ("not_taken", tables.not_taken(), count("SELECT count(*) FROM refused")),
                ("records", tables.records(), count("SELECT count(*) FROM records")),
            ):
                self._write(rows, partial / f"{name}{suffix}", folder / f"{name}{suffix}", total)

    def _links(self) -> int:
        return self._run.count("SELECT sum(length(targets)) FROM pages") // 4

    def graph(self, folder: Path) -> None:
        """A graph folder: every known node with its score (0 until visited), links with theirs."""
        tables = RunTables(self._run)
        nodes = self._run.count("SELECT count(*) FROM nodes")
        with new_folder(folder) as partial:
            for name, rows, total in (
                ("nodes.parquet", tables.nodes(), nodes),
                ("edges.parquet", tables.edge_tables(), self._links()),
            ):
                self._write(rows, partial / name, folder / name, total)

    def graphml(self, path: Path) -> None:
        """The same graph as GraphML."""
        with new_file(path) as partial:
            write_graphml(RunTables(self._run), partial)
        nodes = self._run.count("SELECT count(*) FROM nodes")
        self.written.append(Written(str(path), nodes))

    def wacz(self, path: Path) -> None:
        """The pages as WACZ."""
        export_wacz(self._run, path)
        pages = self._run.count("SELECT count(warc) FROM pages")
        self.written.append(Written(str(path), pages))

    def lines(self, target: str, markdown: bool) -> None:
        """One JSON object a page, in order of visit."""
        archived, pages = self._run.one("SELECT count(warc), count(*) FROM pages") or (0, 0)
        if markdown and pages and not archived:
            raise InputError(f"{self._run.folder}: kept no pages, and Markdown is made of them")
        missing: dict[str, int] = {}
        with _text_file(target) as file:
            rows = 0
            for page in run_pages(self._run):
                text = page.markdown if markdown else page.text
                why = page.missing if text is None else ""
                if why:
                    missing[why] = missing.get(why, 0) + 1
                line = {
                    "url": page.node,
                    "final_url": page.url,
                    "title": page.title,
                    "language": page.language,
                    "media_type": page.media_type,
                    "status": page.status,
                    "score": page.score,
                    "predicted": page.predicted,
                    "visited": f"{page.visited:%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z",
                    "digest": page.digest,
                    "hash": None if text is None else text_hash(text),
                    "text": text,
                    "missing": why or None,
                }
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                rows += 1
                self._progress(target, rows, pages)
        self.written.append(Written(target, rows, missing))

    def records(self, path: Path, fields: str | None) -> None:
        """The records that the run has; where it has none, or a file of fields is given, those
        that its archived pages have."""
        found: Iterable[Record]
        if fields is not None:
            found = read_records(self._run, (), fields)
        elif self._run.count("SELECT count(*) FROM records"):
            found = run_records(self._run)
        else:
            found = read_records(self._run, RECORD_KINDS, None)
        total = self._run.count("SELECT count(*) FROM pages")
        with new_file(path) as partial:
            if path.suffix == ".jsonl":
                rows = 0
                with partial.open("w", encoding="utf-8") as file:
                    for rows, record in enumerate(found, 1):
                        told = {**asdict(record), "fields": dict(record.fields)}
                        file.write(json.dumps(told, ensure_ascii=False, default=str) + "\n")
                        self._progress(str(path), rows, max(rows, total))
                self.written.append(Written(str(path), rows))
            elif path.suffix in (".csv", ".parquet"):
                self._write(_record_tables(found), partial, path, total)
            else:
                raise InputError(f"{path}: records go to a .jsonl, .csv or .parquet file")

    def dataset(self, folder: Path, plan: DatasetPlan) -> None:
        """Shards for language models, with a datasheet."""
        with new_folder(folder) as partial:
            made = write_dataset(
                self._run,
                partial,
                plan,
                lambda done, total: self._progress(str(folder), done, total),
            )
        self.written.append(Written(str(folder), made.rows, left_out=made.left_out))

    def passages(self, path: Path, question: str | None, tokens: int | None) -> None:
        """Passages that answer a question, as Markdown or JSON lines."""
        found = answer(self._run, question, tokens)
        with new_file(path) as partial:
            partial.write_text(written(found, path), encoding="utf-8")
        self.written.append(Written(str(path), len(found.passages)))

    def _write(self, tables: Iterator[pa.Table], path: Path, called: Path, total: int) -> None:
        """Tables as one file, in the format that its name says."""
        first = next(tables)
        rows = 0
        with _table_file(path, called.suffix, first.schema) as write:
            for table in tables:
                write(table)
                rows += table.num_rows
                self._progress(str(called), rows, max(rows, total))
        self.written.append(Written(str(called), rows))


@contextmanager
def _table_file(path: Path, suffix: str, schema: pa.Schema) -> Iterator[Callable[[pa.Table], None]]:
    if suffix == ".csv":
        with pa_csv.CSVWriter(path, schema) as lines:
            yield lambda table: lines.write_table(_plain_cells(table))
    else:
        with pq.ParquetWriter(path, schema, compression="zstd") as writer:
            yield writer.write_table


def _plain_cells(table: pa.Table) -> pa.Table:
    """A table for a spreadsheet: pages choose their titles, and what begins like a formula would be
    one there; an apostrophe stands before it."""
    for place, column in enumerate(table.schema):
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            cells = table.column(place)
            formula = pc.match_substring_regex(cells, r"^[=+\-@\t\r]")
            marked = pc.binary_join_element_wise(
                pa.scalar("'", column.type), cells, pa.scalar("", column.type)
            )
            table = table.set_column(place, column, pc.if_else(formula, marked, cells))
    return table


def _record_tables(records: Iterable[Record]) -> Iterator[pa.Table]:
    names = ("id", "source", "url", "title", "text")
    kinds = [pa.string()] * 4 + [pa.large_string()] * 2
    schema = pa.schema(list(zip((*names, "fields"), kinds, strict=True)))
    yield schema.empty_table()
    batch: list[tuple[str, ...]] = []

    def table() -> pa.Table:
        columns = zip(*batch, strict=True)
        return pa.table(
            [pa.array(values, kind) for values, kind in zip(columns, kinds, strict=True)],
            schema=schema,
        )

    for record in records:
        fields = json.dumps(dict(record.fields), ensure_ascii=False, default=str)
        batch.append((record.id, record.source, record.url, record.title, record.text, fields))
        if len(batch) >= 1_000:
            yield table()
            batch.clear()
    if batch:
        yield table()


@contextmanager
def _text_file(target: str) -> Iterator[TextIO]:
    """A file to write lines to; ``-`` is standard output, in UTF-8 whatever the terminal."""
    if target == "-":
        reconfigure: Any = getattr(sys.stdout, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8")
        with nullcontext(sys.stdout) as stream:
            yield stream
        return
    with new_file(Path(target)) as partial, partial.open("w", encoding="utf-8") as file:
        yield file
