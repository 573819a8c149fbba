"""A time graph: links with the times at which they arrive.

It is read from a graph folder whose `edges` have a column of times: numbers (seconds, or another
unit), timestamps, or texts such as 2017-06-21T10:05:17Z; or lists of these, as ``sonde data build``
writes them. A row is an arrival, or one for each time in its list; the same link may arrive many
times. Self-loops are left out. `nodes`, where there is such a file, fixes node order.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sonde.errors import GraphError
from sonde.protocols import Floats
from sonde.sources.graph.folder import open_folder
from sonde.sources.graph.names import names_of
from sonde.sources.graph.table import EDGE_NAMES, NODE_NAMES, Table, checked_rows, name_type

Integers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class TimeGraph:
    """Distinct links in order of source and target, and their arrivals in order of time.

    The links of node u are ``rows[u]:rows[u + 1]`` of ``sources`` and ``targets``; ``arriving`` are
    places among them, ``arrivals`` the times in seconds.
    """

    rows: npt.NDArray[np.int64]
    sources: Integers
    targets: Integers
    arriving: Integers
    arrivals: Floats
    names: pa.Array

    @classmethod
    def load(
        cls, path: str | PathLike[str], time: str | None = None, unit: float = 1.0
    ) -> TimeGraph:
        """Read a folder; `time` names the column (``time`` or else ``times`` if nothing is said),
        `unit` is what its numbers count, in seconds."""
        nodes, edges = open_folder(Path(path))
        if edges is None:
            raise GraphError(f"{path}: holds no `edges`")
        kind = name_type([(nodes, NODE_NAMES), (edges, EDGE_NAMES)])
        if time is None:
            built = "time" not in edges.schema.names and "times" in edges.schema.names
            time = "times" if built else "time"
        if time not in edges.schema.names:
            found = ", ".join(map(repr, edges.schema.names))
            raise GraphError(f"{edges.label}: column {time!r} is missing (found: {found[:200]})")
        names = names_of(kind)
        for rows in checked_rows(nodes, NODE_NAMES, kind) if nodes is not None else ():
            names.add(*rows.names)
        sources, targets, times = [], [], [np.empty(0)]
        before = 0
        for rows in checked_rows(edges, EDGE_NAMES, kind):
            one, other = names.add(*rows.names)
            column, arriving = _flat(rows.further.column(time))
            sources.append(one[arriving])
            targets.append(other[arriving])
            times.append(_seconds(column, unit, edges, before + arriving))
            before += len(one)
        if not sum(map(len, times)):
            raise GraphError(f"{edges.label}: no link arrives")
        return cls._of(
            np.concatenate(sources), np.concatenate(targets), np.concatenate(times), names.array()
        )

    @classmethod
    def from_arrivals(cls, arrivals: Any) -> TimeGraph:
        """From rows (source, target, time in seconds)."""
        rows = list(arrivals)
        table = pa.table(
            {
                "source": pa.array([row[0] for row in rows]),
                "target": pa.array([row[1] for row in rows]),
            }
        )
        kind = pa.int64() if all(map(pa.types.is_integer, table.schema.types)) else pa.string()
        names = names_of(kind)
        sources, targets = names.add(
            *(table.column(name).combine_chunks().cast(kind) for name in ("source", "target"))
        )
        times = np.array([row[2] for row in rows], dtype=np.float64)
        return cls._of(sources, targets, times, names.array())

    @classmethod
    def _of(cls, sources: Integers, targets: Integers, times: Floats, names: pa.Array) -> TimeGraph:
        links = sources != targets
        sources, targets, times = sources[links], targets[links], times[links]
        if not len(times):
            raise GraphError("no link arrives that is not a self-loop")
        count = len(names)
        keys = sources.astype(np.int64) * count + targets
        pairs, arriving = np.unique(keys, return_inverse=True)
        order = np.argsort(times, kind="stable")
        rows = np.zeros(count + 1, dtype=np.int64)
        np.cumsum(np.bincount(pairs // count, minlength=count), out=rows[1:])
        return cls(
            rows,
            (pairs // count).astype(np.int32),
            (pairs % count).astype(np.int32),
            arriving[order].astype(np.int32),
            times[order],
            names,
        )

    @property
    def node_count(self) -> int:
        return len(self.rows) - 1

    @property
    def span(self) -> tuple[float, float]:
        """The first and the last arrival."""
        return float(self.arrivals[0]), float(self.arrivals[-1])

    def index(self, name: str) -> int:
        """The number of the node with this name."""
        key: str | int = name
        if pa.types.is_integer(self.names.type):
            try:
                key = int(name)
            except ValueError:
                raise GraphError(f"unknown node {name!r}") from None
        found = pc.index(self.names, pa.scalar(key, self.names.type)).as_py()
        if found < 0:
            raise GraphError(f"unknown node {name!r}")
        return int(found)

    def at(self, now: float, window: float) -> tuple[npt.NDArray[np.int64], Integers]:
        """The links that arrived within the window before now, as CSR arrays."""
        first = np.searchsorted(self.arrivals, now - window, side="right")
        last = np.searchsorted(self.arrivals, now, side="right")
        pairs = np.unique(self.arriving[first:last])
        indptr = np.zeros(self.node_count + 1, dtype=np.int64)
        np.cumsum(np.bincount(self.sources[pairs], minlength=self.node_count), out=indptr[1:])
        return indptr, self.targets[pairs]


def _flat(column: pa.Array) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """The times of a column, and the row of each."""
    if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
        return column, np.arange(len(column))
    return column.flatten(), pc.list_parent_indices(column).to_numpy().astype(np.int64)


def _seconds(column: pa.Array, unit: float, edges: Table, places: npt.NDArray[np.int64]) -> Floats:
    """A column of times, in seconds; ``places`` are their rows."""
    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        stamps = column.cast(pa.timestamp("us", tz=getattr(kind, "tz", None)), safe=False)
        values = pc.divide(stamps.cast(pa.int64()).cast(pa.float64()), 1e6)
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        values = pc.multiply(column.cast(pa.float64()), unit)
    else:
        texts = column.cast(pa.string())
        try:
            values = pc.multiply(texts.cast(pa.float64()), unit)
        except pa.ArrowInvalid:
            moments = [_moment(text, unit) for text in texts.to_pylist()]
            values = pa.array(moments, pa.float64())
    seconds: Floats = values.fill_null(np.nan).to_numpy(zero_copy_only=False)
    if not np.isfinite(seconds).all():
        row = int(np.argmin(np.isfinite(seconds)))
        given = column[row].as_py()
        raise GraphError(f"{edges.place(int(places[row]))}: {given!r} is not a time")
    return seconds


def _moment(text: str | None, unit: float) -> float | None:
    with suppress(ValueError):
        return float(text or "") * unit
    try:
        found = datetime.fromisoformat((text or "").strip())
    except ValueError:
        return None
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
