"""What a crawl brought: its visits as a table, its pages with what they said, and what failed."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sonde.crawling.progress import STOPS
from sonde.errors import InputError
from sonde.explorer import Explorer
from sonde.sources.facts import Record
from sonde.sources.kinds import kind_named
from sonde.store import summary
from sonde.store.answer import Answer, answer
from sonde.store.reader import MemoryRun, RunReader
from sonde.store.run import Run
from sonde.store.run_pages import RunPage, run_pages
from sonde.store.run_records import run_records
from sonde.url_languages import without_translations

if TYPE_CHECKING:
    import pyarrow as pa

_VISITS = """
SELECT leases.number, url, coalesce(final_url, url), coalesce(title, ''), score, gain, predicted,
    chooser, rank, depth, coalesce(status, 0), coalesce(media_type, ''), coalesce(language, ''),
    coalesce(flags, ''), requests, bytes, seconds, cast(settled * 1000000 AS INTEGER)
FROM leases JOIN nodes ON nodes.number = leases.node LEFT JOIN pages ON pages.lease = leases.number
WHERE outcome = 'visit' ORDER BY settled, leases.number
"""
_TYPES = {
    "lease": "int64",
    "node": "string",
    "url": "string",
    "title": "string",
    "score": "double",
    "gain": "double",
    "predicted": "double",
    "chooser": "string",
    "rank": "int64",
    "depth": "int64",
    "status": "int64",
    "media_type": "string",
    "language": "string",
    "flags": "string",
    "requests": "int64",
    "bytes": "int64",
    "seconds": "double",
    "settled": "timestamp",
    "harvest_rate": "double",
    "efficiency": "double",
    "gpr": "double",
}
_FAILED = """
SELECT url, outcome, reason, retry, leases.requests, leases.number
FROM leases JOIN nodes ON nodes.number = leases.node
WHERE leases.number IN (SELECT max(number) FROM leases GROUP BY node)
    AND outcome IN ('failure', 'skip', 'interrupt') ORDER BY leases.number
"""


@dataclass(frozen=True, slots=True)
class Failed:
    """A node that was asked for and not visited: how its last attempt ended, and what that means.
    With ``retry`` it is still on the frontier."""

    node: str
    outcome: str
    reason: str
    meaning: str
    retry: bool
    requests: int
    lease: int


@dataclass(frozen=True, repr=False)
class CrawlResult:
    """``total`` is the objective over all visits; ``path`` the run folder, if there is one. All
    else is read from the run when it is asked for."""

    path: Path | None
    stop_reason: str
    requests: int
    visits: int
    total: float
    memory: MemoryRun | None = field(default=None, compare=False)
    """What is left of a run without a folder."""

    @classmethod
    def of(cls, run: Run, reason: str, explorer: Explorer) -> CrawlResult:
        """The result of a run that has come to its end."""
        spent = explorer.driver.account.spent.requests
        memory = run.kept() if run.path is None else None
        result = cls(run.path, reason, spent, explorer.visits, explorer.total, memory)
        if memory is not None:
            weakref.finalize(result, memory.close)
        return result

    @contextmanager
    def reader(self) -> Iterator[RunReader]:
        """The run, to be read."""
        if self.path is None and self.memory is None:
            raise InputError("this result has neither a run folder nor a run in memory")
        with RunReader(self.path or Path("memory"), self.memory) as run:
            yield run

    def __repr__(self) -> str:
        pages = f"{self.visits:,} page{'s' * (self.visits != 1)}"
        requests = f"{self.requests:,} request{'s' * (self.requests != 1)}"
        where = "" if self.path is None else f" in {self.path}"
        ended = STOPS.get(self.stop_reason, self.stop_reason)
        why = f"; {self.why}" if not self.visits else ""
        return f"<CrawlResult{where}: {pages} for {requests}, value {self.total:.2f}: {ended}{why}>"

    @property
    def why(self) -> str:
        """Why nothing was fetched, in one line; empty where something was."""
        if self.visits:
            return ""
        with self.reader() as run:
            reasons = {row.reason: row.leases for row in summary.reasons(run) if row.reason}
            meanings = _meanings(run)
            robots = [
                f"robots.txt of {origin}: {why}{_meaning(meanings, why)}"
                for origin, why in list(summary.unreachable(run).items())[:3]
            ]
        met = [f"{why} {count:,}{_meaning(meanings, why)}" for why, count in reasons.items()]
        return f"nothing was fetched: {', '.join([*met, *robots]) or 'nothing was asked for'}"

    def frame(self) -> pa.Table:
        """The visits, in the order in which they were settled; the types of columns are the same
        whatever came."""
        import pyarrow as pa

        rows = self._rows()
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(_TYPES)
        types = [
            pa.timestamp("us", tz="UTC") if kind == "timestamp" else pa.type_for_alias(kind)
            for kind in _TYPES.values()
        ]
        arrays = [pa.array(values, kind) for values, kind in zip(columns, types, strict=True)]
        return pa.table(arrays, names=list(_TYPES))

    def best(self, count: int = 10, *, translations: bool = False) -> list[dict[str, Any]]:
        """The pages with the highest scores, the best first; of equal ones the earlier visit. Of a
        page in several languages the best one, unless translations are asked for."""
        rows: Iterable[tuple[Any, ...]] = sorted(self._rows(), key=lambda row: (-row[4], row[0]))
        if not translations:
            columns = list(_TYPES)
            url, language = columns.index("url"), columns.index("language")
            rows = without_translations(rows, lambda row: (row[url], row[language]))
        return [dict(zip(_TYPES, row, strict=True)) for row in islice(rows, count)]

    def pages(self) -> Iterator[RunPage]:
        """The visits in order, with what the pages said: ``text``, ``markdown``, ``html``, each
        read when it is asked for."""
        with self.reader() as run:
            yield from run_pages(run)

    def records(self) -> Iterator[Record]:
        """The records that visits found, in order: results of a form, posts, structured data."""
        with self.reader() as run:
            yield from run_records(run)

    def answer(self, question: str | None = None, tokens: int | None = None) -> Answer:
        """Passages of the pages that answer a question (the crawl's own, unless another is given),
        cited, within so many tokens."""
        with self.reader() as run:
            return answer(run, question, tokens)

    def failures(self) -> list[Failed]:
        """What was asked for and not visited, each node once, with the reason of its last try."""
        with self.reader() as run:
            meanings = _meanings(run)
            return [
                Failed(
                    node,
                    outcome,
                    reason or "",
                    _meaning(meanings, reason or "", ""),
                    bool(retry),
                    requests,
                    lease,
                )
                for node, outcome, reason, retry, requests, lease in run.rows(_FAILED)
            ]

    def _rows(self) -> list[tuple[Any, ...]]:
        """The visits, each with what judges the crawl up to it."""
        with self.reader() as run:
            judged = summary.judged(run.database)
            measures = (judged.steps.harvest_rate, judged.steps.efficiency, judged.steps.gpr)
            columns = zip(*(values.tolist() for values in measures), strict=True)
            merit = dict(zip(judged.leases.tolist(), columns, strict=True))
            return [(*row, *merit[row[0]]) for row in run.rows(_VISITS)]


def _meanings(run: RunReader) -> Mapping[str, str]:
    """What the reasons of the run's kind of source mean."""
    with suppress(InputError):  # a source that is not installed, or an object of a program's own
        return kind_named((run.meta("config") or {}).get("source", "web")).reasons
    return {}


def _meaning(meanings: Mapping[str, str], reason: str, form: str = " ({})") -> str:
    name = reason.partition(":")[0]  # details may stand behind it
    status = name.removeprefix("http-")
    known = meanings.get("http-NNN" if status != name and status.isdigit() else name)
    if known is None:
        return ""
    return form.format(known) if form else known
