"""Names and their numbers, in order of first appearance.

Two kinds that answer alike: `IntegerNames` and `TextNames`. Both keep the names in arrays that
become the graph's own without a copy, beside a hash table that is thrown away when loading ends
and built again, over the same arrays, when somebody first asks a graph for a node by its name.
"""

from __future__ import annotations

from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sonde.errors import GraphError
from sonde.kernels.graphs import naming

Scalar = TypeVar("Scalar", bound=np.generic)
Numbers: TypeAlias = npt.NDArray[np.int32]

MOST = 2**31 - 1
"""Nodes and edges are numbered in 32 bits, sign included."""


class IntegerNames:
    """Integer names of 64 bits."""

    def __init__(self, names: pa.Array | None = None) -> None:
        self._names = np.empty(0, np.int64) if names is None else names.to_numpy()
        self.count = len(self._names)
        self._table = _free_slots(self.count)
        naming.fill_integers(self._names, self._table)

    def add(self, *columns: pa.Array) -> list[Numbers]:
        """Number the names of columns read row by row; new ones get the next numbers."""
        keys = _interleaved([column.to_numpy() for column in columns])
        most = _room(self.count, len(keys))
        if most > len(self._names):
            self._names = _grown(self._names, most)
        if not _fits(most, self._table):
            self._table = _free_slots(most)
            naming.fill_integers(self._names[: self.count], self._table)
        numbers = np.empty(len(keys), np.int32)
        self.count = naming.number_integers(keys, self._names, self._table, self.count, numbers)
        return _apart(numbers, len(columns))

    def find(self, column: pa.Array) -> Numbers:
        """The numbers of names, -1 for those that are unknown."""
        numbers = np.empty(len(column), np.int32)
        naming.find_integers(column.to_numpy(), self._names, self._table, numbers)
        return numbers

    def array(self) -> pa.Array:
        """All names, in the order of their numbers."""
        self._names.resize(self.count, refcheck=False)
        return pa.array(self._names)


class TextNames:
    """Names that are text, kept as UTF-8 one after the other."""

    def __init__(self, names: pa.Array | None = None) -> None:
        if names is None:
            self._pool, self._offsets = np.empty(0, np.uint8), np.zeros(1, np.int64)
        else:
            self._pool, self._offsets = _bytes_of(names)
        self.count = len(self._offsets) - 1
        self._table = _free_slots(self.count)
        naming.fill_texts(self._pool, self._offsets, self._table)

    def add(self, *columns: pa.Array) -> list[Numbers]:
        """Number the names of columns read row by row; new ones get the next numbers."""
        data, starts, stops = _joined(columns)
        most = _room(self.count, len(starts))
        if most >= len(self._offsets):
            self._offsets = _grown(self._offsets, most + 1)
        end = int(self._offsets[self.count])
        if end + len(data) > len(self._pool):
            self._pool = _grown(self._pool, end + len(data))
        if not _fits(most, self._table):
            self._table = _free_slots(most)
            naming.fill_texts(self._pool, self._offsets[: self.count + 1], self._table)
        hashes, numbers = np.empty(len(starts), np.int64), np.empty(len(starts), np.int32)
        self.count = naming.number_texts(
            data, starts, stops, self._pool, self._offsets, self._table, self.count, hashes, numbers
        )
        return _apart(numbers, len(columns))

    def find(self, column: pa.Array) -> Numbers:
        """The numbers of names, -1 for those that are unknown."""
        data, starts, stops = _joined([column])
        numbers = np.empty(len(starts), np.int32)
        naming.find_texts(data, starts, stops, self._pool, self._offsets, self._table, numbers)
        return numbers

    def array(self) -> pa.Array:
        """All names, in the order of their numbers."""
        self._offsets.resize(self.count + 1, refcheck=False)
        end = int(self._offsets[-1])
        self._pool.resize(end, refcheck=False)
        kind, offsets = (
            (pa.string(), self._offsets.astype(np.int32))
            if end <= MOST
            else (pa.large_string(), self._offsets)
        )
        return pa.Array.from_buffers(
            kind, self.count, [None, pa.py_buffer(offsets), pa.py_buffer(self._pool)]
        )


Names: TypeAlias = IntegerNames | TextNames


def names_of(kind: pa.DataType, names: pa.Array | None = None) -> Names:
    """Names of one kind: none yet, or the distinct ones of an array."""
    return IntegerNames(names) if pa.types.is_integer(kind) else TextNames(names)


def _room(count: int, more: int) -> int:
    if count + more > MOST:
        raise GraphError(f"the graph has too many nodes: more than {MOST - more:,}")
    return count + more


def _fits(count: int, table: npt.NDArray[np.int64]) -> bool:
    return 3 * count <= 2 * len(table)


def _free_slots(count: int) -> npt.NDArray[np.int64]:
    """A table with room for `count` names: a power of two, at most two thirds full."""
    return np.full(1 << max(4, (3 * count // 2).bit_length()), -1, np.int64)


def _grown(array: npt.NDArray[Scalar], least: int) -> npt.NDArray[Scalar]:
    # Twice as long: what is not written to yet takes address space but no memory.
    grown = np.empty(max(least, 2 * len(array)), array.dtype)
    grown[: len(array)] = array
    return grown


def _interleaved(columns: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    return np.stack(columns, axis=1).reshape(-1)


def _apart(numbers: Numbers, columns: int) -> list[Numbers]:
    return [numbers[column::columns] for column in range(columns)]


def _bytes_of(column: pa.Array) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """The bytes of a column without gaps, and the offsets of each text in them."""
    large = pa.types.is_large_string(column.type)
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, np.int64 if large else np.int32) if offsets else np.zeros(1)
    ends = ends[column.offset : column.offset + len(column) + 1].astype(np.int64)
    pool = np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
    return pool[ends[0] : ends[-1]], ends - ends[0]


def _joined(
    columns: tuple[pa.Array, ...] | list[pa.Array],
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The bytes of several columns, and where each text starts and stops, row by row."""
    pools, starts, stops, before = [], [], [], 0
    for column in columns:
        pool, ends = _bytes_of(column)
        pools.append(pool)
        starts.append(ends[:-1] + before)
        stops.append(ends[1:] + before)
        before += len(pool)
    return np.concatenate(pools), _interleaved(starts), _interleaved(stops)
