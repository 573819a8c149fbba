"""A graph folder written from a graph."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sonde.errors import GraphError
from sonde.sources.graph.compression import UNREADABLE, in_one_line
from sonde.sources.graph.folder import candidates
from sonde.sources.graph.table import BATCH_ROWS

if TYPE_CHECKING:
    from sonde.sources.graph.graph import Graph


def save(graph: Graph, folder: Path) -> None:
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
