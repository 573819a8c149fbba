"""The recorded graph."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sonde.errors import GraphError
from sonde.sources.graph.columns import GraphPlaces, LinkWords, link_words_of, places_of
from sonde.sources.graph.conversions import (
    edge_table,
    networkx_tables,
    node_table,
    scipy_tables,
)
from sonde.sources.graph.folder import open_folder, save_folder
from sonde.sources.graph.loading import assemble
from sonde.sources.graph.names import Names, names_of


class Graph:
    """A directed graph with scores on nodes and links, its nodes numbered from 0.

    The links of node ``i`` are ``targets[indptr[i]:indptr[i + 1]]``, in file order, their scores
    the same slice of ``link_scores``. ``names`` are the nodes' names, an Arrow array of text or
    of 64-bit integers; ``node_columns`` and ``edge_columns`` the further columns of the files,
    row by row with the nodes and with the links. ``self_loops`` and ``merged`` say how many rows
    of `edges` were dropped as self-loops and merged into an earlier parallel edge.

    Make one with `load`, `from_edges`, `from_networkx` or `from_scipy`. The constructor takes
    arrays that keep those rules already and checks nothing.
    """

    def __init__(
        self,
        indptr: npt.NDArray[np.int64],
        targets: npt.NDArray[np.int32],
        link_scores: npt.NDArray[np.float64],
        scores: npt.NDArray[np.float64],
        names: pa.Array,
        node_columns: pa.Table | None = None,
        edge_columns: pa.Table | None = None,
        self_loops: int = 0,
        merged: int = 0,
    ) -> None:
        self.indptr = indptr
        self.targets = targets
        self.link_scores = link_scores
        self.scores = scores
        self.names = names
        self.node_columns = pa.table({}) if node_columns is None else node_columns
        self.edge_columns = pa.table({}) if edge_columns is None else edge_columns
        self.self_loops = self_loops
        self.merged = merged

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Graph:
        """Read a graph folder: `nodes` (node, score) and `edges` (source, target, score).

        Each is a `.parquet`, `.tsv` or `.csv` file, which may be compressed once more (`.gz`,
        `.xz`, `.zst`). Scores default to 0, further columns are kept, nodes that only `edges`
        names exist with score 0. Either file may be missing.
        """
        return cls(*assemble(*open_folder(Path(path)), label=str(path)))

    @classmethod
    def from_edges(cls, edges: Any, nodes: Any = None) -> Graph:
        """From rows (source, target) or (source, target, score), or a table with those columns.

        `nodes`, if given, are rows (node, score), a mapping from nodes to scores, or a table. A
        table is anything that speaks Arrow: PyArrow's, Polars' or pandas' own.
        """
        node_rows = None if nodes is None else node_table(nodes)
        return cls(*assemble(node_rows, edge_table(edges), label="edges"))

    @classmethod
    def from_networkx(cls, graph: Any, score: str = "score", link_score: str = "score") -> Graph:
        """From a NetworkX graph; `score` and `link_score` name the attributes to read."""
        return cls(*assemble(*networkx_tables(graph, score, link_score), label="graph"))

    @classmethod
    def from_scipy(
        cls,
        matrix: Any,
        scores: Sequence[float] | None = None,
        names: Sequence[str] | Sequence[int] | None = None,
    ) -> Graph:
        """From a sparse matrix: its stored entry (i, j) is the link from i to j and its score."""
        return cls(*assemble(*scipy_tables(matrix, scores, names), label="matrix"))

    def save(self, path: str | PathLike[str]) -> None:
        """Write a folder of two Parquet files from which `load` reads the same graph."""
        save_folder(self, Path(path))

    @property
    def node_count(self) -> int:
        return len(self.scores)

    @property
    def edge_count(self) -> int:
        return len(self.targets)

    def index(self, name: object) -> int:
        """The number of the node with this name; "12" will do for the integer 12."""
        return int(self.indices([name])[0])

    def indices(self, names: Iterable[object]) -> npt.NDArray[np.int64]:
        """The numbers of the nodes with these names."""
        column = names if isinstance(names, pa.Array | pa.ChunkedArray) else None
        asked = list(names) if column is None else column.to_pylist()
        keys = [self._key(name) for name in asked]
        numbers = self._numbers_by_name.find(pa.array(keys, self.names.type))
        unknown = np.flatnonzero(numbers < 0)
        if len(unknown):
            raise GraphError(f"unknown node {_plain(asked[unknown[0]])!r}")
        return numbers.astype(np.int64)

    def name(self, index: int) -> str | int:
        """The name of a node."""
        name: str | int = self.names[index].as_py()
        return name

    def __repr__(self) -> str:
        return f"<Graph of {self.node_count:,} nodes and {self.edge_count:,} edges>"

    @cached_property
    def places(self) -> GraphPlaces:
        """Where nodes live by their names, if these are URLs or paths."""
        return places_of(self.names, self.indptr, self.targets)

    @cached_property
    def link_words(self) -> LinkWords | None:
        """The words of the links, where the edges have an `anchor` or a `context`."""
        return link_words_of(self.edge_columns, self.names, self.targets)

    @cached_property
    def _numbers_by_name(self) -> Names:
        return names_of(self.names.type, self.names)

    def _key(self, name: object) -> str | int:
        """A name in the graph's own type of names."""
        unknown = GraphError(f"unknown node {_plain(name)!r}")
        if not pa.types.is_integer(self.names.type):
            if isinstance(name, str):
                return name
            try:
                return str(operator.index(name))  # type: ignore[arg-type]
            except TypeError:
                raise unknown from None
        try:
            number = int(name) if isinstance(name, str) else operator.index(name)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise unknown from None
        if not -(2**63) <= number < 2**63:
            raise unknown
        return number


def _plain(name: object) -> object:
    """A name as a person would write it: NumPy's integers print with their type."""
    return name.item() if isinstance(name, np.generic) else name
