"""One writer a run: a lock that the system gives back when the process ends, however it ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from sonde.errors import InputError

NAME = "run.lock"


class Lock:
    """Held from construction to ``release``."""

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.read(self._file, 32).decode("ascii", "replace").strip()
            os.close(self._file)
            raise InputError(
                f"{folder}: another process is writing this run"
                + (f" (process {owner})" if owner.isdigit() else "")
            ) from None
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let another process write."""
        os.close(self._file)
