"""Units run over all cores, with one copy of the graph: workers are forks of the process that
holds it, and send back the few numbers that a unit comes to."""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed

from sonde.lab.crawls import estimator_of
from sonde.lab.units import Columns, Shelf, Unit
from sonde.sources.graph import Graph

_graph: Graph | None = None  # what a forked worker finds in its memory


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Progress:
    """Units done and the time that the rest may take, on standard error."""

    def __init__(self, what: str, total: int, every: float = 5.0) -> None:
        self.what = what
        self.total = total
        self.done = 0
        self.read = 0
        self.start = self.said = time.monotonic()
        self.live = sys.stderr.isatty()
        self.every = 0.2 if self.live else every

    def advance(self, from_file: bool = False) -> None:
        """One more unit is there."""
        self.done += 1
        self.read += from_file
        now = time.monotonic()
        if now - self.said < self.every and self.done < self.total:
            return
        self.said = now
        line = f"{self.what}: {self.done:,} of {self.total:,}"
        run = self.done - self.read
        if run and self.done < self.total:
            left = (now - self.start) / run * (self.total - self.done)
            line += f", about {_clock(left)} left"
        elif self.done == self.total:
            line += f" in {_clock(now - self.start)}"
            line += f", {self.read:,} of them from files" if self.read else ""
        end = "\n" if not self.live or self.done == self.total else ""
        print(f"\r\x1b[K{line}" if self.live else line, file=sys.stderr, end=end, flush=True)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def run(
    graph: Graph,
    units: Sequence[Unit],
    *,
    shelf: Shelf | None = None,
    workers: int | None = None,
    advance: Callable[[bool], None] = lambda from_file: None,
) -> list[Columns]:
    """The results of all units, in their order; finished ones come from the shelf."""
    results: list[Columns | None] = [None] * len(units)
    missing = []
    for place, unit in enumerate(units):
        results[place] = shelf.get(unit) if shelf is not None else None
        if results[place] is None:
            missing.append(place)
        else:
            advance(True)
    # One of two equal units is enough.
    places: dict[Unit, list[int]] = {}
    for place in missing:
        places.setdefault(units[place], []).append(place)
    for unit, columns in _computed(graph, list(places), workers or cores()):
        if shelf is not None:
            shelf.put(unit, columns)
        for place in places[unit]:
            results[place] = columns
            advance(False)
    return [columns for columns in results if columns is not None]


def _computed(graph: Graph, units: Sequence[Unit], workers: int) -> Iterable[tuple[Unit, Columns]]:
    workers = min(workers, len(units))
    if workers <= 1 or "fork" not in multiprocessing.get_all_start_methods():
        return ((unit, unit.run(graph)) for unit in units)
    return _forked(graph, units, workers)


def _forked(graph: Graph, units: Sequence[Unit], workers: int) -> Iterator[tuple[Unit, Columns]]:
    global _graph
    _graph = graph
    if any(estimator_of(unit.crawl.estimator).reads_words() for unit in units):
        _ = graph.link_words  # read once, before the fork
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("fork"))
    try:
        with warnings.catch_warnings():
            # Arrow's threads sleep while the graph is only read: forking beside them is safe.
            warnings.simplefilter("ignore", DeprecationWarning)
            futures: dict[Future[Columns], Unit] = {
                pool.submit(_run_here, unit): unit for unit in units
            }
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        _graph = None


def _run_here(unit: Unit) -> Columns:
    assert _graph is not None
    return unit.run(_graph)
