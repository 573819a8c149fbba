"""An edge list, with scores that come from its columns, its links, or a seed.

- ``column:NAME``: an edge's score is the column, summed over its rows; a node's is the column of
  the same name in the table of nodes or, where there is none, the sum over the edges to it;
- ``in-degree``: a node's score is how many nodes link to it, an edge's is 1;
- ``topical``: a topic that lies warm around a few nodes, drawn from a seed (see ``process``).

The first two go through f if asked, node by node and edge by edge, after the sums.

Further columns of the edge list are kept as text; those of several rows of a pair stand on lines of
their own, as anchors and contexts do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sonde.errors import InputError
from sonde.lab.data.clock import seconds_from
from sonde.lab.data.pairs import NEVER, Grouped, Pairs
from sonde.lab.data.process import drawn
from sonde.lab.data.rowfiles import Rows
from sonde.lab.data.topics import Floats, f_of
from sonde.lab.data.writing import Folders
from sonde.lab.progress import Meter
from sonde.sources.graph.names import Names, names_of

Mask = npt.NDArray[np.bool_]

RESERVED = {"score", "times"}
"""Columns of the edges that are written."""


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
    listed = None
    if nodes is not None:
        listed = _read_nodes(nodes, names, scores.columns, jobs, problems, meter)
    table = Rows(path, "source", columns)
    table.require(["source", "target", *([time] if time else [])])
    further = _further(table, [*scores.columns, *([time] if time else [])], kept)
    given = [name for name in scores.columns if name in table.columns]
    if listed is None:
        table.require(scores.columns)
    pairs = Pairs(len(given), timed=time is not None, words=further)
    for batch in table.batches(problems, meter, jobs):
        _add(batch, names, given, time, further, pairs, problems)
    if not names.count:
        raise InputError(f"{path}: nothing is left to build a graph from")
    grouped = pairs.grouped()
    betas, alphas = _scored(scores, grouped, given, listed, names.count)
    shown = _shortest(names.array())
    folders.add("nodes", pa.table({"node": shown}), betas)
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


def _further(table: Rows, read: Sequence[str], kept: Sequence[str] | None) -> list[str]:
    """The columns that are kept as they are: those that nothing else is made of."""
    used = {"source", "target", *read}
    if kept is None:
        kept = [name for name in table.columns if name not in used | RESERVED]
    table.require(kept)
    for name in kept:
        if name in used | RESERVED:
            raise InputError(f"{table.path}: column {name!r} cannot be kept under its name")
    return list(dict.fromkeys(kept))


def scoring(betas: Floats, alphas: Floats) -> list[dict[str, int]]:
    """How many nodes and edges score, for each graph."""
    return [
        {"nonzero_nodes": int(nodes), "nonzero_edges": int(edges)}
        for nodes, edges in zip(
            np.count_nonzero(betas, axis=0), np.count_nonzero(alphas, axis=0), strict=True
        )
    ]


def _read_nodes(
    path: Path,
    names: Names,
    columns: Sequence[str],
    jobs: int,
    problems: Counter[str],
    meter: Meter,
) -> Floats:
    table = Rows(path, "node")
    table.require(["node", *columns])
    found: list[Floats] = [np.empty((0, len(columns)))]
    for batch in table.batches(problems, meter, jobs):
        values, sound = _values(batch, columns)
        sound &= _filled(batch, "node")
        problems["rows without a usable score or name"] += int((~sound).sum())
        rows = pa.array(np.flatnonzero(sound))
        before = names.count
        (numbers,) = names.add(_text(batch, "node").take(rows))
        new = np.zeros((names.count - before, len(columns)))
        fresh = numbers >= before
        problems["nodes listed twice"] += int(len(numbers) - (names.count - before))
        new[numbers[fresh][::-1] - before] = values[sound][fresh][::-1]  # the first row stands
        found.append(new)
    return np.concatenate(found)


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
