"""No trap takes a twentieth of the budget, and what is left out can be had all the same."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from crawl_sites import FAST, Site, html, prose
from trap_sites import GOOD, TOPIC, TRAPS, World

from sonde.cli import main
from sonde.crawling import Crawl

BUDGET = 1_200


def asked(site: Site) -> set[str]:
    return {path for path in site.counts if path != "/robots.txt"}


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_takes_less_than_a_twentieth(name: str) -> None:
    world = World(TRAPS[name], lambda: site.port)
    with Site(world.answer, hosts=world.hosts) as site:
        seeds = [site.url("/", host + 1) for host in range(GOOD)]
        settings: dict[str, Any] = FAST | {"topic": TOPIC, "per_host": 4, "scope": "web"}
        result = Crawl(seeds, budget=BUDGET, **settings).run_to_end()
    assert result.requests == BUDGET
    assert world.spent < BUDGET / 20, f"{world.spent} of {BUDGET} requests"


def thin(pages: int) -> Any:
    """Pages of one shape behind a long menu, each with a few words of its own."""
    menu = f"<div>{prose(-1, 900)}</div>"

    async def answer(request: web.Request) -> web.StreamResponse:
        if not request.path.startswith("/item"):
            links = "".join(f"<a href=/item/{number}>item</a> " for number in range(pages))
            return html(f"{menu}{links}")
        return html(f"{menu}<p>{prose(int(request.path.rpartition('/')[2]), 20)}</p>")

    return answer


def test_pages_behind_a_long_menu_are_no_trap() -> None:
    with Site(thin(200)) as site:
        result = Crawl(site.url("/"), budget=300, **FAST).run_to_end()
        assert result.stop_reason == "frontier"
        assert len(asked(site)) == 201


def calendar(request: web.Request) -> web.Response:
    number = int(request.path.strip("/").rpartition("/")[2] or 0)
    links = "".join(f"<a href=/month/{number + step}>later</a>" for step in range(1, 9))
    return html(f"<p>there are no events in this month, come back for more {number}</p>{links}")


async def months(request: web.Request) -> web.StreamResponse:
    return web.Response(status=404) if request.path == "/robots.txt" else calendar(request)


def test_traps_can_be_switched_off_and_patterns_allowed() -> None:
    spent = {}
    for told in ({}, {"traps": "off"}, {"allow": ["/month/*"]}):
        with Site(months) as site:
            result = Crawl(site.url("/"), budget=200, **(FAST | told)).run_to_end()
            spent[str(told)] = result.requests
    assert spent["{}"] < 60
    assert spent["{'traps': 'off'}"] == spent["{'allow': ['/month/*']}"] == 200


def test_what_was_left_out_is_told_and_can_be_taken_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    with Site(months) as site:
        polite = ["--delay", "0", "--allow-private", "--topic", "tide"]
        assert main(["crawl", site.url("/"), *polite, "--budget", "200", "-o", str(run)]) == 0
        last = capsys.readouterr().err.strip().splitlines()[-1]
        database = sqlite3.connect(run / "run.sqlite")
        (left,) = database.execute(
            "SELECT (SELECT count(*) FROM refused WHERE reason = 'trap')"
            " + (SELECT count(*) FROM leases WHERE outcome = 'skip' AND reason = 'trap')"
        ).fetchone()
        database.close()
        assert left > 0
        assert f"{left:,} URL" in last
        assert "/month/*" in last
        assert f"sonde crawl {run} --resume --traps off" in last
        before = site.total
        assert before < 100
        assert main(["crawl", str(run), "--resume", "--traps", "off"]) == 0
        assert site.total == 200
        # What was taken up is in the log: a run told again is where it was.
        assert main(["crawl", str(run), "--resume", "--budget", "+3"]) == 0
        assert site.total <= 203


ALIKE = prose(9, 300)


@pytest.mark.parametrize(
    ("duplicates", "score", "follows"),
    [("score", 1.0, True), ("zero", 0.0, True), ("skip", 0.0, False)],
)
def test_what_a_page_counts_that_nearly_repeats_another(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    duplicates: str,
    score: float,
    follows: bool,
) -> None:
    answers = {
        "/": prose(1) + "<a href=/one>1</a>",
        "/one": f"tide gauge {ALIKE} <a href=/two>2</a>",
        "/two": f"tide gauge {ALIKE} again <a href=/three>3</a>",
        "/three": prose(3),
    }

    async def answer(request: web.Request) -> web.StreamResponse:
        return html(answers[request.path]) if request.path in answers else web.Response(status=404)

    run = tmp_path / "run"
    with Site(answer) as site:
        settings = FAST | {"concurrency": 1, "duplicates": duplicates}
        result = Crawl(site.url("/"), path=run, budget=20, **settings).run_to_end()
        scores = {str(row["node"]).rpartition("/")[2]: row["score"] for row in result.best(9)}
        assert scores["one"] == 1.0
        assert scores["two"] == score
        assert ("three" in scores) is follows
        assert main(["explain", str(run), site.url("/two")]) == 0
        told = capsys.readouterr().out
        assert f"nearly the same main text as {site.url('/one')}" in told
        assert "they share 0.99" in told
