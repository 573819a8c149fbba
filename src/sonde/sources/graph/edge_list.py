"""The edges of a graph while it is being loaded: first in file order, then in rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sonde.errors import GraphError
from sonde.kernels.graphs import adjacency
from sonde.sources.graph.names import MOST, Scalar


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
