"""Generated graphs are as ordered, repeatable, and worth crawling with a plan."""

from __future__ import annotations

import heapq

import numpy as np
import scipy.sparse
from graph_reference import same
from scipy.sparse.csgraph import breadth_first_order

from sonde.sources.graph import Graph, topical


def test_same_seed_same_graph() -> None:
    graph = topical(1000, 8000, seed=5, topics=10)
    assert same(graph, topical(1000, 8000, seed=5, topics=10))
    assert not same(graph, topical(1000, 8000, seed=6, topics=10))


def test_exact_sizes_and_rules() -> None:
    for nodes, edges, topics in ((100, 200, 2), (1000, 20_000, 20), (5000, 5000, 1)):
        graph = topical(nodes, edges, seed=1, topics=topics)
        assert (graph.node_count, graph.edge_count) == (nodes, edges)
        sources = np.repeat(np.arange(nodes), np.diff(graph.indptr))
        assert (sources != graph.targets).all()
        assert len(np.unique(sources * nodes + graph.targets)) == edges
        assert (graph.scores > 0).sum() == round(0.03 * nodes)
        assert (graph.link_scores >= 0).all()


def test_shape() -> None:
    graph = topical(20_000, 200_000, seed=1)
    wanted = np.flatnonzero(graph.scores)
    incoming = np.bincount(graph.targets, minlength=graph.node_count)
    assert incoming.max() > 50 * np.median(incoming)
    assert np.diff(graph.indptr).max() > 20 * np.diff(graph.indptr).mean()
    sources = np.repeat(np.arange(graph.node_count), np.diff(graph.indptr))
    on_topic = graph.scores[graph.targets] > 0
    assert on_topic[graph.scores[sources] > 0].mean() > 5 * on_topic.mean()
    assert (graph.link_scores[on_topic] > 0).mean() > 5 * (graph.link_scores[~on_topic] > 0).mean()
    matrix = scipy.sparse.csr_array(
        (np.ones(graph.edge_count), graph.targets, graph.indptr.astype(np.int32))
    )
    matrix.resize(graph.node_count, graph.node_count)
    for seed in wanted[:5]:
        reached = breadth_first_order(matrix, seed, return_predecessors=False)
        assert len(reached) > 0.95 * graph.node_count


def test_a_plan_pays() -> None:
    graph = topical(20_000, 200_000, seed=1)
    assert harvest(graph, informed=True) > 1.4 * harvest(graph, informed=False)


def harvest(graph: Graph, *, informed: bool) -> float:
    """The score of 1,000 nodes, taken breadth first or by the sum of incoming link scores."""
    seeds = np.flatnonzero(graph.scores)[:3].tolist()
    promise: dict[int, float] = {}
    waiting: list[tuple[float, int, int]] = []
    visited: set[int] = set()
    gain, turn = 0.0, 0

    def visit(node: int) -> None:
        nonlocal turn
        visited.add(node)
        for link in range(graph.indptr[node], graph.indptr[node + 1]):
            target, score = int(graph.targets[link]), float(graph.link_scores[link])
            promise[target] = promise.get(target, 0.0) + informed * score
            turn += 1
            heapq.heappush(waiting, (-promise[target], turn, target))

    for seed in seeds:
        visit(seed)
    while len(visited) < 1000 + len(seeds):
        _, _, node = heapq.heappop(waiting)
        if node not in visited:
            gain += float(graph.scores[node])
            visit(node)
    return gain
