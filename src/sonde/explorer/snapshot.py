"""Snapshots of a model: named arrays, from which it goes on exactly where it was.

They hold what was learned, not what can be derived: bounds and shortlists are computed anew. What
that is, each kernel declares: ``LEARNED`` names its numbers and arrays, ``PARTS`` the kernels that
it is made of. Names of nodes are not in a snapshot: whoever keeps them gives them back, in order of
discovery.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sonde.protocols import Model

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]
"""Arrays of numbers by name."""


def captured(model: Model) -> dict[str, npt.NDArray[Any]] | None:
    """What a model has learned, of which nothing is copied; ``None`` where a part of it is of a
    kind that cannot be captured."""
    arrays: dict[str, npt.NDArray[Any]] = {}
    for place, kernel in _kernels(model):
        names = _learned(kernel)
        if names is None:
            return None
        for name in names:
            arrays[f"{place}.{name}"] = np.asarray(getattr(kernel, name))
    return arrays


def give_back(model: Model, arrays: Arrays) -> None:
    """Bring a fresh model of the same making to what was captured. It goes on in these arrays."""
    for place, kernel in _kernels(model):
        for name in _learned(kernel) or ():
            value = arrays[f"{place}.{name}"]
            setattr(kernel, name, value if value.ndim else value.item())
    for leaf in model.frontier.leaves:
        leaf.catch_up()


def _kernels(kernel: object, place: str = "model") -> Iterator[tuple[str, object]]:
    """A kernel and all that it is made of, in an order that the estimator alone decides."""
    yield place, kernel
    for name in getattr(kernel, "PARTS", ()):
        part = getattr(kernel, name)
        if isinstance(part, list):
            for number, each in enumerate(part):
                yield from _kernels(each, f"{place}.{name}{number}")
        else:
            yield from _kernels(part, f"{place}.{name}")


def _learned(kernel: object) -> tuple[str, ...] | None:
    """What this very class declares; ``None`` where it does not, and cannot be captured."""
    return vars(type(kernel)).get("LEARNED")
