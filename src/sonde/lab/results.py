"""What an experiment found, before anything is made of it: curves by graph, objective and label."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

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
