"""Searches by the shortlist, by boxes and over all rows: whichever runs, the same row is found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sonde import kernels
from sonde.estimators import build_model, estimator_from
from sonde.estimators.builder import strategy_from
from sonde.sources.graph import Graph
from sonde.sources.graph.generate import topical

LIST, BOXES, ALL = range(3)
NEVER = 1 << 30
GRAPHS = [topical(3_000, 24_000, seed=seed) for seed in range(3)]


def crawled(
    graph: Graph, estimator: str, engine: str = "compiled", *, way: int, few: int, turn: int
) -> list[int]:
    """A crawl that begins to search in one way, and takes to another whenever a turn is over;
    frontiers of up to `few` rows are searched over all of them."""
    model: Any = build_model(
        estimator_from(estimator),
        strategy_from("greedy"),
        seed=1,
        budget=400,
        nodes=graph.node_count,
        links=(graph.targets, graph.link_scores),
        engine=engine,
        places=lambda: graph.places,
    )
    modules = kernels.load(engine)
    linear = [leaf for leaf in model.frontier.leaves if isinstance(leaf, modules.linear.Linear)]
    assert linear
    for leaf in linear:
        leaf.way = way
        leaf.few = few
        leaf.turn = turn
        leaf.dear = 0
    nothing = np.zeros(0, np.int64), np.zeros(0, np.int32)
    value = modules.replay.Value(0, graph.scores, *nothing)
    visited, *_ = modules.replay.replay(model, value, graph.indptr, [0, 7, 19], 400, 1, -1)
    return list(np.asarray(visited).tolist())


def listed(graph: Graph, estimator: str) -> list[int]:
    """The same by the shortlist alone."""
    return crawled(graph, estimator, way=LIST, few=NEVER, turn=NEVER)


def sparse(graph: Graph, every: int) -> Graph:
    """The same links; few nodes score, so that weights hover about zero."""
    return Graph(
        indptr=graph.indptr,
        targets=graph.targets,
        link_scores=np.where(np.arange(graph.edge_count) % 7 == 0, graph.link_scores, 0.0),
        scores=np.where(np.arange(graph.node_count) % every == 0, graph.scores + 1.0, 0.0),
        names=graph.names,
    )


@settings(max_examples=40)
@given(
    st.integers(0, 2),
    st.integers(2, 400),
    st.sampled_from(["lnh", "lnh:max", "lnh:avg", "lnh2", "hybrid[ne,lnh,50]", "url", "url+lnh"]),
    st.sampled_from([LIST, BOXES, ALL]),
    st.sampled_from([0, 300, 1000, NEVER]),
    st.integers(1, 80),
)
def test_every_way_finds_the_same(
    number: int, every: int, estimator: str, way: int, few: int, turn: int
) -> None:
    graph = sparse(GRAPHS[number], every)
    expected = listed(graph, estimator)
    assert crawled(graph, estimator, way=way, few=few, turn=turn) == expected
    assert crawled(graph, estimator, way=BOXES, few=0, turn=NEVER) == expected
    assert crawled(graph, estimator, way=ALL, few=NEVER, turn=NEVER) == expected


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ["lnh", "url+lnh"])
def test_uncompiled_too(estimator: str) -> None:
    graph = sparse(GRAPHS[0], 90)
    expected = listed(graph, estimator)
    for way, few, turn in ((BOXES, 0, NEVER), (ALL, NEVER, NEVER), (LIST, 500, 5)):
        assert crawled(graph, estimator, "python", way=way, few=few, turn=turn) == expected


@pytest.mark.parametrize("engine", ["compiled", "python"])
@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=150),
    st.lists(st.integers(0, 150), max_size=20),
    st.floats(1.0, 7.0),
)
def test_the_richest_by_what_is_left_after_a_division(
    engine: str, steps: list[int], lower: list[int], divisor: float
) -> None:
    """Amounts of cash that differ by the last bits become equal, and the first of equals wins."""
    model: Any = build_model(
        estimator_from("opic"), strategy_from("greedy"), seed=1, nodes=len(steps), engine=engine
    )
    amounts = np.full(len(steps), 0.1)
    for _ in range(3):
        higher = np.nextafter(amounts, 1.0)
        amounts = np.where(np.array(steps) > 0, higher, amounts)
        steps = [step - 1 for step in steps]
    amounts[[place for place in lower if place < len(steps)]] = 0.05
    (leaf,) = model.frontier.leaves
    for node, amount in enumerate(amounts):
        slot = model.frontier.add(node)
        model.frontier.features[slot, leaf.column] = amount
    leaf.catch_up()
    leaf.divisor = divisor
    expected = np.argsort(-(amounts / divisor), kind="stable")
    assert [model.frontier.row_node[model.pick()] for _ in steps] == expected.tolist()
