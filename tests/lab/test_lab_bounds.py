"""Bounds bound: every upper one is at least the optimum, and no crawl exceeds it."""

from __future__ import annotations

import itertools
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sonde.errors import InputError
from sonde.kernels.graphs.dominance import dominators, reach
from sonde.kernels.graphs.paths import Walker
from sonde.lab.bounds import bound
from sonde.lab.crawls import Crawl
from sonde.lab.exact import exact
from sonde.lab.territory import Territory, reachable, value_of
from sonde.sources.graph import Graph, topical

CLOSE = 1e-6


@st.composite
def situations(draw: Any) -> tuple[Graph, Any, int]:
    """A small graph, seeds and a budget."""
    count = draw(st.integers(2, 9))
    node = st.integers(0, count - 1)
    edges = draw(st.lists(st.tuples(node, node), min_size=1, max_size=25))
    scores = draw(st.lists(st.sampled_from([0.0, 0.0, 0.5, 1.0, 3.0]), min_size=count))
    seeds = draw(st.lists(node, min_size=1, max_size=2, unique=True))
    graph = Graph.from_edges(
        [(a, b, 0.5) for a, b in edges], list(zip(range(count), scores, strict=False))
    )
    return graph, np.array(seeds, dtype=np.int64), draw(st.integers(1, 6))


def brute_force(territory: Territory) -> float:
    """The best value over all sets of nodes that hang together with the seeds."""
    best = 0.0
    for size in range(1, territory.budget + 1):
        for chosen in itertools.combinations(range(len(territory)), size):
            held, found = set(chosen), {node for node in chosen if node < territory.entries}
            waiting = list(found)
            while waiting:
                node = waiting.pop()
                row = slice(territory.indptr[node], territory.indptr[node + 1])
                for target in territory.targets[row].tolist():
                    if target in held and target not in found:
                        found.add(target)
                        waiting.append(target)
            if found == held:
                best = max(best, float(territory.values[list(chosen)].sum()))
    return best


@settings(max_examples=60, deadline=None)
@given(situations(), st.sampled_from(["sum", "count"]))
def test_bounds_hold_and_no_crawl_exceeds_the_optimum(
    situation: tuple[Graph, Any, int], objective: str
) -> None:
    graph, seeds, budget = situation
    territory = Territory.of(graph, seeds, budget, objective)
    best = brute_force(territory)
    found = bound(graph, seeds, budget, objective=objective, exact_seconds=20.0)
    assert found.optimum == pytest.approx(best, abs=CLOSE)
    for name, value in found.uppers.items():
        assert value >= best - CLOSE, name
    for name, value in found.lowers.items():
        assert value <= best + CLOSE, name
    assert found.lower <= found.upper + CLOSE
    assert found.uppers["joint"] <= found.uppers["dominators"] * (1 + 1e-5)
    assert found.uppers["parents"] <= found.uppers["best"] + CLOSE
    for estimator in ("n", "bfs", "lnh", "random"):
        gains, _ = Crawl(estimator, objective=objective).gains(graph, seeds, budget, 1)
        assert gains.sum() <= best + CLOSE


@settings(max_examples=100, deadline=None)
@given(situations())
def test_dominators_are_networkx_own(situation: tuple[Graph, Any, int]) -> None:
    graph, seeds, _ = situation
    territory = Territory.of(graph, seeds, graph.node_count)
    links = networkx.DiGraph()
    links.add_node("seeds")
    links.add_edges_from(("seeds", entry) for entry in range(territory.entries))
    for node in range(len(territory)):
        row = territory.targets[territory.indptr[node] : territory.indptr[node + 1]]
        links.add_edges_from((node, target) for target in row.tolist())
    expected = networkx.immediate_dominators(links, "seeds")
    order, idom = dominators(territory.indptr, territory.targets, territory.entries)
    assert sorted(order.tolist()) == list(range(len(territory)))
    for place, node in enumerate(order.tolist()):
        above = "seeds" if idom[place] < 0 else int(order[idom[place]])
        assert expected[node] == above


def test_dominators_of_a_larger_graph() -> None:
    graph = topical(3_000, 6_000, seed=3)
    start = np.array([np.argmax(np.diff(graph.indptr))], dtype=np.int64)
    territory = Territory.of(graph, start, 3_000)
    links = networkx.DiGraph()
    links.add_edges_from(("seeds", entry) for entry in range(territory.entries))
    sources = np.repeat(np.arange(len(territory)), np.diff(territory.indptr))
    links.add_edges_from(zip(sources.tolist(), territory.targets.tolist(), strict=True))
    expected = networkx.immediate_dominators(links, "seeds")
    order, idom = dominators(territory.indptr, territory.targets, territory.entries)
    found = {
        int(node): "seeds" if above < 0 else int(order[above])
        for node, above in zip(order, idom, strict=True)
    }
    assert found == {node: above for node, above in expected.items() if node != "seeds"}
    assert len({above for above in found.values() if above != "seeds"}) > 50


def path_greedy_slowly(territory: Territory, longest: int) -> float:
    """All paths from the frontier, looked at anew for every addition."""
    visited: set[int] = set()
    order: list[int] = []
    rows = [
        territory.targets[territory.indptr[node] : territory.indptr[node + 1]].tolist()
        for node in range(len(territory))
    ]
    while len(order) < territory.budget:
        frontier = set(range(territory.entries))
        frontier |= {target for node in visited for target in rows[node]}
        frontier -= visited
        paths = [[node] for node in sorted(frontier)]
        best: tuple[float, list[int]] | None = None
        for path in paths:
            value = float(territory.values[path].sum()) / len(path)
            if best is None or value > best[0] + 1e-12:
                best = (value, path)
            if len(path) < min(longest, territory.budget - len(order)):
                paths += [
                    [*path, target]
                    for target in rows[path[-1]]
                    if target not in visited and target not in path
                ]
        if best is None:
            break
        order += best[1]
        visited |= set(best[1])
    return float(territory.values[order].sum())


def test_path_greedy_adds_paths_of_the_best_mean() -> None:
    dice = np.random.default_rng(5)
    for _ in range(60):
        count = int(dice.integers(4, 14))
        edges = [(int(a), int(b), 0.0) for a, b in dice.integers(0, count, (30, 2))]
        # Distinct values with distinct means: no ties, which the two might break differently.
        scores = list(enumerate((dice.random(count) ** 4).tolist()))
        graph = Graph.from_edges(edges, scores)
        territory = Territory.of(graph, np.array([0], dtype=np.int64), 6)
        if not len(territory):
            continue
        by_value, targets = territory.by_value()
        walker: Any = Walker(territory.indptr, targets, territory.values, by_value)
        order = walker.crawl(territory.entries, territory.budget, 3)
        assert len(set(order.tolist())) == len(order) <= 6
        found = float(territory.values[order].sum())
        assert found == pytest.approx(path_greedy_slowly(territory, 3))


def test_a_path_through_nothing_is_found() -> None:
    graph = Graph.from_edges(
        [("s", "a", 0), ("a", "gold", 0), ("s", "b", 0), ("s", "c", 0)],
        {"s": 1.0, "a": 0.0, "gold": 10.0, "b": 1.0, "c": 1.0},
    )
    found = bound(graph, graph.indices(["s"]), 2, exact_seconds=10.0)
    assert found.lowers["oracle"] == 2.0
    assert found.lowers["paths"] == found.optimum == 10.0
    assert found.uppers["best"] == 11.0
    assert found.uppers["dominators"] == pytest.approx(10.0)
    assert found.gap(5.0) == pytest.approx(50.0)


def test_reach_respects_hops_and_leaves_seeds_out() -> None:
    graph = Graph.from_edges([(0, 1, 0), (1, 2, 0), (2, 3, 0), (3, 0, 0)])
    seeds = np.array([0], dtype=np.int64)
    order, entries = reach(graph.indptr, graph.targets, seeds, 2)
    assert order.tolist() == [1, 2]
    assert entries == 1
    assert reachable(graph, seeds) == 3
    assert reach(graph.indptr, graph.targets, seeds, 0)[0].tolist() == []


def test_nothing_in_reach_is_worth_nothing() -> None:
    graph = Graph.from_edges([(1, 0, 0.0)], {0: 1.0, 1: 2.0})
    found = bound(graph, np.array([0], dtype=np.int64), 5, exact_seconds=1.0)
    assert found.upper == found.lower == 0.0
    assert found.optimum == 0.0
    assert exact(Territory.of(graph, np.array([0], dtype=np.int64), 5), 1.0).proven


def test_a_bound_needs_a_budget() -> None:
    graph = Graph.from_edges([(1, 0, 0.0)])
    with pytest.raises(InputError, match="budget"):
        bound(graph, np.array([1], dtype=np.int64), 0)


def test_count_values_ones() -> None:
    graph = Graph.from_edges([(1, 0, 0.0)], {0: 2.5, 1: 0.0})
    assert value_of(graph, "count").tolist() == [1.0, 0.0]
