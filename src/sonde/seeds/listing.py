"""Seeds as text: a line each, or one JSON object; and read back from either."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sonde.errors import InputError
from sonde.seeds.amounts import Amounts
from sonde.seeds.selection import Selection


def number(value: float) -> str:
    """A value as a person writes it."""
    return f"{value:.12g}"


def rows(
    selection: Selection, names: Sequence[str], site: str | None = None
) -> list[dict[str, Any]]:
    """A record a seed: name, what it newly covers, and the site if there are several."""
    place = {} if site is None else {"site": site}
    return [
        {**place, "node": names[seed.node], "gain": seed.gain, "pages": seed.pages}
        for seed in selection.seeds
    ]


def summary(found: Sequence[Selection], k: int, hops: int) -> dict[str, Any]:
    """What the selections, one for each site or one for all, cover together."""
    bounds = [one.bound for one in found if one.bound is not None]
    return {
        "method": str(found[0].method) if found else None,
        "k": k,
        "hops": hops,
        "value": sum(one.value for one in found),
        "positive": sum(one.positive for one in found),
        "pages": sum(one.pages for one in found),
        # Shares of the seeds were fixed beforehand, so a sum of bounds would bound too little.
        "bound": bounds[0] if len(bounds) == 1 else None,
    }


def remarks(found: Sequence[Selection], amounts: Amounts) -> list[str]:
    """What was covered and what is worth knowing about it, for a person."""
    covered, positive = sum(one.value for one in found), sum(one.positive for one in found)
    share = f" ({covered / positive:.1%})" if positive else ""
    count = sum(len(one.seeds) for one in found)
    said = [f"{count} seeds cover {number(covered)} of {number(positive)}{share}"]
    bounds = [one for one in found if one.bound is not None]
    if len(bounds) == 1:
        sure = "with 99 % confidence " if bounds[0].method.name == "sketch" else ""
        most = number(bounds[0].bound or 0.0)
        said.append(f"{sure}no choice of that many seeds covers more than {most}")
    negative = int(np.count_nonzero(amounts.units < 0))
    if bounds and negative:
        said.append(
            f"{negative} pages are worth less than nothing, so 1 - 1/e is not guaranteed;"
            " the values are the true ones"
        )
    return said


def lines(seeds: Sequence[dict[str, Any]]) -> list[str]:
    """Name, tab, value newly covered."""
    return [f"{seed['node']}\t{number(seed['gain'])}" for seed in seeds]


def read(text: str, label: str) -> list[str]:
    """The names of the seeds in a listing of either kind, or one name a line."""
    if text.lstrip().startswith("{"):
        try:
            return [str(seed["node"]) for seed in json.loads(text)["seeds"]]
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{label}: not the JSON of sonde seeds") from error
    return [line.split("\t")[0] for line in text.splitlines() if line.strip()]


def finite(row: dict[str, Any]) -> dict[str, Any]:
    """The same record without NaN, which JSON does not have."""
    return {
        key: None if isinstance(value, float) and math.isnan(value) else value
        for key, value in row.items()
    }
