"""Waiting is weighed against asking: value a second, no longer than the user's patience."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from crawl_sites import Site, html, prose

from sonde import Explorer
from sonde.budgets import Budget
from sonde.crawling import Crawl
from sonde.crawling.patience import Patience
from sonde.crawling.source_hooks import NoPace
from sonde.records import Group, Link, Visit


class Soon(NoPace):
    """Says when groups will be ready."""

    def __init__(self, waits: dict[Group, float]) -> None:
        super().__init__()
        self.waits = waits

    def soon(self, waiting: dict[Group, int], within: float) -> dict[Group, float]:
        return {
            group: wait
            for group, wait in self.waits.items()
            if waiting.get(group) and wait <= within
        }


def explored(here: float, there: float, budget: Budget) -> Explorer:
    """An explorer that expects so much of a node of `here` and of one of `there`."""
    explorer = Explorer("e", budget=budget, grouped=True)
    explorer.add_seeds([Link("seed", group="seed")])
    (lease,) = explorer.ask(1)
    links = [Link("a", here, "here"), Link("b", there, "there")]
    explorer.tell(lease, Visit(1.0, links))
    return explorer


@pytest.mark.parametrize(
    ("here", "there", "wait", "waits"),
    [
        (0.0, 1.0, 0.9, True),  # nothing, against something
        (0.0, 1.0, 1.1, False),  # beyond the patience
        (0.0, 0.0, 0.1, False),  # nothing, against nothing
        (1.0, 0.9, 0.1, False),  # what is ready is the best there is
        (1.0, 1.9, 0.1, False),  # 1 in 0.1 s is more than 1.9 in 0.2 s
        (1.0, 2.1, 0.1, True),
        (1.0, 9.9, 0.9, False),
        (1.0, 10.1, 0.9, True),
    ],
)
def test_value_a_second_decides(here: float, there: float, wait: float, waits: bool) -> None:
    explorer = explored(here, there, Budget(requests=100))
    patience = Patience(1.0, explorer, Soon({"there": wait}))
    patience.took(0.1)
    before = explorer.driver.dice, explorer.frontier_size, explorer.left("requests")
    offered = patience.offered(["here"], {"here": 1, "there": 1}, 7.0, 0.1)
    assert offered == (() if waits else ["here"])
    assert (explorer.driver.dice, explorer.frontier_size, explorer.left("requests")) == before
    assert [lease.node for lease in explorer.ask(1, ready=["here"])] == ["a"]


def test_nobody_is_waited_for_longer_than_patience() -> None:
    explorer = explored(0.0, 1.0, Budget(requests=100))
    patience = Patience(1.0, explorer, Soon({"there": 0.5}))
    patience.took(0.1)
    waiting: dict[Group, int] = {"here": 1, "there": 1}
    assert patience.offered(["here"], waiting, 7.0, 0.1) == ()
    assert patience.until() == 8.0
    assert patience.offered(["here"], waiting, 7.9, 0.1) == ()
    assert patience.offered(["here"], waiting, 8.0, 0.1) == ["here"]
    patience.asked()
    assert patience.offered(["here"], waiting, 8.1, 0.1) == ["here"]  # it did not come
    patience.brought("there", 1.0, 1.0)
    assert patience.offered(["here"], waiting, 8.2, 0.1) == ()


def test_nobody_is_waited_for_where_nobody_is_ready() -> None:
    patience = Patience(1.0, explored(0.0, 1.0, Budget(requests=100)), Soon({"there": 0.5}))
    patience.took(0.1)
    assert patience.offered([], {"here": 1, "there": 1}, 7.0, 0.1) == []
    assert patience.until() == math.inf


@pytest.mark.parametrize(
    ("budget", "waits"),
    [
        (Budget(requests=100), True),
        (Budget(seconds=100.0), False),
        (Budget(requests=100, seconds=100.0), True),
        (Budget(requests=100, seconds=5.0), False),  # it could not spend them all
    ],
)
def test_who_has_more_requests_than_time_does_not_wait(budget: Budget, waits: bool) -> None:
    patience = Patience(1.0, explored(0.0, 1.0, budget), Soon({"there": 0.5}))
    patience.took(0.1)
    offered = patience.offered(["here"], {"here": 1, "there": 1}, 7.0, 0.1)
    assert offered == (() if waits else ["here"])


def test_a_group_that_keeps_no_promise_is_offered_last() -> None:
    patience = Patience(1.0, explored(2.0, 1.0, Budget(requests=100)), Soon({}))
    patience.took(0.1)
    waiting: dict[Group, int] = {"here": 1, "there": 1}
    for _ in range(20):
        patience.brought("here", 2.0, 0.0)
        patience.brought("there", 1.0, 1.5)
    assert patience.kept("here") < 0.25 < 1.0 < patience.kept("there")
    assert patience.offered(None, waiting, 7.0, 0.1) == ["there"]
    assert patience.offered(["here", "there"], waiting, 7.0, 0.1) == ["there"]
    assert patience.offered(["here"], waiting, 7.0, 0.1) == ["here"]  # there is nobody else
    for _ in range(20):
        patience.brought("here", 2.0, 2.0)
    assert patience.offered(None, waiting, 7.0, 0.1) is None


def junk_share(folder: Path, **settings: Any) -> float:
    """The share of requests that went to hosts whose pages are never worth anything."""
    asked: Counter[bool] = Counter()

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt":
            return web.Response(status=404)
        good = request.host.startswith("127.0.0.1:")
        asked[good] += 1
        number = int(request.path.strip("/") or 0)
        mark = "tide " * 3 if good else ""
        links = "".join(
            f"<p>{prose(number * 10 + place, 9)} {mark}<a href={site.url(f'/{target}', host)}>"
            f"{mark or 'elsewhere'}</a></p>"
            for place, (target, host) in enumerate(
                [(2 * number + 1, 1), (2 * number + 2, 1), (number + 1, 2), (number + 1, 3)]
                if good
                else [(number + 1, 2), (number + 1, 3)]
            )
        )
        return html(f"<p>{prose(number)}</p><p>{mark}</p>{links}")

    with Site(answer, hosts=3) as site:
        crawl = Crawl(
            site.url("/0"),
            path=folder,
            topic="tide",
            budget=150,
            delay=0.02,
            scope="web",
            allow_private=True,
            pages=False,
            **settings,
        )
        assert crawl.run_to_end().stop_reason == "budget"
    return asked[False] / asked.total()


def test_a_host_that_never_brings_anything_is_asked_seldom(tmp_path: Path) -> None:
    assert junk_share(tmp_path / "hasty", patience=0) > 0.4
    assert junk_share(tmp_path / "patient") < 0.2
