"""Rules of the user's own: no request goes where they say no, and whoever asks is told which."""

from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import web
from crawl_sites import FAST, Handler, Site, html, prose
from test_crawl_cli import POLITE_OFF, run

from sonde.crawling import crawl, read_config
from sonde.errors import InputError


def wiki(titles: int = 40) -> Handler:
    """A MediaWiki: each page links to others, and to all that can be done to it."""

    async def answer(request: web.Request) -> web.StreamResponse:
        title = request.query.get("title", "")
        if request.path != "/w/index.php" or not title:
            return web.Response(status=404)
        if title.startswith("Special:") or set(request.query) != {"title"}:
            return html(f"<p>{prose(len(request.path_qs))} tide gauge")
        number = int(title)
        chores = (
            f"?title={number}&amp;action=edit",
            f"?title={number}&amp;action=history",
            f"?title={number}&amp;oldid={number + 1000}",
            f"?title=Special:WhatLinksHere/{number}",
        )
        links = [f"?title={other}" for other in (2 * number + 1, 2 * number + 2) if other < titles]
        body = "".join(f"<p><a href='/w/index.php{link}'>tide gauge</a>" for link in links)
        body += "".join(f"<li><a href='/w/index.php{link}'>tide gauge</a>" for link in chores)
        return html(f"<p>{prose(number)} tide gauge{body}")

    return answer


def test_a_preset_keeps_a_crawl_of_a_wiki_to_its_pages() -> None:
    with Site(wiki()) as site:
        result = crawl(site.url("/w/index.php?title=0"), skip=["wiki-chores"], budget=200, **FAST)
        assert result.visits == 40
        assert set(site.counts) == {
            "/robots.txt",
            *(f"/w/index.php?title={number}" for number in range(40)),
        }
        assert result.requests == site.total == 41


def test_rules_hold_for_redirects_and_not_for_seeds() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/fr/start":
            return html(f"{prose(1)} tide gauge <a href=/moved>x</a> <a href=/fr/x>x</a>")
        if request.path == "/moved":
            raise web.HTTPFound("/fr/new")
        return web.Response(status=404)

    with Site(answer) as site:
        result = crawl(site.url("/fr/start"), exclude=["/fr/*"], budget=50, **FAST)
        assert site.counts == {"/robots.txt": 1, "/fr/start": 1, "/moved": 1}
        assert result.requests == 3


def test_explain_and_a_dry_run_name_the_rule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "run")
    with Site(wiki(8)) as site:
        start = site.url("/w/index.php?title=0")
        words = ["crawl", start, "--topic", "tide gauge", "--budget", "50", *POLITE_OFF]
        rules = ["--skip", "wiki-chores", "--exclude", "re:title=[56]$", "--sitemaps", "no"]
        assert run(*words, *rules, "-o", folder) == 0
        capsys.readouterr()
        assert run("explain", folder, start.replace("=0", "=5")) == 0
        said = capsys.readouterr().out
        assert "seen, and not taken (excluded: exclude re:title=[56]$: a rule of" in said
        assert run("explain", folder, start + "&action=edit") == 0
        assert "excluded: skip wiki-chores ?action=edit" in capsys.readouterr().out
        before = site.total
        assert run(*words, *rules, "--exclude", "*title=0", "--include", "/w/*", "--dry-run") == 0
        said = capsys.readouterr().out
        assert "include: ['/w/*']" in said
        assert "exclude: ['re:title=[56]$', '*title=0']" in said
        assert "skip: ['wiki-chores (edits, histories" in said
        assert f"{start} (excluded: exclude *title=0)" in said
        assert site.total == before


def test_presets_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("crawl", "--skip", "list") == 0
    said = capsys.readouterr().out
    for name in ("wiki-chores", "forum-chores", "calendars", "tracker-chores", "shop-chores"):
        assert f"{name}: " in said
    assert "?action=edit" in said


def test_a_file_says_the_same(tmp_path: Path) -> None:
    path = tmp_path / "crawl.toml"
    path.write_text('include = ["/docs/*"]\nexclude = ["re:[0-9]+"]\nskip = ["calendars"]\n')
    told = read_config(path).settings
    assert told == {"include": ["/docs/*"], "exclude": ["re:[0-9]+"], "skip": ["calendars"]}
    for wrong, said in (
        ({"exclude": ["re:("]}, r"not a regular expression of RE2: 're:\('"),
        ({"skip": ["wikis"]}, "unknown preset 'wikis'"),
        ({"include": [""]}, "not a pattern"),
    ):
        with pytest.raises(InputError, match=said):
            crawl("https://a.example/", budget=1, contact="a@b.example", **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("plain", [0, 2])
def test_pages_that_ask_not_to_be_indexed_are_named_as_the_reason(
    plain: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt":
            return web.Response(status=404)
        number = int(request.path.strip("/") or 0)
        links = "".join(f"<a href=/{other}>tide gauge</a>" for other in range(1, 6))
        head = "" if 0 < number <= plain else "<meta name=robots content=noindex>"
        text = "" if 0 < number <= plain else "tide gauge"
        return html(f"<p>{prose(number)} {text} {links}", head=head)

    with Site(answer) as site:
        words = ["crawl", site.url("/"), "--topic", "tide gauge", "--sitemaps", "no", *POLITE_OFF]
        assert run(*words, "--budget", "20", "-o", str(tmp_path / "run")) == 0
    said = capsys.readouterr().err
    assert f"{6 - plain} of 6 pages ask not to be indexed, and score nothing" in said
    assert ("does the topic say it in their words?" in said) == bool(plain)
