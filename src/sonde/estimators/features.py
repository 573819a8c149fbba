"""The names of the features that the frontier table can keep for every node."""

from __future__ import annotations

from collections.abc import Iterable

KINDS = ("n", "e", "ne")
AGGREGATES = ("sum", "max", "avg")

FIRST_LEVEL = ("deg", *(f"{kind}:{how}" for kind in KINDS for how in AGGREGATES), "hop")
SECOND_LEVEL = ("deg2", *(f"{kind}2:{how}" for kind in KINDS for how in AGGREGATES))

FEATURES = FIRST_LEVEL + SECOND_LEVEL
"""What a custom estimator may ask for. `hop` is 1 / (l + 1), l the distance from the seeds."""


def with_ingredients(features: Iterable[str]) -> tuple[str, ...]:
    """The features in order without repeats, and before each average its sum and its count."""
    wanted: dict[str, None] = {}
    for feature in features:
        kind, _, how = feature.partition(":")
        if how == "avg" and kind.rstrip("2") in KINDS:
            wanted["deg2" if kind.endswith("2") else "deg"] = None
            wanted[f"{kind}:sum"] = None
        wanted[feature] = None
    return tuple(wanted)
