"""Work shared among processes, in order and without piling up.

Results come back in the order of the tasks, whatever the number of processes, so that a graph
does not depend on the machine that built it. At most a few tasks for each process wait at a time:
memory is bounded however large the source is.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from typing import TypeVar

from sonde.errors import SondeError

Task = TypeVar("Task")
Result = TypeVar("Result")

WAITING = 3
"""Tasks for each process that may wait or be worked on."""

FEW = 6
"""So many tasks are done here: starting processes would take longer."""


def jobs_from(asked: int | None) -> int:
    """How many processes to use: as asked, or all the cores that this process may use."""
    if asked is not None:
        return asked
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(work: Callable[[Task], Result], tasks: Iterable[Task], jobs: int) -> Iterator[Result]:
    """``work`` of each task, by ``jobs`` processes. ``work`` must be fit for pickling."""
    tasks = iter(tasks)
    first = list(islice(tasks, FEW + 1))
    if jobs < 2 or len(first) <= FEW:
        yield from map(work, chain(first, tasks))
        return
    context = multiprocessing.get_context("spawn")
    waiting: deque[Future[Result]] = deque()
    executor = ProcessPoolExecutor(jobs, context, initializer=_begin)
    try:
        for task in chain(first, tasks):
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
    end_with_parent()


def end_with_parent() -> None:
    """Have this process, a worker, end when the one that started it is gone, even if killed."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, name="watching the parent", daemon=True).start()
