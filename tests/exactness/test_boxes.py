"""Searches over boxes and over the shortlist: whichever runs, the same row is found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sonde import kernels
from sonde.estimators import assemble, estimator_from
from sonde.sources.graph import Graph
from sonde.sources.graph.generate import topical
from sonde.strategies import strategy_from

GRAPHS = [topical(3_000, 24_000, seed=seed) for seed in range(3)]


def crawled(graph: Graph, estimator: str, engine: str, *, boxed: bool, turn: int) -> list[int]:
    """A crawl that begins with boxes, or that takes to them whenever a turn is over."""
    model = assemble(
        estimator_from(estimator),
        strategy_from("greedy"),
        seed=1,
        budget=400,
        nodes=graph.node_count,
        links=(graph.targets, graph.link_scores),
        engine=engine,
    )
    modules = kernels.load(engine)
    linear = [leaf for leaf in model.frontier.leaves if isinstance(leaf, modules.linear.Linear)]
    assert linear
    for leaf in linear:
        leaf.boxed = boxed
        leaf.turn = turn
        leaf.dear = 0 if turn else 1_000_000
    nothing = np.zeros(0, np.int64), np.zeros(0, np.int32)
    value = modules.replay.Value(0, graph.scores, *nothing)
    visited, *_ = modules.replay.replay(model, value, graph.indptr, [0, 7, 19], 400, 1, -1)
    return list(np.asarray(visited).tolist())


def sparse(graph: Graph, every: int) -> Graph:
    """The same links; few nodes score, so that weights hover about zero."""
    return Graph(
        indptr=graph.indptr,
        targets=graph.targets,
        link_scores=np.where(np.arange(graph.edge_count) % 7 == 0, graph.link_scores, 0.0),
        scores=np.where(np.arange(graph.node_count) % every == 0, graph.scores + 1.0, 0.0),
        names=graph.names,
    )


@settings(max_examples=25)
@given(
    st.integers(0, 2),
    st.integers(2, 400),
    st.sampled_from(["lnh", "lnh:max", "lnh:avg", "lnh2", "hybrid[ne,lnh,50]"]),
    st.booleans(),
    st.integers(1, 80),
)
def test_boxes_find_what_the_list_finds(
    number: int, every: int, estimator: str, boxed: bool, turn: int
) -> None:
    graph = sparse(GRAPHS[number], every)
    expected = crawled(graph, estimator, "compiled", boxed=False, turn=0)
    assert crawled(graph, estimator, "compiled", boxed=boxed, turn=turn) == expected
    assert crawled(graph, estimator, "compiled", boxed=True, turn=1 << 30) == expected


@pytest.mark.parametrize("estimator", ["lnh", "lnh2"])
def test_uncompiled_boxes_too(estimator: str) -> None:
    graph = sparse(GRAPHS[0], 90)
    expected = crawled(graph, estimator, "compiled", boxed=False, turn=0)
    assert crawled(graph, estimator, "python", boxed=True, turn=1 << 30) == expected
    assert crawled(graph, estimator, "python", boxed=True, turn=5) == expected
