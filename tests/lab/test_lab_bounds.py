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
from sonde.lab.bounds import bound, exact
from sonde.simulation import simulate
from sonde.sources.graph import Graph, topical
from sonde.sources.graph.reachable import Reachable, node_values, reachable, within_hops

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


def brute_force(part: Reachable) -> float:
    """The best value over all sets of nodes that hang together with the seeds."""
    best = 0.0
    for size in range(1, part.budget + 1):
        for chosen in itertools.combinations(range(len(part)), size):
            held, found = set(chosen), {node for node in chosen if node < part.entries}
            waiting = list(found)
            while waiting:
                node = waiting.pop()
                row = slice(part.indptr[node], part.indptr[node + 1])
                for target in part.targets[row].tolist():
                    if target in held and target not in found:
                        found.add(target)
                        waiting.append(target)
            if found == held:
                best = max(best, float(part.values[list(chosen)].sum()))
    return best


@settings(max_examples=60, deadline=None)
@given(situations(), st.sampled_from(["sum", "count"]))
def test_bounds_hold_and_no_crawl_exceeds_the_optimum(
    situation: tuple[Graph, Any, int], objective: str
) -> None:
    graph, seeds, budget = situation
    part = Reachable.of(graph, seeds, budget, objective)
    best = brute_force(part)
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
        crawl = simulate(
            graph, seed_numbers=seeds, estimator=estimator, objective=objective, budget=budget
        )
        assert crawl.gain <= best + CLOSE


@settings(max_examples=100, deadline=None)
@given(situations())
def test_dominators_are_networkx_own(situation: tuple[Graph, Any, int]) -> None:
    graph, seeds, _ = situation
    part = Reachable.of(graph, seeds, graph.node_count)
    links = networkx.DiGraph()
    links.add_node("seeds")
    links.add_edges_from(("seeds", entry) for entry in range(part.entries))
    for node in range(len(part)):
        row = part.targets[part.indptr[node] : part.indptr[node + 1]]
        links.add_edges_from((node, target) for target in row.tolist())
    expected = networkx.immediate_dominators(links, "seeds")
    order, idom = part.dominators()
    assert sorted(order.tolist()) == list(range(len(part)))
    for place, node in enumerate(order.tolist()):
        above = "seeds" if idom[place] < 0 else int(order[idom[place]])
        assert expected[node] == above


def test_dominators_of_a_larger_graph() -> None:
    graph = topical(3_000, 6_000, seed=3)
    start = np.array([np.argmax(np.diff(graph.indptr))], dtype=np.int64)
    part = Reachable.of(graph, start, 3_000)
    links = networkx.DiGraph()
    links.add_edges_from(("seeds", entry) for entry in range(part.entries))
    sources = np.repeat(np.arange(len(part)), np.diff(part.indptr))
    links.add_edges_from(zip(sources.tolist(), part.targets.tolist(), strict=True))
    expected = networkx.immediate_dominators(links, "seeds")
    order, idom = part.dominators()
    found = {
        int(node): "seeds" if above < 0 else int(order[above])
        for node, above in zip(order, idom, strict=True)
    }
    assert found == {node: above for node, above in expected.items() if node != "seeds"}
    assert len({above for above in found.values() if above != "seeds"}) > 50


def path_greedy_slowly(part: Reachable, longest: int) -> float:
    """All paths from the frontier, looked at anew for every addition."""
    visited: set[int] = set()
    order: list[int] = []
    rows = [
        part.targets[part.indptr[node] : part.indptr[node + 1]].tolist()
        for node in range(len(part))
    ]
    while len(order) < part.budget:
        frontier = set(range(part.entries))
        frontier |= {target for node in visited for target in rows[node]}
        frontier -= visited
        paths = [[node] for node in sorted(frontier)]
        best: tuple[float, list[int]] | None = None
        for path in paths:
            value = float(part.values[path].sum()) / len(path)
            if best is None or value > best[0] + 1e-12:
                best = (value, path)
            if len(path) < min(longest, part.budget - len(order)):
                paths += [
                    [*path, target]
                    for target in rows[path[-1]]
                    if target not in visited and target not in path
                ]
        if best is None:
            break
        order += best[1]
        visited |= set(best[1])
    return float(part.values[order].sum())


def test_path_greedy_adds_paths_of_the_best_mean() -> None:
    dice = np.random.default_rng(5)
    for _ in range(60):
        count = int(dice.integers(4, 14))
        edges = [(int(a), int(b), 0.0) for a, b in dice.integers(0, count, (30, 2))]
        # Distinct values with distinct means: no ties, which the two might break differently.
        scores = list(enumerate((dice.random(count) ** 4).tolist()))
        graph = Graph.from_edges(edges, scores)
        part = Reachable.of(graph, np.array([0], dtype=np.int64), 6)
        if not len(part):
            continue
        order = part.path_greedy(3)
        assert len(set(order.tolist())) == len(order) <= 6
        found = float(part.values[order].sum())
        assert found == pytest.approx(path_greedy_slowly(part, 3))


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
    order, entries = within_hops(graph.indptr, graph.targets, seeds, 2)
    assert order.tolist() == [1, 2]
    assert entries == 1
    assert sorted(reachable(graph, seeds).tolist()) == [1, 2, 3]
    assert within_hops(graph.indptr, graph.targets, seeds, 0)[0].tolist() == []


def test_nothing_in_reach_is_worth_nothing() -> None:
    graph = Graph.from_edges([(1, 0, 0.0)], {0: 1.0, 1: 2.0})
    found = bound(graph, np.array([0], dtype=np.int64), 5, exact_seconds=1.0)
    assert found.upper == found.lower == 0.0
    assert found.optimum == 0.0
    assert exact(Reachable.of(graph, np.array([0], dtype=np.int64), 5), 1.0).proven


def test_a_bound_needs_a_budget() -> None:
    graph = Graph.from_edges([(1, 0, 0.0)])
    with pytest.raises(InputError, match="budget"):
        bound(graph, np.array([1], dtype=np.int64), 0)


def test_count_values_ones() -> None:
    graph = Graph.from_edges([(1, 0, 0.0)], {0: 2.5, 1: 0.0})
    assert node_values(graph, "count").tolist() == [1.0, 0.0]
