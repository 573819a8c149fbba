"""What holds for every command: how it ends when it is stopped, or when the machine fails it."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from sonde.cli import main


@pytest.fixture
def graph(tmp_path: Path) -> str:
    folder = tmp_path / "graph"
    folder.mkdir()
    (folder / "nodes.tsv").write_text("node\tscore\na\t1\nb\t2\n", encoding="utf-8")
    (folder / "edges.tsv").write_text("source\ttarget\na\tb\nb\ta\n", encoding="utf-8")
    return str(folder)


@pytest.mark.parametrize(
    ("work", "words"),
    [
        ("sonde.cli.simulate.simulate", ["simulate", "GRAPH", "--seeds", "a"]),
        ("sonde.cli.lab.Graph.load", ["lab", "bound", "GRAPH", "--seeds", "a", "--budget", "1"]),
        ("sonde.cli.authority.compare", ["authority", "compare", "GRAPH", "--budget", "2"]),
        ("sonde.cli.gossip.gossip", ["gossip", "127.0.0.1:1", "--topic", "x", "--budget", "1"]),
    ],
)
def test_an_interrupt_is_one_line(
    work: str,
    words: list[str],
    graph: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(*args: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(work, interrupted)
    assert main([graph if word == "GRAPH" else word for word in words]) == 130
    assert capsys.readouterr().err == "sonde: stopped\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_without_the_letters_gets_escapes(encoding: str, graph: str) -> None:
    words = [sys.executable, "-m", "sonde", "simulate", graph, "--seeds", "a"]
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    said = subprocess.run(words, check=True, capture_output=True, env=environment).stdout
    assert ("│" if encoding == "utf-8" else "\\u2502") in said.decode(encoding)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "x/a"), "x/a: No space left on device"),
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (OSError("a library's\nown words"), "a library's own words"),
    ],
)
def test_a_machine_that_fails_is_one_line(
    error: OSError,
    said: str,
    graph: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fails(*args: object, **options: object) -> None:
        raise error

    monkeypatch.setattr("sonde.cli.simulate.simulate", fails)
    assert main(["simulate", graph, "--seeds", "a"]) == 1
    assert capsys.readouterr().err == f"sonde: {said}\n"


def test_a_query_that_nobody_answers(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    words = ["gossip", f"127.0.0.1:{port}", "--topic", "x", "--budget", "2", "--patience", "2s"]
    assert main(words) == 1
    assert capsys.readouterr().err == "sonde: no peer answered\n"
