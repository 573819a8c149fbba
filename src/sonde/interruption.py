"""Ctrl-C (SIGINT) while long work goes on: heard at safe points, and never lost.

Python raises ``KeyboardInterrupt`` wherever the main thread happens to be. Where that is a
finaliser (``__del__``, the callback of a weak reference), the exception is printed and dropped, and
the work goes on as if nobody had pressed anything. So within ``interruptible`` the signal raises
nothing: it sets a flag, and ends the worker processes that were named to it. ``check`` raises, at
the places where the work calls it, and so does leaving ``interruptible``. A second signal ends the
process there and then.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class _Interruption:
    """The handler of the signal, as long as one piece of long work lasts."""

    def __init__(self) -> None:
        self.pressed = False
        self.endings: list[Callable[[], None]] = []
        self._process = os.getpid()

    def __call__(self, number: int, frame: object) -> None:
        if os.getpid() != self._process:
            os._exit(1)  # a worker that was forked just now
        if self.pressed:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        self.pressed = True
        for end in self.endings:
            end()


_current: _Interruption | None = None  # signals belong to the process, and so does this


@contextmanager
def interruptible() -> Iterator[None]:
    """Have SIGINT heard at safe points only, from here to the end; no more than that outside the
    main thread, which gets no signals, and where SIGINT is ignored."""
    global _current
    heard = signal.getsignal(signal.SIGINT) not in (signal.SIG_IGN, None)
    if _current is not None or not heard or threading.current_thread() != threading.main_thread():
        yield
        return
    _current = interruption = _Interruption()
    before = signal.signal(signal.SIGINT, interruption)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        _current = None
    if interruption.pressed:
        raise KeyboardInterrupt


def check() -> None:
    """A safe point: raise ``KeyboardInterrupt`` if Ctrl-C was pressed."""
    if _current is not None and _current.pressed:
        raise KeyboardInterrupt


@contextmanager
def ended_by_interrupt(end: Callable[[], None]) -> Iterator[None]:
    """Have `end` called as soon as Ctrl-C is pressed, wherever the work is; it must not raise."""
    endings = [] if _current is None else _current.endings
    endings.append(end)
    try:
        yield
    finally:
        endings.remove(end)
