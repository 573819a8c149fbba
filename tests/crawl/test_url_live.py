"""URL measures of a live crawl against plain definitions: what the frontier table says of every URL
after a crawl of pages with relative, repeated, foreign, international and dead links."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

import numpy as np
import pyarrow.parquet as pq
import pytest
from aiohttp import web
from crawl_sites import FAST, Site, html, prose

from sonde.crawling import Crawl
from sonde.estimators.builder import with_ingredients
from sonde.store.export import export
from sonde.store.reader import RunReader

HOSTS = ("a.co.uk", "www.a.co.uk", "me.github.io", "bücher.example", "shop.bücher.example")
DOMAINS = ("a.co.uk", "me.github.io", "xn--bcher-kva.example", "example.org")
FOLDERS = ("/", "/x/", "/x/y/", "/z/")


def hrefs(page: str, port: int) -> list[str]:
    """The links of a page as they are written, the same each time."""
    dice = random.Random(page)
    found: list[str] = []
    for _ in range(dice.randrange(14)):
        number, path = dice.randrange(12), f"{dice.choice(FOLDERS)}{dice.randrange(12)}"
        found += dice.choice(
            (
                [f"http://{dice.choice(HOSTS)}:{port}{path}"],
                [path] * dice.randrange(1, 4),
                [str(number)],
                [f"../{number}#part"],
                [f"{path}?q=/a/{number % 2}"],
                [f"http://outside{number}.example.org:1/{number}"],
            )
        )
    return found


def kind(page: str) -> str:
    return random.Random(f"kind of {page}").choice(("page", "dead", "image", *["page"] * 12))


def spelt(url: str) -> str:
    parts = urlsplit(urldefrag(url).url)
    host = (parts.hostname or "").encode("idna").decode()
    query = f"?{parts.query}" if parts.query else ""
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}{parts.path}{query}"


def domain(url: str) -> str:
    host = urlsplit(url).hostname or ""
    return next((name for name in DOMAINS if host == name or host.endswith(f".{name}")), host)


def basename(url: str) -> str:
    path = url.partition("?")[0]
    return path[: path.rindex("/") + 1]


def crawled(path: Path, estimator: str, concurrency: int) -> Iterator[tuple[Crawl, int]]:
    async def answer(request: web.Request) -> web.StreamResponse:
        page = f"{request.host.partition(':')[0]}{request.path_qs}"
        if request.path == "/robots.txt" or kind(page) == "dead":
            return web.Response(status=404)
        if kind(page) == "image":
            return web.Response(body=b"x", content_type="image/png")
        dice = random.Random(f"worth of {page}")
        links = "".join(f'<a href="{link}">{link}</a> ' for link in hrefs(page, site.port))
        text = f"{prose(dice.randrange(10**6))} {'tide gauge ' * dice.randrange(4)}"
        return html(f"<p>{text}</p>{links}")

    async def lookup(host: str) -> list[str]:
        return ["127.0.0.1"]

    with Site(answer) as site:
        crawl = Crawl(
            [f"http://{host}:{site.port}/x/{number}" for host in HOSTS for number in (0, 1)],
            path=path,
            estimator=estimator,
            budget=90,
            concurrency=concurrency,
            scope="web",
            lookup=lookup,
            **FAST,
        )
        crawl.run_to_end()
        yield crawl, site.port


@pytest.mark.parametrize(
    ("estimator", "concurrency"),
    [("url+lnh:-rtt", 1), ("url:rfu=1:bfu=1:id=0.1:repeats=0.1:hop=0.5:arf=0.3:-rtt", 6)],
)
def test_features_are_what_the_definitions_say(
    tmp_path: Path, estimator: str, concurrency: int
) -> None:
    """One at a time where weights are learned: the prediction is then the ledger's."""
    ((crawl, port),) = crawled(tmp_path / "run", estimator, concurrency)
    with RunReader(tmp_path / "run") as run:
        export(run, parquet=tmp_path / "tables")
        told = list(
            run.rows(
                "SELECT url, gain, predicted, arm FROM log JOIN leases ON leases.number = log.lease"
                " JOIN nodes ON nodes.number = leases.node"
                " WHERE log.kind = 'settle' AND outcome = 'visit' ORDER BY log.seq"
            )
        )
    links: dict[str, list[str]] = {}  # of visited pages, each as often as it stands there
    errors: dict[str, float] = {}
    hops: dict[str, int] = {}
    for url, gain, predicted, arm in told:
        hops.setdefault(url, 0)
        if arm >= 0:
            errors[url] = gain - predicted
        written = hrefs(url.partition("//")[2].replace(f":{port}", ""), port)
        targets = (spelt(urljoin(url, href)) for href in written)
        links[url] = [target for target in targets if target != url]
        for target in links[url]:
            if target not in links:
                hops[target] = min(hops.get(target, 99), hops[url] + 1)

    def share(page: str, target: str, part: Callable[[str], str]) -> float:
        keys = [part(each) for each in dict.fromkeys(links[page])]
        return keys.count(part(target)) / len(keys) / len(set(keys))

    assert crawl.session is not None
    explorer = crawl.session.logbook.explorer
    table: Any = explorer._model.frontier
    columns = with_ingredients(explorer.estimator.features())
    live = np.flatnonzero(np.asarray(table.row_live)[: table.rows])
    assert len(live) > 50
    for slot in live:
        node = str(explorer.driver.node_of(table.row_node[slot]))
        parents = [page for page in links if node in links[page]]
        expected = {
            "rfu": fmean(share(page, node, domain) for page in parents),
            "bfu": fmean(share(page, node, basename) for page in parents),
            "id": math.log(1 + len(parents)),
            "repeats": math.log(1 + sum(links[page].count(node) - 1 for page in parents)),
            "hop": 1 / (1 + hops[node]),
        }
        for name, part in (("basename", basename), ("domain", domain)):
            heard = [
                errors[sibling]
                for page in parents
                for sibling in dict.fromkeys(links[page])
                if sibling in errors and part(sibling) == part(node)
            ]
            mean = fmean(heard) if heard else 0.0
            expected[f"arf:{name}+"] = max(mean, 0.0)
            expected[f"arf:{name}-"] = max(-mean, 0.0)
        found = {
            name.rpartition("|")[2]: table.features[slot, column]
            for column, name in enumerate(columns)
        }
        assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-9), node
    _check_the_ledger(tmp_path / "tables")


def _check_the_ledger(tables: Path) -> None:
    """Harvest rate, efficiency and GPR after every visit, from the exported tables alone."""
    visits = pq.read_table(tables / "visits.parquet").to_pylist()
    ledger = {row["lease"]: row for row in pq.read_table(tables / "ledger.parquet").to_pylist()}
    links = {
        (row["lease"], row["target"]) for row in pq.read_table(tables / "links.parquet").to_pylist()
    }
    for step in range(1, len(visits) + 1):
        so_far = visits[:step]
        found = sum(visit["score"] > 0 for visit in so_far)
        back = sum(
            visit["score"] <= 0 and (visit["lease"], after["url"]) not in links
            for visit, after in pairwise(so_far)
        )
        gains = [visit["gain"] for visit in so_far]
        area, ideal = (
            sum((step - place) * gain for place, gain in enumerate(order))
            for order in (gains, sorted(gains, reverse=True))
        )
        row = ledger[so_far[-1]["lease"]]
        assert row["harvest_rate"] == found / step
        assert row["gpr"] == (found / (found + 2 * back) if found else 0.0)
        assert row["efficiency"] == pytest.approx(area / ideal if ideal else 1.0)
    assert any(row["gpr"] is None for row in ledger.values())  # failures are no visits


def test_every_answer_is_clocked(tmp_path: Path) -> None:
    """Also of a host that does nothing but redirect, and of one whose answers are not wanted."""

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt":
            return web.Response(status=404)
        if request.host.startswith("127.0.0.2"):
            await asyncio.sleep(0.4)
            raise web.HTTPFound(f"http://127.0.0.1:{site.port}/moved{request.path}")
        if request.host.startswith("127.0.0.3"):
            await asyncio.sleep(0.4)
            return web.Response(body=b"GIF89a", content_type="image/gif")
        links = [f"http://127.0.0.{host}:{site.port}/{page}" for host in (2, 3) for page in "ab"]
        return html(prose(len(request.path)) + "".join(f"<a href={link}>x</a>" for link in links))

    with Site(answer, hosts=3) as site:
        settings = FAST | {"budget": 11, "estimator": "url", "scope": "web"}
        Crawl(site.url(), path=tmp_path / "run", **settings).run_to_end()
    with RunReader(tmp_path / "run") as run:
        trips = dict(run.rows("SELECT host, rtt FROM hosts"))
    # The first answer is that of robots.txt, at once; each later one moves the mean by an eighth.
    quick = trips.pop(f"127.0.0.1:{site.port}")
    assert len(trips) == 2
    assert quick < 0.08 < min(trips.values())
