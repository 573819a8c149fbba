"""Ctrl-C and SIGTERM: once to finish what is in flight, twice to end at once."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stoppable(Protocol):
    """What can be stopped in two ways."""

    def stop(self) -> None: ...

    def cut(self) -> None: ...


@contextmanager
def heeding_signals(running: Stoppable, what: str) -> Iterator[None]:
    """Within an event loop; `what` is in flight when the first signal comes."""
    loop = asyncio.get_running_loop()
    pressed = False

    def interrupt() -> None:
        nonlocal pressed
        if pressed:
            running.cut()
            return
        pressed = True
        print(f"finishing {what} in flight (Ctrl-C again to stop at once)", file=sys.stderr)
        running.stop()

    for number in _SIGNALS:
        loop.add_signal_handler(number, interrupt)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
