"""A run as it can be read, also while a crawl is writing it.

A ``RunReader`` holds one read transaction from its first look to its end: everything that it
tells belongs to the same moment, it takes no lock that a writer would wait for, and it changes
nothing. Further modules ask it for more: ``summary`` for what came of a run, ``tracing`` for what
is known of one URL, ``tables`` for all rows.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from sonde.errors import InputError
from sonde.store.checkpoints import Arrays, checkpoints
from sonde.store.schema import check_version

DATABASE = "run.sqlite"
PAGES = "pages"


class RunReader:
    """A read-only view of a run folder. Use as a context manager, or ``close()`` it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pages = folder / PAGES
        self._path = folder / DATABASE
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
        check_version(self.folder, self.count("PRAGMA user_version"))

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
        except ValueError:
            return found[0]

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
        self._connection.close()

    def __enter__(self) -> RunReader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
