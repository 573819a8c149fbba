"""Main text in a crawl: menus count for nothing, first pages are corrected, nothing is lost."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from crawl_sites import FAST, Handler, Site, html, prose

from sonde.crawling import Crawl
from sonde.crawling.setup import resumed_run
from sonde.errors import StoreError
from sonde.scorers.keywords import log_count
from sonde.store.reader import DATABASE, RunReader
from sonde.store.summary import harvest, totals

MENU = "".join(f"<li><a href=/{n}>chapter {n} tide gauge</a></li>" for n in range(1, 6))
PAGES = 40


def menued(request_path: str) -> str:
    """Page n of a book: a menu that says the topic, own text, and every fourth page says it too."""
    number = int(request_path.strip("/") or 0)
    own = f"<p>{prose(number)}</p>"
    if number % 4 == 0:
        own += f"<p>{prose(number + 500, 9)} tide gauge {prose(number + 900, 9)}</p>"
    links = "".join(
        f"<p>{prose(child, 9)} <a href=/{child}>page {child}</a></p>"
        for child in (3 * number + 1, 3 * number + 2, 3 * number + 3)
        if child < PAGES
    )
    return f"<div class=menu><ul>{MENU}</ul></div><div class=text>{own}{links}</div>"


def book() -> Handler:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt":
            return web.Response(status=404)
        return html(menued(request.path), head=f"<title>{request.path}</title>")

    return answer


def scores(folder: Path) -> list[tuple[str, float]]:
    """The pages that were visited, with their scores."""
    with RunReader(folder) as run:
        return list(
            run.rows(
                "SELECT url, score FROM leases JOIN nodes ON nodes.number = leases.node"
                " WHERE outcome = 'visit'"
            )
        )


def told(folder: Path) -> list[tuple[Any, ...]]:
    """All that a run says of its visits, and its log."""
    database = sqlite3.connect(folder / DATABASE)
    rows = database.execute(
        "SELECT url, score, gain, told_score, told_gain, main, targets, scores FROM leases"
        " JOIN nodes ON nodes.number = leases.node LEFT JOIN pages ON pages.lease = leases.number"
        " WHERE outcome = 'visit' ORDER BY leases.number"
    ).fetchall()
    log = database.execute(
        "SELECT kind, node, CASE kind WHEN 'correct' THEN data END FROM log"
        " WHERE kind IN ('settle', 'correct') ORDER BY seq"
    ).fetchall()
    database.close()
    return [*rows, *log]


SETTINGS = FAST | {"concurrency": 1, "budget": 41}


@pytest.mark.parametrize("estimator", ["auto", "bfs", "lnh"])
def test_a_menu_counts_for_nothing_once_its_site_is_known(tmp_path: Path, estimator: str) -> None:
    with Site(book()) as site:
        crawl = Crawl(site.url("/0"), path=tmp_path / "run", **SETTINGS, estimator=estimator)
        result = crawl.run_to_end()
    expected = {f"/{n}": log_count(n % 4 == 0) for n in range(PAGES)}
    assert {f"/{node.rpartition('/')[2]}": score for node, score in scores(tmp_path / "run")} == (
        expected
    )
    database = sqlite3.connect(tmp_path / "run" / DATABASE)
    log = database.execute("SELECT seq, kind, lease, data FROM log ORDER BY seq").fetchall()
    corrected = [row for row in log if row[1] == "correct"]
    tenth = [row for row in log if row[1] == "settle"][9][0]
    assert [row[0] for row in corrected] == list(range(tenth + 1, tenth + 1 + len(corrected)))
    leases = [row[2] for row in corrected]
    assert leases == sorted(set(leases))
    assert 1 in leases  # the first page, whose menu was not known
    assert all(json.loads(row[3])["told"] != json.loads(row[3])["score"] for row in corrected)
    total = sum(expected.values())
    assert result.total == pytest.approx(total)
    with RunReader(tmp_path / "run") as run:
        assert totals(run).value == pytest.approx(total)
        assert harvest(run)[-1].value == pytest.approx(total)


def test_a_run_told_again_has_the_corrected_total_and_the_same_model(tmp_path: Path) -> None:
    with Site(book()) as site:
        settings = SETTINGS | {"budget": 25}
        crawl = Crawl(site.url("/0"), path=tmp_path / "run", **settings)
        result = crawl.run_to_end()
        session = resumed_run(tmp_path / "run", None, {}, None, {})
        try:
            explorer = session.logbook.explorer
            assert explorer.total == result.total
            best = {each.node: each.score for _, _, each in session.meter._best}
            assert len(best) > 3
            assert best.items() <= dict(scores(tmp_path / "run")).items()
        finally:
            asyncio.run(session.hooks.close())
            session.run.close()


@pytest.mark.parametrize("keeps", [{"pages": True}, {"pages": False, "text": True}])
@pytest.mark.parametrize("after", [3, 9, 10, 11, 24])
def test_a_killed_crawl_goes_on_as_one_that_was_not(
    tmp_path: Path, keeps: dict[str, bool], after: int
) -> None:
    settings = SETTINGS | keeps | {"scorer": "bm25"}

    async def killed(crawl: Crawl) -> None:
        """As far as the disk is concerned, a kill: nothing is written after this moment."""
        visits = 0
        async for _ in crawl:
            visits += 1
            if visits == after:
                assert crawl.session is not None
                crawl.session.run.abandon()
                break

    with Site(book()) as site:
        Crawl(site.url("/0"), path=tmp_path / "whole", **settings).run_to_end()
        crawl = Crawl(site.url("/0"), path=tmp_path / "parts", **settings)
        with suppress(sqlite3.ProgrammingError, StoreError):  # there is nothing to write to
            asyncio.run(killed(crawl))
        assert after <= len(scores(tmp_path / "parts")) < 40
        Crawl.resume(tmp_path / "parts", budget=42).run_to_end()
    whole, parts = told(tmp_path / "whole"), told(tmp_path / "parts")
    assert len(whole) > 60
    assert parts[: len(whole)] == whole
