"""Runs that are damaged, or were taken away while they were written: one clear line each."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from aiohttp import web
from crawl_sites import FAST, Site, html, prose, tree

from sonde.cli import main
from sonde.crawling import Crawl
from sonde.errors import StoreError
from sonde.store.reader import DATABASE, RunReader

TABLES = ("meta", "nodes", "log", "leases", "pages", "refused", "checkpoints", "snapshots")
SOURCES_TABLES = ("hosts", "robots")
JSON = [
    ("log", "data"),
    ("meta", "value"),
]


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    folder = tmp_path_factory.mktemp("whole") / "run"
    with Site(tree(60), hosts=2) as site:
        seeds = [site.url("/0", 1), site.url("/0", 2)]
        kept = FAST | {"pages": True, "estimator": "mab:eps=0.5[n,e]"}
        Crawl(seeds, path=folder, budget=25, **kept).run_to_end()
        yield folder, seeds[0]


def said_in_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> int:
    status = main(words)
    said = capsys.readouterr().err.strip().splitlines()
    assert status in (0, 1, 2)
    if status == 2:
        assert len(said) == 1, said
        assert said[0].startswith("sonde: ")
    return status


def commands(folder: Path, url: str, out: Path) -> Iterator[list[str]]:
    yield ["show", str(folder)]
    yield ["show", str(folder), "--json"]
    yield ["explain", str(folder), url]
    yield ["export", str(folder), "--jsonl", str(out / "o.jsonl")]
    yield ["crawl", str(folder), "--resume", "--budget", "+0"]


@pytest.mark.parametrize("table", TABLES + SOURCES_TABLES)
def test_a_run_that_misses_a_table(
    whole_run: tuple[Path, str], tmp_path: Path, capsys: pytest.CaptureFixture[str], table: str
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(whole_run[0], folder)
    with closing(sqlite3.connect(folder / DATABASE)) as database, database:
        database.execute(f"DROP TABLE {table}")
    database.close()
    for words in commands(folder, whole_run[1], tmp_path):
        said_in_one_line(words, capsys)


@pytest.mark.parametrize(("table", "column"), JSON)
@pytest.mark.parametrize("broken", ['{"half', "[]", "7", '"text"', "null", '{"on": [999999]}'])
def test_a_run_whose_json_is_broken(
    whole_run: tuple[Path, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    table: str,
    column: str,
    broken: str,
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(whole_run[0], folder)
    with closing(sqlite3.connect(folder / DATABASE)) as database, database:
        database.execute(f"UPDATE {table} SET {column} = ? WHERE {column} IS NOT NULL", (broken,))
    database.close()
    for words in commands(folder, whole_run[1], tmp_path):
        said_in_one_line(words, capsys)


@pytest.mark.parametrize("part", ["traps", "scorer"])
@pytest.mark.parametrize("state", [b"", b"\xff" * 40, b"{", b"[]"])
def test_a_run_whose_kept_state_is_broken_resumes_or_says_so(
    whole_run: tuple[Path, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    part: str,
    state: bytes,
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(whole_run[0], folder)
    with closing(sqlite3.connect(folder / DATABASE)) as database, database:
        row = (10**6, f"source:{part}", state)
        database.execute("INSERT INTO snapshots VALUES (?, ?, ?)", row)
    database.close()
    said_in_one_line(["crawl", str(folder), "--resume", "--budget", "+0"], capsys)


# -- while it is written -------------------------------------------------------------------------


@pytest.mark.parametrize("replaced", [False, True])
def test_pages_that_are_taken_away_are_missed_at_once(tmp_path: Path, replaced: bool) -> None:
    folder = tmp_path / "run"
    pages = folder / "pages"
    taken: list[bool] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        if len(request.path) == 6 and not taken:
            taken.append(True)
            shutil.rmtree(pages)
            if replaced:
                pages.mkdir()
                (pages / "pages-00001.warc.gz").write_bytes(b"")
        return html(f"{prose(len(request.path))} tide gauge <a href={request.path}x>tide gauge</a>")

    settings = FAST | {"pages": True, "concurrency": 1}
    with Site(answer) as site:
        with pytest.raises(StoreError, match=r"pages-00001.warc.gz was (removed|replaced)"):
            Crawl(site.url("/"), path=folder, budget=20, **settings).run_to_end()
        asked = site.total
        assert asked == 7  # robots.txt and what was asked before it was noticed
        result = Crawl.resume(folder).run_to_end()
        assert (result.stop_reason, site.total) == ("budget", 20)
    with RunReader(folder) as reader:
        places = [place for (place,) in reader.rows("SELECT warc FROM pages ORDER BY lease")]
    assert places[0].startswith("pages-00001")
    assert places[-1].startswith("pages-00002")  # the places of lost pages name nothing else


STARVED = """
import resource, sys
from sonde.cli import main
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[1])))
sys.exit(main(sys.argv[2:]))
"""


def test_a_crawl_without_descriptors_charges_nobody(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with Site(tree(400), hosts=40) as site:
        seeds = [site.url("/0", host) for host in range(1, 41)]
        polite = ["--topic", "tide", "--delay", "0", "--allow-private"]
        words = ["crawl", *seeds, *polite, "--budget", "200", "--concurrency", "40"]
        words += ["-o", str(folder)]
        done = subprocess.run(
            [sys.executable, "-c", STARVED, "30", *words],
            capture_output=True,
            text=True,
            env=dict(os.environ),
        )
        assert done.returncode == 1
        assert done.stderr.strip().splitlines()[-1].startswith("sonde: the limit of 30 open files")
        with closing(sqlite3.connect(folder / DATABASE)) as database, database:
            reasons = database.execute("SELECT DISTINCT reason FROM leases").fetchall()
            spent = database.execute("SELECT sum(requests) FROM leases").fetchone()[0]
            failed = database.execute("SELECT sum(failures) FROM hosts").fetchone()[0]
        database.close()
        assert {reason for (reason,) in reasons} <= {None, "interrupted"}
        assert spent == site.total
        assert not failed
        assert Crawl.resume(folder, concurrency=4).run_to_end().requests == site.total == 200


# -- on the command line -------------------------------------------------------------------------


@pytest.mark.parametrize("place", [0, 2, 4])
def test_bytes_that_are_no_text_are_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], place: int
) -> None:
    words = ["crawl", "https://a.example/", "--topic", "tide", "-o", str(tmp_path / "run")]
    words[place] += os.fsdecode(b"\xff\xe9")
    assert main(words) == 2
    said = capsys.readouterr().err
    assert "not text in UTF-8" in said
    assert said.count("\n") == 1
    assert not (tmp_path / "run").exists()
