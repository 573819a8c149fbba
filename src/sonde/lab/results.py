"""What an experiment found: curves by graph, objective and label; their means, with intervals,
and their ratios."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sonde import extras
from sonde.lab.protocol import CrawlSetting
from sonde.lab.units import Columns, Unit
from sonde.protocols import Floats


@dataclass(frozen=True)
class Curves:
    """One quantity over the steps, a row for each seed graph."""

    steps: Floats
    rows: Floats

    def at(self, step: int) -> Floats:
        """The values at a step, or at the last one kept before it."""
        place = int(np.searchsorted(self.steps, step, side="right")) - 1
        column: Floats = self.rows[:, max(place, 0)]
        return column

    @property
    def last(self) -> Floats:
        column: Floats = self.rows[:, -1]
        return column


@dataclass
class Results:
    """All results of one experiment."""

    settings: dict[str, CrawlSetting] = field(default_factory=dict)
    rows: list[tuple[Unit, str, Columns]] = field(default_factory=list)
    _by_name: dict[tuple[str, str, str], list[Columns]] = field(default_factory=dict)

    def add(
        self, setting: CrawlSetting, labelled: Iterable[tuple[Unit, str]], found: Sequence[Columns]
    ) -> None:
        """Take in what came of one graph."""
        self.settings[setting.graph] = setting
        for (unit, label), columns in zip(labelled, found, strict=True):
            self.rows.append((unit, label, columns))
            name = (setting.graph, label, unit.crawl.objective)
            self._by_name.setdefault(name, []).append(columns)

    @property
    def graphs(self) -> list[str]:
        return list(self.settings)

    @property
    def objectives(self) -> list[str]:
        return list(dict.fromkeys(unit.crawl.objective for unit, _, _ in self.rows))

    @property
    def labels(self) -> list[str]:
        """What was compared, in the order in which it was asked for."""
        return list(dict.fromkeys(label for unit, label, _ in self.rows if unit.task != "bound"))

    def curves(self, graph: str, label: str, column: str, objective: str = "sum") -> Curves:
        """The curves of one label; all seed graphs' cut to the shortest."""
        found = self._by_name[graph, label, objective]
        length = min(len(columns["step"]) for columns in found)
        return Curves(
            found[0]["step"][:length], np.array([columns[column][:length] for columns in found])
        )

    def relative(self, graph: str, label: str, base: str, objective: str = "sum") -> Curves:
        """The gain of one label as a share of another's, seed graph by seed graph."""
        curves = self.curves(graph, label, "gain", objective)
        against = self.curves(graph, base, "gain", objective)
        return Curves(curves.steps, share(curves.rows, against.rows))

    def save(self, path: Path) -> None:
        """Everything as one table, a row for each graph, label, seed graph and step."""
        parts = []
        for unit, label, columns in self.rows:
            count = len(columns["step"])
            parts.append(
                pa.table(
                    {
                        "graph": [unit.setting.graph] * count,
                        "label": [label] * count,
                        "objective": [unit.crawl.objective] * count,
                        "seed_graph": np.full(count, unit.number, dtype=np.int32),
                        **{
                            name: values.astype(np.int64) if name == "step" else values
                            for name, values in columns.items()
                        },
                    }
                )
            )
        table = pa.concat_tables(parts, promote_options="default")
        pq.write_table(table, path, compression="zstd")


@dataclass(frozen=True)
class Mean:
    """A mean, and half the width of its 95 % confidence interval (Student's t)."""

    value: float
    half: float  # not a number for a single observation

    def __str__(self) -> str:
        return self.shown(3)

    def shown(self, digits: int, sign: str = "") -> str:
        """As text, with the interval where there is one."""
        if math.isnan(self.value):
            return "-"
        text = f"{self.value:{sign}z,.{digits}f}"
        return text if math.isnan(self.half) else f"{text} ± {self.half:,.{digits}f}"


def mean(values: Floats) -> Mean:
    """The mean of independent observations."""
    count = len(values)
    if count < 2:
        return Mean(float(values[0]) if count else math.nan, math.nan)
    return Mean(float(np.mean(values)), float(half_width(values[:, None])[0]))


def half_width(values: Floats) -> Floats:
    """Half the width of the interval around the mean of each column."""
    count = len(values)
    if count < 2:
        return np.full(values.shape[1], np.nan)
    quantile = float(extras.scipy("special", "an interval").stdtrit(count - 1, 0.975))
    spread: Floats = quantile * np.std(values, axis=0, ddof=1) / math.sqrt(count)
    return spread


def share(values: Floats, base: Floats) -> Floats:
    """Values as shares of `base`; 1 where both are 0, not a number where only the base is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: Floats = np.where(base > 0, values / base, np.where(values > 0, np.nan, 1.0))
    return ratio


def geometric(values: list[float]) -> float:
    """The geometric mean, of those that are numbers; 0 if one of them is."""
    kept = [value for value in values if not math.isnan(value)]
    if not kept:
        return math.nan
    if min(kept) <= 0:
        return 0.0
    return math.exp(sum(map(math.log, kept)) / len(kept))
