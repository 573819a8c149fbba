"""The names of the features that the frontier table can keep for every node."""

from __future__ import annotations

from collections.abc import Iterable

KINDS = ("n", "e", "ne")
AGGREGATES = ("sum", "max", "avg")

FIRST_LEVEL = ("deg", *(f"{kind}:{how}" for kind in KINDS for how in AGGREGATES), "hop")
SECOND_LEVEL = ("deg2", *(f"{kind}2:{how}" for kind in KINDS for how in AGGREGATES))
PLACED = ("rfu", "bfu", "id", "repeats")
ASSOCIATED = ("arf:basename+", "arf:basename-", "arf:domain+", "arf:domain-")

FEATURES = FIRST_LEVEL + SECOND_LEVEL + PLACED + ASSOCIATED
"""What a custom estimator may ask for. `hop` is 1 / (l + 1), l the distance from the seeds. The
last two groups need the places of nodes: sources that know URLs tell them with each link."""

_INGREDIENTS = {
    "rfu": ("deg", "rfu:sum"),
    "bfu": ("deg", "bfu:sum"),
    "id": ("deg",),
    "repeats": ("repeats:sum",),
}


def associated(owner: str) -> tuple[str, ...]:
    """The columns of one estimator's own feedback: its errors are no other's."""
    return tuple(f"{owner}|{name}" for name in ASSOCIATED)


def reads_urls(columns: Iterable[str]) -> bool:
    """Whether these columns need to know the places of nodes."""
    return any(name in PLACED or name.endswith(ASSOCIATED) for name in columns)


def with_ingredients(features: Iterable[str]) -> tuple[str, ...]:
    """The features in order without repeats, and before each what it is made of."""
    wanted: dict[str, None] = {}
    for feature in features:
        kind, _, how = feature.partition(":")
        if how == "avg" and kind.rstrip("2") in KINDS:
            wanted["deg2" if kind.endswith("2") else "deg"] = None
            wanted[f"{kind}:sum"] = None
        wanted.update(dict.fromkeys(_INGREDIENTS.get(feature, ())))
        wanted[feature] = None
    return tuple(wanted)
