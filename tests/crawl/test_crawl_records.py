"""Records: what forms, APIs and pages hold is a table, counted, exported, gone when forgotten."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from crawl_sites import Handler, Site, html, prose
from search_server import Engine
from social_server import Network

import sonde
from sonde import cli
from sonde.crawling import Crawl
from sonde.errors import InputError

FAST: dict[str, Any] = {"delay": 0, "allow_private": True, "topic": "shop"}
FIELDS = '[item]\neach = "div.item"\nid = "a@href"\n[item.fields]\nprice = ".price"\n'


def shop(pages: int = 40) -> Handler:
    """A tree of pages; every second one tells of one of ten products."""

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt":
            return web.Response(status=404)
        number = int(request.path.strip("/") or 0)
        if number >= pages:
            return web.Response(status=404)
        head = f"<title>Shop {number}</title>"
        if number % 2:
            told = {"@id": f"p{number % 20}", "@type": "Product", "name": f"Product {number % 20}"}
            head += f'<script type="application/ld+json">{json.dumps(told)}</script>'
        if number == 6:
            head += "<meta name=robots content=noindex>"
        body = f"<p>{prose(number)}</p><div class=item><a href=/{2 * number + 1}>on</a>"
        body += f"<i class=price>{number}</i></div><a href=/{2 * number + 2}>shop</a>"
        return html(body, head=head)

    return answer


def test_distinct_counts_records_of_pages(tmp_path: Path) -> None:
    told = {**FAST, "objective": "distinct", "records": ["json-ld"], "concurrency": 1}
    with Site(shop()) as site:
        whole = sonde.crawl(site.url(), budget=60, path=tmp_path / "whole", **told)
        crawl = Crawl(site.url(), budget=20, path=tmp_path / "cut", **told)
        crawl.run_to_end()
        resumed = Crawl.resume(tmp_path / "cut", budget=60).run_to_end()
    assert whole.total == len(list(whole.records())) == 10
    assert {record.id for record in whole.records()} == {f"p{n}" for n in range(1, 20, 2)}
    assert resumed.frame()["node"].to_pylist() == whole.frame()["node"].to_pylist()
    assert list(resumed.records()) == list(whole.records())


def test_distinct_alone_counts_all_kinds() -> None:
    with Site(shop()) as site:
        result = sonde.crawl(site.url(), objective="distinct", budget=8, **FAST)
    assert {record.source for record in result.records()} == {"json-ld"}
    assert result.total == len(list(result.records())) > 0


def test_other_crawls_collect_nothing_unless_asked() -> None:
    with Site(shop()) as site:
        assert not list(sonde.crawl(site.url(), budget=8, **FAST).records())


def test_fields_of_a_file_are_kept_with_the_run(tmp_path: Path) -> None:
    (tmp_path / "fields.toml").write_text(FIELDS)
    with Site(shop()) as site:
        told = {**FAST, "fields": str(tmp_path / "fields.toml")}
        crawl = Crawl(site.url(), budget=5, path=tmp_path / "run", **told)
        first = list(crawl.run_to_end().records())
        (tmp_path / "fields.toml").unlink()
        result = Crawl.resume(tmp_path / "run", budget=50).run_to_end()
    found = list(result.records())
    assert found[: len(first)] == first
    assert first[0].source == "item"
    assert (first[0].id, first[0].fields) == (site.url("/1"), {"price": "0"})
    assert "6" not in {record.fields["price"] for record in found}  # it asks not to be indexed
    with pytest.raises(InputError, match="cannot be read"):
        sonde.crawl("http://a.example/", fields="no.toml", budget=3, **FAST)


def test_structured_data_is_read_from_what_was_archived(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    with Site(shop()) as site:
        sonde.crawl(site.url(), budget=60, path=run, **FAST)
    assert cli.main(["export", str(run), "--records", str(tmp_path / "r.jsonl")]) == 0
    assert f"wrote 10 rows to {tmp_path / 'r.jsonl'}" in capfd.readouterr().err
    rows = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert set(rows[0]) == {"id", "source", "url", "title", "text", "fields"}
    (tmp_path / "fields.toml").write_text(FIELDS)
    words = ["export", str(run), "--records", str(tmp_path / "r.csv")]
    assert cli.main([*words, "--fields", str(tmp_path / "fields.toml")]) == 0
    with (tmp_path / "r.csv").open(newline="") as file:
        prices = [json.loads(row["fields"])["price"] for row in csv.DictReader(file)]
    assert len(prices) == len(set(prices)) > 20
    with pytest.raises(InputError, match=r"\.jsonl, \.csv or \.parquet"):
        sonde.export(run, records=tmp_path / "r.txt")


def test_results_of_a_form_are_records(tmp_path: Path) -> None:
    texts = [(f"module.{n}", f"The tide gauge of port {n} {prose(n, 12)}") for n in range(40)]
    with Site(Engine(texts)) as site:
        told: dict[str, Any] = {"delay": 0, "allow_private": True, "seeds": ["tide"], "budget": 12}
        result = sonde.crawl(f"form:{site.url('/')}", path=tmp_path / "run", **told)
    found = list(result.records())
    assert result.total == len(found) > 5
    assert {record.source for record in found} == {"form"}
    assert found[0].id == found[0].url
    assert found[0].fields == {"keyword": "tide"}
    assert found[0].title
    assert "gauge" in found[0].text
    (written,) = sonde.export(result, records=tmp_path / "records.csv")
    assert written.rows == len(found)


def test_posts_are_records_until_they_are_forgotten(tmp_path: Path) -> None:
    said = [("u1", "@u2 the tide gauge"), ("u2", "@u1 yes, a tide gauge"), ("u2", "@u3 and more")]
    with Site(
        Network([(f"u500{name[1]}", text.replace("@u", "@u500")) for name, text in said])
    ) as site:
        told: dict[str, Any] = {"topic": "tide gauge", "allow_private": True, "budget": 9}
        server = f"mastodon:{site.url('')}"
        result = sonde.crawl(server, seeds=["u5001"], path=tmp_path / "run", **told)
    found = list(result.records())
    assert len(found) == 3
    assert {record.source for record in found} == {"post"}
    assert found[0].fields["mentions"]
    (node,) = [page.node for page in result.pages() if page.node.startswith("u5002")]
    assert cli.main(["forget", str(tmp_path / "run"), node]) == 0
    assert list(result.records()) == []  # its own, and the one that names it


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"records": ["rdfa"]}, "records must be such as json-ld"),
        ({"fields": "[x]\n"}, "says of no field"),
        ({"fields": "[x]\ntitle = 'a['\n"}, "not a CSS selector"),
    ],
)
def test_what_cannot_be_meant(told: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        sonde.crawl("http://a.example/", budget=3, **FAST, **told)
