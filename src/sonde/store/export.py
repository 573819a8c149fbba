"""A run, written for other programs: Parquet tables, JSON lines, a graph folder, GraphML.

Every export appears whole or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from sonde.errors import InputError
from sonde.store.atomic import new_file, new_folder
from sonde.store.graphml import write_graphml
from sonde.store.log import unpack_text
from sonde.store.reader import RunReader
from sonde.store.run_tables import RunTables
from sonde.store.warcreader import Archived, read_archived

Prose = Callable[[Archived, str, bytes | None], str | None]
"""The text of an archived page of a media type, of which main text stands there (as the table
``pages`` has it); ``None`` where it has none."""


def export_parquet(run: RunReader, folder: Path, threshold: float = 0.0) -> None:
    """``visits``, ``links``, ``ledger`` (one row a lease) and ``not_taken``. A visit that scores
    above the threshold counts as a find in the ledger's measures."""
    tables = RunTables(run)
    with new_folder(folder) as partial:
        _write(tables.visits(), partial / "visits.parquet")
        _write(tables.links(), partial / "links.parquet")
        _write(tables.ledger(threshold), partial / "ledger.parquet")
        _write(tables.not_taken(), partial / "not_taken.parquet")


def export_graph(run: RunReader, folder: Path) -> None:
    """A graph folder: every known node with its score (0 until visited), links with theirs."""
    tables = RunTables(run)
    with new_folder(folder) as partial:
        _write(tables.nodes(), partial / "nodes.parquet")
        _write(tables.edge_tables(), partial / "edges.parquet")


def export_graphml(run: RunReader, path: Path) -> None:
    """The same graph as GraphML."""
    with new_file(path) as partial:
        write_graphml(RunTables(run), partial)


def export_lines(run: RunReader, path: Path, prose: Prose, *, stored_text: bool = True) -> int:
    """One JSON object a page, in order of visit; how many pages could not be read."""
    with new_file(path) as partial, partial.open("w", encoding="utf-8") as file:
        return write_lines(run, file, prose, stored_text=stored_text)


def write_lines(run: RunReader, file: TextIO, prose: Prose, *, stored_text: bool = True) -> int:
    """``export_lines`` into an open file."""
    missing = 0
    for page, text in _pages(run, prose, stored_text):
        missing += text is None
        file.write(json.dumps(page | {"text": text}, ensure_ascii=False) + "\n")
    return missing


def kept_pages(run: RunReader) -> tuple[int, int]:
    """How many pages are archived, of how many that were visited."""
    archived, pages = run.one("SELECT count(warc), count(*) FROM pages") or (0, 0)
    return archived, pages


_COLUMNS = (
    "url", "final_url", "title", "language", "media_type", "status", "score", "predicted",
    "visited",
)  # fmt: skip


def _pages(
    run: RunReader, prose: Prose, stored_text: bool
) -> Iterator[tuple[dict[str, Any], str | None]]:
    for *values, warc, main, packed in run.rows(
        "SELECT url, final_url, title, language, media_type, status, score, predicted,"
        " strftime('%Y-%m-%dT%H:%M:%fZ', settled, 'unixepoch'), warc, main, text"
        " FROM pages JOIN leases ON leases.number = pages.lease"
        " JOIN nodes ON nodes.number = pages.node WHERE outcome = 'visit' ORDER BY pages.lease"
    ):
        page = dict(zip(_COLUMNS, values, strict=True))
        text = None
        if warc is not None:
            text = prose(read_archived(run.pages, warc), page["media_type"], main)
        elif packed is not None and stored_text:
            text = unpack_text(packed)
            if text is None:
                raise InputError(f"{run.folder}: damaged: the text of {page['url']}")
        yield page, text


def _write(tables: Iterator[pa.Table], path: Path) -> None:
    first = next(tables)
    with pq.ParquetWriter(path, first.schema, compression="zstd") as writer:
        for table in tables:
            writer.write_table(table)
