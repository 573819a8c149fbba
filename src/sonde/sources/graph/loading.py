"""From tables to the arrays of a graph: edges first in file order, then in rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sonde.errors import GraphError
from sonde.kernels.graphs import adjacency
from sonde.sources.graph.names import MOST, Names, Scalar, names_of
from sonde.sources.graph.table import (
    EDGE_NAMES,
    NODE_NAMES,
    Table,
    checked_rows,
    further_schema,
    name_type,
)


class EdgeList:
    """Append edges, `sort` them once into compressed rows, then `merge` parallel ones.

    With `keep_rows` each edge remembers which row of the table it came from, for the sake of
    the table's further columns.
    """

    def __init__(self, expected: int | None, *, keep_rows: bool) -> None:
        room = min(expected or 0, MOST)
        self.self_loops = 0
        self.count = 0
        self.indptr = np.zeros(1, np.int64)
        self.targets = np.empty(room, np.int32)
        self.scores = np.empty(room, np.float64)
        self._sources = np.empty(room, np.int32)
        self._rows = np.empty(room, np.int64) if keep_rows else None
        self._seen = 0

    def append(
        self,
        sources: npt.NDArray[np.int32],
        targets: npt.NDArray[np.int32],
        scores: npt.NDArray[np.float64],
    ) -> None:
        """Add the next rows of the table; self-loops are counted and left out."""
        rows = np.arange(self._seen, self._seen + len(sources))
        self._seen += len(sources)
        links = sources != targets
        if not links.all():
            sources, targets, scores = sources[links], targets[links], scores[links]
            self.self_loops += len(rows) - len(sources)
            rows = rows[links]
        stop = self.count + len(sources)
        if stop > len(self.targets):
            self._grow(stop)
        self._sources[self.count : stop] = sources
        self.targets[self.count : stop] = targets
        self.scores[self.count : stop] = scores
        if self._rows is not None:
            self._rows[self.count : stop] = rows
        self.count = stop

    def sort(self, node_count: int) -> npt.NDArray[np.int64]:
        """Bring the edges into rows, file order within a row; gives the table row of each.

        What it gives is empty if the rows were not kept.
        """
        self._cut()
        self.indptr = np.zeros(node_count + 1, np.int64)
        adjacency.tally(self._sources, self.indptr[1:])
        np.cumsum(self.indptr, out=self.indptr)
        adjacency.destine(self._sources, self.indptr[:-1].copy())
        rows = np.empty(0, np.int64)
        if self._rows is not None:
            rows = np.empty(self.count, np.int64)
            rows[self._sources] = self._rows
            self._rows = None
        adjacency.move(self._sources, self.targets, self.scores)
        self._sources = np.empty(0, np.int32)
        return rows

    def merge(self, rows: npt.NDArray[np.int64]) -> int:
        """Merge parallel edges, the table `rows` along with them; gives how many went."""
        latest = np.full(len(self.indptr) - 1, -1, np.int32)
        left: int = adjacency.merge_parallel(self.indptr, self.targets, self.scores, rows, latest)
        merged = self.count - left
        self.count = left
        self._cut()
        return merged

    def _grow(self, least: int) -> None:
        if least > MOST:
            raise GraphError(f"the graph has too many edges: more than {MOST:,}")
        room = min(MOST, max(least, 2 * len(self.targets)))
        self._sources = _resized(self._sources, self.count, room)
        self.targets = _resized(self.targets, self.count, room)
        self.scores = _resized(self.scores, self.count, room)
        if self._rows is not None:
            self._rows = _resized(self._rows, self.count, room)

    def _cut(self) -> None:
        """Give back the memory behind the last edge."""
        for array in (self._sources, self.targets, self.scores):
            if len(array) > self.count:
                array.resize(self.count, refcheck=False)
        if self._rows is not None:
            self._rows.resize(self.count, refcheck=False)


def _resized(array: npt.NDArray[Scalar], used: int, room: int) -> npt.NDArray[Scalar]:
    # NumPy's own resize would write zeros into the new part, and so take memory for it at once.
    resized = np.empty(room, array.dtype)
    resized[:used] = array[:used]
    return resized


class GraphColumns(NamedTuple):
    """What a graph is made of, in the order of its constructor."""

    indptr: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int32]
    link_scores: npt.NDArray[np.float64]
    scores: npt.NDArray[np.float64]
    names: pa.Array
    node_columns: pa.Table
    edge_columns: pa.Table
    self_loops: int
    merged: int


def assemble(nodes: Table | None, edges: Table | None, label: str) -> GraphColumns:
    """Read `nodes`, then `edges`; `label` is what a message calls the two together."""
    kind = name_type([(nodes, NODE_NAMES), (edges, EDGE_NAMES)])
    names = names_of(kind)
    listed_scores, listed_columns = _read_nodes(nodes, names, kind)
    edge_list, edge_columns = _read_edges(edges, names, kind)
    if not names.count:
        raise GraphError(f"{label}: the graph is empty, it has no nodes")
    scores = np.zeros(names.count)
    scores[: len(listed_scores)] = listed_scores
    # The table of names goes before the edges move: it is not needed any more, they need room.
    name_array = names.array()
    del names
    rows = edge_list.sort(len(scores))
    merged = edge_list.merge(rows)
    if merged and not _all_finite(edge_list.scores):
        raise GraphError(_overflow(edge_list, name_array, label if edges is None else edges.label))
    # Arrow keeps freed memory for its next batch; there is none, and a crawl wants the room.
    pa.default_memory_pool().release_unused()
    return GraphColumns(
        indptr=edge_list.indptr,
        targets=edge_list.targets,
        link_scores=edge_list.scores,
        scores=scores,
        names=name_array,
        node_columns=_extended(listed_columns, len(scores)),
        edge_columns=edge_columns.take(rows[: len(edge_list.targets)])
        if edge_columns.num_columns
        else edge_columns,
        self_loops=edge_list.self_loops,
        merged=merged,
    )


def _read_nodes(
    nodes: Table | None, names: Names, kind: pa.DataType
) -> tuple[npt.NDArray[np.float64], pa.Table]:
    if nodes is None:
        return np.empty(0), pa.table({})
    scores, further = [np.empty(0)], []
    for rows in checked_rows(nodes, NODE_NAMES, kind):
        before = names.count
        (numbers,) = names.add(*rows.names)
        if names.count < before + len(numbers):
            repeated = int(np.argmax(numbers != np.arange(before, before + len(numbers))))
            name = rows.names[0][repeated].as_py()
            raise GraphError(f"{nodes.place(before + repeated)}: node {name!r} is repeated")
        scores.append(rows.scores)
        further.append(rows.further)
    return np.concatenate(scores), pa.Table.from_batches(further, further_schema(nodes, NODE_NAMES))


def _read_edges(edges: Table | None, names: Names, kind: pa.DataType) -> tuple[EdgeList, pa.Table]:
    if edges is None:
        return EdgeList(0, keep_rows=False), pa.table({})
    schema = further_schema(edges, EDGE_NAMES)
    edge_list = EdgeList(edges.row_count, keep_rows=len(schema) > 0)
    further = []
    for rows in checked_rows(edges, EDGE_NAMES, kind):
        sources, targets = names.add(*rows.names)
        edge_list.append(sources, targets, rows.scores)
        if len(schema):
            further.append(rows.further)
    return edge_list, pa.Table.from_batches(further, schema)


def _all_finite(scores: npt.NDArray[np.float64]) -> bool:
    # A sum of scores that are not negative is infinite exactly when one of them is.
    return bool(scores.max(initial=0.0) < np.inf)


def _overflow(edges: EdgeList, names: pa.Array, label: str) -> str:
    edge = int(np.argmax(np.isinf(edges.scores)))
    source = int(np.searchsorted(edges.indptr, edge, side="right")) - 1
    pair = f"{names[source].as_py()!r} to {names[int(edges.targets[edge])].as_py()!r}"
    return f"{label}: the scores of the parallel edges from {pair} add up to infinity"


def _extended(columns: pa.Table, count: int) -> pa.Table:
    """Nodes that only edges name have no values in the further columns of `nodes`."""
    missing = count - columns.num_rows
    if not columns.num_columns:
        return pa.table({})
    if not missing:
        return columns
    nulls = [pa.nulls(missing, field.type) for field in columns.schema]
    return pa.concat_tables([columns, pa.table(nulls, schema=_nullable(columns.schema))])


def _nullable(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.with_nullable(True) for field in schema])
