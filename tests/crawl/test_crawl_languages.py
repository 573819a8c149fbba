"""A crawl in one language: others are seen, learned from, and not paid for page by page."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from crawl_sites import FAST, Handler, Site, prose

from sonde.crawling import Crawl, crawl
from sonde.store.reader import DATABASE

OTHERS = ("fr", "de", "es", "it", "pt", "ru", "ja", "zh", "pl", "nl")
FRENCH = "Le marégraphe mesure la hauteur de la mer, jour et nuit, et la note sur du papier. "
ENGLISH = "The gauge measures the height of the sea, by day and by night, and writes it down. "


def said(text: str, number: int) -> str:
    """The words of a language, otherwise on each page: what all pages say is none of theirs."""
    words = text.replace(",", "").replace(".", "").split()
    return " ".join(random.Random(number).choices(words, k=80))


def translated(pages: int, form: str, *, declared: bool = True) -> Handler:
    """Pages in eleven languages, each linking to its translations and to the next pages in its
    language; ``form`` says where the code stands in a path, and English has none."""

    def path(number: int, language: str) -> str:
        if language == "en":
            return form.replace("/CODE", "").replace(".CODE", "").replace("N", str(number))
        return form.replace("CODE", language).replace("N", str(number))

    places = {
        path(number, language): (number, language)
        for number in range(pages)
        for language in ("en", *OTHERS)
    }

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path not in places:
            return web.Response(status=404)
        number, language = places[request.path]
        nexts = [2 * number + 1, 2 * number + 2]
        links = [path(number, other) for other in ("en", *OTHERS)]
        links += [path(other, language) for other in nexts if other < pages]
        body = "".join(f'<li><a href="{link}">tide gauge</a></li>' for link in links)
        text = said(ENGLISH if language == "en" else FRENCH, number)
        lang = f" lang={language}" if declared else ""
        page = f"<html{lang}><body><p>tide gauge {text}</p>{body}</body></html>"
        return web.Response(text=page, content_type="text/html")

    return answer


def spent(site: Site, form: str) -> tuple[int, int]:
    """Requests for pages in English, and for others."""
    asked = [path for path in site.counts if path != "/robots.txt"]
    foreign = [path for path in asked if any(form.replace("CODE", code) in path for code in OTHERS)]
    return len(asked) - len(foreign), len(foreign)


@pytest.mark.parametrize(
    ("form", "mark"), [("/CODE/N.html", "/CODE/"), ("/N.CODE.html", ".CODE.html")]
)
def test_other_languages_are_not_paid_for_page_by_page(form: str, mark: str) -> None:
    with Site(translated(60, form)) as site:
        settings: dict[str, Any] = {**FAST, "languages": ["en"], "concurrency": 1}
        result = crawl(site.url("/0.html"), budget=300, **settings)
        english, foreign = spent(site, mark)
        assert english == 60
        assert foreign <= 10  # there are 600
        assert result.visits == 60
        assert result.requests == site.total
        assert {row["language"] for row in result.best(100)} == {"en"}


def test_where_nothing_is_declared_the_text_decides() -> None:
    with Site(translated(20, "/CODE/N.html", declared=False)) as site:
        result = crawl(site.url("/0.html"), budget=100, languages=["en"], concurrency=1, **FAST)
        english, foreign = spent(site, "/CODE/")
        assert (english, result.visits) == (20, 20)
        assert 0 < foreign <= 10
        assert {row["language"] for row in result.best(100)} == {"en"}


def test_servers_are_asked_for_the_language() -> None:
    asked = set()

    async def answer(request: web.Request) -> web.StreamResponse:
        asked.add(request.headers.get("Accept-Language"))
        return web.Response(text=f"<p>{ENGLISH}", content_type="text/html")

    with Site(answer) as site:
        crawl(site.url("/"), budget=2, languages=["en-gb", "de"], **FAST)
    assert asked == {"en-gb, de, *;q=0.1"}


def test_a_mark_that_is_no_language_heals() -> None:
    """English pages under /it/, after some that are not: the sample finds them."""
    asked = 0

    async def answer(request: web.Request) -> web.StreamResponse:
        nonlocal asked
        if request.path == "/robots.txt":
            return web.Response(status=404)
        lang, text = "en", f"{ENGLISH} {prose(len(request.path))}"
        if request.path == "/":
            links = "".join(f"<li><a href=/it/{n}>tide gauge</a></li>" for n in range(2_000))
            text = f"<p>{text}</p>{links}"
        else:
            asked += 1
            lang = "fr" if asked < 8 else "en"
            text += prose(int(request.path.removeprefix("/it/")))
        return web.Response(text=f"<html lang={lang}><body>{text}", content_type="text/html")

    with Site(answer) as site:
        result = crawl(site.url("/"), budget=400, languages=["en"], concurrency=1, **FAST)
        assert result.visits > 5


def log_of(path: Path) -> list[tuple[Any, ...]]:
    database = sqlite3.connect(path / DATABASE)
    try:
        leases = database.execute(
            "SELECT url, outcome, reason, requests FROM leases JOIN nodes ON nodes.number = node"
            " ORDER BY leases.number"
        ).fetchall()
        learned = database.execute("SELECT * FROM languages ORDER BY 1").fetchall()
        refused = database.execute("SELECT url, reason FROM refused ORDER BY 1").fetchall()
        return [*leases, *learned, *refused]
    finally:
        database.close()


def test_a_crawl_that_is_taken_up_again_has_learned_the_same(tmp_path: Path) -> None:
    with Site(translated(40, "/CODE/N.html")) as site:
        settings: dict[str, Any] = {**FAST, "languages": ["en"], "concurrency": 1}
        crawl(site.url("/0.html"), path=tmp_path / "whole", budget=45, **settings)
        crawl(site.url("/0.html"), path=tmp_path / "parts", budget=6, **settings)
        for _ in range(13):
            Crawl.resume(tmp_path / "parts", budget="+3").run_to_end()
        whole, parts = log_of(tmp_path / "whole"), log_of(tmp_path / "parts")
        assert len(whole) > 60
        assert parts == whole


def test_translations_do_not_fill_the_top_ten(tmp_path: Path) -> None:
    with Site(translated(15, "/CODE/N.html")) as site:
        result = crawl(site.url("/0.html"), path=tmp_path / "run", budget=400, **FAST)
        assert result.visits == 15 * 11
        best = [row["url"] for row in result.best(10)]
        numbers = {url.rpartition("/")[2] for url in best}
        assert len(numbers) == len(best) == 10
        everything = result.best(1_000, translations=True)
        assert len(everything) == result.visits
