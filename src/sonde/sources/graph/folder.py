"""The folder that a graph lives in: one file for `nodes`, one for `edges`; found, and written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sonde.errors import GraphError
from sonde.sources.graph.table import (
    BATCH_ROWS,
    COMPRESSIONS,
    UNREADABLE,
    ParquetTable,
    Table,
    in_one_line,
)
from sonde.sources.graph.text import CSV, TSV, TextTable

if TYPE_CHECKING:
    from sonde.sources.graph.graph import Graph

FORMATS = (".parquet", ".tsv", ".csv")


def open_folder(folder: Path) -> tuple[Table | None, Table | None]:
    """The tables `nodes` and `edges`. Either may be missing, but not both."""
    if not folder.exists():
        raise GraphError(f"{folder}: no such folder")
    if not folder.is_dir():
        raise GraphError(f"{folder}: not a folder; a graph is a folder with `nodes` and `edges`")
    files = [_only(candidates(folder, stem)) for stem in ("nodes", "edges")]
    if files == [None, None]:
        formats = ", ".join(FORMATS)
        hint = ""
        if any(folder.glob("*.sqlite")):
            hint = f"; if it is a run: sonde export {folder} --graph GRAPH makes a graph of it"
        raise GraphError(f"{folder}: holds neither `nodes` nor `edges` ({formats}){hint}")
    nodes, edges = (None if file is None else _open(file) for file in files)
    return nodes, edges


def candidates(folder: Path, stem: str) -> list[Path]:
    """The files of the folder that could be the table `stem`."""
    paths = [folder / f"{stem}{form}{packed}" for form in FORMATS for packed in ("", *COMPRESSIONS)]
    return [path for path in paths if path.exists()]


def _only(paths: list[Path]) -> Path | None:
    if len(paths) > 1:
        raise GraphError(f"{paths[0]} and {paths[1]}: two files for the same table, keep one")
    return paths[0] if paths else None


def _open(path: Path) -> Table:
    suffixes = [suffix for suffix in path.suffixes if suffix not in COMPRESSIONS]
    if suffixes[-1] == ".parquet":
        return ParquetTable(path)
    return TextTable(path, TSV if suffixes[-1] == ".tsv" else CSV)


def save_folder(graph: Graph, folder: Path) -> None:
    """Write `nodes.parquet` and `edges.parquet`, replacing what they held."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for stem, batches in (("nodes", _node_batches(graph)), ("edges", _edge_batches(graph))):
            file = folder / f"{stem}.parquet"
            others = [path for path in candidates(folder, stem) if path != file]
            if others:
                raise GraphError(f"{others[0]}: already there, and {file} would contradict it")
            _write(file, batches)
    except UNREADABLE as error:
        raise GraphError(f"{folder}: cannot be written: {in_one_line(error)}") from None


def _write(file: Path, batches: Iterator[pa.Table]) -> None:
    first = next(batches)
    with pq.ParquetWriter(file, first.schema, compression="zstd") as writer:
        writer.write_table(first)
        for batch in batches:
            writer.write_table(batch)


def _node_batches(graph: Graph) -> Iterator[pa.Table]:
    columns = {"node": graph.names, "score": pa.array(graph.scores)}
    yield _with_columns(columns, graph.node_columns)


def _edge_batches(graph: Graph) -> Iterator[pa.Table]:
    """Many edges at a time, but not all: their names may be far larger than the graph."""
    for start in range(0, max(1, graph.edge_count), 8 * BATCH_ROWS):
        stop = min(start + 8 * BATCH_ROWS, graph.edge_count)
        edges = np.arange(start, stop)
        sources = np.searchsorted(graph.indptr, edges, side="right") - 1
        columns = {
            "source": graph.names.take(pa.array(sources)),
            "target": graph.names.take(pa.array(graph.targets[start:stop])),
            "score": pa.array(graph.link_scores[start:stop]),
        }
        yield _with_columns(columns, graph.edge_columns.slice(start, stop - start))


def _with_columns(columns: dict[str, pa.Array], further: pa.Table) -> pa.Table:
    return pa.table(columns | dict(zip(further.column_names, further.columns, strict=True)))
