"""Graphs from what users hold in memory."""

from __future__ import annotations

import networkx
import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse
from graph_reference import as_plain, plain, same
from hypothesis import given
from hypothesis import strategies as st

from sonde.errors import GraphError
from sonde.sources.graph import Graph

NUMBERS = st.integers(0, 6)
EDGES = st.lists(st.tuples(NUMBERS, NUMBERS, st.floats(0, 10)), min_size=1, max_size=30)


@given(EDGES)
def test_rows_and_tables_agree(edges: list[tuple[int, int, float]]) -> None:
    graph = Graph.from_edges(edges)
    assert as_plain(graph) == plain([], [(*edge, None) for edge in edges])
    sources, targets, scores = zip(*edges, strict=True)
    table = pa.table({"source": sources, "target": targets, "score": pa.array(scores)})
    assert same(graph, Graph.from_edges(table))


def test_nodes_given_in_each_way() -> None:
    edges = [("a", "b", 1.0)]
    graph = Graph.from_edges(edges, {"b": 2.0, "z": None})
    assert graph.names.to_pylist() == ["b", "z", "a"]
    assert graph.scores.tolist() == [2.0, 0.0, 0.0]
    assert same(graph, Graph.from_edges(edges, [("b", 2.0), ("z",)]))
    assert same(graph, Graph.from_edges(edges, pa.table({"node": ["b", "z"], "score": [2, 0]})))
    with pytest.raises(GraphError, match=r"^nodes, row 2: node 'b' is repeated$"):
        Graph.from_edges(edges, [("b", 2.0), ("b", 1.0)])


def test_numpy_rows() -> None:
    graph = Graph.from_edges(np.array([[3, 4], [4, 3]]))
    assert graph.names.to_pylist() == [3, 4]


@given(EDGES)
def test_networkx_multigraph(edges: list[tuple[int, int, float]]) -> None:
    source = networkx.MultiDiGraph()
    for start, end, score in edges:
        source.add_edge(start, end, weight=score)
    source.nodes[edges[0][0]]["value"] = 3.0
    graph = Graph.from_networkx(source, score="value", link_score="weight")
    assert graph.names.to_pylist() == list(source.nodes)
    assert graph.scores[graph.index(edges[0][0])] == graph.scores.sum() == 3.0
    assert graph.edge_count + graph.merged + graph.self_loops == len(edges)
    kept = sum(score for start, end, score in edges if start != end)
    assert graph.link_scores.sum() == pytest.approx(kept)


def test_networkx_undirected_is_both_ways() -> None:
    source = networkx.Graph()
    source.add_edge("a", "b", score=2)
    source.add_node("alone", score=1)
    graph = Graph.from_networkx(source)
    assert graph.targets.tolist() == [1, 0]
    assert graph.link_scores.tolist() == [2.0, 2.0]
    assert graph.scores.tolist() == [0.0, 0.0, 1.0]


@given(EDGES)
def test_scipy_keeps_stored_entries(edges: list[tuple[int, int, float]]) -> None:
    sources, targets, scores = zip(*edges, strict=True)
    matrix = scipy.sparse.coo_array((scores, (sources, targets)), shape=(7, 7))
    expected = plain([(n, n + 1.0, None) for n in range(7)], [(*edge, None) for edge in edges])
    assert as_plain(Graph.from_scipy(matrix, scores=[n + 1.0 for n in range(7)])) == expected


def test_scipy_names_and_shape() -> None:
    matrix = scipy.sparse.csr_matrix(([1.0, 0.0], ([0, 1], [1, 0])), shape=(2, 2))
    graph = Graph.from_scipy(matrix, names=["x", "y"])
    assert graph.names.to_pylist() == ["x", "y"]
    assert graph.edge_count == 2  # a stored zero is a link without a score
    with pytest.raises(GraphError, match=r"^matrix: 1 rows and 2 columns, not square$"):
        Graph.from_scipy(scipy.sparse.csr_matrix((1, 2)))
    with pytest.raises(GraphError, match=r"^names: 1 given for a matrix of 2 rows$"):
        Graph.from_scipy(matrix, names=["x"])
    with pytest.raises(GraphError, match=r"^nodes, row 2: node 'x' is repeated$"):
        Graph.from_scipy(matrix, names=["x", "x"])


def test_names_to_numbers_and_back() -> None:
    words = Graph.from_edges([("a", "12"), ("b", "a")])
    assert words.index(12) == 1
    assert words.indices(["b", "a", "b"]).tolist() == [2, 0, 2]
    assert words.indices(words.names).tolist() == [0, 1, 2]
    assert words.indices([]).tolist() == []
    numbers = Graph.from_edges([(5, 12)])
    assert numbers.index("12") == numbers.index(np.int64(12)) == 1
    assert numbers.name(0) == 5
    assert repr(numbers) == "<Graph of 2 nodes and 1 edges>"
    with pytest.raises(GraphError, match=r"^unknown node 'c'$"):
        words.indices(["a", "c"])
    with pytest.raises(GraphError, match=r"^unknown node 7$"):
        numbers.index(np.int64(7))
