"""Independent jobs on the cores that this process may use."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")


def available() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def on_cores(
    function: Callable[[Job], Result], jobs: Sequence[Job], workers: int | None = None
) -> list[Result]:
    """The function's result for each job, in the order of the jobs.

    Never more processes than cores, and none at all for a single worker or a single job. The
    processes start from scratch, as forking a process that has threads is not safe.
    """
    count = min(available() if workers is None else workers, available(), len(jobs))
    if count <= 1:
        return [function(job) for job in jobs]
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        return list(pool.map(function, jobs))
