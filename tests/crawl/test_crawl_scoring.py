"""Scorers that nobody can bound work elsewhere, and are ended when they take too much."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from aiohttp import web
from crawl_sites import FAST, Site, html, prose

from sonde.crawling import Crawl
from sonde.errors import InputError
from sonde.scorers import scorer_from
from sonde.scorers.scoring_process import ProcessScorer, ScoringStopped, prepared
from sonde.sources.page import Page, read_page
from sonde.store.reader import DATABASE

FUNCTIONS = """
import os

def words(page):
    return len(page.content.split())

def anchor(page, link):
    return len(page.context(link))

def where(page):
    return os.getpid()

def odd(page):
    if "endless" in page.url:
        while True:
            pass
    if "huge" in page.url:
        return len(bytearray(64 << 30))
    if "exit" in page.url:
        os._exit(3)
    if "wrong" in page.url:
        return 1 / 0
    if "negative" in page.url:
        return -1.0
    print("noise on standard output")
    return words(page)
"""


@pytest.fixture
def functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "scoring_functions.py").write_text(FUNCTIONS)
    monkeypatch.syspath_prepend(tmp_path)
    yield "scoring_functions"
    sys.modules.pop("scoring_functions", None)


def page(url: str = "http://a.example/") -> Page:
    return read_page(b"<p>one two <a href=/x>three</a> four", url)


def test_a_process_scores_as_the_function_does(functions: str) -> None:
    spec = f"python:{functions}:words,{functions}:anchor"
    here = scorer_from(None, spec).score(page())
    scorer = scorer_from(None, spec, seconds=20.0)
    assert isinstance(scorer, ProcessScorer)
    assert scorer.score(page()) == (here.beta, list(here.alphas))

    async def meanwhile() -> None:
        document = page()
        await prepared(scorer, document)
        assert scorer.score(document) == (here.beta, list(here.alphas))

    asyncio.run(meanwhile())
    scorer.close()


def test_it_is_another_process_unless_one_asks(functions: str) -> None:
    import os

    spec = f"python:{functions}:where"
    assert scorer_from(None, spec).score(page()).beta == os.getpid()
    scorer = scorer_from(None, spec, seconds=20.0)
    first, second = (scorer.score(page()).beta for _ in range(2))
    assert first == second != os.getpid()
    assert isinstance(scorer, ProcessScorer)
    scorer.close()


@pytest.mark.parametrize("what", ["endless", "exit"])
def test_one_that_does_not_come_back_is_ended_and_the_next_is_scored(
    functions: str, what: str
) -> None:
    scorer = ProcessScorer(f"python:{functions}:odd", seconds=0.3)
    assert scorer.score(page()).beta == 4
    with pytest.raises(ScoringStopped):
        scorer.score(page(f"http://a.example/{what}"))
    assert scorer.score(page()).beta == 4
    scorer.close()


def test_memory_has_a_limit(functions: str) -> None:
    scorer = ProcessScorer(f"python:{functions}:odd", seconds=20.0, memory=2 << 30)
    with pytest.raises((RuntimeError, ScoringStopped), match=r"MemoryError|ended its process"):
        scorer.score(page("http://a.example/huge"))
    assert scorer.score(page()).beta == 4
    scorer.close()


def test_what_the_function_raises_is_told(functions: str) -> None:
    scorer = ProcessScorer(f"python:{functions}:odd", seconds=20.0)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        scorer.score(page("http://a.example/wrong"))
    with pytest.raises(InputError, match="scores are finite and >= 0"):
        scorer.score(page("http://a.example/negative"))
    scorer.close()


def test_a_pattern_that_never_ends_keeps_nobody_waiting(tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/trap":
            return html("a" * 60 + "!")
        return html(f"{prose(len(request.path))} tide <a href={request.path}x>tide</a>")

    run = tmp_path / "run"
    with Site(answer, hosts=2) as site:
        result = Crawl(
            [site.url("/trap", 2), site.url("/", 1)],
            path=run,
            budget=14,
            scorer="regex:tide|(a+)+$",
            scorer_seconds=0.5,
            **{name: value for name, value in FAST.items() if name != "topic"},
        ).run_to_end()
        assert (result.visits, result.requests, site.total) == (11, 14, 14)
    with closing(sqlite3.connect(run / DATABASE)) as database, database:
        rows = database.execute(
            "SELECT reason, retry, requests FROM leases WHERE outcome = 'failure'"
        )
        assert rows.fetchall() == [("scorer", 0, 2)]


def test_a_crawl_leaves_no_process_behind(
    functions: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[ProcessScorer] = []
    begin = ProcessScorer._begin

    def noted(scorer: ProcessScorer, home: str) -> None:
        begin(scorer, home)
        begun.append(scorer)

    monkeypatch.setattr(ProcessScorer, "_begin", noted)

    async def answer(request: web.Request) -> web.StreamResponse:
        return html(f"{prose(len(request.path))} <a href={request.path}x>on</a>")

    with Site(answer) as site:
        spec = f"python:{functions}:words"
        Crawl(site.url("/"), path=tmp_path / "run", budget=5, scorer=spec, **FAST).run_to_end()
    assert len(begun) == 1
    assert begun[0]._process is None
