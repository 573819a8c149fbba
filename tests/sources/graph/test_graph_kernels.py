"""The kernels of this room give the same compiled and uncompiled."""

from __future__ import annotations

from typing import Any

import pytest
from graph_reference import same
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sonde.kernels.graphs import adjacency, naming
from sonde.sources.graph import Graph, loading, names
from uncompiled import uncompiled

ROWS = st.lists(
    st.tuples(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 3), st.integers(0, 3)),
    min_size=1,
    max_size=60,
)


PLAIN: dict[str, Any] = {module.__name__: uncompiled(module) for module in (adjacency, naming)}


@pytest.mark.parametrize("text", [False, True])
@given(rows=ROWS)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_same_graph_either_way(
    text: bool, monkeypatch: pytest.MonkeyPatch, rows: list[tuple[int, int]]
) -> None:
    given_rows = [(f"näme {a}", f"näme {b}") for a, b in rows] if text else rows
    graph = Graph.from_edges(given_rows)
    numbers = graph.indices(graph.names)
    with monkeypatch.context() as patch:
        patch.setattr(loading, "adjacency", PLAIN[adjacency.__name__])
        patch.setattr(names, "naming", PLAIN[naming.__name__])
        plain = Graph.from_edges(given_rows)
        assert same(graph, plain)
        assert plain.indices(plain.names).tolist() == numbers.tolist()
