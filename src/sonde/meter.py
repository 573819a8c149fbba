"""How far the work has come: a bar with an ETA on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol, TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

EVERY = 10.0
"""Seconds between two plain lines."""


class Meter(Protocol):
    """Told how much is done of what there is to do."""

    def at(self, done: int) -> None: ...


class Silent:
    """Says nothing."""

    def at(self, done: int) -> None:
        del done


class Measure(NamedTuple):
    """What is counted: how a bar shows it, and how a line says it."""

    columns: Callable[[], list[ProgressColumn]]
    words: Callable[[int, int], str]


BYTES = Measure(
    lambda: [DownloadColumn(), TransferSpeedColumn()],
    lambda done, total: f"{done / 1e6:,.0f} of {total / 1e6:,.0f} MB read",
)
"""Of the source, as compressed as it is."""

UNITS = Measure(
    lambda: [MofNCompleteColumn(), TimeElapsedColumn()],
    lambda done, total: f"{done:,} of {total:,}",
)


class Shown:
    """Says it on standard error. Use as a context manager."""

    def __init__(
        self, title: str, total: int, measure: Measure, stream: TextIO | None = None
    ) -> None:
        self._title = title
        self._total = max(total, 1)
        self._measure = measure
        self._stream = stream or sys.stderr
        self._done = 0
        self._begun = self._said = time.monotonic()
        self._bar: Progress | None = None
        if self._stream.isatty():
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                *measure.columns(),
                TimeRemainingColumn(),
                console=Console(file=self._stream),
                transient=True,
                redirect_stdout=False,  # a worker that is forked meanwhile must not be led to it
                redirect_stderr=False,
            )
            self._task = self._bar.add_task(title, total=self._total)

    def __enter__(self) -> Shown:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def at(self, done: int) -> None:
        """So much of the whole is done."""
        self._done = done
        if self._bar is not None:
            self._bar.update(self._task, completed=done)
            return
        now = time.monotonic()
        if now - self._said < EVERY:
            return
        self._said = now
        share = min(1.0, done / self._total)
        left = f", about {clock((now - self._begun) * (1 - share) / share)} left" if share else ""
        print(
            f"{self._title}: {self._measure.words(done, self._total)} ({share:.0%}){left}",
            file=self._stream,
            flush=True,
        )

    def say(self, line: str) -> None:
        """A notice, above the bar."""
        if self._bar is not None:
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            print(line, file=self._stream, flush=True)

    def advance(self) -> None:
        """One more is done."""
        self.at(self._done + 1)

    def spare(self) -> None:
        """One less is to be done: it was done before, and says nothing about the time left."""
        self._total -= 1
        if self._bar is not None:
            self._bar.update(self._task, total=self._total)


def clock(seconds: float) -> str:
    """A duration as people read it: 5:07, or 1:02:00."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
