"""Further columns of a graph that mean something: the words of links, the records of nodes, and
the places of both, where names are URLs or paths.

Words come from the edge columns ``anchor`` and ``context``, for estimators that read them. Records
come from the node column ``records``, for the objective `distinct`: a list in Parquet, or text with
``|`` between records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sonde.errors import GraphError
from sonde.link_words import link_words
from sonde.protocols import Floats
from sonde.records import UrlPlace
from sonde.url_measures import keys_of

ANCHOR = "anchor"
WINDOW = "context"
RECORDS = "records"


class LinkWords(NamedTuple):
    """The words of link ``i`` are ``words[first[i]:first[i + 1]]``, as numbers."""

    first: npt.NDArray[np.int64]
    words: npt.NDArray[np.uint16]


def link_words_of(
    edges: pa.Table, names: pa.Array, targets: npt.NDArray[np.int32]
) -> LinkWords | None:
    """The words of links whose rows have an anchor or a context; ``None`` without such columns."""
    if ANCHOR not in edges.column_names and WINDOW not in edges.column_names:
        return None
    addresses = [str(name) for name in names.to_pylist()] if pa.types.is_string(names.type) else []
    anchors = _texts(edges, ANCHOR)
    windows = _texts(edges, WINDOW)
    first = np.zeros(len(targets) + 1, dtype=np.int64)
    words = [
        link_words(anchors[link], addresses[target] if addresses else "", windows[link])
        for link, target in enumerate(targets.tolist())
    ]
    np.cumsum([len(each) // 2 for each in words], out=first[1:])
    return LinkWords(first, np.frombuffer(b"".join(words), "<u2").astype(np.uint16))


def _texts(columns: pa.Table, name: str) -> Sequence[str]:
    if name not in columns.column_names:
        return [""] * columns.num_rows
    return [text if isinstance(text, str) else "" for text in columns[name].to_pylist()]


@dataclass(frozen=True)
class NodeRecords:
    """The records of node v are ``numbers[first[v]:first[v + 1]]``, numbers into ``names``."""

    first: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int32]
    names: list[Any]

    @classmethod
    def none(cls) -> NodeRecords:
        return cls(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), [])

    def of(self, node: int) -> list[Any]:
        """The records of one node, by name."""
        return [self.names[i] for i in self.numbers[self.first[node] : self.first[node + 1]]]


def records_of(nodes: pa.Table) -> NodeRecords:
    """The records of every node."""
    if RECORDS not in nodes.column_names:
        raise GraphError(
            f"the objective distinct needs a column {RECORDS!r} in the graph's nodes "
            f"(a list, or text with | between records)"
        )
    column = nodes.column(RECORDS).combine_chunks()
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
    return NodeRecords(first, numbers, encoded.dictionary.to_pylist())


Keys = npt.NDArray[np.int32]


@dataclass(frozen=True)
class GraphPlaces:
    """Keys of nodes and measures of links, as arrays; see ``sonde.url_measures``.

    A graph folder has parallel links merged, so that no link has repeats.
    """

    domain: Keys
    basename: Keys
    domains: int
    basenames: int
    rfu: Floats
    bfu: Floats
    repeats: Floats

    def of(self, target: int, link: int) -> UrlPlace:
        """The place that a told link to a node has."""
        return UrlPlace(
            int(self.domain[target]),
            int(self.basename[target]),
            float(self.rfu[link]),
            float(self.bfu[link]),
        )


def places_of(names: pa.Array, indptr: npt.NDArray[np.int64], targets: Keys) -> GraphPlaces:
    """Work out the places of a graph. Nodes with integer names all live together."""
    count = len(names)
    if pa.types.is_integer(names.type):
        domain = basename = np.zeros(count, dtype=np.int32)
        domains = basenames = min(count, 1)
    else:
        pairs = [keys_of(name) for name in names.to_pylist()]
        domain, domains = _numbered([pair[0] for pair in pairs])
        basename, basenames = _numbered([pair[1] for pair in pairs])
    return GraphPlaces(
        domain,
        basename,
        domains,
        basenames,
        _shares(indptr, domain[targets], domains),
        _shares(indptr, basename[targets], basenames),
        np.zeros(len(targets)),
    )


def _numbered(keys: list[str]) -> tuple[Keys, int]:
    numbers: dict[str, int] = {}
    found = [numbers.setdefault(key, len(numbers)) for key in keys]
    return np.array(found, dtype=np.int32), len(numbers)


def _shares(indptr: npt.NDArray[np.int64], keys: Keys, kinds: int) -> Floats:
    """For each link: the share of its source's links with its key, over the distinct keys."""
    degrees = np.diff(indptr)
    sources = np.repeat(np.arange(len(degrees), dtype=np.int64), degrees)
    pairs, places, counts = np.unique(
        sources * max(kinds, 1) + keys, return_inverse=True, return_counts=True
    )
    distinct = np.bincount(pairs // max(kinds, 1), minlength=len(degrees))
    shares: Floats = counts[places] / degrees[sources] / distinct[sources]
    return shares
