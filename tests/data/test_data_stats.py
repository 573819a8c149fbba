"""The literature's tables, against NumPy's and SciPy's own formulas and plain loops."""

from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from sonde.data import describe
from sonde.data.stats import (
    FEATURES,
    FOLDS,
    SIDES,
    GraphDescription,
    as_csv,
    as_latex,
    as_text,
    correlation,
    r_squared,
)
from sonde.sources.graph import Graph, topical

SMALL = Graph.from_edges(
    [("a", "b", 2.0), ("a", "c", 0.0), ("b", "c", 1.0), ("d", "a", 3.0)],
    {"a": 1.0, "b": 2.0, "c": 0.0, "d": 0.0, "e": 4.0},
)


def by_hand(graph: Graph, feature: str, side: str, fold: str) -> list[float]:
    """The features as they are defined, link by link."""
    seen: list[list[float]] = [[] for _ in range(graph.node_count)]
    for source in range(graph.node_count):
        for place in range(graph.indptr[source], graph.indptr[source + 1]):
            target, alpha = int(graph.targets[place]), float(graph.link_scores[place])
            own, other = (target, source) if side == "in" else (source, target)
            beta = float(graph.scores[other])
            seen[own].append({"n": beta, "e": alpha, "ne": beta * alpha}[feature])
    return [(sum if fold == "sum" else max)(values) if values else 0.0 for values in seen]


def test_a_small_graph_by_hand() -> None:
    found = describe(SMALL, "small")
    assert (found.nodes, found.nonzero_nodes, found.edges, found.nonzero_edges) == (5, 3, 4, 3)
    # n over in-links: a has d (0), b has a (1), c has a and b (1 + 2), d and e have none.
    expected = np.corrcoef([0, 1, 3, 0, 0], [1, 2, 0, 0, 4])[0, 1]
    assert found.correlations["n:in:sum"] == pytest.approx(expected)
    expected = np.corrcoef([0, 2, 2, 0, 0], [1, 2, 0, 0, 4])[0, 1]
    assert found.correlations["ne:in:max"] == pytest.approx(expected)


weight = st.sampled_from([0.0, 0.0, 1.0, 1.7, 2.5])
link = st.tuples(st.integers(0, 7), st.integers(0, 7), weight)


@given(st.lists(link, min_size=1, max_size=40), st.lists(weight, min_size=8, max_size=8))
def test_against_scipy(edges: list[tuple[int, int, float]], scores: list[float]) -> None:
    graph = Graph.from_edges(edges, dict(enumerate(scores)))
    found = describe(graph)
    varies = len(set(scores)) > 1
    for side in SIDES:
        for fold in FOLDS:
            columns = []
            for feature in FEATURES:
                values = by_hand(graph, feature, side, fold)
                columns.append(values)
                got = found.correlations[f"{feature}:{side}:{fold}"]
                if varies and np.ptp(values) > 0:
                    assert got == pytest.approx(scipy_stats.pearsonr(values, scores)[0], abs=1e-9)
                else:
                    assert got is None
            got = found.r_squared[f"{side}:{fold}"]
            if not varies:
                assert got is None
                continue
            design = np.column_stack([np.ones(8), *columns])
            fitted = design @ np.linalg.pinv(design) @ np.array(scores)
            left = np.sum((np.array(scores) - fitted) ** 2)
            assert got == pytest.approx(1 - left / (np.var(scores) * 8), abs=1e-6)


def test_edges_of_the_definitions() -> None:
    line = np.arange(10.0)
    assert correlation(line, 3 * line + 1) == pytest.approx(1.0)
    assert correlation(line, -line) == pytest.approx(-1.0)
    assert correlation(line, np.ones(10)) is None
    assert r_squared(np.stack([line, line, 0 * line], axis=1), 2 * line) == pytest.approx(1.0)
    assert r_squared(np.zeros((10, 3)), line) == 0.0
    lonely = describe(Graph.from_edges([], {"a": 1.0, "b": 2.0}))
    assert lonely.edges == 0
    assert set(lonely.correlations.values()) == {None}
    assert set(lonely.r_squared.values()) == {0.0}


def test_a_large_graph_agrees_with_loops() -> None:
    graph = topical(2_500, 20_000, seed=3)
    found = describe(graph)
    for key, value in found.correlations.items():
        feature, side, fold = key.split(":")
        expected = np.corrcoef(by_hand(graph, feature, side, fold), graph.scores)[0, 1]
        assert value == pytest.approx(expected)


def described() -> list[GraphDescription]:
    return [describe(SMALL, "a_b"), describe(Graph.from_edges([("x", "y", 0.0)]), "flat")]


def test_text() -> None:
    text = as_text(described())
    assert [line for line in text.splitlines() if line.startswith("Table")] == [
        "Table 1: nodes and edges that are not zero",
        "Table 2: correlation of node score and feature",
        "Table 3: R² of the linear models on n, e, ne",
    ]
    assert "a_b        5         3  60.00      4         3  75.00" in text
    assert text.count("flat   ne            -       -        -        -") == 1


def test_latex() -> None:
    text = as_latex(described())
    assert text.count(r"\begin{tabular}{llrrrr}") == 1
    assert r"a\_b & 5 & 3 & 60.00 & 4 & 3 & 75.00 \\" in text
    assert "$R^2$" in text
    assert r"\%" in text
    assert text.count(r"\end{table}") == 3


def test_csv_and_json_are_exact() -> None:
    found = described()
    rows = list(csv.DictReader(io.StringIO(as_csv(found))))
    assert len(rows) == 2 * (4 + 12 + 4)
    row = next(r for r in rows if (r["graph"], r["feature"], r["side"]) == ("a_b", "ne", "out"))
    assert float(row["value"]) == found[0].correlations["ne:out:sum"]
    assert all(
        r["value"] == ""
        for r in rows
        if r["graph"] == "flat" and r["measure"] != "nodes" and r["fold"]
    )
    plain = found[0].as_json()
    assert plain["name"] == "a_b"
    assert not math.isnan(plain["r_squared"]["in:sum"])
