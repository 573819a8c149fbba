"""Graphs out of edge lists."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from data_making import graph_in, made
from hypothesis import given, settings
from hypothesis import strategies as st

from sonde.data import EdgeScores, Recipe, build
from sonde.errors import InputError
from sonde.sources.graph import Graph

SNAP = "# Directed graph\n# FromNodeId\tToNodeId\n0\t1\n0 2\n2\t1\n1\t1\n0\t1\n"


def write(folder: Path, text: str, name: str = "edges.txt") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def recipe(path: Path, *specs: str, f: bool = False, **further: object) -> Recipe:
    scores = EdgeScores(specs or ("in-degree",), through_f=f)
    return Recipe("edges", path, scores=scores, **further)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["edges.txt", "edges.txt.gz"])
def test_a_snap_edge_list_by_in_degree(tmp_path: Path, name: str) -> None:
    blanks = SNAP.replace("0\t1", "0   1").replace("2\t1", " 2 1 ").replace("\t", " ")
    nodes, edges, about = made(recipe(write(tmp_path, blanks, name)), tmp_path / "g")
    assert nodes == {0: 0.0, 1: 2.0, 2: 1.0}
    assert edges == {(0, 1): 1.0, (0, 2): 1.0, (2, 1): 1.0}
    counts = about["counts"]
    assert (counts["self_links"], counts["parallel_links_merged"]) == (1, 1)
    assert about["score"] == "in-degree"
    assert Graph.load(tmp_path / "g").name(0) == 0


def test_in_degree_through_f(tmp_path: Path) -> None:
    text = "source,target\na,b\nc,b\n"
    nodes, _, _ = made(recipe(write(tmp_path, text, "e.csv"), f=True), tmp_path / "g")
    assert nodes == pytest.approx({"a": 0.0, "b": 1 + math.log(2), "c": 0.0})


def test_columns_with_a_table_of_nodes(tmp_path: Path) -> None:
    edges = "source\ttarget\tposts\thappy\tjazz\n1\t2\t9\t3\t0\n1\t2\t1\t1\t2\n3\t1\t1\t0\t0\n"
    nodes = "node\thappy\tjazz\n2\t5\t0\n1\t0\t1\n2\t7\t7\n"
    path = write(tmp_path, edges, "edges.tsv")
    listed = write(tmp_path, nodes, "nodes.tsv")
    built = build(recipe(path, "column:happy", "column:jazz", f=True, nodes=listed), tmp_path / "g")
    assert [folder.name for folder in built.folders] == ["happy", "jazz"]
    happy, jazz = (graph_in(folder) for folder in built.folders)
    assert happy[0] == pytest.approx({2: 1 + math.log(5), 1: 0.0, 3: 0.0})
    assert happy[1] == pytest.approx({(1, 2): 1 + math.log(4), (3, 1): 0.0})
    assert jazz[0] == pytest.approx({2: 0.0, 1: 1.0, 3: 0.0})
    assert jazz[1] == pytest.approx({(1, 2): 1 + math.log(2), (3, 1): 0.0})
    assert built.about[0]["problems"] == {"nodes listed twice": 1}


def test_a_column_without_a_table_of_nodes(tmp_path: Path) -> None:
    path = write(tmp_path, "a b 2\nc b 3\nb a 1\n")
    nodes, edges, _ = made(recipe(path, "column:column3"), tmp_path / "g")
    assert nodes == {"a": 1.0, "b": 5.0, "c": 0.0}
    assert edges == {("a", "b"): 2.0, ("c", "b"): 3.0, ("b", "a"): 1.0}


def test_times_are_kept(tmp_path: Path) -> None:
    path = write(tmp_path, "1 2 30\n2 3 5\n1 2 10\n1 3 later\n")
    names = ("source", "target", "time")
    _, _, about = made(recipe(path, names=names, time="time"), tmp_path / "g")
    rows = pq.read_table(tmp_path / "g" / "edges.parquet").to_pylist()
    assert {(row["source"], row["target"]): row["times"] for row in rows} == {
        (1, 2): [10, 30],
        (2, 3): [5],
        (1, 3): [],
    }
    assert about["problems"] == {"rows without a readable time": 1}


def test_further_columns_are_kept(tmp_path: Path) -> None:
    text = "source,target,score,kind,say\na,b,2,x,one\na,c,1,y,\na,b,1,x,two\nb,b,1,z,loop\n"
    path = write(tmp_path, text, "edges.csv")

    def edges_of(**further: object) -> dict[tuple[object, object], dict[str, object]]:
        scores = EdgeScores(("column:score",))
        build(Recipe("edges", path, scores=scores, **further), tmp_path / "g")  # type: ignore[arg-type]
        rows = pq.read_table(tmp_path / "g" / "edges.parquet").to_pylist()
        return {(row.pop("source"), row.pop("target")): row for row in rows}

    assert edges_of() == {
        ("a", "b"): {"score": 3.0, "kind": "x\nx", "say": "one\ntwo"},
        ("a", "c"): {"score": 1.0, "kind": "y", "say": ""},
    }
    assert Graph.load(tmp_path / "g").edge_columns.column_names == ["kind", "say"]
    assert edges_of(kept=("say",))["a", "b"] == {"score": 3.0, "say": "one\ntwo"}
    assert edges_of(kept=())["a", "b"] == {"score": 3.0}
    with pytest.raises(InputError, match="no column 'what'"):
        edges_of(kept=("what",))
    with pytest.raises(InputError, match="'target' cannot be kept"):
        edges_of(kept=("target",))


def test_columns_whose_names_are_taken_are_kept_under_others(tmp_path: Path) -> None:
    path = write(tmp_path, "source,target,score,times\na,b,2,1999\na,b,1,2000\n", "edges.csv")
    built = build(Recipe("edges", path), tmp_path / "g")
    assert pq.read_table(tmp_path / "g" / "edges.parquet").to_pylist() == [
        {
            "source": "a",
            "target": "b",
            "score": 1.0,
            "given_score": "2\n1",
            "given_times": "1999\n2000",
        }
    ]
    assert built.notes == (
        "edges.csv: its column 'score' is kept as 'given_score'; to use it: --score column:score",
        "edges.csv: its column 'times' is kept as 'given_times'; to use it: --time times",
    )
    assert built.about[0]["notes"] == list(built.notes)
    timed = build(Recipe("edges", path, time="times", kept=("score",)), tmp_path / "h")
    (row,) = pq.read_table(timed.folders[0] / "edges.parquet").to_pylist()
    assert (row["times"], row["given_score"]) == ([1999, 2000], "2\n1")


def test_further_columns_of_nodes_are_kept(tmp_path: Path) -> None:
    edges = write(tmp_path, "source,target,w\na,b,1\nb,c,1\n", "edges.csv")
    nodes = tmp_path / "nodes.csv"
    nodes.write_text("node,kind,score,w\nb,x,7,1\na,y,8,0\nb,z,9,5\n", encoding="utf-8")
    scores = EdgeScores(("column:w",))
    built = build(Recipe("edges", edges, nodes=nodes, scores=scores), tmp_path / "g")
    assert pq.read_table(tmp_path / "g" / "nodes.parquet").to_pylist() == [
        {"node": "b", "score": 1.0, "kind": "x", "given_score": "7"},
        {"node": "a", "score": 0.0, "kind": "y", "given_score": "8"},
        {"node": "c", "score": 0.0, "kind": None, "given_score": None},
    ]
    assert len(built.notes) == 1
    graph = Graph.load(tmp_path / "g")
    assert graph.node_columns.column_names == ["kind", "given_score"]
    build(Recipe("edges", edges, nodes=nodes, scores=scores, kept=("kind",)), tmp_path / "h")
    assert Graph.load(tmp_path / "h").node_columns.column_names == ["kind"]
    build(Recipe("edges", edges, nodes=nodes, scores=scores, kept=()), tmp_path / "i")
    assert Graph.load(tmp_path / "i").node_columns.column_names == []


def test_half_written_rows(tmp_path: Path) -> None:
    path = tmp_path / "edges.tsv"
    path.write_bytes(
        b"source\ttarget\tw\na\tb\t1\na\tc\nb\tc\tmuch\nb\t\t1\nc\ta\t-1\nd\xff\ta\t\nc\tb\t2\nc"
    )
    _, edges, about = made(recipe(path, "column:w"), tmp_path / "g")
    assert edges == {("a", "b"): 1.0, ("d\ufffd", "a"): 0.0, ("c", "b"): 2.0}
    assert about["problems"] == {
        "half-written rows": 2,
        "rows with broken UTF-8": 1,
        "rows without a usable score or name": 3,
    }


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "a.md",
            "# A title\nSome words of prose\nand more.\n\nThe end\n",
            "2 of 3 rows do not have",
        ),
        ("a.gml", "Creator x\ngraph\n[\n]\n", "3 of 4 rows do not have the 2 columns"),
        ("a.html", "<!DOCTYPE html>\n<p>a b\n", "HTML or XML"),
        ("a.xml", '<?xml version="1.0"?>\n<a b="c">\n', "HTML or XML"),
        ("a.jsonl", '{"source": "a", "target": "b"}\n', "JSON"),
        ("a.json", "[\n  [1, 2]\n]\n", "JSON"),
        ("a.out", "\x7fELF\x02 \0\0\n1 2\n", "binary data"),
    ],
)
def test_what_is_no_edge_list_is_an_error(
    name: str, content: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        build(recipe(path), tmp_path / "g")
    assert not (tmp_path / "g").exists()


def test_a_table_of_nodes_that_is_none(tmp_path: Path) -> None:
    edges = write(tmp_path, "source,target\na,b\n", "edges.csv")
    nodes = tmp_path / "nodes.csv"
    nodes.write_text("node,score\na,1\nb\nc\n", encoding="utf-8")
    with pytest.raises(InputError, match="2 of 3 rows"):
        build(Recipe("edges", edges, nodes=nodes), tmp_path / "g")


def test_names_are_numbers_only_if_all_are(tmp_path: Path) -> None:
    nodes, _, _ = made(recipe(write(tmp_path, "01 2\n2 3\n")), tmp_path / "g")
    assert set(nodes) == {"01", "2", "3"}


def test_topical_scores_come_from_the_seed(tmp_path: Path) -> None:
    dice = np.random.default_rng(1)
    rows = "".join(f"{a} {b}\n" for a, b in dice.integers(0, 2_000, (10_000, 2)).tolist())
    path = write(tmp_path, rows)

    def drawn(name: str, seed: int, share: float = 0.05) -> Graph:
        scores = EdgeScores(("topical",), seed=seed, share=share)
        built = build(Recipe("edges", path, scores=scores), tmp_path / name)
        return Graph.load(built.folders[0])

    one, same, other = drawn("a", 1), drawn("b", 1), drawn("c", 2)
    assert np.array_equal(one.scores, same.scores)
    assert np.array_equal(one.link_scores, same.link_scores)
    assert not np.array_equal(one.scores, other.scores)
    assert np.count_nonzero(one.scores) == round(0.05 * one.node_count)
    # Links tell: they score far more often where they lead to the topic.
    on_topic = one.scores[one.targets] > 0
    assert (one.link_scores[on_topic] > 0).mean() > 5 * (one.link_scores[~on_topic] > 0).mean()


@pytest.mark.parametrize(
    ("specs", "further", "words"),
    [
        (("column:weight",), {}, "no column 'weight'"),
        (("degree",), {}, "not column:NAME, in-degree or topical"),
        (("column:",), {}, "not column:NAME"),
        ((), {"time": "when"}, "no column 'when'"),
        ((), {"names": ("source", "source")}, "appears twice"),
        ((), {"names": ("a", "b")}, "no column 'source'"),
    ],
)
def test_wrong_recipes(
    tmp_path: Path, specs: tuple[str, ...], further: dict[str, object], words: str
) -> None:
    path = write(tmp_path, "1 2\n")
    with pytest.raises(InputError, match=words):
        build(recipe(path, *specs, **further), tmp_path / "g")  # type: ignore[arg-type]


def test_nothing_in_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no rows in it"):
        build(recipe(write(tmp_path, "# only\n")), tmp_path / "g")
    with pytest.raises(InputError, match="nothing is left"):
        build(recipe(write(tmp_path, "source\ttarget\n")), tmp_path / "g")
    with pytest.raises(InputError, match="share"):
        EdgeScores(share=0.9)


names = st.integers(0, 6)


@settings(max_examples=40)
@given(st.lists(st.tuples(names, names, st.integers(0, 5)), min_size=1, max_size=40))
def test_against_the_definition(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("edges")
    path = write(folder, "".join(f"{a} {b} {w}\n" for a, b, w in rows))
    build(recipe(path, "column:column3", "in-degree"), folder / "g")
    sums: dict[tuple[int, int], float] = {}
    for a, b, w in rows:
        if a != b:
            sums[a, b] = sums.get((a, b), 0.0) + w
    every = {end for a, b, _ in rows for end in (a, b)}
    nodes, edges = graph_in(folder / "g" / "column3")
    assert edges == sums
    assert nodes == {v: sum(w for (_, b), w in sums.items() if b == v) for v in every}
    nodes, edges = graph_in(folder / "g" / "in-degree")
    assert nodes == {v: sum(b == v for _, b in sums) for v in every}
