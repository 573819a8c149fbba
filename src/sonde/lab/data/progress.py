"""How far a build has come: a bar with an ETA on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

EVERY = 10.0
"""Seconds between two plain lines."""


class Meter(Protocol):
    """Told how much of the source was read, in the source's own (compressed) bytes."""

    def at(self, done: int) -> None: ...


class Silent:
    """Says nothing."""

    def at(self, done: int) -> None:
        del done


class Shown:
    """Says it on standard error."""

    def __init__(self, title: str, total: int, stream: TextIO | None = None) -> None:
        self._title = title
        self._total = max(total, 1)
        self._stream = stream or sys.stderr
        self._begun = self._said = time.monotonic()
        self._bar: Progress | None = None
        if self._stream.isatty():
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                DownloadColumn(),
                TransferSpeedColumn(),
                TimeRemainingColumn(),
                console=Console(file=self._stream),
                transient=True,
            )
            self._task = self._bar.add_task(title, total=self._total)

    def __enter__(self) -> Shown:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def at(self, done: int) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=done)
            return
        now = time.monotonic()
        if now - self._said < EVERY:
            return
        self._said = now
        share = min(1.0, done / self._total)
        left = (now - self._begun) * (1 - share) / share if share else float("inf")
        print(
            f"{self._title}: {done / 1e6:,.0f} of {self._total / 1e6:,.0f} MB read"
            f" ({share:.0%}), about {left:,.0f} s left",
            file=self._stream,
            flush=True,
        )
