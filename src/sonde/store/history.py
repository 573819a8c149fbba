"""The log of a run, read back: what was told to the explorer, in its order.

A ``settle`` entry brings its outcome along, put together from the ledger and the pages.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from sys import intern
from typing import Any

import numpy as np

from sonde.kernels.model.significance import packed
from sonde.records import Failure, Lease, Link, Outcome, Place, Skip, Spend, Visit
from sonde.sources.web.place import keys_of
from sonde.store.wording import unpack

_QUERY = """
SELECT log.seq, log.kind, log.lease, log.node, log.data, arm, chooser, predicted,
    outcome, reason, retry, score, requests, bytes, targets, scores, {places}, {words}
FROM log LEFT JOIN leases ON leases.number = log.lease
LEFT JOIN pages ON pages.lease = log.lease AND log.kind = 'settle' AND log.seq > ?
ORDER BY log.seq
"""


@dataclass(frozen=True, slots=True)
class Known:
    """A node as the run knows it."""

    url: str
    host: str
    depth: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the log. ``lease`` and ``outcome`` are there where the kind has them."""

    seq: int
    kind: str
    node: int | None
    data: dict[str, Any]
    lease: Lease | None = None
    outcome: Outcome | None = None


def nodes(database: sqlite3.Connection) -> list[Known]:
    """All nodes, by their numbers."""
    found = database.execute("SELECT url, host, depth FROM nodes ORDER BY number")
    return [Known(url, intern(host), depth) for url, host, depth in found]


def entries(database: sqlite3.Connection, known: list[Known], restored: int = 0) -> Iterator[Entry]:
    """The log, in order. Up to the position `restored` a snapshot stands for what visits taught,
    so that their links are not read."""
    # A run of the first version that was only ever read has neither.
    columns = {row[1] for row in database.execute("PRAGMA table_info(pages)")}
    names = {name: name if name in columns else "NULL" for name in ("places", "words")}
    query = _QUERY.format(**names)
    for row in database.execute(query, (restored,)):
        seq, kind, number, node, data, arm, chooser, predicted, *settled = row
        lease = None
        if number is not None:
            place = known[node]
            lease = Lease(number, place.url, place.host, predicted, chooser, arm)
        told = json.loads(data) if data else {}
        outcome = None
        if kind in ("settle", "interrupt"):
            outcome = _outcome(known, told, *settled)
        yield Entry(seq, kind, node, told, lease, outcome)


def _outcome(
    known: list[Known],
    told: dict[str, Any],
    outcome: str,
    reason: str | None,
    retry: int,
    score: float | None,
    requests: int,
    size: int,
    targets: bytes | None,
    scores: bytes | None,
    places: bytes | None,
    words: bytes | None,
) -> Outcome:
    spent = Spend(requests=requests, bytes=size, cost=told.get("cost", 0.0))
    if outcome == "visit":
        numbers = np.frombuffer(targets or b"", dtype="<i4").tolist()
        alphas = np.frombuffer(scores or b"", dtype="<f8").tolist()
        urls = [known[number].url for number in numbers]
        told_places = _unpacked_places(places, urls, told.get("places"))
        return Visit(
            score=score or 0.0,
            links=[
                Link(known[number].url, alpha, known[number].host, place, said)
                for number, alpha, place, said in zip(
                    numbers, alphas, told_places, unpack(words, len(numbers)), strict=True
                )
            ],
            records=tuple(told.get("records", ())),
            spent=spent,
        )
    if outcome == "skip":
        return Skip(reason or "", bool(retry), spent)
    return Failure(reason or "", bool(retry), spent)


_PLACES = np.dtype([("rfu", "<f8"), ("bfu", "<f8"), ("repeats", "<i4")])
_NO_PLACE = (-1.0, -1.0, -1)


def pack_places(links: Sequence[Link]) -> bytes:
    """The URL measures of links, as a run keeps them."""
    return packed(links)


def _unpacked_places(
    packed: bytes | None, urls: list[str], keys: list[list[Any]] | None
) -> list[Place | None]:
    """The places of links. The Web's follow from URLs, those of other sources are `keys`."""
    if packed is None:
        return [None] * len(urls)
    measures = np.frombuffer(packed, dtype=_PLACES).tolist()
    homes = [keys_of(url) for url in urls] if keys is None else keys
    return [
        None if told == _NO_PLACE else Place(*home, *told)
        for home, told in zip(homes, measures, strict=True)
    ]


def spend_from(units: dict[str, Any] | None) -> Spend:
    """The units as the log writes them; one request where it writes nothing."""
    return Spend(requests=1) if not units else Spend(**units)


def units_of(spend: Spend) -> dict[str, Any] | None:
    """What the log writes for a spend: only what is not 0, nothing for one request."""
    if spend == Spend(requests=1):
        return None
    units = {
        unit: value
        for unit in ("requests", "bytes", "seconds", "cost")
        if (value := getattr(spend, unit))
    }
    return units or {"requests": 0}
