"""Results as a program sees them: pages with what they said, failures, frames, one line."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from aiohttp import web
from crawl_sites import Handler, Site, html, prose, tree

import sonde
from sonde.crawling import Crawl
from sonde.errors import InputError

FAST: dict[str, Any] = {"delay": 0, "allow_private": True, "sitemaps": "no"}


def small() -> Handler:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/":
            return html(
                "<nav>menu</nav><main><h1>Tide gauge</h1><p>All about it.</p>"
                "<table><tr><th>Port<th>High<tr><td>Brest<td>7</table></main>"
                "<a href=/hidden>h</a> <a href=/gone>gone</a> <a href=/text>The text</a>",
                head="<title>Start</title>",
            )
        if request.path == "/hidden":
            return html(f"<p>tide gauge {prose(1)}", head="<meta name=robots content=noindex>")
        if request.path == "/text":
            return web.Response(text="plain tide gauge words", content_type="text/plain")
        return web.Response(status=404)

    return answer


@pytest.mark.parametrize("kept", ["folder", "memory", "texts"])
def test_pages_say_what_they_said(tmp_path: Path, kept: str) -> None:
    ways: dict[str, dict[str, Any]] = {
        "folder": {"path": tmp_path / "run"},
        "memory": {},
        "texts": {"pages": False},
    }
    with Site(small()) as site:
        result = sonde.crawl(site.url(), topic="tide gauge", budget=9, **FAST, **ways[kept])
    pages = {page.node.rpartition("/")[2]: page for page in result.pages()}
    start, hidden, text = pages[""], pages["hidden"], pages["text"]
    assert (start.title, start.status, start.language) == ("Start", 200, "en")
    assert "All about it." in (start.text or "")
    assert "menu" not in (start.text or "")
    assert text.text == "plain tide gauge words"
    assert (hidden.text, hidden.markdown, hidden.html) == (None, None, None)
    assert "asks not to be indexed" in hidden.missing
    assert start.missing == ""
    if kept == "texts":
        assert (start.html, start.markdown) == (None, None)
    else:
        assert "<h1>Tide gauge</h1>" in (start.html or "")
        assert "| Port | High |\n|---|---|\n| Brest | 7 |" in (start.markdown or "")


def test_visits_say_it_while_the_crawl_runs(tmp_path: Path) -> None:
    with Site(small()) as site:
        crawl = Crawl(site.url(), topic="tide gauge", budget=4, path=tmp_path / "run", **FAST)
        visits = list(crawl)
    assert "All about it." in (visits[0].text or "")
    assert "<h1>" in (visits[0].html or "")
    assert (visits[0].markdown or "").startswith("# Tide gauge")
    json.dumps(visits[0].as_json())
    assert "content" not in visits[0].as_json()


def test_failures_with_their_meaning() -> None:
    with Site(small()) as site:
        result = sonde.crawl(site.url(), topic="tide gauge", budget=9, **FAST)
    (failed,) = result.failures()
    assert failed.node.endswith("/gone")
    assert (failed.outcome, failed.reason) == ("failure", "http-404")
    assert failed.meaning == "the server answered with this status"
    assert not failed.retry


def test_a_frame_has_its_types_whatever_came() -> None:
    with Site(tree(30)) as site:
        some = sonde.crawl(site.url(), topic="tide gauge", budget=9, **FAST)
        none = sonde.crawl(site.url("/999"), topic="tide gauge", budget=9, **FAST)
    assert some.frame().schema == none.frame().schema
    assert none.frame().num_rows == 0
    assert pa.types.is_timestamp(none.frame().schema.field("settled").type)
    assert not any(pa.types.is_null(kind) for kind in none.frame().schema.types)


def test_a_result_is_one_line_and_says_why_it_has_nothing() -> None:
    with Site(tree(30)) as site:
        some = sonde.crawl(site.url(), topic="tide gauge", budget=9, **FAST)
        gone = sonde.crawl(site.url("/999"), topic="tide gauge", budget=9, **FAST)
        barred = sonde.crawl(site.url(), topic="tide gauge", budget=9, delay=0)
    assert "\n" not in repr(some)
    assert "8 pages for 9 requests" in repr(some)
    assert some.why == ""
    assert "http-404 1 (the server answered with this status)" in repr(gone)
    assert "blocked-address" in barred.why


def test_inside_a_running_loop_it_runs_or_says_what_to_write() -> None:
    async def cell(address: str) -> None:
        result = sonde.crawl(address, topic="tide gauge", budget=5, **FAST)
        assert result.visits == 4
        assert len(list(result.pages())) == 4
        with pytest.raises(InputError, match="async for visit in crawl"):
            list(Crawl(address, topic="tide gauge", budget=5, **FAST))
        found = [visit async for visit in Crawl(address, topic="tide gauge", budget=5, **FAST)]
        assert len(found) == 4

    with Site(tree(30)) as site:
        asyncio.run(cell(site.url()))


# -- exports ---------------------------------------------------------------------------------------


def test_exports_from_python(tmp_path: Path) -> None:
    with Site(small()) as site:
        result = sonde.crawl(site.url(), topic="tide gauge", budget=9, **FAST)
    told: list[tuple[str, int, int]] = []
    written = sonde.export(
        result,
        parquet=tmp_path / "p",
        csv=tmp_path / "c",
        jsonl=tmp_path / "pages.jsonl",
        progress=lambda path, done, total: told.append((path, done, total)),
    )
    rows = {Path(each.path).name: each.rows for each in written}
    assert rows["visits.parquet"] == rows["visits.csv"] == rows["pages.jsonl"] == 3
    assert all(done <= total for _, done, total in told)
    visits = pq.read_table(tmp_path / "p" / "visits.parquet").to_pylist()
    assert visits[0]["language"] == "en"
    assert len(visits[0]["hash"]) == 64
    assert len(visits[0]["digest"]) == 40
    assert "All about it." in visits[0]["text"]
    (hidden,) = [row for row in visits if row["text"] is None]
    assert "asks not to be indexed" in hidden["missing"]
    links = pq.read_table(tmp_path / "p" / "links.parquet").to_pylist()
    assert {row["target"].rpartition("/")[2]: row["anchor"] for row in links} == {
        "hidden": "h",
        "gone": "gone",
        "text": "The text",
    }
    lines = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    assert [line["missing"] is None for line in lines] == [
        line["text"] is not None for line in lines
    ]


def test_titles_are_no_formulas_in_a_spreadsheet(tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt":
            return web.Response(status=404)
        return html("<p>tide gauge</p>", head="<title>=HYPERLINK(1)</title>")

    with Site(answer) as site:
        result = sonde.crawl(site.url(), topic="tide gauge", budget=3, **FAST)
    sonde.export(result, csv=tmp_path / "c", parquet=tmp_path / "p")
    assert '"\'=HYPERLINK(1)"' in (tmp_path / "c" / "visits.csv").read_text()
    table = pq.read_table(tmp_path / "p" / "visits.parquet")
    assert table["title"].to_pylist() == ["=HYPERLINK(1)"]
