"""The words of a recorded graph's links, where its files have kept them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sonde.link_words import link_words

ANCHOR = "anchor"
WINDOW = "context"


class Wording(NamedTuple):
    """The words of link ``i`` are ``words[first[i]:first[i + 1]]``, as numbers."""

    first: npt.NDArray[np.int64]
    words: npt.NDArray[np.uint16]


def wording(columns: pa.Table, names: pa.Array, targets: npt.NDArray[np.int32]) -> Wording | None:
    """The words of links whose rows have an anchor or a context; ``None`` without such columns."""
    if ANCHOR not in columns.column_names and WINDOW not in columns.column_names:
        return None
    addresses = [str(name) for name in names.to_pylist()] if pa.types.is_string(names.type) else []
    anchors = _texts(columns, ANCHOR)
    windows = _texts(columns, WINDOW)
    first = np.zeros(len(targets) + 1, dtype=np.int64)
    words = [
        link_words(anchors[link], addresses[target] if addresses else "", windows[link])
        for link, target in enumerate(targets.tolist())
    ]
    np.cumsum([len(each) // 2 for each in words], out=first[1:])
    return Wording(first, np.frombuffer(b"".join(words), "<u2").astype(np.uint16))


def _texts(columns: pa.Table, name: str) -> Sequence[str]:
    if name not in columns.column_names:
        return [""] * columns.num_rows
    return [text if isinstance(text, str) else "" for text in columns[name].to_pylist()]
