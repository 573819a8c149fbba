"""A run folder, from the side that writes it.

    run/
        run.sqlite      everything but the pages; ``schema`` says what is where
        run.lock        held by the one process that writes
        checkpoints/    the state at positions of the log, in a long run (see ``log``)
        pages/          WARC files, unless the run keeps no pages

Life cycle: ``create`` (or ``open``, which takes the lock, checks the version and finds out how the
last writer ended), then ``journal`` to write and ``log`` to read back what was written, ``close``.

Invariants. Nothing is reported before the transaction that holds it is committed, and no request
leaves before its lease is: so what a killed process has said and done is in the folder. A commit
reaches the kernel, not the disk; the journal sees to the disk once a second, and reserves requests
ahead, so that even after a power cut the budget is not overspent (see ``journal``).

Without a path the run lives in memory: the same tables, and its pages in a temporary file, gone
with the process.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sonde.errors import InputError, StoreError
from sonde.store.journal import Journal
from sonde.store.log import (
    CHECKPOINTS,
    KEPT,
    Arrays,
    checkpoints,
    clear_away,
    positions,
    write_checkpoint,
)
from sonde.store.memory_pages import MemoryPages
from sonde.store.reader import DATABASE, PAGES, MemoryRun
from sonde.store.schema import (
    SCHEMA,
    TABLES,
    TABLES_THERE,
    VERSION,
    check_tables,
    wrong_version,
)
from sonde.system import boot, restarted_since, take_lock

LOCK = "run.lock"

_NAME = re.compile(r"[a-z][a-z0-9_]*")


class _Lock:
    """One writer a run: held until ``release``, or until the process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        taken = take_lock(self._file)
        os.lseek(self._file, 0, os.SEEK_SET)
        if not taken:
            owner = os.read(self._file, 32).decode("ascii", "replace").strip()
            os.close(self._file)
            raise InputError(
                f"{folder}: another process is writing this run"
                + (f" (process {owner})" if owner.isdigit() else "")
            )
        os.ftruncate(self._file, 0)
        os.write(self._file, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Let another process write."""
        os.close(self._file)


class Run:
    """A run that this process writes."""

    def __init__(self, path: Path | None, database: sqlite3.Connection, lock: _Lock | None) -> None:
        self.path = path
        self.database = database
        self._lock = lock
        self._closed = False
        self.page_store = MemoryPages() if path is None else None
        self.unclean = bool(self.meta("open"))
        """Whether its last writer was killed, or lost its disk or its power."""
        self.power_lost = self.unclean and restarted_since(self.meta("boot"))
        self.journal = Journal(
            database, None if path is None else path / f"{DATABASE}-wal", self.meta("reserved") or 0
        )
        self.journal.meta("boot", boot())
        self.journal.meta("open", True)

    # -- making and opening --------------------------------------------------------------------

    @classmethod
    def create(cls, path: str | Path | None, config: Mapping[str, Any]) -> Run:
        """A new run. The folder may exist, but may not hold a run already, unless that has come to
        its end without a visit: then the new one takes its place."""
        folder = None if path is None else Path(path)
        lock = database = None
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                lock = _Lock(folder)
            except OSError as error:
                raise InputError(f"{folder}: cannot be made: {error.strerror or error}") from None
        try:
            if folder is None:
                database = sqlite3.connect(
                    ":memory:", isolation_level=None, check_same_thread=False
                )
            else:
                if (folder / DATABASE).exists():
                    if not _is_vain(folder / DATABASE):
                        raise InputError(
                            f"{folder} already holds a run: resume it, or name another folder"
                        )
                    _clear(folder)
                unfinished = folder / f"{DATABASE}.new"
                unfinished.unlink(missing_ok=True)
                database = sqlite3.connect(unfinished, isolation_level=None)
            database.executescript("BEGIN IMMEDIATE;" + SCHEMA)
            values = {"config": dict(config), "created": time.time()}
            database.executemany(
                "INSERT INTO meta VALUES (?, ?)",
                [(key, json.dumps(value)) for key, value in values.items()],
            )
            database.execute(f"PRAGMA user_version = {VERSION}")
            database.execute("COMMIT")
            if folder is not None:  # whole before it has its name: one that is killed leaves no run
                database.close()
                unfinished.replace(folder / DATABASE)
                database = _connected(folder / DATABASE)
            return cls(folder, database, lock)
        except BaseException as error:
            if database is not None:
                database.close()
            if lock is not None:
                lock.release()
            if isinstance(error, (sqlite3.Error, OSError)):
                raise StoreError(f"{folder}: the run cannot be written: {error}") from None
            raise

    @classmethod
    def open(cls, path: str | Path) -> Run:
        """A run that was made before."""
        folder = Path(path)
        if not (folder / DATABASE).is_file():
            raise InputError(f"{folder}: not a run folder (it has no {DATABASE})")
        try:
            lock = _Lock(folder)
        except OSError as error:
            raise InputError(f"{folder}: cannot be written: {error.strerror or error}") from None
        database = None
        try:
            database = _connected(folder / DATABASE)
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version != VERSION:
                raise wrong_version(folder, version)
            check_tables(folder / DATABASE, {name for (name,) in database.execute(TABLES_THERE)})
            return cls(folder, database, lock)
        except BaseException as error:
            if database is not None:
                database.close()
            lock.release()
            if isinstance(error, sqlite3.Error):
                raise InputError(f"{folder / DATABASE}: cannot be read: {error}") from None
            if isinstance(error, (TypeError, ValueError)) and not isinstance(error, InputError):
                raise InputError(f"{folder / DATABASE}: damaged: {error}") from None
            raise

    def declare(self, table: str, columns: str) -> None:
        """Have a further table, made if it is not there; `columns` is its SQL after the name."""
        if not _NAME.fullmatch(table) or table in TABLES:
            raise InputError(f"not a name for a table of a source: {table!r:.100}")
        try:
            self.database.execute(f"CREATE TABLE IF NOT EXISTS {table} {columns}")
            found = self.database.execute(f"SELECT * FROM {table} LIMIT 0").description
        except sqlite3.Error as error:
            raise StoreError(f"the table {table} of the source cannot be made: {error}") from None
        self.journal.declare(table, len(found))

    # -- reading back --------------------------------------------------------------------------

    def declared(self, table: str) -> Iterator[tuple[Any, ...]]:
        """All rows of a table that was declared."""
        if table in TABLES or not _NAME.fullmatch(table):
            raise InputError(f"not a table of a source: {table!r:.100}")
        return iter(self.database.execute(f"SELECT * FROM {table}"))

    def meta(self, key: str) -> Any:
        """What the run says of itself under a key, or ``None``."""
        row = self.database.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    @property
    def config(self) -> dict[str, Any]:
        """The configuration that it was made with."""
        found: dict[str, Any] = self.meta("config")
        return found

    @property
    def requests(self) -> int:
        """What its leases have spent."""
        (found,) = self.database.execute("SELECT sum(requests) FROM leases").fetchone()
        return int(found or 0)

    @property
    def vain(self) -> bool:
        """Whether it has come to its end without a visit."""
        return _came_to_nothing(self.database)

    @property
    def pages(self) -> Path | None:
        """Where its WARC files are."""
        return None if self.path is None else self.path / PAGES

    # -- checkpoints ---------------------------------------------------------------------------

    def checkpoint(self, parts: Mapping[str, Arrays]) -> None:
        """Keep the state of all parts as of this position in the log, from the next commit on. A
        run without a folder is not taken up again, and on a full disk the log alone must do."""
        if self.path is None:
            return
        folder = self.path / CHECKPOINTS
        with suppress(OSError):
            clear_away(folder, positions(self.database)[: KEPT - 1])
            self.journal.checkpoint(write_checkpoint(folder, self.journal.seq, parts), KEPT)

    def checkpoints(self, before: int | None) -> Iterator[tuple[int, dict[str, Arrays]]]:
        """The states that were kept before a position of the log, the latest first, by position."""
        return checkpoints(self.database, self.path, before)

    # -- the end -------------------------------------------------------------------------------

    def close(self) -> None:
        """Write what is pending and let go of the folder. Closing twice does nothing."""
        if self._closed:
            return
        self._closed = True
        try:
            self.journal.meta("open", False)
            self.journal.close()
        finally:
            self._let_go()

    def kept(self) -> MemoryRun:
        """End a run without a folder, and keep what it has."""
        assert self.page_store is not None
        self._closed = True
        self.journal.close()
        return MemoryRun(self.database, self.page_store)

    def _let_go(self) -> None:
        self.database.close()
        if self.page_store is not None:
            self.page_store.close()
        if self._lock is not None:
            self._lock.release()

    def abandon(self) -> None:
        """Let go without writing: what was committed stays, as after a kill."""
        if not self._closed:
            self._closed = True
            self.journal.let_go()
            self._let_go()

    def discard(self) -> None:
        """Let go of a run that never began, and leave nothing of it behind."""
        self.abandon()
        if self.path is None:
            return
        _clear(self.path)
        (self.path / LOCK).unlink(missing_ok=True)
        with suppress(OSError):  # there was something else in it
            self.path.rmdir()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _is_vain(path: Path) -> bool:
    """Whether the database of a run says that it came to nothing."""
    try:
        database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            (version,) = database.execute("PRAGMA user_version").fetchone()
            return version == VERSION and _came_to_nothing(database)
        finally:
            database.close()
    except sqlite3.Error:
        return False


def _came_to_nothing(database: sqlite3.Connection) -> bool:
    stop = database.execute("SELECT value FROM meta WHERE key = 'stop'").fetchone()
    visit = database.execute("SELECT 1 FROM leases WHERE outcome = 'visit' LIMIT 1").fetchone()
    return stop is not None and json.loads(stop[0]) is not None and visit is None


def _clear(folder: Path) -> None:
    """Remove a run from its folder, but for the lock."""
    for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm"):
        (folder / name).unlink(missing_ok=True)
    for name in (CHECKPOINTS, PAGES):
        shutil.rmtree(folder / name, ignore_errors=True)


def _connected(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("PRAGMA wal_autocheckpoint = 4000")
        database.execute("PRAGMA cache_size = -16000")
        database.execute("PRAGMA temp_store = MEMORY")
    except BaseException:
        database.close()
        raise
    return database
