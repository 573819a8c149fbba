"""Ways to go wrong that people have met: each says what is wrong and what to do, in words."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from aiohttp import web
from crawl_sites import Site, tree

from sonde import cli
from sonde.crawling import Crawl, Settings
from sonde.durations import seconds_from
from sonde.errors import InputError
from sonde.store.reader import DATABASE

FAST = ["--delay", "0", "--per-host", "8", "--allow-private", "--contact", "me@a.example"]
SHUT = [word for word in FAST if word != "--allow-private"]
TOPIC = ["--topic", "tide gauge"]


def said(capsys: pytest.CaptureFixture[str], *words: str, status: int) -> str:
    """What a command says on standard error, and that it ends so."""
    try:
        found = cli.main(words)
    except SystemExit as end:  # argparse
        found = int(str(end.code))
    assert found == status
    return capsys.readouterr().err


@pytest.mark.parametrize("again", ["anew", "resume"])
def test_a_run_that_fetched_nothing_is_in_nobodys_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], again: str
) -> None:
    folder = str(tmp_path / "run")
    with Site(tree(50)) as site:
        words = ["crawl", site.url("/0"), *TOPIC, "--budget", "10", "-o", folder]
        assert "--allow-private" in said(capsys, *words, *SHUT, status=1)
        if again == "anew":
            err = said(capsys, *words, *FAST, status=0)
        else:
            err = said(capsys, "crawl", folder, "--resume", "--allow-private", status=0)
            assert "begins anew" in err
        assert "9 pages for 10 requests" in err
        assert site.total == 10
        # What has pages is kept.
        assert "already holds a run" in said(capsys, *words, *FAST, status=2)


def test_a_run_that_begins_anew_keeps_to_its_budget(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there = False

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt" or not there:
            raise web.HTTPNotFound
        return await tree(50)(request)

    folder = str(tmp_path / "run")
    with Site(answer) as site:
        words = ["crawl", site.url("/0"), *TOPIC, "--budget", "10", "-o", folder, *FAST]
        assert "http-404" in said(capsys, *words, status=1)
        assert site.total == 2
        there = True
        said(capsys, "crawl", folder, "--resume", "--allow-private", status=0)
        assert site.total == 10


def test_a_run_that_another_program_left_is_not_cleared_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / DATABASE).write_bytes(b"no database at all")
    words = ["crawl", "http://127.0.0.1:9/", *TOPIC, "--budget", "3", "-o", str(folder)]
    assert "already holds a run" in said(capsys, *words, status=2)
    assert (folder / DATABASE).read_bytes() == b"no database at all"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("docs.example.org", "https://docs.example.org"),
        ("docs.example.org/a?b", "https://docs.example.org/a?b"),
        ("localhost:8000", "http://localhost:8000"),
        ("localhost", "http://localhost"),
        ("127.0.0.1:8000/x", "http://127.0.0.1:8000/x"),
        ("docs.example.org:8080", "http://docs.example.org:8080"),
    ],
)
def test_a_bare_host_is_told_what_it_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], written: str, meant: str
) -> None:
    err = said(capsys, "crawl", written, *TOPIC, "-o", str(tmp_path / "run"), status=2)
    assert f"(did you mean {meant}?)" in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["crawl", "https://a.example", "--topik", "x"], "did you mean --topic? (see sonde crawl"),
        (["crawl", "https://a.example", "--bugdet=5"], "did you mean --budget? (see sonde crawl"),
        (["show", "run", "--topp", "3"], "did you mean --top? (see sonde show"),
        (["data", "stats", "x", "--latexx"], "did you mean --latex? (see sonde data stats"),
        (["crwal"], "did you mean crawl? (see sonde --help)"),
        (["data", "bulid"], "did you mean build? (see sonde data --help)"),
        (["crawl", "--qqqq"], "unknown argument '--qqqq' (see sonde crawl --help)"),
    ],
)
def test_a_misspelt_word_is_told_its_spelling(
    capsys: pytest.CaptureFixture[str], words: list[str], meant: str
) -> None:
    err = said(capsys, *words, status=2)
    assert meant in err
    assert len(err.splitlines()) == 1


def test_a_seed_that_leads_elsewhere_says_where_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt":
            raise web.HTTPNotFound
        raise web.HTTPMovedPermanently(f"http://127.0.0.2:{site.port}/there")

    with Site(answer, hosts=2) as site:
        words = ["crawl", site.url("/here"), *TOPIC, "--budget", "5", "--scope", "host", *FAST]
        err = said(capsys, *words, "-o", str(tmp_path / "run"), status=1)
        target = site.url("/there", 2)
        assert f"{site.url('/here')}: redirects to {target}, which is out of scope" in err
        assert "--host 127.0.0.2" in err
        cli.main(["explain", str(tmp_path / "run"), target])
        assert "scope" in capsys.readouterr().out


def test_a_seed_that_is_not_there_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        raise web.HTTPNotFound

    with Site(answer) as site:
        words = ["crawl", site.url("/none"), *TOPIC, "--budget", "5", *FAST]
        err = said(capsys, *words, "-o", str(tmp_path / "run"), status=1)
        assert f"{site.url('/none')}: http-404" in err
        assert "for 2 requests" in err


def test_a_budget_below_what_is_spent_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "run")
    with Site(tree(100)) as site:
        words = ["crawl", site.url("/0"), *TOPIC, "--budget", "12", "-o", folder, *FAST]
        said(capsys, *words, status=0)
        resumed = ["crawl", folder, "--resume", "--budget"]
        err = said(capsys, *resumed, "8", status=2)
        assert "12 requests are spent, more than a budget of 8" in err
        said(capsys, *resumed, "+6", status=0)
        assert site.total == 18
        said(capsys, *resumed, "18", status=0)
        assert site.total == 18


def test_the_limit_of_the_harvest_can_be_changed_and_begins_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "run")
    limit = ["--stop-when-harvest-below", "0.5", "over", "5"]
    with Site(tree(300)) as site:
        words = ["crawl", site.url("/0"), "--topic", "zebra", "--budget", "100", "-o", folder]
        err = said(capsys, *words, *FAST, "--concurrency", "1", *limit, status=0)
        assert "the harvest fell below the limit" in err
        assert "the next 5 requests bring less than 0.5" in err
        first = site.total
        resumed = ["crawl", folder, "--resume", "--concurrency", "1"]
        said(capsys, *resumed, status=0)
        assert site.total == first + 5  # not one more and then the same again
        err = said(capsys, *resumed, "--stop-when-harvest-below", "0.5", "over", "10", status=0)
        assert site.total == first + 15
        assert "the next 10 requests" in err
        err = said(capsys, *resumed, "--stop-when-harvest-below", "0", "--budget", "40", status=0)
        assert "the budget is spent" in err
        assert site.total == 40


def test_a_harvest_that_begins_anew_does_so_after_a_kill_too(tmp_path: Path) -> None:
    """What is judged from here on stands in the log, and is heard when it is told again."""
    with Site(tree(100)) as site:
        common = {"delay": 0, "allow_private": True, "concurrency": 1, "harvest_over": 4}
        path = tmp_path / "run"
        Crawl(
            site.url("/0"),
            topic="zebra",
            budget=60,
            path=path,
            harvest_below=9.0,
            **common,  # type: ignore[arg-type]
        ).run_to_end()
        crawl = Crawl.resume(path, allow_private=True)
        for number, _ in enumerate(crawl):
            if number == 1:
                break  # cut: two of the four are settled
        before = site.total
        again = Crawl.resume(path, allow_private=True)
        assert again.run_to_end().stop_reason == "harvest"
        assert 1 <= site.total - before <= 3


def test_a_budget_in_bytes_fetches_something_or_says_how_much_it_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Site(tree(20)) as site:
        words = ["crawl", site.url("/0"), *TOPIC, *FAST, "-o", str(tmp_path / "run")]
        said(capsys, *words, "--bytes", "300000", status=0)
        assert site.total > 1
        err = said(capsys, *words, "--bytes", "30000", status=2)
        assert "bytes must be 131,072 or more" in err
    assert Settings(bytes=131_072).most_received == 131_072
    assert Settings().head_limit == Settings(bytes=10_000_000).head_limit == 32_768


def test_a_number_is_a_number_of_seconds() -> None:
    assert seconds_from("4") == 4.0
    assert seconds_from("0.5") == 0.5
    assert Settings(seconds="4").limits.seconds == 4.0
    with pytest.raises(InputError, match="not a duration"):
        seconds_from("4 bananas")


def test_every_option_says_what_it_is_and_what_it_is_by_default(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parser = cli.parser(["crawl"])
    with pytest.raises(SystemExit):
        parser.parse_args(["crawl", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    for words in ("(default: auto)", "(default: greedy)", "(default: 1)", "(default: 10000000)"):
        assert words in text
    commands = next(action for action in parser._actions if isinstance(action.choices, dict))
    assert isinstance(commands.choices, dict)
    for action in commands.choices["crawl"]._actions:
        assert action.help, action.option_strings


def test_one_request_is_one_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "run")
    with Site(tree(20)) as site:
        words = ["crawl", site.url("/0"), *TOPIC, *FAST, "--budget", "1", "-o", folder]
        err = said(capsys, *words, status=1)
        assert "0 pages for 1 request," in err
        said(capsys, "crawl", folder, "--resume", "--budget", "+1", *FAST[4:5], status=0)
        cli.main(["show", folder])
        out = capsys.readouterr().out
        assert "1 visit brought" in out
        assert not re.search(r"\b1 (requests|visits|pages)\b", out)


def test_show_of_an_interview_speaks_of_questions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "talks")
    cli.main(["ask", folder, "--seeds", "Ana,Bo", "--budget", "9"])
    cli.main(["tell", folder, "Ana", "--score", "2", "--links", "Cy:1,Di:2"])
    for _ in range(2):
        cli.main(["ask", folder, "-n", "3"])
        for name in ("Bo", "Cy", "Di"):
            cli.main(["tell", folder, name, "--score", "1"])
    capsys.readouterr()
    assert cli.main(["show", folder]) == 0
    out = capsys.readouterr().out
    assert "of 9 questions" in out
    assert "a question" in out
    for word in ("request", "politeness", "received", "0 B"):
        assert word not in out


def test_bytes_that_are_no_text_are_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with Site(tree(10)) as site:
        Crawl(
            site.url("/0"), topic="tide", budget=3, path=folder, delay=0, allow_private=True
        ).run_to_end()
    words: list[str | bytes] = [
        sys.executable,
        "-m",
        "sonde",
        "explain",
        str(folder),
        b"http://a.example/\xff",
    ]
    done = subprocess.run(words, capture_output=True, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.decode().splitlines()
    assert "not text in UTF-8" in line


SCORER = """
def page(document):
    return float(document.content.count("tide"))
"""


def test_a_scorer_in_the_current_folder_scores_links_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tidescorer.py").write_text(SCORER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each not in ("", str(tmp_path))])
    with Site(tree(300)) as site:
        totals = {}
        for name, topic in (("own", None), ("topic", "tide gauge")):
            crawl = Crawl(
                site.url("/0"), scorer="python:tidescorer:page", topic=topic, budget=40,
                path=tmp_path / name, delay=0, per_host=8, allow_private=True,
            )  # fmt: skip
            totals[name] = crawl.run_to_end().total
            cli.main(["export", str(tmp_path / name), "--parquet", str(tmp_path / f"{name}-out")])
        assert min(totals.values()) > 0
    capsys.readouterr()
    err = said(
        capsys, "crawl", "http://127.0.0.1:9/", "--scorer", "python:nosuchmodule:page", "-o", "x",
        status=2,
    )  # fmt: skip
    assert "cannot import" in err
