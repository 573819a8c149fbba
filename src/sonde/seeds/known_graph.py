"""The known part of a graph, with names and with what a crawl learnt of each page.

This is the seam between seed selection and where graphs come from. A recorded graph becomes one
by `KnownGraph.of`, and so does a crawl's run, with two flags a node: whether the page was crawled,
and whether it then turned out a duplicate.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from sonde.errors import InputError
from sonde.seeds.network import Flags, LinkNetwork, Nodes
from sonde.sources.graph import Graph
from sonde.store.export import export
from sonde.store.reader import DATABASE, RunReader


class Recorded(Protocol):
    """What a recorded graph offers: links, scores, names and columns of its nodes."""

    @property
    def indptr(self) -> npt.NDArray[np.int64]: ...

    @property
    def targets(self) -> npt.NDArray[np.int32]: ...

    @property
    def scores(self) -> npt.NDArray[np.float64]: ...

    @property
    def names(self) -> Any: ...

    @property
    def node_columns(self) -> Any: ...


@dataclass(frozen=True, eq=False)
class Sites:
    """Which site each node belongs to; sites are in the order of their first node."""

    names: list[str]
    labels: Nodes

    @classmethod
    def of(cls, keys: Iterable[Any]) -> Sites:
        numbers: dict[str, int] = {}
        labels = [numbers.setdefault(str(key), len(numbers)) for key in keys]
        return cls(list(numbers), np.array(labels, dtype=np.int32))

    def among(self, nodes: Nodes) -> Sites:
        """The sites of some nodes only."""
        return Sites.of(self.names[label] for label in self.labels[nodes].tolist())

    def totals(self, amounts: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """The sum of something over the nodes of each site."""
        sums = np.bincount(self.labels, weights=amounts, minlength=len(self.names))
        return sums.astype(np.float64)


@dataclass(frozen=True, eq=False)
class KnownGraph:
    """Links, names and columns; ``crawled`` and ``duplicate`` come from a run, if from one."""

    network: LinkNetwork
    names: list[str]
    columns: Mapping[str, Any]
    crawled: Flags | None = None
    duplicate: Flags | None = None

    @classmethod
    def of(
        cls, graph: Recorded, crawled: Flags | None = None, duplicate: Flags | None = None
    ) -> KnownGraph:
        """From a recorded graph, or a run's graph and its flags; ``score`` is a column too."""
        table = graph.node_columns
        columns = {name: table.column(name) for name in table.column_names}
        columns.setdefault("score", graph.scores)
        names = [str(name) for name in graph.names.to_pylist()]
        return cls(LinkNetwork.of(graph), names, columns, crawled, duplicate)

    def numbers(self, column: str) -> npt.NDArray[np.float64]:
        """A column of numbers or flags; a missing value is not a number."""
        entries = self._column(column)
        try:
            values = [np.nan if value is None else float(value) for value in entries]
        except (TypeError, ValueError) as error:
            raise InputError(f"the node column {column!r} does not hold numbers") from error
        return np.array(values, dtype=np.float64)

    def flags(self, column: str) -> Flags:
        """A column of yes and no, as booleans or numbers; a missing value is no."""
        return np.asarray(np.nan_to_num(self.numbers(column)) != 0)

    def sites(self, by: str) -> Sites:
        """Pages by site: the values of a column, or, for ``host``, the host of the page's URL."""
        if by in self.columns or by != "host":
            return Sites.of(self._column(by))
        hosts = [_host(name) for name in self.names]
        if self.names and not any(hosts):
            raise InputError("no node is named by a URL, so there are no hosts; name a column")
        return Sites.of(hosts)

    def _column(self, name: str) -> list[Any]:
        if name not in self.columns:
            there = ", ".join(sorted(self.columns))
            raise InputError(f"the graph has no node column {name!r}; it has {there}")
        column = self.columns[name]
        values: list[Any] = column.to_pylist() if hasattr(column, "to_pylist") else column.tolist()
        return values


def _host(name: str) -> str:
    try:
        return urlsplit(name).hostname or ""
    except ValueError:
        return ""


# A page that was fetched and then recognised as another one's twin is settled as a skip, or, when
# it only resembles another, as a visit with a flag.
_FLAGS = """
SELECT coalesce(max(outcome = 'visit' OR reason = 'duplicate'), 0),
       coalesce(max(reason = 'duplicate' OR instr(flags, 'near-duplicate') > 0), 0)
FROM nodes
LEFT JOIN leases ON leases.node = nodes.number
LEFT JOIN pages ON pages.lease = leases.number
GROUP BY nodes.number ORDER BY nodes.number
"""


def known_of(folder: Path) -> KnownGraph:
    """The graph of a folder; from a run also which pages were crawled, and which repeat others."""
    if not (folder / DATABASE).exists():
        return KnownGraph.of(Graph.load(folder))
    with RunReader(folder) as run, tempfile.TemporaryDirectory() as scratch:
        export(run, graph=Path(scratch) / "graph")
        graph = Graph.load(Path(scratch) / "graph")
        flags = np.array(list(run.rows(_FLAGS)), dtype=bool).reshape(-1, 2)
    return KnownGraph.of(graph, crawled=flags[:, 0].copy(), duplicate=flags[:, 1].copy())
