"""Whatever the files look like, the loader reads what the obvious reference reads."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from graph_reference import as_plain, plain, same, write
from hypothesis import given, settings
from hypothesis import strategies as st

from sonde.sources.graph import Graph

FORMS = [
    f".{kind}{packed}"
    for kind in ("parquet", "tsv", "csv")
    for packed in ("", ".gz", ".xz", ".zst")
]

# Few names, so that repeats, parallel edges and self-loops abound; some that CSV must quote.
CSV_NAMES = st.sampled_from(["a", "b", "é", "12", "012", 'q"', 'x,"y"', "two\nlines", " s "])
TSV_NAMES = st.sampled_from(["a", "b", "é", "12", "012", 'q"', '"open', "x,y", " s "])
SCORES = st.none() | st.floats(0, 1e6, allow_subnormal=False) | st.sampled_from([0.0, 1.0])
NOTES = st.sampled_from(["", "n", "ö", "1.5", "true"])


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, str, list[Any], list[Any]]:
    forms = draw(st.sampled_from(FORMS)), draw(st.sampled_from(FORMS))
    names: st.SearchStrategy[Any] = CSV_NAMES
    if any(".tsv" in form for form in forms):
        names = TSV_NAMES
    elif all("parquet" in form for form in forms) and draw(st.booleans()):
        names = st.sampled_from([0, -1, 5, 2**62, -(2**63)])
    nodes = draw(
        st.lists(st.tuples(names, SCORES, NOTES), max_size=5, unique_by=lambda row: row[0])
    )
    edges = draw(st.lists(st.tuples(names, names, SCORES, NOTES), max_size=25, min_size=1))
    return *forms, nodes, edges


@pytest.mark.slow
@given(cases())
@settings(max_examples=250, deadline=None)
def test_loads_as_the_reference_does(case: tuple[str, str, list[Any], list[Any]]) -> None:
    node_form, edge_form, nodes, edges = case
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if nodes:
            write(folder, "nodes", node_form, ["node", "score", "note"], nodes)
        write(folder, "edges", edge_form, ["source", "target", "score", "note"], edges)
        graph = Graph.load(folder)
        expected = plain(nodes, edges)
        if not nodes:
            expected.node_notes = [None] * len(expected.names)
        assert as_plain(graph) == expected
        graph.save(folder / "saved")
        assert same(graph, Graph.load(folder / "saved"))
        assert [graph.index(name) for name in expected.names] == list(range(graph.node_count))
        assert [graph.name(index) for index in range(graph.node_count)] == expected.names


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_file(tmp_path: Path, form: str) -> None:
    write(tmp_path, "nodes", form, ["node", "score"], [("a", 1.5), ("b", None)])
    write(tmp_path, "edges", form, ["source", "target", "score"], [("a", "b", 2.0), ("b", "c", 0)])
    graph = Graph.load(tmp_path)
    assert graph.names.to_pylist() == ["a", "b", "c"]
    assert graph.scores.tolist() == [1.5, 0.0, 0.0]
    assert graph.targets.tolist() == [1, 2]
    assert graph.link_scores.tolist() == [2.0, 0.0]


def test_columns_in_any_order_and_no_scores(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("when,target,source\n1,b,a\n2,c,a")
    graph = Graph.load(tmp_path)
    assert graph.names.to_pylist() == ["a", "b", "c"]
    assert graph.edge_columns.to_pydict() == {"when": ["1", "2"]}
    assert graph.link_scores.tolist() == [0.0, 0.0]


def test_nodes_alone(tmp_path: Path) -> None:
    (tmp_path / "nodes.tsv").write_text("node\tscore\na\t1\n")
    graph = Graph.load(tmp_path)
    assert (graph.node_count, graph.edge_count) == (1, 0)
    graph.save(tmp_path / "saved")
    assert same(graph, Graph.load(tmp_path / "saved"))


def test_header_without_rows_beside_nodes(tmp_path: Path) -> None:
    (tmp_path / "nodes.tsv").write_text("node\na\n")
    for text in ("source\ttarget", "source\ttarget\n"):
        (tmp_path / "edges.tsv").write_text(text)
        assert Graph.load(tmp_path).edge_count == 0


def test_windows_files(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_bytes(b'\xef\xbb\xbfsource,target\r\n\r\na,b\r\n"c",d\r\n\r\n')
    assert Graph.load(tmp_path).names.to_pylist() == ["a", "b", "c", "d"]


def test_integers_beside_text_are_text(tmp_path: Path) -> None:
    (tmp_path / "nodes.tsv").write_text("node\tscore\n7\t1\n")
    pq.write_table(pa.table({"source": [7], "target": [8]}), tmp_path / "edges.parquet")
    assert Graph.load(tmp_path).names.to_pylist() == ["7", "8"]


def test_arrow_types_of_names_and_scores(tmp_path: Path) -> None:
    names = pa.array(["a", "b", "a"])
    table = pa.table(
        {
            "source": names.dictionary_encode(),
            "target": pa.array(["b", "c", "c"], pa.large_string()),
            "score": pa.array([1, 2, 3], pa.int8()),
            "tags": [["x"], [], None],
        }
    )
    pq.write_table(table, tmp_path / "edges.parquet")
    graph = Graph.load(tmp_path)
    assert graph.names.to_pylist() == ["a", "b", "c"]
    assert graph.link_scores.tolist() == [1.0, 3.0, 2.0]
    assert graph.edge_columns.to_pydict() == {"tags": [["x"], None, []]}


def test_more_rows_than_a_batch(tmp_path: Path) -> None:
    count = 200_000
    rows = "".join(f"n{i % 1000}\tn{i * 7 % 1013}\n" for i in range(count))
    (tmp_path / "edges.tsv").write_text("source\ttarget\n" + rows)
    graph = Graph.load(tmp_path)
    pairs = {(i % 1000, i * 7 % 1013) for i in range(count)}
    assert graph.edge_count == sum(a != b for a, b in pairs)
    assert graph.edge_count + graph.merged + graph.self_loops == count
    assert graph.name(0) == "n0"
    assert [graph.name(int(t)) for t in graph.targets[: graph.indptr[1]]][:2] == ["n922", "n831"]
