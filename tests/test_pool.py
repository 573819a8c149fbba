"""The pool: what it gives back, and how it ends."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pool_work import Regretful, bulky, dying, failing, slowly, square, unevenly
from sonde.errors import InputError, SondeError
from sonde.interruption import check, interruptible
from sonde.pool import WAITING, as_finished, cores, in_order


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_come_in_the_order_of_the_tasks(workers: int) -> None:
    assert list(in_order(square, range(20), workers)) == [n * n for n in range(20)]
    assert list(in_order(square, [], workers)) == []
    delays = [0.2, 0.0, 0.1, 0.0, 0.0, 0.05, 0.0]
    assert list(in_order(unevenly, delays, workers)) == delays
    sizes = [1 << 22, 1, 1 << 21, 0]  # larger than any pipe
    assert [len(each) for each in in_order(bulky, sizes, workers)] == sizes


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_come_as_they_are_finished(workers: int) -> None:
    found = list(as_finished(square, range(20), workers))
    assert sorted(found) == [(n, n * n) for n in range(20)]
    assert list(as_finished(square, [], workers)) == []


def test_the_first_to_be_done_comes_first() -> None:
    assert [place for place, _ in as_finished(unevenly, [1.0, 0.0, 0.0], 2)][-1] == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_few_tasks_wait(workers: int) -> None:
    made = 0

    def tasks() -> Iterator[int]:
        nonlocal made
        while made < 100:
            yield made
            made += 1

    for done, _ in enumerate(in_order(square, tasks(), workers)):
        assert made <= done + workers * WAITING


@pytest.mark.parametrize("workers", [1, 2])
def test_what_work_raises_is_raised(workers: int) -> None:
    with pytest.raises(InputError, match="number 0 is wrong"):
        list(in_order(failing, [0], workers))
    with pytest.raises(InputError, match="is wrong"):
        list(as_finished(failing, range(5), workers))


def test_a_worker_that_died_is_told() -> None:
    with pytest.raises(SondeError, match="a worker process died"):
        list(in_order(dying, range(50), 2))
    with pytest.raises(SondeError, match="a worker process died"):
        list(as_finished(dying, range(50), 2))


def test_workers_are_gone_when_nobody_asks_any_more() -> None:
    results = in_order(slowly, itertools.count(), 2)
    worker = next(results)
    results.close()
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def test_there_is_a_core() -> None:
    assert cores() >= 1


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_in_a_finaliser_is_not_lost(workers: int) -> None:
    """What a plain handler loses: Python prints the exception of a ``__del__``, and goes on."""
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def work() -> None:
        with interruptible():
            for result in in_order(square, range(100_000), workers):
                seen.append(result)
                if len(seen) == 5:
                    Regretful()

    with pytest.raises(KeyboardInterrupt):
        work()
    assert len(seen) <= 5 + workers * WAITING  # what was done already
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_is_raised_at_the_end_at_the_latest() -> None:
    done = []

    def work() -> None:
        with interruptible():
            signal.raise_signal(signal.SIGINT)
            done.append(True)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done
    check()  # it is over


def test_an_error_is_not_hidden_by_an_interrupt() -> None:
    def work() -> None:
        with interruptible():
            signal.raise_signal(signal.SIGINT)
            raise InputError("wrong")

    with pytest.raises(InputError):
        work()


def test_where_nobody_hears_signals_nothing_changes() -> None:
    before = signal.getsignal(signal.SIGINT)
    found = []

    def inside() -> None:
        with interruptible():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    assert found == [before]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        inside()
    finally:
        signal.signal(signal.SIGINT, before)
    assert found == [before, signal.SIG_IGN]


@pytest.mark.skipif(os.name != "posix", reason="needs signals of POSIX")
def test_a_second_interrupt_ends_the_process() -> None:
    script = (
        "import signal\n"
        "from sonde.interruption import interruptible\n"
        "with interruptible():\n"
        "    signal.raise_signal(signal.SIGINT)\n"
        "    print('still here', flush=True)\n"
        "    signal.raise_signal(signal.SIGINT)\n"
        "    print('never', flush=True)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.returncode == -signal.SIGINT
    assert ended.stdout == "still here\n"


@pytest.mark.skipif(os.name != "posix", reason="needs processes of POSIX")
def test_workers_end_with_the_process_that_started_them() -> None:
    """Also when it is killed, and cannot tell them."""
    script = (
        "import os, time\n"
        "from sonde.pool import in_order\n"
        "from pool_work import slowly\n"
        "for pid in in_order(slowly, range(100), 2): print(pid, flush=True)\n"
    )
    here = str(Path(__file__).parent)
    path = os.pathsep.join([here, *sys.path])
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": path},
        text=True,
    ) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        parent.kill()
    for _ in range(500):
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{worker}/stat").exists() and ") Z " in Path(
            f"/proc/{worker}/stat"
        ).read_text(encoding="utf-8"):
            return  # ended, and nobody has asked how
        time.sleep(0.02)
    pytest.fail("a worker is still there")
