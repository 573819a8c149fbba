"""A graph loader that is obvious, and writers for every kind of graph file."""

from __future__ import annotations

import csv
import gzip
import io
import lzma
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sonde.sources.graph import Graph

Row = Sequence[Any]


@dataclass
class Plain:
    """A graph as dictionaries and lists."""

    names: list[Any] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    node_notes: list[Any] = field(default_factory=list)
    links: list[dict[int, tuple[float, Any]]] = field(default_factory=list)
    self_loops: int = 0
    merged: int = 0

    def number(self, name: Any) -> int:
        if name not in self.names:
            self.add(name, 0.0, None)
        return self.names.index(name)

    def add(self, name: Any, score: float, note: Any) -> None:
        self.names.append(name)
        self.scores.append(score)
        self.node_notes.append(note)
        self.links.append({})


def plain(nodes: Sequence[Row], edges: Sequence[Row]) -> Plain:
    """Nodes are (name, score, note), edges (source, target, score, note)."""
    graph = Plain()
    for name, score, note in nodes:
        graph.add(name, score or 0.0, note)
    for source, target, score, note in edges:
        source, target = graph.number(source), graph.number(target)
        if source == target:
            graph.self_loops += 1
        elif target in graph.links[source]:
            before, first_note = graph.links[source][target]
            graph.links[source][target] = (before + (score or 0.0), first_note)
            graph.merged += 1
        else:
            graph.links[source][target] = (score or 0.0, note)
    return graph


def as_plain(graph: Graph) -> Plain:
    """What the loader made, in the same form. The column `note` is the one that is kept."""
    node_notes = _notes(graph.node_columns, graph.node_count)
    edge_notes = _notes(graph.edge_columns, graph.edge_count)
    links = []
    for node in range(graph.node_count):
        row = range(int(graph.indptr[node]), int(graph.indptr[node + 1]))
        links.append(
            {int(graph.targets[e]): (float(graph.link_scores[e]), edge_notes[e]) for e in row}
        )
        assert len(links[-1]) == len(row)
    return Plain(
        graph.names.to_pylist(),
        graph.scores.tolist(),
        node_notes,
        links,
        graph.self_loops,
        graph.merged,
    )


def same(one: Graph, other: Graph) -> bool:
    """Equal in everything that is stored."""
    arrays = ("indptr", "targets", "link_scores", "scores")
    tables = ("names", "node_columns", "edge_columns")
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        and getattr(one, name).dtype == getattr(other, name).dtype
        for name in arrays
    ) and all(getattr(one, name).equals(getattr(other, name)) for name in tables)


def write(folder: Path, stem: str, form: str, header: Row, rows: Sequence[Row]) -> Path:
    """Write a table; `form` is a suffix such as `.tsv.gz`."""
    kind, _, packed = form.removeprefix(".").partition(".")
    path = folder / f"{stem}{form}"
    if kind == "parquet":
        columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in header]
        sink = pa.BufferOutputStream()
        types = [pa.float64() if name == "score" else None for name in header]
        table = pa.table(
            {
                name: pa.array(column, kind)
                for name, column, kind in zip(header, columns, types, strict=True)
            }
        )
        pq.write_table(table, sink, row_group_size=3)
        data = sink.getvalue().to_pybytes()
    else:
        text = io.StringIO()
        lines = [["" if value is None else value for value in row] for row in (header, *rows)]
        if kind == "csv":
            csv.writer(text).writerows(lines)
        else:
            text.write("".join("\t".join(map(str, line)) + "\n" for line in lines))
        data = text.getvalue().encode()
    path.write_bytes(compress(data, packed))
    return path


def compress(data: bytes, packed: str) -> bytes:
    if packed == "gz":
        return gzip.compress(data, 1)
    if packed == "xz":
        return lzma.compress(data, preset=0)
    if packed == "zst":
        return bytes(pa.compress(data, codec="zstd", asbytes=True))
    return data


def _notes(columns: pa.Table, count: int) -> list[Any]:
    return columns["note"].to_pylist() if "note" in columns.column_names else [None] * count
