"""What can be read of a run: totals, spend, ranks, one URL; during a crawl, and when damaged."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_runs import SMALL, Recorder, make_run, url

from sonde.errors import InputError
from sonde.store import summary
from sonde.store.log import pack_words, unpack_words
from sonde.store.reader import DATABASE, RunReader, trace
from sonde.store.run import Run
from sonde.store.schema import VERSION


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "run"
    make_run(path)
    return path


def test_totals(folder: Path) -> None:
    with RunReader(folder) as run:
        totals = summary.totals(run)
        assert run.stop == "budget"
    assert (totals.visits, totals.failures, totals.requests) == (5, 1, 6)
    assert totals.bytes == 5 * 2000 + 100
    assert totals.value == pytest.approx(8.5)
    assert (totals.known, totals.frontier, totals.refused) == (7, 1, 2)
    assert totals.in_flight == totals.skips == totals.interrupted == 0


def test_best_pages_in_order(folder: Path) -> None:
    with RunReader(folder) as run:
        best = summary.best_pages(run, 2)
    assert [(page.url, page.score) for page in best] == [
        (url("/tides/gauge"), 4.0),
        (url("/tides"), 3.0),
    ]


def test_spend_adds_up(folder: Path) -> None:
    with RunReader(folder) as run:
        rows = summary.reasons(run)
        totals = summary.totals(run)
    assert {(row.outcome, row.reason): row.leases for row in rows} == {
        ("visit", ""): 5,
        ("failure", "http-404"): 1,
    }
    assert sum(row.requests for row in rows) == totals.requests
    assert sum(row.bytes for row in rows) == totals.bytes


def test_hosts_bring_value(folder: Path) -> None:
    with RunReader(folder) as run:
        hosts = {row.host: row for row in summary.hosts(run)}
    assert hosts["a.example"].value == pytest.approx(8.0)
    assert hosts["b.example"].value == pytest.approx(0.5)
    assert hosts["a.example"].visits == 3


def test_harvest_grows_to_the_totals(folder: Path) -> None:
    with RunReader(folder) as run:
        curve = summary.harvest(run)
        short = summary.harvest(run, points=2)
    assert [point.requests for point in curve] == [1, 2, 3, 4, 5, 6]
    assert [point.value for point in curve] == sorted(point.value for point in curve)
    assert curve[-1] == short[-1]
    assert curve[-1].visits == 5
    assert curve[-1].value == pytest.approx(8.5)


def test_refusals_flags_and_ranks(tmp_path: Path) -> None:
    make_run(tmp_path / "run", budget=8)
    with RunReader(tmp_path / "run") as run:
        assert summary.refusals(run) == {"robots": 1, "scope": 1}
        assert summary.flags(run) == {"needs-script": 1}
        ranks = summary.ranks(run)
    assert (ranks.picks, ranks.first, ranks.beyond, ranks.mean) == (7, 7, 0, 1.0)


def test_an_empty_run(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "run", 5)
    recorder.close(stop=None)
    with RunReader(tmp_path / "run") as run:
        assert run.stop is None
        assert summary.totals(run).visits == 0
        assert summary.harvest(run) == []
        assert summary.ranks(run).mean is None
        assert summary.hosts(run) == []


def test_reading_does_not_disturb_writing_nor_see_it(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "run", 6)
    assert recorder.step()
    assert recorder.step()
    with RunReader(tmp_path / "run") as before:
        assert summary.totals(before).visits == 2
        assert recorder.step()  # a writer that is read does not wait
        assert summary.totals(before).visits == 2  # one moment, whatever is written since
        with RunReader(tmp_path / "run") as after:
            assert summary.totals(after).visits == 3
            assert after.stop is None
    while recorder.step():
        pass
    recorder.close()
    with RunReader(tmp_path / "run") as run:
        assert summary.totals(run).requests == 6


def test_a_lease_in_flight(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "run", 6)
    lease = recorder.logbook.ask(None)
    assert lease is not None
    recorder.run.journal.commit()
    with RunReader(tmp_path / "run") as run:
        assert summary.totals(run).in_flight == 1
        assert summary.totals(run).frontier == 0
        assert trace(run, url("/")).state == "in flight"
        assert [row.outcome for row in summary.reasons(run)] == ["in flight"]
    recorder.abandon()


def test_a_run_that_was_killed_can_be_read(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "run", 6)
    recorder.step()
    shutil.copytree(tmp_path / "run", tmp_path / "copy")  # as the kill left it, log and all
    recorder.abandon()
    with RunReader(tmp_path / "copy") as run:
        assert summary.totals(run).visits == 1


def test_a_medium_that_cannot_be_written(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(folder, copy)
    copy.chmod(0o555)
    (copy / DATABASE).chmod(0o444)
    try:
        with RunReader(copy) as run:
            assert summary.totals(run).visits == 5
    finally:
        copy.chmod(0o755)


# -- one URL ---------------------------------------------------------------------------------------


def test_a_visited_page(folder: Path) -> None:
    with RunReader(folder) as run:
        found = trace(run, url("/tides"))
    assert (found.state, found.first_seen_on, found.depth) == ("visited", url("/"), 1)
    assert [(parent.url, parent.link_score) for parent in found.parents] == [
        (url("/"), 3.0),  # two links of one page count together
        (url("b/"), 1.5),
    ]
    assert found.attempts[0].outcome == "visit"
    assert found.page is not None
    assert found.page.status == 200


def test_the_other_states(folder: Path) -> None:
    with RunReader(folder) as run:
        states = {
            address: (found.state, found.reason)
            for address in (
                url("/gone"),
                url("/news"),
                "http://c.example/",
                "http://a.example/private",
                url("b/home"),
                "http://nowhere.example/",
            )
            for found in [trace(run, address)]
        }
    assert states == {
        url("/gone"): ("failed", "http-404"),
        url("/news"): ("frontier", ""),
        "http://c.example/": ("refused", "scope"),
        "http://a.example/private": ("refused", "robots"),
        url("b/home"): ("redirect", ""),
        "http://nowhere.example/": ("unknown", ""),
    }


def test_parents_are_not_found_across_two_numbers(tmp_path: Path) -> None:
    # Bytes of neighbouring numbers may spell a third one: 256 and 0 hold the bytes of 1.
    pages = {"/": (1.0, [(f"/{number}", 0.0) for number in range(300)])}
    pages |= {f"/{number}": (0.0, [("/255", 1.0), ("/", 0.0)]) for number in range(300)}
    make_run(tmp_path / "run", budget=10, web=type(SMALL)(pages))
    with RunReader(tmp_path / "run") as run:
        (one,) = run.one("SELECT url FROM nodes WHERE number = 1") or ("",)
        assert [parent.url for parent in trace(run, one).parents] == [url("/")]


# -- what is no run --------------------------------------------------------------------------------


def test_not_a_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        RunReader(tmp_path / "nowhere")
    with pytest.raises(InputError, match="not a run folder"):
        RunReader(tmp_path)
    (tmp_path / DATABASE).write_bytes(b"")
    with pytest.raises(InputError, match="not the database of a run"):
        RunReader(tmp_path)
    (tmp_path / DATABASE).write_bytes(b"certainly not a database" * 100)
    with pytest.raises(InputError, match="cannot be read"):
        RunReader(tmp_path)


def test_a_newer_version(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "run")
    with closing(sqlite3.connect(tmp_path / "run" / DATABASE)) as database, database:
        database.execute(f"PRAGMA user_version = {VERSION + 1}")
    database.close()
    with pytest.raises(InputError, match="newer sonde"):
        RunReader(tmp_path / "run")


def test_a_damaged_database_is_said_to_be_one(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "run")
    path = tmp_path / "run" / DATABASE
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(InputError, match="cannot be read"), RunReader(tmp_path / "run") as run:
        summary.totals(run)


def test_an_older_version(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "run")
    with closing(sqlite3.connect(tmp_path / "run" / DATABASE)) as database, database:
        database.execute(f"PRAGMA user_version = {VERSION - 1}")
    database.close()
    with pytest.raises(InputError, match="an older sonde"):
        RunReader(tmp_path / "run")
    with pytest.raises(InputError, match="an older sonde"):
        Run.open(tmp_path / "run")


@given(st.lists(st.lists(st.binary(min_size=2, max_size=2), max_size=4).map(b"".join), max_size=6))
def test_words_are_read_back_as_they_were_packed(words: list[bytes]) -> None:
    packed = pack_words(words)
    assert unpack_words(packed, len(words)) == words
    assert (packed is None) == (not any(words))
