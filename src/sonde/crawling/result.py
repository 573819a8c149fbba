"""What a crawl brought, as tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sonde.explorer import Explorer
from sonde.store.run import Run
from sonde.store.summary import judged
from sonde.url_languages import without_translations

if TYPE_CHECKING:
    import pyarrow as pa

_VISITS = """
SELECT leases.number, url, coalesce(final_url, url), coalesce(title, ''), score, gain, predicted,
    chooser, rank, depth, coalesce(status, 0), coalesce(media_type, ''), coalesce(language, ''),
    coalesce(flags, ''), requests, bytes, seconds, settled
FROM leases JOIN nodes ON nodes.number = leases.node LEFT JOIN pages ON pages.lease = leases.number
WHERE outcome = 'visit' ORDER BY settled, leases.number
"""
_COLUMNS = [
    "lease",
    "node",
    "url",
    "title",
    "score",
    "gain",
    "predicted",
    "chooser",
    "rank",
    "depth",
    "status",
    "media_type",
    "language",
    "flags",
    "requests",
    "bytes",
    "seconds",
    "settled",
    "harvest_rate",
    "efficiency",
    "gpr",
]


def _visits(database: sqlite3.Connection) -> tuple[tuple[Any, ...], ...]:
    """The visits, each with what judges the crawl up to it."""
    run = judged(database)
    measures = (run.steps.harvest_rate, run.steps.efficiency, run.steps.gpr)
    columns = zip(*(values.tolist() for values in measures), strict=True)
    merit = dict(zip(run.leases.tolist(), columns, strict=True))
    return tuple((*row, *merit[row[0]]) for row in database.execute(_VISITS))


@dataclass(frozen=True)
class CrawlResult:
    """``total`` is the objective over all visits; ``path`` the run folder, if there is one."""

    path: Path | None
    stop_reason: str
    requests: int
    visits: int
    total: float
    rows: tuple[tuple[Any, ...], ...]

    @classmethod
    def of(cls, run: Run, reason: str, explorer: Explorer) -> CrawlResult:
        """The result of a run that has come to its end. One with a folder reads it when asked."""
        rows = () if run.path is not None else _visits(run.database)
        spent = explorer.driver.account.spent.requests
        return cls(run.path, reason, spent, explorer.visits, explorer.total, rows)

    def _read(self) -> tuple[tuple[Any, ...], ...]:
        if self.path is None:
            return self.rows
        from sonde.store.reader import DATABASE

        location = (self.path / DATABASE).absolute().as_uri()
        database = sqlite3.connect(f"{location}?mode=ro", uri=True)
        try:
            return _visits(database)
        finally:
            database.close()

    def frame(self) -> pa.Table:
        """The visits, in the order in which they were settled."""
        import pyarrow as pa

        rows = self._read()
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(_COLUMNS)
        kinds = {"score": pa.float64(), "gain": pa.float64(), "predicted": pa.float64()}
        return pa.table(
            {
                name: pa.array(list(column), type=kinds.get(name))
                for name, column in zip(_COLUMNS, columns, strict=True)
            }
        )

    def best(self, count: int = 10, *, translations: bool = False) -> list[dict[str, Any]]:
        """The pages with the highest scores, the best first; of equal ones the earlier visit. Of a
        page in several languages the best one, unless translations are asked for."""
        rows: Iterable[tuple[Any, ...]] = sorted(self._read(), key=lambda row: (-row[4], row[0]))
        if not translations:
            rows = without_translations(rows, lambda row: (row[2], row[12]))
        return [dict(zip(_COLUMNS, row, strict=True)) for row in islice(rows, count)]
