"""Malformed input is one line that names the file and the row, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from graph_reference import compress

from sonde.errors import GraphError
from sonde.sources.graph import Graph, topical

EDGES = "source,target,score\n"


def complaint(folder: Path) -> str:
    """What loading the folder complains about, with the folder's own path left out."""
    with pytest.raises(GraphError) as caught:
        Graph.load(folder)
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(f"{folder}/", "").replace(str(folder), "GRAPH")


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("edges.csv", EDGES + "a,b,1\na,b,-1\n", "edges.csv, line 3: score -1.0 is negative"),
        ("edges.csv", EDGES + "a,b,nan\n", "edges.csv, line 2: score nan is not a number"),
        ("edges.csv", EDGES + "\n\na,b,inf\n", "edges.csv, line 4: score inf is infinite"),
        ("edges.csv", EDGES + "a,b,1e999\n", "edges.csv, line 2: score inf is infinite"),
        ("edges.csv", EDGES + "a,b,1\na,b,x1\n", "edges.csv, line 3: score 'x1' is not a number"),
        ("edges.csv", EDGES + "a,b,1_0\n", "edges.csv, line 2: score '1_0' is not a number"),
        ("edges.csv", EDGES + "a,b,1\na,b\n", "edges.csv, line 3: expected 3 fields, got 2"),
        ("edges.csv", EDGES + '"a\nb",c,1\na,b,1,2', "edges.csv, line 4: expected 3 fields, got 4"),
        ("edges.csv", EDGES + '"a ""\nb",c,1\n,b,1', "edges.csv, line 4: source is empty"),
        ("edges.csv", EDGES + "a,,1\n", "edges.csv, line 2: target is empty"),
        (
            "edges.csv",
            'source,target,note\na,b,x\na,b,"x\nc,d,y\n',
            "edges.csv, line 3: a quote is opened and never closed",
        ),
        ("edges.csv", "", "edges.csv, line 1: the file is empty, a header row is expected"),
        ("edges.csv", "\n\n", "edges.csv, line 1: the file is empty, a header row is expected"),
        ("edges.csv", EDGES, "GRAPH: the graph is empty, it has no nodes"),
        (
            "edges.csv",
            "from,target\na,b\n",
            "edges.csv: column 'source' is missing (found: 'from', 'target')",
        ),
        ("edges.csv", "source,target,target\na,b,c\n", "edges.csv: column 'target' appears twice"),
        ("edges.csv", EDGES + "a,b\udcff,1\n", "edges.csv, line 2: the text is not valid UTF-8"),
        ("edges.csv", "source,t\udcff\n", "edges.csv, line 1: the text is not valid UTF-8"),
        ("edges.tsv", 'source\ttarget\n"a\tb\tc"\n', "edges.tsv, line 2: expected 2 fields, got 3"),
        ("nodes.csv", "node,score\na,1\n\nb,2\na,3\n", "nodes.csv, line 5: node 'a' is repeated"),
        ("nodes.csv", "name\na\n", "nodes.csv: column 'node' is missing (found: 'name')"),
        (
            "edges.csv",
            EDGES + "a,b,1e308\na,b,1e308\n",
            "edges.csv: the scores of the parallel edges from 'a' to 'b' add up to infinity",
        ),
        ("edges.csv.gz", "not packed", "edges.csv.gz, line 1: cannot be read: zlib inflate failed"),
        ("edges.csv.xz", "not packed", "edges.csv.xz, line 1: cannot be read: Input format not"),
        ("edges.csv.zst", "not packed", "edges.csv.zst, line 1: cannot be read: ZSTD decompress"),
        ("edges.parquet", "not Parquet", "edges.parquet: cannot be read: Parquet magic bytes"),
        ("edges.parquet.gz", "not packed", "edges.parquet.gz: cannot be read: zlib inflate"),
    ],
)
def test_malformed_files(tmp_path: Path, file: str, text: str, expected: str) -> None:
    (tmp_path / file).write_bytes(text.encode(errors="surrogateescape"))
    assert complaint(tmp_path).startswith(expected)


def test_no_folder(tmp_path: Path) -> None:
    assert complaint(tmp_path / "absent") == "GRAPH: no such folder"
    (tmp_path / "file").touch()
    assert complaint(tmp_path / "file").startswith("GRAPH: not a folder")
    assert complaint(tmp_path).startswith("GRAPH: holds neither `nodes` nor `edges`")
    (tmp_path / "run.sqlite").touch()
    assert "it is a run: sonde export GRAPH --graph" in complaint(tmp_path)


def test_two_files_for_a_table(tmp_path: Path) -> None:
    for file in ("nodes.tsv", "nodes.csv.gz"):
        (tmp_path / file).touch()
    assert complaint(tmp_path).startswith("nodes.tsv and nodes.csv.gz: two files for the same")


@pytest.mark.parametrize("packed", ["gz", "xz", "zst"])
def test_truncated_files(tmp_path: Path, packed: str) -> None:
    rows = "".join(f"{i},{i * i % 9973},1\n" for i in range(30_000))
    data = compress((EDGES + rows).encode(), packed)
    (tmp_path / f"edges.csv.{packed}").write_bytes(data[: len(data) // 2])
    assert complaint(tmp_path).startswith(f"edges.csv.{packed}, line ")
    assert "cannot be read" in complaint(tmp_path)


def test_unreadable_file(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").mkdir()
    assert "edges.csv, line 1: cannot be read" in complaint(tmp_path)


def parquet_complaint(folder: Path, columns: Mapping[str, object]) -> str:
    pq.write_table(pa.table(columns), folder / "edges.parquet")
    return complaint(folder)


def test_rows_of_parquet(tmp_path: Path) -> None:
    names = {"source": ["a", "b", "c"], "target": ["b", "c", "a"]}
    where = "edges.parquet, row 2: "
    for score, words in ((-2.0, "negative"), (float("nan"), "not a number")):
        found = parquet_complaint(tmp_path, names | {"score": [1.0, score, 1.0]})
        assert found == f"{where}score {score!r} is {words}"
    assert parquet_complaint(tmp_path, names | {"source": ["a", None, "b"]}) == (
        f"{where}source is missing"
    )
    assert parquet_complaint(tmp_path, names | {"target": ["a", "", "b"]}) == (
        f"{where}target is empty"
    )
    huge = pa.array([1, 2**63, 3], pa.uint64())
    assert parquet_complaint(tmp_path, {"source": huge, "target": huge}).startswith(
        f"{where}source: Integer value"
    )


def test_the_first_bad_row_is_named(tmp_path: Path) -> None:
    columns = {"source": ["a", "b", None], "target": ["b", "", "a"], "score": [-1.0, 1.0, 1.0]}
    assert parquet_complaint(tmp_path, columns) == "edges.parquet, row 1: score -1.0 is negative"


def test_types_of_parquet_columns(tmp_path: Path) -> None:
    assert parquet_complaint(tmp_path, {"source": [1.5], "target": [2]}) == (
        "edges.parquet: column 'source' is double, not text or integers"
    )
    assert parquet_complaint(tmp_path, {"source": [1], "target": [2], "score": ["x"]}) == (
        "edges.parquet: column 'score' is string, not numbers"
    )
    assert parquet_complaint(tmp_path, {"source": [1]}).startswith(
        "edges.parquet: column 'target' is missing"
    )


def test_text_of_parquet_that_is_not_utf8(tmp_path: Path) -> None:
    offsets, data = (
        pa.py_buffer(bytes([0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0])),
        pa.py_buffer(b"a\xff"),
    )
    bad = pa.Array.from_buffers(pa.string(), 2, [None, offsets, data])
    found = parquet_complaint(tmp_path, {"source": bad, "target": ["b", "c"]})
    assert found.startswith("edges.parquet, row 2: ")
    assert "UTF8" in found


def test_corrupt_page_of_parquet(tmp_path: Path) -> None:
    file = tmp_path / "edges.parquet"
    table = pa.table({"source": list(range(50_000)), "target": list(range(1, 50_001))})
    pq.write_table(table, file, compression="zstd")
    data = bytearray(file.read_bytes())
    data[4:40] = b"\xff" * 36  # the header of the first page
    file.write_bytes(data)
    assert complaint(tmp_path).startswith("edges.parquet, row ")


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        (
            [("a", "b"), ("a",)],
            "edges, row 2: expected (source, target) or (source, target, score)",
        ),
        (["ab"], "edges, row 1: expected (source, target) or (source, target, score)"),
        ([("a", "b", "x")], "edges, row 1: score 'x' is not a number"),
        ([("a", "b", -1)], "edges, row 1: score -1.0 is negative"),
        ([("a", "b"), ("a", None)], "edges, row 2: target is missing"),
        ([("a", "b"), (1, "b")], "edges, row 2: source 1 is not text, as the names before it are"),
        ([(1, 2), ("a", 2)], "edges, row 2: source 'a' is neither text nor an integer"),
        ([(1, 2), (2**63, 2)], "edges, row 2: source 9223372036854775808 is not an integer of 64"),
        ([(True, 2)], "edges, row 1: source True is not an integer of 64 bits"),
        ([((1, 2), 2)], "edges, row 1: source (1, 2) is neither text nor an integer"),
        ([("a", "\ud800")], "edges, row 1: target '\\ud800' is not valid Unicode"),
        ([], "edges: the graph is empty, it has no nodes"),
    ],
)
def test_malformed_rows_in_memory(edges: list[object], expected: str) -> None:
    with pytest.raises(GraphError) as caught:
        Graph.from_edges(edges)
    assert str(caught.value).startswith(expected)


def test_unknown_nodes() -> None:
    words, numbers = Graph.from_edges([("a", "b")]), Graph.from_edges([(1, 2)])
    for graph, name in ((words, "x"), (words, 3), (words, None), (numbers, "x"), (numbers, 2**70)):
        with pytest.raises(GraphError, match=r"^unknown node ") as caught:
            graph.index(name)
        assert repr(name) in str(caught.value)


def test_saving_where_it_cannot_be(tmp_path: Path) -> None:
    graph = Graph.from_edges([("a", "b")])
    (tmp_path / "nodes.csv").touch()
    with pytest.raises(GraphError, match="already there"):
        graph.save(tmp_path)
    with pytest.raises(GraphError, match="cannot be written"):
        graph.save(tmp_path / "nodes.csv")


def test_graphs_that_cannot_be_generated() -> None:
    with pytest.raises(GraphError, match="cannot generate 10 nodes"):
        topical(10, 20, seed=0)
    with pytest.raises(GraphError, match="cannot generate 50 topics"):
        topical(1000, 5000, seed=0, topics=50)
