"""Work for pools."""

from __future__ import annotations

import os
import signal
import time
from typing import NoReturn

from sonde.errors import InputError


def square(number: int) -> int:
    return number * number


def slowly(task: int) -> int:
    """The process that does it."""
    del task
    time.sleep(0.05)
    return os.getpid()


def unevenly(seconds: float) -> float:
    """Later tasks are done first."""
    time.sleep(seconds)
    return seconds


def bulky(size: int) -> bytes:
    """More than a pipe holds."""
    return bytes(size)


def failing(number: int) -> NoReturn:
    raise InputError(f"number {number} is wrong")


def dying(number: int) -> int:
    """The worker is gone before it has answered, as if the system had killed it."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


class Regretful:
    """Ctrl-C is pressed while it is finalised, where Python drops exceptions."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)
