"""The records that visits of a recorded graph return, for the objective `distinct`.

They come from the node column ``records``: a list in Parquet, or text with ``|`` between records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sonde.errors import GraphError
from sonde.sources.graph.graph import Graph

COLUMN = "records"


@dataclass(frozen=True)
class Records:
    """The records of node v are ``numbers[first[v]:first[v + 1]]``, numbers into ``names``."""

    first: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int32]
    names: list[Any]

    @classmethod
    def none(cls) -> Records:
        return cls(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), [])

    def of(self, node: int) -> list[Any]:
        """The records of one node, by name."""
        return [self.names[i] for i in self.numbers[self.first[node] : self.first[node + 1]]]


def records_of(graph: Graph) -> Records:
    """The records of every node."""
    if COLUMN not in graph.node_columns.column_names:
        raise GraphError(
            f"the objective distinct needs a column {COLUMN!r} in the graph's nodes "
            f"(a list, or text with | between records)"
        )
    column = graph.node_columns.column(COLUMN).combine_chunks()
    if not pa.types.is_list(column.type) and not pa.types.is_large_list(column.type):
        text = pc.fill_null(column.cast(pa.string()), "")
        column = pc.split_pattern(text, "|")
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    flat = pc.list_flatten(column)
    if pa.types.is_string(flat.type):
        # An empty text splits into one empty record, which is none.
        owner = np.repeat(np.arange(len(lengths)), lengths)
        kept = pc.not_equal(flat, "").to_numpy(zero_copy_only=False)
        flat = flat.filter(pa.array(kept))
        lengths = np.bincount(owner[kept], minlength=len(lengths))
    encoded = flat.dictionary_encode()
    first = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=first[1:])
    numbers = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    return Records(first, numbers, encoded.dictionary.to_pylist())
