"""A run told again: from its start or from a checkpoint, to resume it or to explain it, alike."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from store_runs import Recorder, Web, told_again, url

from sonde.budgets import Budget
from sonde.cli import main
from sonde.crawling import Crawl, Interview, logbook
from sonde.crawling.logbook import Logbook
from sonde.crawling.progress import ProgressMeter
from sonde.crawling.retelling import explorer_of_run, moments, visits_of
from sonde.crawling.setup import resumed_run
from sonde.errors import InputError
from sonde.explorer import Explorer
from sonde.protocols import VisitAllowance
from sonde.records import Failure, Lease, Link, Node, Outcome, Spend, Visit
from sonde.store import run as run_module
from sonde.store.forgetting import forget
from sonde.store.log import CHECKPOINTS, KEPT, positions, read_checkpoint, write_checkpoint
from sonde.store.reader import DATABASE, RunReader
from sonde.store.run import Run

ESTIMATORS = ["auto", "lnh", "mab:eps=0.3[n,e,ne]", "hybrid[ne,lnh,20]", "random", "url+lnh"]


def web(pages: int = 120, links: int = 6) -> Web:
    """Pages that link at random, and some that are broken."""
    dice = random.Random(5)
    found: dict[str, Any] = {"/": (1.0, [(f"/{n}", n / 4) for n in range(5)])}
    for number in range(pages):
        targets = [
            (f"{'b' if other % 3 else ''}/{other}", other % 4 / 2)
            for other in (dice.randrange(pages) for _ in range(links))
        ]
        found[f"/{number}"] = found[f"b/{number}"] = (number % 5 / 2, targets)
    broken = frozenset(f"/{number}" for number in range(0, pages, 17))
    return Web({path: page for path, page in found.items() if path not in broken}, broken)


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint every 15 visits."""
    monkeypatch.setattr(logbook, "CHECKPOINT_EVERY", 15)
    monkeypatch.setattr(logbook, "_GROWN_BY", 10**9)


def made(folder: Path, **settings: Any) -> Recorder:
    """A finished run of 80 requests, with the recorder that made it."""
    recorder = Recorder(folder, 80, web(), "nothing", **settings)
    while recorder.step():
        pass
    recorder.close()
    return recorder


def state(explorer: Explorer) -> object:
    """All that can be seen of an explorer, and what it would pick next."""
    driver = explorer.driver
    account = (driver.account.spent, driver.account.held, driver.account.budget)
    seen = (explorer.total, explorer.visits, driver.known, explorer.frontier_size, driver.dice)
    driver.account.budget = Budget()
    return seen, account, [(lease.node, lease.predicted) for lease in explorer.ask(30)]


def without_checkpoints(folder: Path) -> None:
    for path in (folder / CHECKPOINTS).iterdir():
        path.unlink()


# -- the same state --------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_from_a_checkpoint_and_from_the_start_alike(tmp_path: Path, estimator: str) -> None:
    recorder = made(tmp_path / "run", estimator=estimator)
    with RunReader(tmp_path / "run") as run:
        assert len(positions(run.database)) == KEPT
        nearest, heard = told_again(run, from_start=False)
        whole, all_heard = told_again(run)
    assert 0 < len(heard) < len(all_heard) / 3
    told = [(entry.seq, entry.kind, entry.lease, entry.targets) for entry in all_heard]
    assert [(e.seq, e.kind, e.lease, e.targets) for e in heard] == told[-len(heard) :]
    assert state(nearest) == state(whole) == state(recorder.explorer)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_what_was_thought_is_the_end_of_what_was_thought_in_all(
    tmp_path: Path, estimator: str
) -> None:
    made(tmp_path / "run", estimator=estimator)
    shorter = 0
    with RunReader(tmp_path / "run") as run:
        for entry in told_again(run)[1]:
            if entry.kind != "lease" or entry.number is None:
                continue
            late, since = moments(run, entry.number, before=entry.seq)
            whole, start = moments(run, entry.number, before=entry.seq, from_start=True)
            assert start == 0
            assert late == whole[len(whole) - len(late) :]
            assert len(late) == len(whole) or since > 0
            shorter += len(late) < len(whole)
            lease = entry.lease
            assert lease is not None
            if lease.predicted is not None and lease.arm >= 0:
                assert late[-1].opinions[lease.arm].estimate == lease.predicted
        taken = positions(run.database)
        assert moments(run, 0, before=taken[-1] + 1)[1] > 0
        assert moments(run, 0, before=taken[-1])[1] == 0  # a state is never taken from later
    assert shorter > 0


def test_a_frontier_node_is_explained_from_the_last_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorder = made(tmp_path / "run")
    node = next(
        node
        for node in map(url, recorder.web.pages)
        if recorder.explorer.driver.number_of(node) is not None and recorder.explorer.waits(node)
    )
    run = str(tmp_path / "run")
    assert main(["explain", run, node]) == 0
    short = capsys.readouterr().out
    assert "visits (--from-start: all of it)" in short
    assert main(["explain", run, node, "--from-start"]) == 0
    whole = capsys.readouterr().out
    assert "--from-start" not in whole
    assert short.splitlines()[0] == whole.splitlines()[0]
    assert len(whole) >= len(short) - len(", after 60 visits (--from-start: all of it)")


# -- all parts -------------------------------------------------------------------------------------


class Numbers:
    """A source whose visits follow from the node; some cost two requests, some fail."""

    async def visit(self, node: Node, allowance: VisitAllowance) -> Outcome:
        number = int(str(node))
        if not allowance.take() or (number % 5 == 0 and not allowance.take()):
            return Failure("no budget", retry=True)
        if number % 7 == 6:
            return Failure("gone", retry=number % 2 == 0 and number < 50)
        links = [Link(str(other), other % 3) for other in range(3 * number + 1, 3 * number + 5)]
        return Visit(number % 4, links)


def resumed(folder: Path) -> Iterator[tuple[Logbook, ProgressMeter]]:
    session = resumed_run(folder, Numbers(), {}, None, {})
    try:
        yield session.logbook, session.meter
    finally:
        session.run.abandon()


@pytest.mark.parametrize("harvest_over", [5, 200])
def test_every_part_is_found_again(tmp_path: Path, harvest_over: int) -> None:
    folder = tmp_path / "run"
    settings: dict[str, Any] = {"budget": Budget(120, cost=500.0), "harvest_over": harvest_over}
    crawl = Crawl(Numbers(), seeds=["0", "1"], path=folder, concurrency=3, **settings)
    crawl.run_to_end()
    Crawl.resume(folder, source=Numbers(), budget=150).run_to_end()
    found = []
    for _ in range(2):
        for book, meter in resumed(folder):
            progress = meter.progress(0, {})
            seen = (progress.failures, progress.skips, progress.recent, progress.best)
            books = (book.status, book.depths, book.waiting, list(book.groups()), book.last_lease)
            found.append((seen, books, state(book.explorer)))
        without_checkpoints(folder)
    assert found[0] == found[1]
    assert found[0][0][0] > 0
    assert found[0][2][1][2] == Budget(150, cost=500.0)  # type: ignore[index]


def test_the_limit_that_was_raised_before_a_checkpoint_holds_after_it(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "run", 20, web(), "nothing")
    while recorder.step():
        pass
    recorder.logbook.raise_budget(Budget(requests=60))
    while recorder.step():
        pass
    recorder.close()
    with RunReader(tmp_path / "run") as run:
        explorer, heard = told_again(run, from_start=False)
    assert all(entry.kind != "budget" for entry in heard)
    assert explorer.driver.account.budget == Budget(requests=60)


def test_a_lease_that_a_checkpoint_found_open_is_found_again(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "run", 100, web(), "nothing")
    recorder.step()
    lease = recorder.logbook.ask(None)
    assert lease is not None
    for _ in range(40):
        recorder.step()
    recorder.abandon()
    run = Run.open(tmp_path / "run")
    try:
        with RunReader(tmp_path / "run") as reader:
            book = Logbook(explorer_of_run(reader), run, Spend(requests=1))
        assert book.catch_up() == [lease]
        assert book.explorer.driver.held(lease) == Spend(requests=1)
        book.tell(lease, recorder.outcome(str(lease.node)))
    finally:
        run.abandon()


def test_an_interview_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    def answer(interview: Interview, lease: Lease) -> None:
        number = int(str(lease.node))
        links = [Link(str(other)) for other in range(2 * number + 1, 2 * number + 4)]
        interview.tell(str(lease.node), Visit(number % 3, links))

    with Interview.begin(tmp_path / "run", ["0"], estimator="lnh") as interview:
        for _ in range(40):
            answer(interview, interview.ask()[0])
    with RunReader(tmp_path / "run") as run:
        assert len(positions(run.database)) == KEPT
    with Interview.resume(tmp_path / "run") as interview:
        one = interview.ask(3)
    without_checkpoints(tmp_path / "run")
    with Interview.resume(tmp_path / "run") as interview:
        assert list(interview.waiting.values()) == one


# -- files -----------------------------------------------------------------------------------------


def test_old_checkpoints_are_cleared_away(tmp_path: Path) -> None:
    made(tmp_path / "run")
    with RunReader(tmp_path / "run") as run:
        kept = positions(run.database)
        last = run.count("SELECT max(seq) FROM log")
    files = sorted(int(path.name) for path in (tmp_path / "run" / CHECKPOINTS).iterdir())
    assert files == sorted(kept)
    assert len(files) == KEPT
    assert 0 < files[0] < files[1] < last


@pytest.mark.parametrize("damage", ["gone", "cut", "empty", "no header"])
def test_a_checkpoint_that_cannot_be_read_is_done_without(tmp_path: Path, damage: str) -> None:
    recorder = made(tmp_path / "run")
    with RunReader(tmp_path / "run") as run:
        latest, older = positions(run.database)
    path = tmp_path / "run" / CHECKPOINTS / str(latest)
    whole = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(
            {"cut": whole[: len(whole) // 2], "empty": b"", "no header": b"?\n"}[damage]
        )
    with RunReader(tmp_path / "run") as run:
        assert [seq for seq, _ in run.checkpoints(None)] == [older]
        assert state(told_again(run, from_start=False)[0]) == state(recorder.explorer)


def test_a_file_whose_log_was_not_committed_does_not_count(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "run", 100, web(), "nothing")
    for _ in range(20):
        recorder.step()
    (taken,) = positions(recorder.run.database)
    lease = recorder.logbook.ask(None)
    assert lease is not None
    captured = recorder.logbook.parts.captured()
    assert captured is not None
    recorder.run.checkpoint(captured)  # and then the process is killed
    recorder.abandon()
    files = {path.name for path in (tmp_path / "run" / CHECKPOINTS).iterdir()}
    assert len(files) == 2
    with RunReader(tmp_path / "run") as run:
        assert [seq for seq, _ in run.checkpoints(None)] == [taken]


def test_a_disk_that_is_full_costs_the_checkpoint_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*told: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(run_module, "write_checkpoint", full)
    recorder = made(tmp_path / "run")
    with RunReader(tmp_path / "run") as run:
        assert positions(run.database) == []
        assert state(told_again(run, from_start=False)[0]) == state(recorder.explorer)


def test_a_run_without_a_folder_keeps_none() -> None:
    crawl = Crawl(Numbers(), seeds=["0"], budget=60)
    crawl.run_to_end()
    assert crawl.session is not None
    assert crawl.session.logbook.explorer.visits > 20


def test_an_objective_of_ones_own_cannot_be_captured(tmp_path: Path) -> None:
    class Mine:
        def gain(self, node: Node, visit: Visit) -> float:
            return visit.score

        def add(self, node: Node, visit: Visit) -> None:
            pass

    crawl = Crawl(Numbers(), seeds=["0"], path=tmp_path / "run", budget=60, objective=Mine())
    total = crawl.run_to_end().total
    assert not (tmp_path / "run" / CHECKPOINTS).exists()
    again = Crawl.resume(tmp_path / "run", source=Numbers(), objective=Mine())
    assert again.run_to_end().total == total


def test_arrays_come_back_as_they_were(tmp_path: Path) -> None:
    with RunReader(made(tmp_path / "run").run.path or tmp_path) as run:
        (seq, parts), *_ = run.checkpoints(None)
    write_checkpoint(tmp_path / "copy", seq, parts)
    again = read_checkpoint(tmp_path / "copy", seq)
    assert again is not None
    assert set(again) == set(parts) == {"explorer", "logbook"}
    for part, arrays in parts.items():
        assert list(again[part]) == list(arrays)
        for name, values in arrays.items():
            other = again[part][name]
            assert (other.dtype, other.shape) == (values.dtype, values.shape)
            assert other.tobytes() == values.tobytes()


# -- forgetting ------------------------------------------------------------------------------------


def test_forgetting_leaves_no_checkpoint_behind(tmp_path: Path) -> None:
    recorder = made(tmp_path / "run")
    node = next(node for node in map(url, recorder.web.pages) if recorder.explorer.waits(node))
    forget(tmp_path / "run", node)
    assert list((tmp_path / "run" / CHECKPOINTS).iterdir()) == []
    with RunReader(tmp_path / "run") as run:
        assert positions(run.database) == []
        explorer, _ = told_again(run, from_start=False)
    assert explorer.visits == recorder.explorer.visits
    assert not explorer.waits(node)


def test_visits_are_told_in_the_order_of_the_log(tmp_path: Path) -> None:
    recorder = made(tmp_path / "run")
    with RunReader(tmp_path / "run") as run:
        told = list(visits_of(run.database))
        leases = run.rows(
            "SELECT url FROM leases JOIN nodes ON nodes.number = node WHERE outcome = 'visit'"
            " ORDER BY leases.number"
        )
        assert [node for node, _ in told] == [name for (name,) in leases]
    for node, visit in told:
        told_then = recorder.outcome(str(node))
        assert isinstance(told_then, Visit)
        assert visit.score == told_then.score
        assert [link.target for link in visit.links] == [link.target for link in told_then.links]
        assert [link.score for link in visit.links] == [link.score for link in told_then.links]


def test_a_damaged_log_is_said_to_be_one(tmp_path: Path) -> None:
    made(tmp_path / "run")
    database = sqlite3.connect(tmp_path / "run" / DATABASE)
    database.execute("ALTER TABLE leases DROP COLUMN chooser")
    database.commit()
    database.close()
    with RunReader(tmp_path / "run") as run, pytest.raises(InputError, match="cannot be read"):
        moments(run, 3)
