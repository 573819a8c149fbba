"""Exports: whole or not at all, and readable by the programs that they are for."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from store_runs import SMALL, Recorder, Web, exchange, html, make_run, url

from sonde import cli
from sonde.cli import export
from sonde.errors import InputError
from sonde.simulation import simulate
from sonde.sources.graph import Graph
from sonde.sources.web.markdown import text_of
from sonde.store.atomic import new_file, new_folder
from sonde.store.export import export as exported
from sonde.store.reader import RunReader
from sonde.store.warc import WarcWriter
from sonde.store.warcreader import read_archived


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "run"
    make_run(path)
    return path


def rows(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return found


def test_parquet(folder: Path, tmp_path: Path) -> None:
    exported(folder, parquet=tmp_path / "out")
    visits = rows(tmp_path / "out" / "visits.parquet")
    assert [row["url"] for row in visits[:3]] == [url("/"), url("/tides"), url("/tides/gauge")]
    assert sum(row["gain"] for row in visits) == pytest.approx(8.5)
    assert visits[0]["visited"].tzinfo is not None
    links = rows(tmp_path / "out" / "links.parquet")
    assert [(row["target"], row["score"]) for row in links[:4]] == [
        (url(target), alpha) for target, alpha in SMALL.pages["/"][1]
    ]
    assert [row["place"] for row in links[:4]] == [0, 1, 2, 3]
    ledger = rows(tmp_path / "out" / "ledger.parquet")
    assert [row["lease"] for row in ledger] == [1, 2, 3, 4, 5, 6]
    assert {row["outcome"] for row in ledger} == {"visit", "failure"}
    assert sum(row["requests"] for row in ledger) == 6
    left = {
        row["url"]: (row["reason"], row["seen_on"])
        for row in rows(tmp_path / "out" / "not_taken.parquet")
    }
    assert left == {
        "http://c.example/": ("scope", url("/")),
        "http://a.example/private": ("robots", url("/tides")),
        url("/news"): ("frontier", url("/")),
    }


def test_the_graph_simulates_as_it_was_crawled(tmp_path: Path) -> None:
    web = Web({**SMALL.pages, "/gone": (0.0, [])})
    recorder = make_run(tmp_path / "run", budget=8, web=web, estimator="mab:eps=0.3[n,e,lnh]")
    with RunReader(tmp_path / "run") as run:
        crawled = [row[0] for row in run.rows(
            "SELECT url FROM leases JOIN nodes ON nodes.number = node ORDER BY leases.number"
        )]  # fmt: skip
        exported(run, graph=tmp_path / "graph")
    graph = Graph.load(tmp_path / "graph")
    assert graph.node_count == recorder.explorer.driver.known == 8
    again = simulate(graph, seeds=[url("/")], estimator="mab:eps=0.3[n,e,lnh]", budget=7, seed=3)
    assert [url("/"), *again.sequence] == crawled
    assert again.total == recorder.explorer.total
    assert {"visited", "seed", "host", "depth", "title"} <= set(graph.node_columns.column_names)


def test_the_graph_of_a_run_without_links(tmp_path: Path) -> None:
    make_run(tmp_path / "run", web=Web({"/": (1.0, [])}))
    exported(tmp_path / "run", graph=tmp_path / "graph", parquet=tmp_path / "tables")
    graph = Graph.load(tmp_path / "graph")
    assert (graph.node_count, graph.edge_count) == (1, 0)


def test_a_million_urls_are_not_needed_to_fill_several_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sonde.store.run_tables.BATCH", 20)
    pages = {"/": (1.0, [(f"/{number}", number / 8) for number in range(60)])}
    pages |= {f"/{number}": (1.0, [("/", 0.5), (f"/{number + 1}", 1.0)]) for number in range(60)}
    make_run(tmp_path / "run", budget=40, web=Web(pages))
    exported(tmp_path / "run", parquet=tmp_path / "tables", graph=tmp_path / "graph")
    assert len(rows(tmp_path / "tables" / "visits.parquet")) == 40
    assert len(rows(tmp_path / "tables" / "links.parquet")) == 60 + 39 * 2
    assert Graph.load(tmp_path / "graph").edge_count == 60 + 39 * 2


def test_graphml(folder: Path, tmp_path: Path) -> None:
    networkx = pytest.importorskip("networkx")
    exported(folder, graphml=tmp_path / "run.graphml")
    graph = networkx.read_graphml(tmp_path / "run.graphml")
    names = {data["url"]: node for node, data in graph.nodes(data=True)}
    assert len(names) == 7
    tides = graph.nodes[names[url("/tides")]]
    assert (tides["score"], tides["visited"], tides["depth"]) == (3.0, True, 1)
    assert tides["title"] == "Tides \ufffd[31m& <levels>\nof the sea\u202e"
    assert graph.edges[names[url("/")], names[url("/tides")]]["score"] == 3.0


# -- pages -----------------------------------------------------------------------------------------


def lines(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert command(*arguments) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def command(*arguments: str) -> int:
    args = cli.parser(["export"]).parse_args(["export", *arguments])
    return export.run(args)


def test_pages_as_lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = lines(capsys, str(folder), "--jsonl", "-")
    assert [page["url"] for page in found] == [
        url(path) for path in ("/", "/tides", "/tides/gauge", "b/", "b/far")
    ]
    assert "The tide gauge of /tides." in found[1]["text"]
    assert "menu" not in found[1]["text"]
    assert "<p>" not in found[1]["text"]


def test_pages_as_markdown(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "pages.jsonl"
    assert command(str(folder), "--jsonl", str(target), "--markdown") == 0
    first = json.loads(target.read_text().splitlines()[0])
    assert first["text"].startswith("# Page /\n")


def test_a_run_that_kept_only_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_run(tmp_path / "run", keep="text")
    found = lines(capsys, str(tmp_path / "run"), "--jsonl", "-")
    assert found[0]["text"] == "The text of /"
    with pytest.raises(InputError, match="kept no pages"):
        command(str(tmp_path / "run"), "--jsonl", "-", "--markdown")


def test_a_run_that_kept_nothing_of_its_pages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run(tmp_path / "run", keep="nothing")
    assert command(str(tmp_path / "run"), "--jsonl", "-") == 0
    output = capsys.readouterr()
    assert json.loads(output.out.splitlines()[0])["text"] is None
    assert "5 pages have no text" in output.err


@pytest.mark.parametrize(
    ("body", "coding", "media", "text"),
    [
        (gzip.compress(html("/x")), "gzip", "text/html", "The tide gauge of /x."),
        (zlib.compress(b"plain words"), "deflate", "text/plain", "plain words"),
        (b"not gzip at all", "gzip", "text/html", None),
        (b"\x89PNG", "", "image/png", None),
        (b"%PDF-broken", "", "application/pdf", None),
    ],
)
def test_bodies_of_all_kinds(
    tmp_path: Path, body: bytes, coding: str, media: str, text: str | None
) -> None:
    with WarcWriter(tmp_path) as writer:
        place = writer.write([exchange("http://a.example/x", body, coding=coding)])
    found = text_of(read_archived(tmp_path, place), media)
    assert found == text if text is None else text in (found or "")


# -- whole or not at all ---------------------------------------------------------------------------


def test_an_export_that_fails_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "run", 6)
    recorder.step()
    recorder.run.journal.add(
        "pages",
        (
            99,
            0,
            "x",
            200,
            "",
            "",
            "",
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            "",
            None,
            None,
            None,
            None,
            b"abc",
            b"",
            None,
            None,
        ),
    )
    recorder.close()
    (tmp_path / "kept.graphml").write_text("what was there before")
    targets: dict[str, str] = {
        "parquet": "tables",
        "csv": "tables",
        "graph": "graph",
        "graphml": "kept.graphml",
    }
    for form, name in targets.items():
        with pytest.raises(InputError, match="damaged: the links of lease 99"):
            exported(tmp_path / "run", **{form: tmp_path / name})  # type: ignore[arg-type]
    assert (tmp_path / "kept.graphml").read_text() == "what was there before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.graphml", "run"]


def test_what_is_there_is_not_mixed_with_what_is_new(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("mine")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="already there"):
        exported(folder, graph=tmp_path / "full")
    exported(folder, graph=tmp_path / "empty")
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["file"]
    assert Graph.load(tmp_path / "empty").node_count == 7


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"), new_folder(tmp_path / "file" / "x"):
        pass
    with (
        pytest.raises(InputError, match="cannot be written"),
        new_file(tmp_path / "no" / "x") as name,
    ):
        name.write_text("")
    with (
        pytest.raises(InputError, match="cannot be written"),
        new_file(tmp_path / "file" / "x") as name,
    ):
        name.write_text("")
    with pytest.raises(InputError, match="a folder, not a file"), new_file(tmp_path):
        pass


@pytest.mark.parametrize(
    ("arguments", "message"), [((), "nothing to export"), (("--markdown", "--graph", "g"), "jsonl")]
)
def test_bad_arguments(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        command(str(folder), *arguments)
