"""The cap: what a user lets agents spend, over all calls, runs, restarts and kills.

Before a run may spend, what it may spend at most is *granted*: written to the disk, and taken off
what is left. When the run has stopped it is *settled*: what it did spend counts, the rest is there
again. A grant that was open when the process died stays taken until somebody has read from the run
what was spent.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from sonde.errors import InputError, StoreError
from sonde.system import take_lock

DATABASE = "cap.sqlite"
LOCK = "cap.lock"

_TABLE = """
CREATE TABLE IF NOT EXISTS runs (
    name TEXT PRIMARY KEY,
    spent INTEGER NOT NULL,     -- requests, as of when it was last settled
    granted INTEGER NOT NULL    -- requests that it may spend besides; 0 when it is settled
) WITHOUT ROWID
"""


class Cap:
    """The books of one folder of runs. One process has them at a time."""

    def __init__(self, folder: Path, limit: int, per_call: int) -> None:
        if limit < 0 or per_call < 1:
            raise InputError("a cap is 0 requests or more, and 1 or more a call")
        self.limit = limit
        self.per_call = per_call
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise InputError(f"{folder}: cannot be made: {error.strerror or error}") from None
        if not take_lock(self._lock):
            os.close(self._lock)
            raise InputError(f"{folder}: another process serves this folder")
        self._database = sqlite3.connect(folder / DATABASE, isolation_level=None)
        self._database.execute("PRAGMA synchronous = FULL")
        self._database.execute(_TABLE)

    @property
    def taken(self) -> int:
        """What is spent, or granted and not yet settled."""
        found = self._database.execute("SELECT total(spent + granted) FROM runs").fetchone()
        return int(found[0])

    @property
    def left(self) -> int:
        """What can still be granted."""
        return max(0, self.limit - self.taken)

    def names(self) -> list[str]:
        """All runs, in order."""
        return [name for (name,) in self._database.execute("SELECT name FROM runs ORDER BY name")]

    def unsettled(self) -> list[str]:
        """The runs whose grants are open."""
        found = self._database.execute("SELECT name FROM runs WHERE granted > 0 ORDER BY name")
        return [name for (name,) in found]

    def grant(self, name: str, wanted: int | None) -> int:
        """Let a run spend so much more, or what is left of it; it is on the disk when this
        returns."""
        if wanted is not None and wanted < 1:
            raise InputError(f"a budget is 1 request or more, not {wanted}")
        granted = min(self.per_call if wanted is None else wanted, self.per_call, self.left)
        if granted < 1:
            raise InputError(
                f"the cap of {self.limit:,} requests is used up: only the user can raise it"
            )
        self._write(
            "INSERT INTO runs VALUES (?, 0, ?) ON CONFLICT (name) DO UPDATE SET"
            " granted = excluded.granted",
            (name, granted),
        )
        return granted

    def settle(self, name: str, spent: int) -> None:
        """A run has stopped, and has spent so much in all."""
        self._write(
            "UPDATE runs SET spent = max(spent, ?), granted = 0 WHERE name = ?", (spent, name)
        )

    def _write(self, statement: str, values: tuple[object, ...]) -> None:
        try:
            self._database.execute(statement, values)
        except sqlite3.Error as error:
            raise StoreError(f"the cap cannot be written: {error}") from None

    def close(self) -> None:
        """Let another process have the books."""
        self._database.close()
        os.close(self._lock)
