"""Work shared among processes, in order and without piling up.

Results come back in the order of the tasks, whatever the number of processes, so that a graph
does not depend on the machine that built it. At most a few tasks for each process wait at a time:
memory is bounded however large the source is.

Where Linux allows it, workers are forks of this process, made before the first task is: tasks may
be made by threads, which a fork should not meet. A fork costs milliseconds; a process that has to
import everything anew costs more than parsing 20 MB.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from sonde.errors import SondeError

Task = TypeVar("Task")
Result = TypeVar("Result")

WAITING = 3
"""Tasks for each process that may wait or be worked on."""

SMALL = 1 << 20
"""Bytes of a source, compressed as it is, that are read here: sharing them would take longer."""


def jobs_from(asked: int | None, size: int) -> int:
    """How many processes to use for a source of so many bytes.

    As many as asked, or all the cores that this process may use, but one for little.
    """
    if size < SMALL:
        return 1
    if asked is not None:
        return asked
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(
    work: Callable[[Task], Result], tasks: Iterable[Task], jobs: int
) -> Generator[Result, None, None]:
    """``work`` of each task, by ``jobs`` processes. ``work`` must be fit for pickling."""
    if jobs < 2:
        yield from map(work, tasks)
        return
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    waiting: deque[Future[Result]] = deque()
    executor = ProcessPoolExecutor(jobs, context, initializer=_begin)
    try:
        with warnings.catch_warnings():
            # The threads of libraries sleep, and workers do not call those libraries.
            warnings.simplefilter("ignore", DeprecationWarning)
            executor.submit(int).result()  # the first of all tasks starts the processes
        for task in tasks:
            waiting.append(executor.submit(work, task))
            if len(waiting) >= jobs * WAITING:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise SondeError("a worker process died (out of memory?); try fewer --jobs") from None
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and ends its workers
    gc.set_threshold(100_000)  # what a task makes is nearly all handed back, and has no cycles
    end_with_parent()


def end_with_parent() -> None:
    """Have this process, a worker, end when the one that started it is gone, even if killed."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, name="watching the parent", daemon=True).start()
