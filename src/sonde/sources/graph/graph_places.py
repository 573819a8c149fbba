"""The places of a recorded graph's nodes and links, where its names are URLs or paths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sonde.link_columns import UrlPlace
from sonde.protocols import Floats
from sonde.url_measures import keys_of

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
