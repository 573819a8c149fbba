"""Worker processes: the one pool of experiments, builders of data sets and the choice of seeds.

Workers are forks of this process on Linux, and start from scratch elsewhere. A fork costs
milliseconds, where a process that has to import everything anew costs more than parsing 20 MB; and
it shares what this process holds: a graph stands in memory once, however many crawl it. Forking is
safe here because the pool has no threads of its own, forks before it asks for the first task (which
may be made by threads), and because the threads that libraries keep sleep at that time and their
libraries are not called by workers. On other systems they do not always sleep.

Whatever all tasks need is part of ``work``, and is handed over once, when a worker starts.

Each worker has a pipe of its own. So a worker can be killed at any moment, in the middle of a
result even, and this process learns of it as the end of the pipe: that is how Ctrl-C ends work at
once (``sonde.interruption``), and how it is seen that a worker ran out of memory.
``concurrent.futures`` has one pipe for the results of all workers, and waits for the rest of the
message of a worker that was killed.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, NoReturn, TypeVar

from sonde.errors import SondeError
from sonde.interruption import check, ended_by_interrupt

Task = TypeVar("Task")
Result = TypeVar("Result")

WAITING = 3
"""Tasks for each worker that may be worked on, or wait for their turn to be handed out."""


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def as_finished(
    work: Callable[[Task], Result], tasks: Sequence[Task], workers: int | None = None
) -> Generator[tuple[int, Result], None, None]:
    """``work`` of each task as soon as it is done, with the place of the task; by all cores, or so
    many workers.

    The tasks are handed over when a worker starts: they may be large, unlike the results.
    """
    workers = min(cores() if workers is None else workers, len(tasks))
    if workers < 2:
        for place, task in enumerate(tasks):
            check()
            yield place, work(task)
        return
    with _Pool(partial(_work_at, work, tasks), workers) as pool:
        for place in range(len(tasks)):
            while not pool.idle:
                yield pool.take()
            pool.give(place, place)
        while pool.busy:
            yield pool.take()


def _work_at(work: Callable[[Task], Result], tasks: Sequence[Task], place: int) -> Result:
    return work(tasks[place])


def in_order(
    work: Callable[[Task], Result], tasks: Iterable[Task], workers: int
) -> Generator[Result, None, None]:
    """``work`` of each task, in the order of the tasks.

    Tasks are made as they are needed, and few results wait: memory is bounded, however many tasks
    there are. Both go through pipes.
    """
    if workers < 2:
        for task in tasks:
            check()
            yield work(task)
        return
    done: dict[int, Result] = {}
    due = 0
    most = workers * WAITING

    def ready() -> Generator[Result, None, None]:
        nonlocal due
        while due in done:
            due += 1
            yield done.pop(due - 1)

    with _Pool(work, workers) as pool:
        for place, task in enumerate(tasks):
            while not pool.idle or place - due >= most:
                done.update([pool.take()])
                if place - due >= most:
                    yield from ready()
            pool.give(place, task)  # before the results are looked at: nobody is to be idle
            yield from ready()
        while pool.busy:
            done.update([pool.take()])
            yield from ready()


class _Pool(Generic[Task, Result]):
    """Workers, each of them idle or busy with the task of a place. Use as a context manager."""

    def __init__(self, work: Callable[[Task], Result], workers: int) -> None:
        self.idle: list[Connection[Any, Any]] = []
        self.busy: dict[Connection[Any, Any], int] = {}
        self._processes: list[Any] = []
        self._stack = ExitStack()
        self._stack.callback(self._end)
        self._stack.enter_context(ended_by_interrupt(self._kill))
        context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        with warnings.catch_warnings():
            # Python warns of threads at a fork: see above.
            warnings.simplefilter("ignore", DeprecationWarning)
            for _ in range(workers):
                ours, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(work, theirs), daemon=True)
                process.start()
                self._processes.append(process)
                self.idle.append(ours)
                theirs.close()  # so that the pipe ends with the worker

    def __enter__(self) -> _Pool[Task, Result]:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def give(self, place: int, task: Task) -> None:
        """Hand a task to a worker that is idle."""
        check()
        worker = self.idle.pop()
        try:
            worker.send(task)
        except OSError:
            self._died()
        self.busy[worker] = place

    def take(self) -> tuple[int, Result]:
        """Wait for a result; what a worker raised is raised here."""
        check()
        worker: Any = wait(list(self.busy))[0]
        try:
            failed, result = worker.recv()
        except (EOFError, OSError):
            self._died()
        self.idle.append(worker)
        if failed:
            raise result
        return self.busy.pop(worker), result

    def _died(self) -> NoReturn:
        check()
        raise SondeError("a worker process died (out of memory?); try fewer processes") from None

    def _kill(self) -> None:
        # They hold nothing that is not held here, and do not have to be asked.
        for process in self._processes:
            process.kill()

    def _end(self) -> None:
        self._kill()
        for process in self._processes:
            process.join()
        for worker in (*self.idle, *self.busy):
            worker.close()


def _serve(work: Callable[[Task], Result], tasks: Connection[Any, Any]) -> None:
    """The life of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and ends its workers
    gc.set_threshold(100_000)  # what a task makes is nearly all handed back, and has no cycles
    _end_with_parent()
    with suppress(EOFError, ConnectionError):  # the parent is gone
        while True:
            task = tasks.recv()
            try:
                answer: tuple[bool, Any] = False, work(task)
            except Exception as error:
                error.add_note(f"in a worker process:\n{traceback.format_exc()}")
                answer = True, error
            tasks.send(answer)


def _end_with_parent() -> None:
    """Have this process end when the one that started it is gone, even if that was killed."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, name="watching the parent", daemon=True).start()
