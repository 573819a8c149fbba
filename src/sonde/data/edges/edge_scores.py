"""An edge list, with scores that come from its columns, its links, or a seed.

- ``column:NAME``: an edge's score is the column, summed over its rows; a node's is the column of
  the same name in the table of nodes or, where there is none, the sum over the edges to it;
- ``in-degree``: a node's score is how many nodes link to it, an edge's is 1;
- ``topical``: a topic drawn from a seed: warm around a few nodes, cooling with distance.

The first two go through f if asked, node by node and edge by edge, after the sums.

Further columns of the edge list are kept as text; those of several rows of a pair stand on lines of
their own, as anchors and contexts do. So are further columns of the table of nodes. One that has
the name of a column that is written anyway (``score``, ``times``) is kept as ``given_score`` or
``given_times``, and a note says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sonde.data.folders import Folders
from sonde.data.pairs import NEVER, Grouped, Pairs, scoring
from sonde.data.rowfiles import RowFile, seconds_from
from sonde.data.topics import Floats, f_of
from sonde.errors import InputError
from sonde.meter import Meter
from sonde.sources.graph.generate import COLD, NOISE, TELLING
from sonde.sources.graph.names import Names, names_of

Mask = npt.NDArray[np.bool_]

WRITTEN = {"score", "times"}
"""Columns that are written, and not as they were given."""


@dataclass(frozen=True)
class EdgeScores:
    """How edges and nodes are scored. ``specs`` are as above, one graph each."""

    specs: tuple[str, ...] = ("in-degree",)
    through_f: bool = False
    seed: int = 0
    share: float = 0.03

    def __post_init__(self) -> None:
        for spec in self.specs:
            column = spec.removeprefix("column:")
            if spec not in ("in-degree", "topical") and column in ("", spec):
                raise InputError(f"--score {spec}: not column:NAME, in-degree or topical")
        if not 0 < self.share <= 0.5:
            raise InputError(f"--share {self.share}: not above 0 and up to 0.5")

    @property
    def columns(self) -> list[str]:
        """The columns that are needed, in order."""
        names = (spec.removeprefix("column:") for spec in self.specs if spec.startswith("column:"))
        return list(dict.fromkeys(names))


def build_edges(
    path: Path,
    nodes: Path | None,
    scores: EdgeScores,
    folders: Folders,
    *,
    columns: Sequence[str] | None,
    time: str | None,
    kept: Sequence[str] | None,
    jobs: int,
    problems: Counter[str],
    meter: Meter,
) -> tuple[dict[str, int], list[dict[str, int]]]:
    """Write the graphs; gives counts of all, and of what scores in each.

    ``kept`` are the further columns to keep, all of them for None.
    """
    names = names_of(pa.string())
    table = RowFile(path, "source", columns)
    table.require(["source", "target", *([time] if time else [])])
    listing = None if nodes is None else RowFile(nodes, "node")
    if kept is not None:
        _require_any(kept, table, listing)
    listed: Floats | None = None
    described: dict[str, list[pa.Array]] = {}
    if listing is not None:
        listing.require(["node", *scores.columns])
        own = _further(listing, ["node", *scores.columns], kept, folders.notes)
        listed, described = _read_nodes(listing, names, scores.columns, own, jobs, problems, meter)
    used = ["source", "target", *scores.columns, *([time] if time else [])]
    further = _further(table, used, kept, folders.notes)
    given = [name for name in scores.columns if name in table.columns]
    if listed is None:
        table.require(scores.columns)
    pairs = Pairs(len(given), timed=time is not None, words=list(further.values()))
    for batch in table.batches(problems, meter, jobs):
        _add(batch, names, given, time, list(further), pairs, problems)
    if not names.count:
        raise InputError(f"{path}: nothing is left to build a graph from")
    grouped = pairs.grouped()
    betas, alphas = _scored(scores, grouped, given, listed, names.count)
    shown = _shortest(names.array())
    unlisted = pa.nulls(names.count - len(listed), pa.string()) if listed is not None else None
    told = {name: pa.chunked_array([*parts, unlisted]) for name, parts in described.items()}
    folders.add("nodes", pa.table({"node": shown, **told}), betas)
    ends = {
        "source": shown.take(pa.array(grouped.sources)),
        "target": shown.take(pa.array(grouped.targets)),
    }
    folders.add("edges", pa.table(ends | grouped.columns), alphas)
    counts = {
        "nodes": names.count,
        "edges": len(grouped.sources),
        "self_links": grouped.self_loops,
        "parallel_links_merged": grouped.merged,
    }
    return counts, scoring(betas, alphas)


def _require_any(names: Sequence[str], table: RowFile, listing: RowFile | None) -> None:
    """Complain about the first of these columns that is in neither table."""
    columns = [*table.columns, *(listing.columns if listing is not None else [])]
    table.require([name for name in names if name not in columns])


def _further(
    table: RowFile, used: Sequence[str], kept: Sequence[str] | None, notes: list[str]
) -> dict[str, str]:
    """The columns that nothing is made of, which are kept, and under which names."""
    if kept is None:
        kept = [name for name in table.columns if name not in used]
    further: dict[str, str] = {}
    for name in kept:
        if name in used:
            raise InputError(f"{table.path}: column {name!r} cannot be kept under its name")
        if name not in table.columns:
            continue
        written = name
        while written in WRITTEN or (written != name and written in table.columns):
            written = f"given_{written}"
        if written != name:
            by = "--time times" if name == "times" else f"--score column:{name}"
            notes.append(
                f"{table.path.name}: its column {name!r} is kept as {written!r}; to use it: {by}"
            )
        further[name] = written
    return further


def _read_nodes(
    table: RowFile,
    names: Names,
    columns: Sequence[str],
    further: Mapping[str, str],
    jobs: int,
    problems: Counter[str],
    meter: Meter,
) -> tuple[Floats, dict[str, list[pa.Array]]]:
    """The scores of the nodes that a table lists, and its further columns in pieces."""
    found: list[Floats] = [np.empty((0, len(columns)))]
    words: dict[str, list[pa.Array]] = {written: [] for written in further.values()}
    for batch in table.batches(problems, meter, jobs):
        values, sound = _values(batch, columns)
        sound &= _filled(batch, "node")
        problems["rows without a usable score or name"] += int((~sound).sum())
        rows = np.flatnonzero(sound)
        before = names.count
        (numbers,) = names.add(_text(batch, "node").take(pa.array(rows)))
        problems["nodes listed twice"] += int(len(numbers) - (names.count - before))
        fresh = np.flatnonzero(numbers >= before)
        firsts = rows[
            fresh[np.unique(numbers[fresh], return_index=True)[1]]
        ]  # the first row stands
        found.append(values[firsts])
        for name, written in further.items():
            words[written].append(_text(batch, name).take(pa.array(firsts)))
    return np.concatenate(found), words


def _add(
    batch: pa.Table,
    names: Names,
    columns: Sequence[str],
    time: str | None,
    further: Sequence[str],
    pairs: Pairs,
    problems: Counter[str],
) -> None:
    values, sound = _values(batch, columns)
    sound &= _filled(batch, "source") & _filled(batch, "target")
    problems["rows without a usable score or name"] += int((~sound).sum())
    rows = pa.array(np.flatnonzero(sound))
    sources, targets = names.add(*(_text(batch, end).take(rows) for end in ("source", "target")))
    times: list[int] = []
    if time is not None:
        for text in _text(batch, time).take(rows).to_pylist():
            found = seconds_from(text)
            problems["rows without a readable time"] += found is None
            times.append(NEVER if found is None else found)
    words = [_text(batch, name).take(rows) for name in further]
    pairs.add(sources, targets, values[sound], times, words)


def _text(batch: pa.Table, column: str) -> pa.Array:
    return pc.utf8_trim_whitespace(batch.column(column).combine_chunks())


def _filled(batch: pa.Table, column: str) -> Mask:
    filled: Mask = pc.greater(pc.binary_length(_text(batch, column)), 0).to_numpy(
        zero_copy_only=False
    )
    return filled


def _values(batch: pa.Table, columns: Sequence[str]) -> tuple[Floats, Mask]:
    """The columns as numbers, and which rows have sound ones everywhere; empty is 0."""
    values = np.zeros((batch.num_rows, len(columns)))
    for place, column in enumerate(columns):
        text = pc.replace_with_mask(
            _text(batch, column), pc.equal(_text(batch, column), ""), pa.scalar("0")
        )
        try:
            values[:, place] = text.cast(pa.float64()).to_numpy()
        except pa.ArrowInvalid:
            values[:, place] = [_number(each) for each in text.to_pylist()]
    sound = (values >= 0) & (values < np.inf)
    return values, np.asarray(sound.all(axis=1), np.bool_)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _scored(
    scores: EdgeScores,
    grouped: Grouped,
    given: Sequence[str],
    listed: Floats | None,
    count: int,
) -> tuple[Floats, Floats]:
    """A column of node scores and one of edge scores for each spec."""
    betas, alphas = [], []
    through: Callable[[Any], Floats] = f_of if scores.through_f else lambda values: values
    for spec in scores.specs:
        if spec == "topical":
            beta, alpha = drawn(grouped.sources, grouped.targets, count, scores.seed, scores.share)
        elif spec == "in-degree":
            beta = through(np.bincount(grouped.targets, minlength=count).astype(np.float64))
            alpha = np.ones(len(grouped.sources))
        else:
            column = spec.removeprefix("column:")
            alpha = np.zeros(len(grouped.sources))
            if column in given:
                alpha = grouped.sums[:, given.index(column)]
            if listed is None:
                beta = through(np.bincount(grouped.targets, weights=alpha, minlength=count))
            else:
                beta = np.zeros(count)
                beta[: len(listed)] = listed[:, scores.columns.index(column)]
                beta = through(beta)
            alpha = through(alpha)
        betas.append(beta)
        alphas.append(alpha)
    return np.stack(betas, axis=1), np.stack(alphas, axis=1)


def _shortest(names: pa.Array) -> pa.Array:
    """Names as integers if that is what all of them are."""
    try:
        numbers = names.cast(pa.int64())
    except pa.ArrowInvalid:
        return names
    return numbers if numbers.cast(pa.string()).equals(names) else names


STEPS = 6  # how far heat spreads
KEPT = 0.5  # of a node's heat at each step; the rest goes to its neighbours
CENTRES = 3


def drawn(
    sources: npt.NDArray[np.int64],
    targets: npt.NDArray[np.int64],
    count: int,
    seed: int,
    share: float,
) -> tuple[Floats, Floats]:
    """Scores of nodes and of edges. The same links and seed give the same scores."""
    dice = np.random.default_rng(seed)
    ends = np.concatenate([sources, targets])
    others = np.concatenate([targets, sources])
    degrees = np.bincount(ends, minlength=count)
    weights = (degrees + 1) / (degrees + 1).sum()
    heat = np.zeros(count)
    heat[dice.choice(count, min(CENTRES, count), replace=False, p=weights)] = 1.0
    shares = 1 / np.maximum(degrees, 1)
    for _ in range(STEPS):
        flowing = np.bincount(others, weights=(heat * shares)[ends], minlength=count)
        heat = KEPT * heat + (1 - KEPT) * flowing
    warmth = heat / heat.max() + COLD * heat.mean() / heat.max()
    wanted = max(1, round(share * count))
    # The smallest of exponential waiting times: a weighted draw without replacement.
    waiting = dice.exponential(size=count) / warmth
    chosen = np.argsort(waiting, kind="stable")[:wanted]
    scores = np.zeros(count)
    scores[chosen] = 1 + np.log(np.minimum(dice.zipf(2.0, wanted), 10_000))
    rates = np.where(scores[targets] > 0, TELLING, NOISE)
    telling = dice.random(len(targets)) < rates
    alphas = np.zeros(len(targets))
    alphas[telling] = 1 + np.log(dice.geometric(0.5, int(telling.sum())))
    return scores, alphas
