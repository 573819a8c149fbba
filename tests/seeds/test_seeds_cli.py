"""``sonde seeds`` as it is typed."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow as pa
import pytest

from sonde import cli
from sonde.errors import InputError
from sonde.sources.graph import Graph

Output = pytest.CaptureFixture[str]
PAGES = [f"http://{host}.example/{page}" for host in "ab" for page in range(5)]
EDGES = [(0, 1), (0, 2), (0, 3), (1, 2), (4, 3), (5, 6), (5, 7), (8, 9), (3, 5)]


@pytest.fixture
def graph(tmp_path: Path) -> str:
    nodes = pa.table(
        {
            "node": PAGES,
            "score": [float(i) for i in range(10)],
            "spam": [i == 2 for i in range(10)],
            "owner": ["x"] * 6 + ["y"] * 4,
        }
    )
    edges = pa.table(
        {"source": [PAGES[a] for a, _ in EDGES], "target": [PAGES[b] for _, b in EDGES]}
    )
    Graph.from_edges(edges, nodes).save(tmp_path / "graph")
    return str(tmp_path / "graph")


def sonde(*words: str) -> int:
    args = cli.parser(["seeds"]).parse_args(["seeds", *words])
    status: int = args.run(args)
    return status


def test_a_line_a_seed(graph: str, capsys: Output) -> None:
    assert sonde(graph, "-k", "2", "--hops", "1", "--value", "pages", "--method", "maxout") == 0
    captured = capsys.readouterr()
    assert captured.out == f"{PAGES[0]}\t4\n{PAGES[5]}\t3\n"
    assert captured.err == "2 seeds cover 7 of 10 (70.0%)\n"


def test_rules_are_the_default_and_json_has_it_all(graph: str, capsys: Output) -> None:
    assert sonde(graph, "-k", "1", "--hops", "1", "--method", "greedy", "--json") == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    # Page 0 would bring spam along.
    assert found["seeds"] == [{"node": PAGES[5], "gain": 3.0, "pages": 3}]
    assert (found["value"], found["positive"], found["bound"]) == (3.0, 9.0, 3.0)
    assert (found["method"], found["k"], found["hops"]) == ("greedy", 1, 1)
    assert "no choice of that many seeds covers more than 3" in captured.err
    assert "1 pages are worth less than nothing" in captured.err
    assert sonde(graph, "-k", "1", "--hops", "1", "--method", "sketch") == 0
    assert "with 99 % confidence no choice" in capsys.readouterr().err


def test_per_site_by_host_and_by_column(graph: str, capsys: Output) -> None:
    assert sonde(graph, "-k", "2", "--hops", "1", "--per-site", "host", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [(seed["site"], seed["node"]) for seed in found["seeds"]] == [
        ("a.example", PAGES[4]),
        ("b.example", PAGES[5]),
    ]
    assert sonde(graph, "-k", "2", "--value", "score", "--per-site", "owner", "--hops", "1") == 0
    assert capsys.readouterr().out.splitlines()[1] == f"{PAGES[8]}\t17"
    with pytest.raises(InputError, match="no node column 'planet'"):
        sonde(graph, "--per-site", "planet")


@pytest.mark.parametrize("kind", ["lines", "json", "stdin"])
def test_refresh_reads_what_was_printed(
    graph: str, tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    sonde(graph, "-k", "1", "--hops", "1", "--value", "pages", *["--json"] * (kind == "json"))
    printed = capsys.readouterr().out
    old = tmp_path / "old"
    old.write_text(printed + ("" if kind == "json" else "http://gone.example/\t1\n"))
    if kind == "stdin":
        monkeypatch.setattr("sys.stdin", io.StringIO(printed))
    name = "-" if kind == "stdin" else str(old)
    options = ["-k", "2", "--hops", "1", "--value", "pages", "--method", "greedy", "--json"]
    status = sonde("refresh", name, graph, *options)
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert status == 0
    assert [seed["node"] for seed in found["seeds"]] == [PAGES[0], PAGES[5]]
    assert (found["kept_value"], found["new_value"], found["dropped"]) == (4.0, 3.0, [])
    assert "kept 4 of 4 good value" in captured.err
    assert ("http://gone.example/" in captured.err) == (kind == "lines")


def test_refresh_of_what_is_no_listing(graph: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        sonde("refresh", str(tmp_path / "none"), graph)
    (tmp_path / "bad").write_text("{}")
    with pytest.raises(InputError, match="not the JSON of sonde seeds"):
        sonde("refresh", str(tmp_path / "bad"), graph)


@pytest.mark.slow
def test_compare_prints_tables_and_draws(graph: str, tmp_path: Path, capsys: Output) -> None:
    words = ["compare", graph, "--per-site", "host", "-k", "1..2", "--hops", "1..2"]
    figures = ["-o", str(tmp_path / "figures")]
    assert sonde(*words, "--methods", "random,maxout", *figures) == 0
    out = capsys.readouterr().out
    assert "Page coverage, improvement over random in percent, 2 hops" in out
    assert "| maxout " in out
    assert "| b.example |     5 |" in out
    assert len(list((tmp_path / "figures").iterdir())) == 8
    assert sonde(*words, "--methods", "all", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {point["method"] for point in found["points"]} >= {"rootscc:2", "sketch"}
    assert [site["pages"] for site in found["sites"]] == [5, 5]
    with pytest.raises(InputError, match="no site has 6 pages or more"):
        sonde(*words, "--min-pages", "6")


def test_a_folder_may_be_called_compare(
    graph: str, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(graph).parent)
    Path(graph).rename("compare")
    assert sonde("./compare", "-k", "1", "--value", "pages", "--hops", "1") == 0
    assert capsys.readouterr().out == f"{PAGES[0]}\t4\n"
    assert sonde("-k", "1", "--value", "pages", "--hops", "1", "compare") == 0


@pytest.mark.parametrize(
    "words", [["g", "-k", "some"], ["compare", "g", "-k", "3..1"], ["compare"], ["refresh", "g"]]
)
def test_what_cannot_be_read_is_refused(words: list[str], capsys: Output) -> None:
    with pytest.raises(SystemExit) as stop:
        sonde(*words)
    assert stop.value.code == 2
    assert "sonde seeds" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["compare"], ["refresh"]])
def test_help_has_an_example(words: list[str], capsys: Output) -> None:
    with pytest.raises(SystemExit) as stop:
        sonde(*words, "--help")
    assert stop.value.code == 0
    assert "example" in capsys.readouterr().out
