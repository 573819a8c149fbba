"""What a newcomer meets: a crawl that fetches nothing, settings that are not what they should be,
terminals of all kinds."""

from __future__ import annotations

import asyncio
import io
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from aiohttp import web
from crawl_sites import Site, html, prose, tree
from rich.console import Console

from sonde.cli import main
from sonde.cli._progress import JsonDisplay, LineDisplay, LiveDisplay, display_for
from sonde.crawling import Crawl, Progress, Settled
from sonde.errors import InputError
from sonde.sources.web.gate import Scope
from sonde.store.reader import RunReader

POLITE_OFF = ["--delay", "0", "--per-host", "8", "--contact", "me@a.example"]


def test_a_crawl_that_fetched_nothing_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Site(tree(3)) as site:
        words = ["crawl", site.url("/0"), "--topic", "x", "--budget", "5", *POLITE_OFF]
        assert main([*words, "-o", str(tmp_path / "run")]) == 1
        assert site.total == 0
        said = capsys.readouterr().err
        assert "nothing was fetched: robots-unreachable 1" in said
        assert f"robots.txt of {site.url('')} could not be fetched: blocked-address" in said
        assert "--allow-private" in said
        assert main(["show", str(tmp_path / "run")]) == 0
        assert f"out of reach (1 of 1): {site.url('')} blocked-address" in capsys.readouterr().out
        missing = ["crawl", site.url("/99"), *words[2:], "--allow-private"]
        assert main([*missing, "-o", str(tmp_path / "missing")]) == 1
        assert "nothing was fetched: http-404 1\n" in capsys.readouterr().err
        other = [words[0], words[1], "--topic", "nowhere", *words[4:], "--allow-private"]
        assert main([*other, "-o", str(tmp_path / "other")]) == 0
        assert "pages has a word of the topic; frequent in them: " in capsys.readouterr().err


def test_pages_that_bring_nothing_are_not_the_best(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def answer(request: object) -> object:
        path = request.path  # type: ignore[attr-defined]
        return html(
            f"{prose(1)} tide <a href=/b>b</a>" if path == "/a" else f"{prose(2)} <a href=/a>a</a>"
        )

    with Site(answer) as site:  # type: ignore[arg-type]
        words = ["--topic", "tide", "--allow-private", "-o", str(tmp_path / "a run"), *POLITE_OFF]
        assert main(["crawl", site.url("/"), *words, "--budget", "3"]) == 0
        out, err = capsys.readouterr()
        assert out == f"1.000\t{site.url('/a')}\t\n"
        assert f"sonde crawl '{tmp_path / 'a run'}' --resume" in err


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--delay", "inf", "delay must be 0 or more"),
        ("--timeout", "inf", "timeout must be"),
        ("--host", "https://a.example/", "not the name of a host"),
        ("--host", "a.example/docs", "not the name of a host"),
        ("--domain", "...", "not the name of a domain"),
        ("--domain", "a.example:8080", "not the name of a domain"),
        ("--prefix", "docs", "not a URL to crawl under"),
        ("--language", "english", "languages must be such as en"),
        ("--type", "html", "types must be such as text/html"),
        ("--type", "text/*", "types must be such as text/html"),
        ("--ca-file", "/nowhere", "cannot read certificates"),
        ("--estimator", "foo", "unknown estimator"),
        ("--strategy", "foo", "unknown strategy"),
        ("--objective", "foo", "unknown objective"),
    ],
)
def test_what_cannot_be_used_is_one_line_and_leaves_nothing(
    option: str, value: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["crawl", "http://127.0.0.1:9/", "--topic", "x", "--budget", "5", option, value]
    folder = tmp_path / "run"
    assert main([*words, "-o", str(folder)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert not folder.exists()
    if option != "--ca-file":  # no file is opened for it
        assert main([*words, "--dry-run"]) == 2


def test_a_folder_that_was_there_keeps_what_was_in_it(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError):
        Crawl("http://a.example", topic="x", path=tmp_path, ca_file="/nowhere").run_to_end()
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


def test_no_url_at_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["crawl"]) == 2
    assert "name a URL to start from" in capsys.readouterr().err


def test_names_of_hosts_are_spelt_as_in_urls() -> None:
    scope = Scope(hosts=["Bücher.example", "a.example:8080"], domains=["Österreich.example."])
    assert "http://xn--bcher-kva.example/x" in scope
    assert "http://a.example:8080/" in scope
    assert "http://a.example/" not in scope
    assert "https://www.xn--sterreich-z7a.example/" in scope


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Watched(Crawl):
    """A crawl that somebody looks at."""

    def __init__(self) -> None:
        super().__init__("http://a.example")

    def progress(self) -> Progress:
        best = Settled(1, "http://a.example/" + "x" * 200, "visit", score=1.0, title="t" * 200)
        return Progress(
            *(5, 100, 3, 1, 1, 2.0, 0.5, 40, 2, 50, 1, 9.0, 0.3, 0.5, None, 1000), best=(best,)
        )


@pytest.mark.parametrize("width", [40, 80])
def test_the_panel_has_room_for_what_the_terminal_echoes(width: int) -> None:
    file = Terminal()
    live = LiveDisplay(Console(file=file, force_terminal=True, width=width, no_color=True))
    live.tick(Watched())
    drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", file.getvalue())
    live.close()
    lines = drawn.replace("\r", "").split("\n")
    assert any("requests" in line for line in lines)
    assert max(map(len, lines)) <= width - 6


@pytest.mark.parametrize(
    ("stream", "term", "kind"),
    [
        (Terminal, "xterm", LiveDisplay),
        (Terminal, "dumb", LineDisplay),
        (io.StringIO, "xterm", LineDisplay),
    ],
)
def test_the_display_suits_the_terminal(
    stream: type[io.StringIO], term: str, kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(sys, "stderr", stream())
    display = display_for(as_json=False)
    display.close()
    assert isinstance(display, kind)
    assert isinstance(display_for(as_json=True), JsonDisplay)


INTERRUPTED = """
import sys
from sonde.crawling import Crawl

url, folder, how = sys.argv[1:]
crawl = Crawl(url, path=folder, topic="tide", delay=0, per_host=8, allow_private=True)
try:
    if how == "iterated":
        for visit in crawl:
            print(visit.node, flush=True)
    else:
        crawl.run_to_end()
except KeyboardInterrupt:
    print("interrupted", crawl.stop_reason)
with open(f"{folder}/run.lock") as lock:
    import fcntl
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # nobody holds the run any more
"""


@pytest.mark.parametrize("how", ["iterated", "run to its end"])
def test_control_c_in_a_program_cuts_its_crawl(how: str, tmp_path: Path) -> None:
    waited_for, over = threading.Event(), threading.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path != "/":
            waited_for.set()
            while not over.is_set():
                await asyncio.sleep(0.02)
        return html("tide " + "".join(f"<a href=/{n}>tide</a> " for n in range(5)))

    with Site(answer) as site:
        words = [sys.executable, "-c", INTERRUPTED, site.url("/"), str(tmp_path / "run"), how]
        program = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            assert waited_for.wait(60)
            time.sleep(0.3)  # the leases are committed, their requests are in flight
            program.send_signal(signal.SIGINT)
            out, err = program.communicate(timeout=30)
        finally:
            program.kill()
            over.set()
    assert out.splitlines()[-1] == "interrupted cut"
    assert err == ""
    assert program.returncode == 0
    with RunReader(tmp_path / "run") as reader:
        assert reader.stop == "cut"
        assert reader.count("SELECT count(*) FROM leases WHERE outcome IS NULL") == 0
