"""Who points at whom, row by row, brought together into one edge for each pair.

Mentions and edge lists say the same pair many times, and a score is f of what all of its rows add
up to. So rows wait in arrays, a few bytes each, and are grouped once at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sonde.data.topics import Floats

Numbers = npt.NDArray[np.int64]

NEVER = np.iinfo(np.int64).min
"""The time of a row that has none."""

_TOGETHER = 1 << 16  # edges whose texts are in one array, which holds 2 GB


class Grouped(NamedTuple):
    """One row a pair, by first appearance. ``columns`` are further columns of the edges."""

    sources: Numbers
    targets: Numbers
    sums: Floats
    columns: dict[str, pa.Array | pa.ChunkedArray]
    self_loops: int
    merged: int


class Pairs:
    """Add rows in order, then ``grouped`` once."""

    def __init__(self, width: int, *, timed: bool = False, words: Sequence[str] = ()) -> None:
        """``width`` scores a row, perhaps a time, and columns of text by their names."""
        self._sources: list[npt.NDArray[np.int32]] = []
        self._targets: list[npt.NDArray[np.int32]] = []
        self._values: list[Floats] = []
        self._times: list[Numbers] = []
        self._words: dict[str, list[pa.Array]] = {name: [] for name in words}
        self._width = width
        self._timed = timed

    def add(
        self,
        sources: npt.ArrayLike,
        targets: npt.ArrayLike,
        values: npt.ArrayLike,
        times: npt.ArrayLike = (),
        words: Iterable[pa.Array] = (),
    ) -> None:
        """Rows; ``values`` has a column for each score, times and words only if they are kept."""
        self._sources.append(np.asarray(sources, np.int32))
        self._targets.append(np.asarray(targets, np.int32))
        shape = len(self._sources[-1]), self._width
        self._values.append(np.asarray(values, np.float64).reshape(shape))
        if self._timed:
            self._times.append(np.asarray(times, np.int64))
        for kept, column in zip(self._words.values(), words, strict=True):
            kept.append(column.cast(pa.large_string()))

    def grouped(self) -> Grouped:
        """The pairs. Times are lists, ascending, of those that are known; the texts of several
        rows stand on lines of their own."""
        sources = np.concatenate([np.empty(0, np.int32), *self._sources]).astype(np.int64)
        targets = np.concatenate([np.empty(0, np.int32), *self._targets]).astype(np.int64)
        values = np.concatenate([np.empty((0, self._width)), *self._values])
        rows = np.flatnonzero(sources != targets)
        order = rows[np.lexsort((targets[rows], sources[rows]))]
        new = np.ones(len(order), np.bool_)
        new[1:] = np.diff(sources[order]).astype(bool) | np.diff(targets[order]).astype(bool)
        starts = np.flatnonzero(new)
        ranked = np.argsort(order[starts], kind="stable")  # lexsort is stable: a group's first row
        firsts = order[starts][ranked]
        sums = np.add.reduceat(values[order], starts, axis=0) if len(starts) else values[:0]
        columns: dict[str, pa.Array | pa.ChunkedArray] = {}
        if self._timed:
            times = np.concatenate([np.empty(0, np.int64), *self._times])
            columns["times"] = _lists(times[order], starts, ranked)
        for name, parts in self._words.items():
            columns[name] = _lines(parts, order, starts, ranked)
        return Grouped(
            sources[firsts],
            targets[firsts],
            sums[ranked],
            columns,
            self_loops=len(sources) - len(rows),
            merged=len(rows) - len(firsts),
        )


def scoring(betas: Floats, alphas: Floats) -> list[dict[str, int]]:
    """How many nodes and edges score, for each graph."""
    return [
        {"nonzero_nodes": int(nodes), "nonzero_edges": int(edges)}
        for nodes, edges in zip(
            np.count_nonzero(betas, axis=0), np.count_nonzero(alphas, axis=0), strict=True
        )
    ]


def _lines(
    parts: list[pa.Array], order: Numbers, starts: Numbers, ranked: Numbers
) -> pa.ChunkedArray:
    words = pa.chunked_array(parts, pa.large_string()).combine_chunks().take(pa.array(order))
    groups = pa.LargeListArray.from_arrays(pa.array([*starts.tolist(), len(order)]), words)
    joined = pc.binary_join(groups, pa.scalar("\n", pa.large_string())).take(pa.array(ranked))
    pieces = [
        joined.slice(at, _TOGETHER).cast(pa.string()) for at in range(0, len(joined), _TOGETHER)
    ]
    return pa.chunked_array(pieces, pa.string())


def _lists(times: Numbers, starts: Numbers, ranked: Numbers) -> pa.Array:
    groups = np.repeat(np.arange(len(starts)), np.diff([*starts.tolist(), len(times)]))
    known = times != NEVER
    places = np.empty(len(starts), np.int64)
    places[ranked] = np.arange(len(starts))
    groups, times = places[groups[known]], times[known]
    order = np.lexsort((times, groups))
    lengths = np.bincount(groups, minlength=len(starts))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(times[order]))
