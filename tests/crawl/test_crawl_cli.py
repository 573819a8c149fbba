"""``sonde crawl`` and ``sonde demo`` as a person uses them."""

from __future__ import annotations

import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from aiohttp import web
from crawl_sites import Site, html, prose, tree

from sonde import cli
from sonde.cli import demo
from sonde.crawling import Settings, read_config
from sonde.errors import InputError
from sonde.store.reader import DATABASE

POLITE_OFF = ["--delay", "0", "--per-host", "8", "--allow-private", "--contact", "me@a.example"]


def run(*words: str) -> int:
    args = cli.parser(words[:1]).parse_args(words)
    status: int = args.run(args)
    return status


def test_a_crawl_prints_its_best_and_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "run")
    with Site(tree(300)) as site:
        words = ["crawl", site.url("/0"), "--topic", "tide gauge", "-o", folder, *POLITE_OFF]
        assert run(*words, "--budget", "30") == 0
        out, err = capsys.readouterr()
        assert out.splitlines()[0].startswith("2.0")
        assert "29 pages for 30 requests" in err
        assert f"sonde crawl {folder} --resume" in err
        assert site.total == 30
        assert run("crawl", folder, "--resume", "--budget", "+20") == 0
        assert site.total == 50
        with pytest.raises(InputError, match="already holds a run"):
            run(*words)
        with pytest.raises(InputError, match="add --resume"):
            run("crawl", folder)


def test_json_events_and_seeds_from_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Site(tree(300)) as site:
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{site.url('/0')}\tfirst\n\n# no\n"))
        words = ["--topic", "tide gauge", "--budget", "10", "-o", str(tmp_path / "run"), "--json"]
        assert run("crawl", "-", *words, *POLITE_OFF) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert events[-1] == {
        "event": "stopped",
        "reason": "budget",
        "requests": 10,
        "visits": 9,
        "total": events[-1]["total"],
    }
    assert sum(event["event"] == "visit" for event in events) == 9


def test_a_dry_run_sends_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["crawl", "https://a.example", "--topic", "x", "--dry-run", "--contact", "me@b.example"]
    assert run(*words, "--budget", "500") == 0
    out = capsys.readouterr().out
    assert "500 requests" in out
    assert "8 min" in out
    plan = ["--requests", "300", "--per", "15m", "--for", "7d", "--json"]
    assert run(*words, *plan) == 0
    assert json.loads(capsys.readouterr().out)["budget"]["requests"] == 201_600


def test_a_configuration_file_says_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "crawl.toml"
    with Site(tree(300)) as site:
        config.write_text(
            f'seeds = ["{site.url("/0")}"]\ntopic = "tide gauge"\nbudget = 7\ndelay = 0\n'
            'per-host = 4\nallow_private = true\ncontact = "me@a.example"\npages = false\n'
        )
        assert run("crawl", "--config", str(config), "-o", str(tmp_path / "run")) == 0
        assert site.total == 7
    config.write_text("budgett = 7\n")
    with pytest.raises(InputError, match="unknown setting 'budgett': did you mean budget"):
        read_config(config)
    config.write_text('budget = "many"\n')
    with pytest.raises(InputError, match="budget must be int"):
        read_config(config)
    config.write_text("budget = ")
    with pytest.raises(InputError, match="not TOML"):
        read_config(config)
    with pytest.raises(InputError, match="or more"):
        Settings(concurrency=0)


def test_secrets_reach_their_host_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    heard: list[tuple[str, str]] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        heard.append((request.host, request.headers.get("Authorization", "")))
        heard.append((request.host, request.headers.get("Cookie", "")))
        other = f"http://127.0.0.2:{request.host.partition(':')[2]}/"
        return html(f"{prose(1)} <a href={other}>x</a>")

    monkeypatch.setenv("HUSH", "s3cr3t-w0rd")
    with Site(answer, hosts=2) as site:
        words = ["--topic", "x", "--budget", "6", "-o", str(tmp_path / "run"), "--scope", "web"]
        secrets = ["--auth", "127.0.0.1 me:env:HUSH", "--cookie", "127.0.0.1 id=env:HUSH"]
        run("crawl", site.url("/"), *words, *secrets, "--json", *POLITE_OFF)
    assert any("s3cr3t-w0rd" in value for _, value in heard)
    assert any(value.startswith("Basic ") for _, value in heard)
    assert {value for host, value in heard if host.startswith("127.0.0.2")} == {""}
    kept = b"".join(path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert b"s3cr3t" not in kept
    assert "s3cr3t" not in "".join(capsys.readouterr())
    words = ["--topic", "x", "-o", str(tmp_path / "no"), "--header", "Authorization: abc"]
    with pytest.raises(InputError, match="is secret"):
        run("crawl", "http://a.example", *words)
    assert not (tmp_path / "no").exists()


def test_titles_cannot_write_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        return html("tide gauge", head="<title>\x1b[31mred\x07</title>")

    with Site(answer) as site:
        words = ["--topic", "tide gauge", "--budget", "5", "-o", str(tmp_path / "run")]
        run("crawl", site.url("/"), *words, *POLITE_OFF)
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert "\x07" not in out + err
    assert "\\x1b[31mred" in out


MAIN = """
import sys
from sonde.cli import main
sys.exit(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("presses", [1, 2])
def test_control_c_leaves_a_run_that_resumes(tmp_path: Path, presses: int) -> None:
    import asyncio

    plain = tree(900)

    async def slow(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(0.3 if presses == 2 else 0.05)
        return await plain(request)

    folder = tmp_path / "run"
    with Site(slow) as site:
        words = ["crawl", site.url("/0"), "--topic", "tide gauge", "--budget", "800", "--json"]
        with subprocess.Popen(
            [sys.executable, "-c", MAIN, *words, "-o", str(folder), *POLITE_OFF],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            while '"visit"' not in process.stdout.readline():
                pass
            os.kill(process.pid, signal.SIGINT)
            assert "finishing" in process.stderr.readline()
            if presses == 2:
                os.kill(process.pid, signal.SIGINT)
            _, err = process.communicate(timeout=20)
        assert process.returncode == 130
        assert "--resume" in err
        database = sqlite3.connect(folder / DATABASE)
        counts = dict(database.execute("SELECT outcome, count(*) FROM leases GROUP BY 1"))
        database.close()
        assert None not in counts
        assert ("interrupt" in counts) == (presses == 2)
        before = site.total
        more = str(before + 20)
        assert run("crawl", str(folder), "--resume", "--budget", more) == 0
        assert before < site.total <= before + 20


@pytest.mark.slow
def test_the_demo_needs_no_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("demo", "--budget", "25", "-o", str(tmp_path)) == 0
    out = capsys.readouterr().out
    assert "breadth first brought" in out
    assert str(tmp_path / "run") in out
    assert demo._page("/os.html")
    assert demo._page("/antigravity.html") is None
    assert demo._page("/../../etc/passwd.html") is None
