"""``sonde authority`` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sonde.cli import main


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """A ring of 20; everybody links to n0, the first ten to n1."""
    rows = [(n, (n + 1) % 20) for n in range(20)]
    rows += [(n, 0) for n in range(1, 19)] + [(n, 1) for n in range(2, 10)]
    folder = tmp_path / "graph"
    folder.mkdir()
    (folder / "edges.tsv").write_text(
        "source\ttarget\n" + "".join(f"n{a}\tn{b}\n" for a, b in rows)
    )
    return folder


@pytest.fixture
def timed(tmp_path: Path) -> Path:
    folder = tmp_path / "timed"
    folder.mkdir()
    rows = [(n % 13, (n * n) % 7, n) for n in range(400) if n % 13 != (n * n) % 7]
    (folder / "edges.tsv").write_text(
        "source\ttarget\tday\n" + "".join(f"{a}\t{b}\t{t / 10}\n" for a, b, t in rows)
    )
    return folder


def called(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    try:
        status = main(["authority", *map(str, arguments)])
    except SystemExit as stop:
        status = int(str(stop.code))
    out, err = capsys.readouterr()
    return status, out, err


def test_find(graph: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--top", 2, "--budget", 12, "--start", "n4")
    status, out, err = called(capsys, "find", graph, *options)
    assert status == 0
    assert [line.split("\t")[0] for line in out.splitlines()] == ["n0", "n1"]
    assert "crawl performance 1.0000, rank performance 1.0000" in err
    status, out, _ = called(capsys, "find", graph, *options, "--json")
    found = json.loads(out)
    assert found["start"] == "n4"
    assert found["crawled"] == 12
    assert found["crawl_performance"] == found["rank_performance"] == 1.0
    first = found["nodes"][0]
    assert first["node"] == "n0"
    assert 0 < first["apparent_in_degree"] <= first["in_degree"] == 19


@pytest.mark.parametrize("method", ["mix:0.4", "two-stage", "sample-io", "walk"])
def test_find_by_other_methods(
    graph: Path, method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = called(capsys, "find", graph, "--top", 3, "--method", method, "--json")
    assert status == 0
    found = json.loads(out)
    assert found["method"] == method
    assert (found["budget"], len(found["nodes"]) <= 3) == (20, True)
    assert ("estimated_in_degree" in found["nodes"][0]) == method.startswith("mix")


def test_compare(graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    figures = tmp_path / "figures"
    options = ("--top", 2, "--repeat", 2, "--methods", "crawl-gai,sample-i", "-o", figures)
    status, out, _ = called(capsys, "compare", graph, *options)
    assert status == 0
    assert out.splitlines()[0] == "the 2 most cited of 20 nodes"
    assert {path.name for path in figures.iterdir()} == {
        f"{name}.{kind}" for name in ("crawl", "rank") for kind in ("svg", "png")
    }
    assert "crawl-gai" in (figures / "crawl.svg").read_text()
    status, out, _ = called(capsys, "compare", graph, *options[:-2], "--json")
    curves = json.loads(out)["curves"]
    assert [curve["label"] for curve in curves][::2] == ["crawl-gai", "sample-i"]


def test_simulate(timed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    options = ("--top", 3, "--time", "day", "--unit", "1d", "--rate", "5/d", "--recrawl", "u,or")
    status, out, _ = called(capsys, "simulate", timed, *options, "-o", tmp_path / "figures")
    assert status == 0
    assert [line.split("  ")[0] for line in out.splitlines()[1:]] == [
        "crawl-gai, u",
        "crawl-gai, or",
    ]
    assert (tmp_path / "figures" / "discovery-lift.png").exists()
    status, out, _ = called(capsys, "simulate", timed, *options, "--start", "3", "--json")
    assert len(json.loads(out)["curves"]) == 10


@pytest.mark.parametrize(
    "arguments",
    [
        ("find", "GRAPH", "--method", "magic"),
        ("find", "GRAPH", "--method", "sample-u", "--start", "n1"),
        ("find", "GRAPH", "--start", "n99"),
        ("find", "GRAPH", "--top", "0"),
        ("find", "nowhere"),
        ("compare", "GRAPH", "--methods", "crawl-gai,x"),
        ("simulate", "GRAPH"),
        ("simulate", "TIMED", "--time", "day", "--rate", "often"),
        ("simulate", "TIMED", "--time", "day", "--expand", "sample-i"),
        ("simulate", "TIMED", "--time", "day", "--window", "week"),
        ("simulate", "TIMED", "--time", "day", "--start", "x"),
        ("simulate", "TIMED", "--time", "day"),  # 40 seconds of links
    ],
)
def test_what_cannot_be_done(
    graph: Path, timed: Path, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"GRAPH": str(graph), "TIMED": str(timed)}
    status, out, err = called(capsys, *(places.get(word, word) for word in arguments))
    assert status == 2
    assert out == ""
    assert err.count("\n") == 1
