"""Work for a pool whose parent is killed."""

from __future__ import annotations

import os
import time


def slowly(task: int) -> int:
    """The process that does it."""
    del task
    time.sleep(0.05)
    return os.getpid()
