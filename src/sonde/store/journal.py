"""The writing end of a run: rows gather in memory, and go to the database in groups.

A commit costs as much as a page of HTML costs to fetch, so the driver commits once for all that
happened in a few milliseconds. What is not committed has not been said or done: no visit is
reported and no request is sent before the commit that holds it.

Commits go to the kernel at once and to the disk once a second, in the background. What a power cut
could take is therefore the last second: visits (they will be made again) and leases, whose
requests may have left. For these the journal *reserves* requests ahead: a number on the disk that
the requests sent never exceed. After a power cut the difference counts as spent.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sonde.errors import StoreError
from sonde.system import sync_file
from sonde.whole_text import whole

_told = json.JSONEncoder(separators=(",", ":")).encode

_SYNC_EVERY = 1.0
_AHEAD = 64  # requests reserved at the least
_REFUSALS_KNOWN = 200_000

_INSERTS = {
    "nodes": "INSERT INTO nodes VALUES (?, ?, ?, ?, ?)",
    "log": "INSERT INTO log VALUES (?, ?, ?, ?, ?)",
    "leases": "INSERT INTO leases (number, node, arm, chooser, predicted, rank, ready, asked)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    "settled": "UPDATE leases SET outcome = ?, reason = ?, retry = ?, score = ?, gain = ?,"
    " requests = ?, bytes = ?, seconds = ?, settled = ? WHERE number = ?",
    "pages": "INSERT INTO pages (lease, node, final_url, status, media_type, language, title,"
    " sketch, twin, jaccard, containment, digest, etag, modified, rtt, canonical, flags, main,"
    f" text, warc, rendered, targets, scores, places, words) VALUES ({', '.join('?' * 25)})",
    "corrected": "UPDATE leases SET told_score = score, told_gain = gain, score = ?,"
    " gain = coalesce(?, gain) WHERE number = ?",
    "rejudged": "UPDATE pages SET main = ?, text = ? WHERE lease = ?",
    "refused": "INSERT OR IGNORE INTO refused VALUES (?, ?, ?)",
    "records": "INSERT OR IGNORE INTO records VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)",
    "meta": "INSERT OR REPLACE INTO meta VALUES (?, ?)",
    "outdated": "DELETE FROM snapshots WHERE part = ?",
    "snapshots": "INSERT INTO snapshots VALUES (?, ?, ?)",
    "checkpoints": "INSERT INTO checkpoints VALUES (?)",
    "checkpoints_kept": "DELETE FROM checkpoints WHERE log_seq NOT IN"
    " (SELECT log_seq FROM checkpoints ORDER BY 1 DESC LIMIT ?)",
}


_UNBINDABLE = (sqlite3.Error, ValueError, OverflowError)
"""What a value can raise that the database does not take, besides its own errors."""

_LARGEST = 2**63 - 1


def storable(value: Any) -> Any:
    """A value as the database can keep it: text without lone surrogates (bytes of a header that are
    no UTF-8, or escapes in JSON that stand for no character), whole numbers within 64 bits."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, int):
        return min(max(value, -_LARGEST - 1), _LARGEST)
    return value


class Journal:
    """Gathers rows; ``commit`` writes them in one transaction."""

    def __init__(self, database: sqlite3.Connection, wal: Path | None, reserved: int) -> None:
        self._database = database
        self._wal = wal
        self._file = -1
        self._inserts = dict(_INSERTS)
        self._rows: dict[str, list[Sequence[Any]]] = {table: [] for table in _INSERTS}
        self._refused: set[int] = set()
        self.seq: int = database.execute("SELECT coalesce(max(seq), 0) FROM log").fetchone()[0]
        self.dirty = False
        self.sent = 0  # requests that leases were given so far
        self.reserved = reserved  # known to be on the disk
        self.on_sync: Callable[[], None] = lambda: None
        """Called before the database goes to the disk: what it refers to should be there first."""
        self._unsynced: list[Path] = []  # files that must be there first, too
        self._reserving = reserved
        self._synced = time.monotonic()
        self._sent_then = 0
        self._thread: ThreadPoolExecutor | None = None
        self._syncing: Future[None] | None = None

    # -- rows ----------------------------------------------------------------------------------

    def declare(self, table: str, columns: int) -> None:
        """Take rows for a further table, with so many columns; one with the same key replaces."""
        places = ", ".join("?" * columns)
        self._inserts[f"no {table}"] = f"DELETE FROM {table}"
        self._inserts[table] = f"INSERT OR REPLACE INTO {table} VALUES ({places})"
        self._rows.setdefault(f"no {table}", [])
        self._rows.setdefault(table, [])

    def clear(self, table: str) -> None:
        """Take all rows out of a further table."""
        self._rows[table].clear()
        self.add(f"no {table}", ())

    def add(self, table: str, row: Sequence[Any]) -> None:
        """A row for a table (``settled`` completes a row of leases)."""
        self._rows[table].append(row)
        self.dirty = True

    def extend(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Several rows."""
        self._rows[table].extend(rows)
        self.dirty = True

    def log(
        self,
        kind: str,
        lease: int | None = None,
        node: int | None = None,
        data: Any = None,
        text: str | None = None,
    ) -> None:
        """The next row of the log, with data, or with their text where it was made already."""
        self.seq += 1
        if data:
            text = _told(data)
        self._rows["log"].append((self.seq, kind, lease, node, text))
        self.dirty = True

    def meta(self, key: str, value: Any) -> None:
        """What the run says of itself."""
        self.add("meta", (key, json.dumps(value)))

    def snapshot(self, part: str, state: bytes) -> None:
        """The state of a part as of this position in the log, in place of an earlier one."""
        self.add("outdated", (part,))
        # Several within one commit: the last one counts.
        self._rows["snapshots"] = [row for row in self._rows["snapshots"] if row[1] != part]
        self.add("snapshots", (self.seq, part, state))

    def checkpoint(self, path: Path, kept: int) -> None:
        """A file with the state of all parts as of this position in the log, of which the last
        ones are kept."""
        self._unsynced.append(path)
        self.add("checkpoints", (self.seq,))
        self.add("checkpoints_kept", (kept,))

    def refuse(self, url: str, reason: str, lease: int) -> None:
        """A URL that was seen and is not put on the frontier; the first reason stays."""
        key = hash(url)
        if key not in self._refused:
            # Only to spare the database the many repeats: forgetting costs nothing but time.
            if len(self._refused) >= _REFUSALS_KNOWN:
                self._refused.clear()
            self._refused.add(key)
            self.add("refused", (url, reason, lease))

    # -- to the kernel, and to the disk --------------------------------------------------------

    def commit(self) -> None:
        """Write everything that was added, whole or not at all."""
        if not self.dirty:
            return
        now = time.monotonic()
        outrun = self._wal is not None and self.sent > self.reserved
        due = self._wal is not None and now - self._synced >= _SYNC_EVERY
        if outrun or due:
            self._finish_sync(wait=outrun)
            self._reserving = self.sent + max(_AHEAD, 2 * (self.sent - self._sent_then))
            self.meta("reserved", self._reserving)
        self._write()
        if outrun or due:
            self._synced, self._sent_then = now, self.sent
            self._start_sync()
            if outrun:  # nothing may leave on a promise that is not on the disk
                self._finish_sync(wait=True)

    @contextmanager
    def transaction(self, *, durable: bool = False) -> Iterator[None]:
        """For another writer of the run: its statements and the rows gathered so far are one
        transaction, whole or not at all. A durable one is on the disk when it ends; of others a
        power cut may take the last ones."""
        database = self._database
        try:
            if durable:
                self._sync_before()
                database.execute("PRAGMA synchronous = FULL")
            database.execute("BEGIN IMMEDIATE")
            yield
            self._insert()
            database.execute("COMMIT")
        except _UNBINDABLE as error:
            raise StoreError(_explained(error)) from None
        finally:
            if database.in_transaction:
                database.execute("ROLLBACK")
            if durable:
                database.execute("PRAGMA synchronous = NORMAL")
        self._clear()

    def _write(self) -> None:
        database = self._database
        try:
            database.execute("BEGIN IMMEDIATE")
            self._insert()
            database.execute("COMMIT")
        except _UNBINDABLE as error:
            raise StoreError(_explained(error)) from None
        finally:  # whatever was raised: an open transaction would be the end of every later one
            if database.in_transaction:
                database.execute("ROLLBACK")
        self._clear()

    def _insert(self) -> None:
        for table, rows in self._rows.items():
            if not rows:
                continue
            self._database.execute("SAVEPOINT rows")
            try:
                self._database.executemany(self._inserts[table], rows)
            except (UnicodeEncodeError, OverflowError):
                # Servers say what no database takes. It is looked for only where it was met: rows
                # come by the thousand, and one like this hardly ever.
                self._database.execute("ROLLBACK TO rows")
                rows[:] = [tuple(map(storable, row)) for row in rows]
                self._database.executemany(self._inserts[table], rows)
            self._database.execute("RELEASE rows")

    def _clear(self) -> None:
        for rows in self._rows.values():
            rows.clear()
        self.dirty = False

    def _start_sync(self) -> None:
        if self._wal is None or (self._syncing is not None and not self._syncing.done()):
            return
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="sonde-sync")
        if self._file < 0:
            try:
                self._file = os.open(self._wal, os.O_RDWR)
            except OSError as error:
                raise _unwritable(error) from None
        self._syncing = self._thread.submit(self._sync, self._reserving)

    def _sync(self, reserving: int) -> None:
        self._sync_before()
        try:
            while self._unsynced:
                with suppress(FileNotFoundError), self._unsynced.pop().open("r+b") as file:
                    sync_file(file.fileno())  # unless there are later ones already
            sync_file(self._file)
        except OSError as error:
            raise _unwritable(error) from None
        self.reserved = reserving

    def _sync_before(self) -> None:
        """What the database refers to goes to the disk first."""
        try:
            self.on_sync()
        except OSError as error:
            raise _unwritable(error) from None

    def _finish_sync(self, *, wait: bool) -> None:
        if self._syncing is not None and (wait or self._syncing.done()):
            syncing, self._syncing = self._syncing, None
            syncing.result()

    def close(self) -> None:
        """Commit, and wait for the disk."""
        try:
            if self._wal is not None:
                self.meta("reserved", self.sent)
                self._reserving = self.sent
            if self.dirty:
                self._write()
            self._finish_sync(wait=True)
            self._start_sync()
            self._finish_sync(wait=True)
        finally:
            self.let_go()

    def let_go(self) -> None:
        """End the thread and the file without writing anything."""
        if self._thread is not None:
            self._thread.shutdown(wait=True)
            self._thread = None
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _unwritable(error: OSError) -> StoreError:
    return StoreError(f"the run cannot be written: {error.strerror or error}")


def _explained(error: Exception) -> str:
    name = getattr(error, "sqlite_errorname", "")
    if name == "SQLITE_FULL" or name.startswith("SQLITE_IOERR"):
        return (
            "the disk is full, or cannot be written: everything that was reported is safe;"
            " make room and resume"
        )
    return f"the run cannot be written: {error}"
