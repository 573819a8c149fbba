"""Ctrl-C and SIGTERM: once to finish what is in flight, twice to end at once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from sonde.system import on_signals


class Stoppable(Protocol):
    """What can be stopped in two ways."""

    def stop(self) -> None: ...

    def cut(self) -> None: ...


@contextmanager
def heeding_signals(running: Stoppable, what: str) -> Iterator[None]:
    """Within an event loop; `what` is in flight when the first signal comes."""
    pressed = False

    def interrupt() -> None:
        nonlocal pressed
        if pressed:
            running.cut()
            return
        pressed = True
        print(f"finishing {what} in flight (Ctrl-C again to stop at once)", file=sys.stderr)
        running.stop()

    with on_signals(interrupt):
        yield
