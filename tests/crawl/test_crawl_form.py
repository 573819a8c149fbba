"""Siphoning a database through its search form: a real search engine with real text."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from crawl_sites import Site
from search_server import Engine, docstrings

from sonde.cli import main
from sonde.crawling import Crawl, Progress
from sonde.errors import InputError

FAST: dict[str, Any] = {"delay": 0, "allow_private": True, "contact": "tests@localhost"}


@pytest.fixture(scope="module")
def text() -> list[tuple[str, str]]:
    return docstrings()


def facts_of(folder: Path) -> dict[str, Any]:
    with closing(sqlite3.connect(folder / "run.sqlite")) as database, database:
        (facts,) = database.execute("SELECT value FROM meta WHERE key = 'facts'").fetchone()
    found: dict[str, Any] = json.loads(facts)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_form_is_found_and_siphoned(
    text: list[tuple[str, str]], tmp_path: Path, method: str
) -> None:
    engine = Engine(text, method=method)
    with Site(engine) as site:
        result = Crawl(
            f"form:{site.url('/')}", seeds=["file"], path=tmp_path / "run", budget=60, **FAST
        ).run_to_end()
    assert (result.stop_reason, result.requests, len(engine.asked)) == ("budget", 60, 60)
    assert engine.asked[:2] == ["/robots.txt", "/"]
    along = {} if method == "get" else {"old": "1"}  # as browsers do
    assert engine.sent[0] == {"lang": "en", "order": "rank", "q": "file", **along}
    rows = result.frame().to_pylist()
    distinct = set()
    with closing(sqlite3.connect(tmp_path / "run" / "run.sqlite")) as database, database:
        for (data,) in database.execute("SELECT data FROM log WHERE kind = 'settle'"):
            distinct |= set(json.loads(data or "{}").get("records", ()))
    assert result.total == len(distinct)
    assert all(record.startswith(site.url("/record/")) for record in distinct)
    assert sum(row["score"] for row in rows) > result.total  # some records came twice
    assert all(row["gain"] <= row["score"] for row in rows)
    assert len(distinct) > 150


def test_alpha_counts_the_word_in_the_results_and_beta_the_results(tmp_path: Path) -> None:
    records = [
        ("one", "tide gauges and tide tables of the harbour"),
        ("two", "a tide table"),
        ("three", "the tide at the harbour"),
        ("four", "nothing of that kind"),
    ]
    engine = Engine(records)
    with Site(engine) as site:
        Crawl(
            f"form:{site.url('/find')}",
            seeds=["Tide"],
            options={"field": "q", "result": "li.hit"},
            path=tmp_path / "run",
            budget=2,
            **FAST,
        ).run_to_end()
        assert main(["export", str(tmp_path / "run"), "--graph", str(tmp_path / "graph")]) == 0
    import pyarrow.parquet as pq

    nodes = pq.read_table(tmp_path / "graph" / "nodes.parquet").to_pylist()
    edges = pq.read_table(tmp_path / "graph" / "edges.parquet").to_pylist()
    assert next(node["score"] for node in nodes if node["node"] == "tide") == 3
    alphas = {edge["target"]: edge["score"] for edge in edges}
    assert alphas == {
        "gauges": 1, "tables": 1, "table": 1, "harbour": 2, "two": 1, "three": 1
    }  # fmt: skip


def test_the_size_is_estimated_as_the_crawl_goes(
    text: list[tuple[str, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    engine = Engine(text[:600])
    seen: list[Progress] = []
    with Site(engine) as site:
        crawl = Crawl(
            f"form:{site.url('/')}", seeds=["file"], path=folder, budget=200, **FAST,
            on_event=lambda event: seen.append(crawl.progress()),  # type: ignore[arg-type]
        )  # fmt: skip
        crawl.run_to_end()
    facts = facts_of(folder)
    assert facts["records"] == crawl.result.total  # type: ignore[union-attr]
    assert facts["siphoned"] == pytest.approx(facts["records"] / facts["database"], abs=0.002)
    # A search engine does not return records alike: the estimate is low rather than high.
    assert 0.75 * engine.size < facts["database"] < 1.1 * engine.size
    during = [progress.facts["records"] for progress in seen if progress.facts]
    assert during == sorted(during)
    assert any("database" in progress.facts for progress in seen)
    assert main(["show", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "siphoned" in out
    assert "keywords" in out


@pytest.mark.slow
def test_killed_and_resumed(text: list[tuple[str, str]], tmp_path: Path) -> None:
    engine = Engine(text)
    folder = tmp_path / "run"
    with Site(engine) as site:
        begin = [
            sys.executable, "-m", "sonde", "crawl", f"form:{site.url('/')}", "string",
            "--budget", "80", "--delay", "0", "--allow-private", "-o", str(folder),
        ]  # fmt: skip
        again = [sys.executable, "-m", "sonde", "crawl", str(folder), "--resume"]
        for command, until in ((begin, 20), (again, 50)):
            process = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            for _ in range(3000):
                if len(engine.asked) >= until or process.poll() is not None:
                    break
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            process.wait()
        subprocess.run(again, check=True, capture_output=True, timeout=60)
    with closing(sqlite3.connect(folder / "run.sqlite")) as database, database:
        (spent,) = database.execute("SELECT sum(requests) FROM leases").fetchone()
        told = database.execute(
            "SELECT json_extract(data, '$.records') FROM log WHERE kind = 'settle'"
        ).fetchall()
        (gains,) = database.execute("SELECT sum(gain) FROM leases").fetchone()
    assert spent == 80
    assert len(engine.asked) <= 80
    assert engine.asked.count("/") <= 2  # form and robots.txt are kept
    assert engine.asked.count("/robots.txt") <= 2
    distinct = {record for (records,) in told if records for record in json.loads(records)}
    assert gains == len(distinct) == facts_of(folder)["records"]


def test_stop_words_and_over_general_words(tmp_path: Path) -> None:
    letters = "abcdefghij"
    records = [
        (f"r{n}", f"the common w{letters[n % 10] * 3} of it, x{letters[n // 10] * 3}")
        for n in range(80)
    ]
    engine = Engine(records, page=10, most_pages=3)
    with Site(engine) as site:
        result = Crawl(
            f"form:{site.url('/')}", seeds=["waaa", "xbbb", "xccc", "wddd", "xeee"],
            path=tmp_path / "run", budget=40, **FAST,
        ).run_to_end()  # fmt: skip
    asked = {fields["q"] for fields in engine.sent}
    assert not asked & {"the", "of", "it"}
    assert "common" not in {row["node"] for row in result.frame().to_pylist()[4:]}
    with closing(sqlite3.connect(tmp_path / "run" / "run.sqlite")) as database, database:
        skipped = dict(
            database.execute(
                "SELECT url, reason FROM leases JOIN nodes ON nodes.number = leases.node"
                " WHERE outcome = 'skip'"
            )
        )
        skipped |= dict(database.execute("SELECT url, reason FROM refused"))
    assert skipped.get("common") == "over-general"


def test_the_rules_of_the_site_are_heeded(tmp_path: Path) -> None:
    engine = Engine([("a", "b")], robots="User-agent: *\nDisallow: /find\n")
    refused = pytest.raises(InputError, match=r"robots\.txt of the site does not allow")
    with Site(engine) as site, refused:
        Crawl(f"form:{site.url('/')}", seeds=["b"], budget=9, **FAST).run_to_end()
    assert not engine.sent
    engine = Engine([("a", "b")])
    with Site(engine) as site, pytest.raises(InputError, match="no search form on this page"):
        Crawl(f"form:{site.url('/find?q=b')}", seeds=["b"], budget=9, **FAST).run_to_end()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["form:ftp://a.example/", "x"], "not the URL of a form"),
        (["form:http://a.example/"], "needs keywords to begin with"),
        (["form:http://a.example/", "x", "--option", "result=li["], "not a CSS selector"),
        (["form:http://a.example/", "x", "--option", "method=put"], "get or post"),
        (["form:http://a.example/", "x", "--option", "method=post"], "which field"),
        (["form:http://a.example/", "x", "--option", "general=2"], "between 0 and 1"),
        (["form:http://a.example/", "x", "--option", "pages=0"], "1 or more"),
        (["form:http://a.example/", "x", "--option", "pages=few"], "must be int"),
        (["form:http://a.example/", "x", "--scorer", "bm25"], "scorer says nothing"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["crawl", *words, "--budget", "3", "-o", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()
