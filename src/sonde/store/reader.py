"""A run as it can be read, also while a crawl is writing it; what it knows of one node (a trace).

A ``RunReader`` holds one read transaction from its first look to its end: everything that it
tells belongs to the same moment, it takes no lock that a writer would wait for, and it changes
nothing. Further modules ask it for more: ``summary`` for what came of a run, ``run_tables`` for all
rows.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sonde.errors import InputError
from sonde.store.log import Arrays, checkpoints
from sonde.store.memory_pages import MemoryPages
from sonde.store.schema import TABLES_THERE, VERSION, check_tables, wrong_version
from sonde.store.warcreader import Archived, read_archived

DATABASE = "run.sqlite"
PAGES = "pages"


class MemoryRun(NamedTuple):
    """What is left of a run without a folder: its database, and its pages."""

    database: sqlite3.Connection
    pages: MemoryPages

    def close(self) -> None:
        """Let go of both."""
        self.database.close()
        self.pages.close()


class RunReader:
    """A read-only view of a run folder, or of a run in memory. Use as a context manager, or
    ``close()`` it."""

    def __init__(self, folder: Path, memory: MemoryRun | None = None) -> None:
        self.folder = folder
        self.pages = folder / PAGES
        self._memory = memory
        self._path = folder / DATABASE
        if memory is not None:
            self._connection = memory.database
            return
        if not folder.exists():
            raise InputError(f"{folder}: no such folder")
        if not self._path.is_file():
            raise InputError(f"{folder}: not a run folder (it has no {DATABASE})")
        self._connection = self._opened()
        try:
            self._check()
        except BaseException:
            self._connection.close()
            raise

    def _opened(self) -> sqlite3.Connection:
        location = self._path.absolute().as_uri()
        wal = self._path.with_name(f"{DATABASE}-wal")
        connection = None
        try:
            connection = sqlite3.connect(f"{location}?mode=ro", uri=True, isolation_level=None)
            try:
                connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
            except sqlite3.OperationalError:
                # On a medium that cannot be written SQLite may not make its index of the log;
                # without a log nobody is writing, and the file can be read as it is.
                if wal.exists():
                    raise
                connection.close()
                connection = sqlite3.connect(
                    f"{location}?mode=ro&immutable=1", uri=True, isolation_level=None
                )
            connection.execute("BEGIN")
        except sqlite3.Error as error:
            if connection is not None:
                connection.close()
            raise self._damaged(error) from None
        return connection

    def _check(self) -> None:
        version = self.count("PRAGMA user_version")
        if version != VERSION:
            raise wrong_version(self.folder, version)
        check_tables(self._path, {str(name) for (name,) in self.rows(TABLES_THERE)})
        if not isinstance(self.meta("config"), dict):
            raise InputError(f"{self._path}: damaged: it does not say what it was made for")

    def _damaged(self, error: sqlite3.Error) -> InputError:
        return InputError(f"{self._path}: cannot be read: {error}")

    @property
    def database(self) -> sqlite3.Connection:
        """The connection, for what reads the log (``history``)."""
        return self._connection

    # -- asking --------------------------------------------------------------------------------

    def rows(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, one at a time."""
        try:
            yield from self._connection.execute(query, values)
        except sqlite3.DatabaseError as error:
            raise self._damaged(error) from None

    def one(self, query: str, *values: object) -> tuple[Any, ...] | None:
        """The first row of a query, if there is one."""
        return next(self.rows(query, *values), None)

    def count(self, query: str, *values: object) -> int:
        """The number that a query gives; none counts as 0."""
        found = self.one(query, *values)
        return int(found[0] or 0) if found is not None else 0

    def has(self, table: str) -> bool:
        """Whether the run has a table: a kind of source may declare its own."""
        return self.one("SELECT 1 FROM sqlite_schema WHERE name = ?", table) is not None

    def meta(self, key: str) -> Any:
        """What the run says of itself under a key, or ``None``."""
        found = self.one("SELECT value FROM meta WHERE key = ?", key)
        if found is None:
            return None
        try:
            return json.loads(found[0])
        except (TypeError, ValueError):
            raise InputError(f"{self._path}: damaged: what it says of {key} is not JSON") from None

    def archived(self, place: str) -> Archived:
        """The answer that is kept at a place (``pages.warc``)."""
        if self._memory is not None:
            return self._memory.pages.read(place)
        return read_archived(self.pages, place)

    @property
    def stop(self) -> str | None:
        """Why the run stopped, or ``None`` while it has not."""
        found = self.meta("stop")
        return None if found is None else str(found)

    def checkpoints(self, before: int | None) -> Iterator[tuple[int, dict[str, Arrays]]]:
        """The states that were kept before a position of the log, the latest first, by position."""
        return checkpoints(self.database, self.folder, before)

    def close(self) -> None:
        """End the view. Closing twice does nothing."""
        if self._memory is None:
            self._connection.close()

    def __enter__(self) -> RunReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# -- what a run knows of one node ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parent:
    """A visited page that links to the URL; ``link_score`` is what the link promised."""

    url: str
    score: float | None
    link_score: float
    lease: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """One row of the ledger."""

    lease: int
    chooser: str
    arm: int
    predicted: float | None
    rank: int | None
    ready: int | None
    outcome: str | None
    reason: str | None
    retry: int
    score: float | None
    gain: float | None
    told_score: float | None  # where the score was corrected later
    requests: int
    bytes: int
    seconds: float
    asked: float
    settled: float | None


@dataclass(frozen=True, slots=True)
class Seen:
    """The page as it was last visited. ``twin`` is the earlier page that it nearly repeats, with
    the similarity of their main texts, and the share of the shorter one that the other has."""

    final_url: str
    status: int
    title: str
    media_type: str
    language: str
    flags: str
    rendered: str | None
    twin: str | None = None
    jaccard: float | None = None
    containment: float | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything about one URL. ``state`` is one of

    visited, failed, skipped, in flight, frontier (it may still be asked), refused (seen, and
    kept off the frontier), redirect (only the target of another URL's redirect), unknown.
    """

    url: str
    state: str
    reason: str
    number: int | None = None
    depth: int | None = None
    first_seen_on: str | None = None
    attempts: tuple[Attempt, ...] = ()
    page: Seen | None = None
    parents: tuple[Parent, ...] = ()
    redirected_from: tuple[str, ...] = ()


_STATES = {"visit": "visited", "failure": "failed", "skip": "skipped", "interrupt": "skipped"}


def trace(run: RunReader, url: str) -> Trace:
    """What the run knows of a URL."""
    redirected = tuple(
        source
        for (source,) in run.rows(
            "SELECT DISTINCT nodes.url FROM pages JOIN nodes ON nodes.number = pages.node"
            " WHERE final_url = ? AND nodes.url <> ?",
            url,
            url,
        )
    )
    node = run.one("SELECT number, parent, depth FROM nodes WHERE url = ?", url)
    if node is None:
        return _off_the_frontier(run, url, redirected)
    number, parent, depth = node
    attempts = _attempts(run, number)
    state, reason = "frontier", ""
    if attempts:
        last = attempts[-1]
        if last.outcome is None:
            state = "in flight"
        elif not last.retry and last.outcome != "interrupt":
            state = _STATES[last.outcome]
        reason = last.reason or ""
    return Trace(
        url=url,
        state=state,
        reason=reason,
        number=number,
        depth=depth,
        first_seen_on=None if parent is None else _asked(run, parent),
        attempts=attempts,
        page=_page(run, number),
        parents=_parents(run, number, parent or 0),
        redirected_from=redirected,
    )


def _off_the_frontier(run: RunReader, url: str, redirected: tuple[str, ...]) -> Trace:
    refused = run.one("SELECT reason, lease FROM refused WHERE url = ?", url)
    if refused is not None:
        seen_on = None if refused[1] is None else _asked(run, refused[1])
        return Trace(url, "refused", refused[0], first_seen_on=seen_on, redirected_from=redirected)
    return Trace(url, "redirect" if redirected else "unknown", "", redirected_from=redirected)


def _asked(run: RunReader, lease: int) -> str | None:
    """The URL that a lease asked for."""
    found = run.one(
        "SELECT url FROM leases JOIN nodes ON nodes.number = leases.node WHERE leases.number = ?",
        lease,
    )
    return None if found is None else str(found[0])


def _attempts(run: RunReader, number: int) -> tuple[Attempt, ...]:
    rows = run.rows(
        "SELECT number, chooser, arm, predicted, rank, ready, outcome, reason, retry, score, gain,"
        " told_score, requests, bytes, seconds, asked, settled FROM leases WHERE node = ?"
        " ORDER BY number",
        number,
    )
    return tuple(Attempt(*row) for row in rows)


def _page(run: RunReader, number: int) -> Seen | None:
    row = run.one(
        "SELECT final_url, status, title, media_type, language, flags, rendered, twin, jaccard,"
        " containment FROM pages WHERE node = ? ORDER BY lease DESC LIMIT 1",
        number,
    )
    if row is None:
        return None
    seen = list(row)
    if seen[7] is not None:
        seen[7] = _asked(run, seen[7])
    return Seen(*seen)


def _parents(run: RunReader, number: int, first: int) -> tuple[Parent, ...]:
    """The pages that link to a node, in order of visit, from the lease on that brought it."""
    needle = np.array([number], "<i4").tobytes()
    found = []
    for lease, url, score, targets, scores in run.rows(
        "SELECT lease, url, score, targets, scores FROM pages"
        " JOIN leases ON leases.number = pages.lease JOIN nodes ON nodes.number = pages.node"
        " WHERE lease >= ? AND instr(targets, ?) > 0 ORDER BY lease",
        first,
        needle,
    ):
        # The bytes may also be found across two numbers.
        places = np.flatnonzero(np.frombuffer(targets, "<i4") == number)
        if len(places):
            alpha = float(np.frombuffer(scores, "<f8")[places].sum())
            found.append(Parent(url, score, alpha, lease))
    return tuple(found)


def title_of(run: RunReader, lease: int) -> str:
    """What the page is called that a lease visited."""
    found = run.one("SELECT title FROM pages WHERE lease = ?", lease)
    return "" if found is None else str(found[0])
