"""Units run over all cores, with one copy of the graph: workers are forks of the process that
holds it, and send back the few numbers that a unit comes to."""

from __future__ import annotations

import multiprocessing
import os
import signal
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed

from sonde.lab.crawls import estimator_of
from sonde.lab.data.pool import end_with_parent
from sonde.lab.progress import Shown
from sonde.lab.units import Columns, Shelf, Unit
from sonde.sources.graph import Graph

_graph: Graph | None = None  # what a forked worker finds in its memory


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(
    graph: Graph,
    units: Sequence[Unit],
    *,
    shelf: Shelf | None = None,
    workers: int | None = None,
    shown: Shown | None = None,
) -> list[Columns]:
    """The results of all units, in their order; finished ones come from the shelf."""
    results: list[Columns | None] = [None] * len(units)
    missing = []
    for place, unit in enumerate(units):
        results[place] = shelf.get(unit) if shelf is not None else None
        if results[place] is None:
            missing.append(place)
        elif shown is not None:
            shown.spare()
    # One of two equal units is enough.
    places: dict[Unit, list[int]] = {}
    for place in missing:
        places.setdefault(units[place], []).append(place)
    for unit, columns in _computed(graph, list(places), workers or cores()):
        if shelf is not None:
            shelf.put(unit, columns)
        for place in places[unit]:
            results[place] = columns
            if shown is not None:
                shown.advance()
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
    others = multiprocessing.active_children()
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), _begin)
    try:
        with warnings.catch_warnings():
            # Arrow's threads sleep while the graph is only read: forking beside them is safe.
            warnings.simplefilter("ignore", DeprecationWarning)
            futures: dict[Future[Columns], Unit] = {
                pool.submit(_run_here, unit): unit for unit in units
            }
        for future in as_completed(futures):
            yield futures[future], future.result()
    except KeyboardInterrupt:
        # A unit may take minutes, and what it would come to is not waited for.
        for worker in multiprocessing.active_children():
            if worker not in others:
                worker.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        _graph = None


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and ends its workers
    end_with_parent()


def _run_here(unit: Unit) -> Columns:
    assert _graph is not None
    return unit.run(_graph)
