"""``sonde data`` as a user calls it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from data_making import export, page

from sonde.cli import data, main
from sonde.data import KINDS, Recipe, build
from sonde.data.recipe import SMALL, jobs_from
from sonde.data.topics import folder_names
from sonde.meter import BYTES, Shown


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    text = export(page("A", "jazz [[B]]"), page("B", "sea level [[A]]"), page("Bad", "<x>"))
    path = tmp_path / "wiki.xml"
    path.write_text(text, encoding="utf-8")
    return path


def test_build_then_stats_then_simulate(
    wiki: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "graph")
    assert main(["data", "build", "mediawiki", str(wiki), "--keyword", "jazz", "-o", out]) == 0
    said = capsys.readouterr()
    assert said.out == f"{out}: 2 nodes (1 score), 2 edges (1 score)\n"
    assert said.err == "sonde: 1 pages of malformed XML\n"
    assert main(["data", "stats", out]) == 0
    assert "Table 3" in capsys.readouterr().out
    assert main(["simulate", out, "--seeds", "A", "--budget", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sequence"] == ["B"]


def test_several_keywords(wiki: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--keyword", "jazz", "--keyword", "sea level"]
    out = tmp_path / "graphs"
    assert main(["data", "build", "mediawiki", str(wiki), *words, "-o", str(out), "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert [each["keyword"] for each in about] == ["jazz", "sea level"]
    assert sorted(path.name for path in out.iterdir()) == ["jazz", "sea-level"]
    folders = [str(out / "jazz"), str(out / "sea-level")]
    assert main(["data", "stats", *folders, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["graphs"]
    assert [each["nonzero_nodes"] for each in found] == [1, 1]
    for form in ("--csv", "--latex"):
        assert main(["data", "stats", *folders, form]) == 0
        assert "sea" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["mediawiki", "nowhere.xml", "--keyword", "a"], "no such file"),
        (["mediawiki", "WIKI"], "no keyword"),
        (["mediawiki", "WIKI", "--keyword", "!"], "no letter and no digit"),
        (["mediawiki", "WIKI", "--keyword", "a, -b"], "none excluded"),
        (["mediawiki", "WIKI", "--keyword", "a", "--namespace", "main"], "--namespace main"),
        (
            ["mediawiki", "WIKI", "--keyword", "a", "--base", "http://x"],
            "--base is for html",
        ),
        (["mediawiki", ".", "--keyword", "a"], "a folder"),
        (["mediawiki", "WIKI", "--keyword", "a", "--jobs", "0"], "--jobs"),
        (["edges", "WIKI", "--keyword", "a"], "--keyword is for"),
        (["edges", "WIKI", "--score", "pagerank"], "--score pagerank"),
        (["posts", "WIKI", "--keyword", "a", "--columns", "author"], "not field=column"),
    ],
)
def test_bad_input_is_one_line(
    wiki: Path,
    tmp_path: Path,
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = [str(wiki) if each == "WIKI" else each for each in arguments]
    assert main(["data", "build", *arguments, "-o", str(tmp_path / "g")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert words in said.err
    assert said.err.count("\n") == 1


def test_stats_of_no_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "stats", str(tmp_path / "none")]) == 2
    assert "no such folder" in capsys.readouterr().err


def test_an_interrupt_leaves_what_was_there(
    wiki: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "g"
    arguments = ["data", "build", "mediawiki", str(wiki), "--keyword", "jazz", "-o", str(out)]
    assert main(arguments) == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sonde.data.draft.Draft.write", interrupted)
    assert main(arguments) == 130
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert "nothing was written" in capsys.readouterr().err


def test_a_folder_with_other_tables_is_refused(wiki: Path, tmp_path: Path) -> None:
    (tmp_path / "g").mkdir()
    (tmp_path / "g" / "edges.tsv").write_text("source\ttarget\n", encoding="utf-8")
    with pytest.raises(ValueError, match="would contradict it"):
        build(Recipe("mediawiki", wiki, ("a",)), tmp_path / "g")


def test_kinds_and_names() -> None:
    assert data._KINDS == KINDS
    assert folder_names(["jazz", "JAZZ", "sea level, tide", "économie", "..", "/"]) == [
        "jazz",
        "JAZZ-2",
        "sea-level-tide",
        "économie",
        "keyword",
        "keyword-2",
    ]


def test_plain_lines_of_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0.0, 5.0, 30.0])
    monkeypatch.setattr("sonde.meter.time.monotonic", lambda: next(now))
    said = io.StringIO()
    with Shown("reading x", 4_000_000, BYTES, said) as meter:
        meter.at(500_000)
        meter.at(1_000_000)
    assert said.getvalue() == "reading x: 1 of 4 MB read (25%), about 1:30 left\n"


def test_a_bar_on_a_terminal() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    said = Terminal()
    with Shown("reading x", 4_000_000, BYTES, said) as meter:
        meter.at(1_000_000)
    assert "reading x" in said.getvalue()


def test_little_is_not_shared() -> None:
    assert jobs_from(3, SMALL) == 3
    assert jobs_from(3, SMALL - 1) == 1  # too little to be shared
    assert jobs_from(None, SMALL) >= 1
