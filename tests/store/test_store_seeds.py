"""`sonde seeds run/`: seeds for the next crawl, from what a crawl has seen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from store_runs import make_run, url

from sonde.cli import main
from sonde.seeds.known_graph import known_of
from sonde.store.reader import RunReader


def test_seeds_of_a_run_are_pages_that_it_crawled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run(tmp_path / "run")
    known = known_of(tmp_path / "run")
    assert known.crawled is not None
    assert known.duplicate is not None
    with RunReader(tmp_path / "run") as run:
        visited = {
            address
            for (address,) in run.rows(
                "SELECT url FROM leases JOIN nodes ON nodes.number = node WHERE outcome = 'visit'"
            )
        }
    crawled = {name for name, flag in zip(known.names, known.crawled.tolist(), strict=True) if flag}
    assert crawled == visited
    assert not known.duplicate.any()
    assert main(["seeds", str(tmp_path / "run"), "-k", "2", "--hops", "1", "--json"]) == 0
    seeds = [seed["node"] for seed in json.loads(capsys.readouterr().out)["seeds"]]
    assert set(seeds) <= visited
    assert seeds[0] == url("/")
