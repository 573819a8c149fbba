"""What users hold in memory, brought into the form of the two tables."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sonde.errors import GraphError
from sonde.sources.graph.table import EDGE_NAMES, NODE_NAMES, MemoryTable, in_one_line


def edge_table(edges: Any) -> MemoryTable:
    """A table with the columns of `edges`, or pairs and triples of source, target, score."""
    return _table("edges", EDGE_NAMES, edges)


def node_table(nodes: Any) -> MemoryTable:
    """A table with the columns of `nodes`, a mapping from names to scores, or such pairs."""
    return _table("nodes", NODE_NAMES, nodes.items() if isinstance(nodes, Mapping) else nodes)


def networkx_tables(graph: Any, score: str, link_score: str) -> tuple[MemoryTable, MemoryTable]:
    """Nodes and edges in NetworkX's own order; an undirected edge is a link either way."""
    nodes = [(node, attributes.get(score)) for node, attributes in graph.nodes(data=True)]
    edges = [
        (source, target, attributes.get(link_score))
        for source, neighbours in graph.adjacency()
        for target, found in neighbours.items()
        for attributes in (found.values() if graph.is_multigraph() else (found,))
    ]
    return node_table(nodes), edge_table(edges)


def scipy_tables(
    matrix: Any, scores: Sequence[float] | None, names: Sequence[Any] | None
) -> tuple[MemoryTable, MemoryTable]:
    """Row i's stored entries are the links of node i, in the order in which they are stored."""
    rows, columns = matrix.shape
    if rows != columns:
        raise GraphError(f"matrix: {rows} rows and {columns} columns, not square")
    for what, given in (("scores", scores), ("names", names)):
        if given is not None and len(given) != rows:
            raise GraphError(f"{what}: {len(given)} given for a matrix of {rows} rows")
    entries = matrix.tocoo()
    named = _names("nodes", "node", list(range(rows) if names is None else names))
    nodes = {"node": named}
    if scores is not None:
        nodes["score"] = pa.array(np.asarray(scores, np.float64))
    edges = {
        "source": named.take(pa.array(entries.row)),
        "target": named.take(pa.array(entries.col)),
        "score": pa.array(np.asarray(entries.data, np.float64)),
    }
    return MemoryTable("nodes", pa.table(nodes)), MemoryTable("edges", pa.table(edges))


def _table(label: str, name_columns: tuple[str, ...], given: Any) -> MemoryTable:
    if hasattr(given, "__arrow_c_stream__"):  # PyArrow, Polars, pandas, DuckDB, ...
        return MemoryTable(label, pa.table(given))
    return MemoryTable(label, _from_rows(label, name_columns, given))


def _from_rows(label: str, name_columns: tuple[str, ...], rows: Iterable[Any]) -> pa.Table:
    width = len(name_columns)
    names: list[list[Any]] = [[] for _ in name_columns]
    scores: list[float | None] = []
    for number, row in enumerate(rows, start=1):
        fields = () if isinstance(row, str) or not isinstance(row, Iterable) else tuple(row)
        if len(fields) not in (width, width + 1):
            wanted = ", ".join(name_columns)
            raise GraphError(f"{label}, row {number}: expected ({wanted}) or ({wanted}, score)")
        for column, name in zip(names, fields, strict=False):
            column.append(name)
        scores.append(_score(label, number, fields[width] if len(fields) > width else None))
    columns = {
        title: _names(label, title, column)
        for title, column in zip(name_columns, names, strict=True)
    }
    return pa.table(columns | {"score": pa.array(scores, pa.float64())})


def _score(label: str, number: int, score: Any) -> float | None:
    try:
        return None if score is None else float(score)
    except (TypeError, ValueError, OverflowError):
        raise GraphError(f"{label}, row {number}: score {score!r:.80} is not a number") from None


def _names(label: str, title: str, names: list[Any]) -> pa.Array:
    """A column of names, all text or all integers. Gaps are left for the rows' own check."""
    text = next((isinstance(name, str) for name in names if name is not None), True)
    read = _as_text if text else _as_integer
    values = []
    for number, name in enumerate(names, start=1):
        try:
            values.append(None if name is None else read(name))
        except (TypeError, ValueError) as error:
            raise GraphError(f"{label}, row {number}: {title} {in_one_line(error)}") from None
    return pa.array(values, pa.string() if text else pa.int64())


def _as_text(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{name!r:.80} is not text, as the names before it are")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name!r:.80} is not valid Unicode") from None
    return name


def _as_integer(name: Any) -> int:
    try:
        number = operator.index(name)
    except TypeError:
        raise TypeError(f"{name!r:.80} is neither text nor an integer as the others") from None
    if isinstance(name, bool) or not -(2**63) <= number < 2**63:
        raise ValueError(f"{name!r:.80} is not an integer of 64 bits")
    return number
