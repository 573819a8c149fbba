"""Crawlers, samplers, the mixture, the two-stage method, and their measures."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable

import authority_reference as reference
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sonde import Explorer, Graph, Link, Visit, kernels
from sonde.authority import DiscoveryMethod, compare, find, indegrees, most_cited, performance
from sonde.authority.discovery import PATIENCE, Discovery, TwoStage
from sonde.authority.ranking import highest, largest_component
from sonde.errors import InputError, SpecError

ENGINES = ("compiled", "python")


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Small graphs, full of ties; names are numbers in node order."""
    count = draw(st.integers(2, 9))
    node = st.integers(0, count - 1)
    edges = draw(st.lists(st.tuples(node, node), min_size=1, max_size=30))
    edges = [edge for edge in edges if edge[0] != edge[1]] or [(0, 1)]
    return Graph.from_edges(edges, [(node, 0.0) for node in range(count)])


def links_of(graph: Graph) -> reference.Links:
    return {
        node: graph.targets[graph.indptr[node] : graph.indptr[node + 1]].tolist()
        for node in range(graph.node_count)
    }


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("method", "explore"), [("crawl-gai", 0.0), ("crawl-ai", 1.0), ("mix:0.3", 0.3)]
)
@given(graph=graphs(), seed=st.integers(0, 99), budget=st.integers(1, 10))
@settings(max_examples=40, deadline=None)
def test_crawlers(
    engine: str, method: str, explore: float, graph: Graph, seed: int, budget: int
) -> None:
    found = find(graph, top=2, budget=budget, method=method, start=0, seed=seed, engine=engine)
    room = min(budget, graph.node_count)
    wanted = reference.crawl(links_of(graph), 0, room, explore, reference.Dice(seed))
    assert found.order.tolist() == wanted


@given(graph=graphs(), budget=st.integers(1, 10))
@settings(max_examples=40, deadline=None)
def test_crawl_gai_is_the_explorer_with_the_estimator_deg(graph: Graph, budget: int) -> None:
    links = links_of(graph)
    explorer = Explorer("deg", budget=budget)
    explorer.add_seeds([0])
    order = []
    while leases := explorer.ask():
        node = leases[0].node
        assert isinstance(node, int)
        order.append(node)
        explorer.tell(leases[0], Visit(0.0, [Link(target) for target in links[node]]))
    found = find(graph, top=2, budget=budget, start=0)
    assert found.order.tolist() == order


@pytest.mark.parametrize("engine", ENGINES)
@given(graph=graphs(), seed=st.integers(0, 99), budget=st.integers(1, 10))
@settings(max_examples=40, deadline=None)
def test_walks(engine: str, graph: Graph, seed: int, budget: int) -> None:
    found = find(graph, top=2, budget=budget, method="walk", start=0, seed=seed, engine=engine)
    room = min(budget, graph.node_count)
    wanted = reference.walk(links_of(graph), 0, room, PATIENCE, reference.Dice(seed))
    assert found.order.tolist() == wanted


def test_a_walk_out_of_a_trap() -> None:
    """0 -> 1 <-> 2, 0 -> 3: without patience a walk that turned to 1 would never see 3."""
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 1), (0, 3)])
    three = graph.index(3)
    orders = [find(graph, top=1, budget=4, method="walk", start=0, seed=s).order for s in range(9)]
    assert all(three in order for order in orders)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("method", ["sample-u", "sample-i", "sample-io"])
@given(graph=graphs(), seed=st.integers(0, 99), budget=st.integers(1, 10))
@settings(max_examples=30, deadline=None)
def test_samplers(engine: str, method: str, graph: Graph, seed: int, budget: int) -> None:
    links = links_of(graph)
    indegree = [sum(n in targets for targets in links.values()) for n in links]
    weights = {
        "sample-u": [1.0] * len(links),
        "sample-i": [float(degree) for degree in indegree],
        "sample-io": [float(indegree[n] + len(links[n])) for n in links],
    }[method]
    found = find(graph, top=2, budget=budget, method=method, seed=seed, engine=engine)
    assert found.order.tolist() == reference.sample(weights, budget, reference.Dice(seed))


# -- draws, statistically ------------------------------------------------------------------------


def _far(counts: Counter[int], weights: np.ndarray) -> float:
    """Pearson's statistic of draws against weights, in standard deviations from its mean."""
    draws = sum(counts.values())
    expected = weights / weights.sum() * draws
    some = expected > 0
    seen = np.array([counts[item] for item in range(len(weights))])
    assert (seen[~some] == 0).all()
    statistic = float((((seen - expected) ** 2)[some] / expected[some]).sum())
    freedom = np.count_nonzero(some) - 1
    return abs(statistic - freedom) / float(np.sqrt(2 * freedom))


@pytest.mark.parametrize("size", [3, 37, 1000])
def test_draws_follow_the_weights(size: int) -> None:
    weights = np.random.default_rng(size).zipf(1.5, size).clip(max=50).astype(float)
    weights[1 :: max(2, size // 7)] = 0.0
    tree = kernels.load("compiled").expansion.Weights(size)
    for item, weight in enumerate(weights):
        tree.put(item, weight)
    dice = kernels.load("compiled").dice.Dice(7)
    counts = Counter(tree.draw(dice) for _ in range(200 * size))
    assert _far(counts, weights) < 4.0


def test_first_two_draws_without_replacement_have_the_right_probabilities() -> None:
    """Of nodes with in-degrees 3, 2, 1: P(first, second) = w1 / 6 * w2 / (6 - w1)."""
    graph = Graph.from_edges([(1, 0), (2, 0), (3, 0), (0, 1), (2, 1), (0, 2)])
    pairs: Counter[tuple[int, ...]] = Counter()
    for seed in range(6000):
        pairs[tuple(find(graph, top=1, budget=2, method="sample-i", seed=seed).order)] += 1
    weights = {graph.index(0): 3, graph.index(1): 2, graph.index(2): 1}
    for (first, second), count in pairs.items():
        chance = weights[first] / 6 * weights[second] / (6 - weights[first])
        assert abs(count - 6000 * chance) < 4 * np.sqrt(6000 * chance * (1 - chance))


@given(st.lists(st.tuples(st.integers(0, 20), st.floats(0, 1e6)), max_size=40), st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_weights_keep_their_sums(changes: list[tuple[int, float]], seed: int) -> None:
    for engine in ENGINES:
        loops = kernels.load(engine)
        tree = loops.expansion.Weights(3)
        kept: dict[int, float] = {}
        dice = loops.dice.Dice(seed)
        for item, weight in changes:
            tree.reserve(item + 1)
            tree.put(item, weight)
            kept[item] = weight
            drawn = tree.draw(dice)
            assert (drawn == -1) == (not any(kept.values()))
            assert drawn == -1 or kept[drawn] > 0
        assert all(tree.get(item) == weight for item, weight in kept.items())
        assert tree.total() == pytest.approx(sum(kept.values()))


@given(
    st.lists(
        st.tuples(st.sampled_from(["put", "put", "drop"]), st.integers(0, 12), st.integers(0, 3)),
        max_size=60,
    )
)
@settings(max_examples=80, deadline=None)
def test_the_summit_is_the_highest_that_came_first(
    changes: list[tuple[str, int, int]],
) -> None:
    for engine in ENGINES:
        heap = kernels.load(engine).expansion.Heap(2)
        scores: dict[int, int] = {}
        came: list[int] = []
        for kind, item, score in changes:
            heap.reserve(item + 1)
            if kind == "put":
                heap.put(item, score)
                scores[item] = score
                if item not in came:
                    came.append(item)
            else:
                heap.drop(item)
                scores.pop(item, None)
            best = max(scores, key=lambda one: (scores[one], -came.index(one)), default=-1)
            assert heap.top() == best
            assert heap.count == len(scores)


# -- measures ------------------------------------------------------------------------------------


@given(graph=graphs(), top=st.integers(1, 5), seed=st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_measures(graph: Graph, top: int, seed: int) -> None:
    links = links_of(graph)
    found = find(graph, top=top, budget=6, method="crawl-ai", start=0, seed=seed)
    wanted = reference.most_cited(links, top)
    order = found.order.tolist()
    assert set(found.targets.tolist()) == wanted
    for steps in range(1, len(order) + 1):
        said = reference.named(links, order[:steps], top)
        assert found.named(steps).tolist() == said
        assert found.crawl_performance(steps) == len(wanted & set(order[:steps])) / len(wanted)
        assert found.rank_performance(steps) == len(wanted & set(said)) / len(wanted)
    crawl, rank = performance(found, [len(order)])
    assert crawl[0] == found.crawl_performance()
    assert rank[0] == found.rank_performance() <= crawl[0]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.integers(1, 12))
def test_highest(values: list[int], count: int) -> None:
    wanted = sorted(range(len(values)), key=lambda node: (-values[node], node))[:count]
    assert highest(np.array(values), count).tolist() == wanted
    cited = [node for node in wanted if values[node]]
    assert most_cited(np.array(values, np.int32), count).tolist() == cited


@given(graph=graphs(), seed=st.integers(0, 9))
@settings(max_examples=40, deadline=None)
def test_weights_of_a_mixture(graph: Graph, seed: int) -> None:
    """Each draw estimates in-degrees; the weighted in-degree is the mean of these estimates."""
    found = find(graph, top=2, budget=8, method="mix", start=0, seed=seed)
    links = links_of(graph)
    order, chances = found.order.tolist(), found.chances.tolist()
    draws = [place for place, chance in enumerate(chances) if chance > 0]
    if not draws:
        assert found.apparent(weighted=True).tolist() == found.apparent().tolist()
        return
    most = statistics.median(1 / chances[place] for place in draws)
    for node in range(graph.node_count):
        estimates = [
            sum(node in links[order[earlier]] for earlier in range(place))
            + (node in links[order[place]]) * min(most, 1 / chances[place])
            for place in draws
        ]
        mean = sum(estimates) / len(draws)
        assert found.apparent(weighted=True)[node] == pytest.approx(mean)


def test_a_mixture_estimates_in_degrees_without_bias() -> None:
    """A hub links to 60 nodes; those link to two others, 20 to one and 10 to the other. From the
    draws alone, the mean estimate is the true in-degree from all that is on the frontier."""
    edges = [("hub", f"n{n}") for n in range(60)]
    edges += [(f"n{n}", "a") for n in range(20)] + [(f"n{n}", "b") for n in range(20, 30)]
    graph = Graph.from_edges(edges)
    sums = np.zeros(graph.node_count)
    for seed in range(600):
        found = find(graph, top=2, budget=3, method="mix:0.99", start=graph.index("hub"), seed=seed)
        sums += found.apparent(weighted=True)
    assert sums[graph.index("a")] / 600 == pytest.approx(20, rel=0.15)
    assert sums[graph.index("b")] / 600 == pytest.approx(10, rel=0.2)


@given(graph=graphs(), budget=st.integers(2, 9), seed=st.integers(0, 9))
@settings(max_examples=40, deadline=None)
def test_two_stages(graph: Graph, budget: int, seed: int) -> None:
    links = links_of(graph)
    found = find(graph, top=2, budget=budget, method="two-stage:2", seed=seed)
    assert isinstance(found, TwoStage)
    room = min(budget, graph.node_count)
    sampled = reference.sample([1.0] * len(links), room, reference.Dice(seed))[:2]
    counts = {n: sum(n in links[s] for s in sampled) for n in links}
    counted = [n for n in sorted(links, key=lambda n: (-counts[n], n)) if counts[n]][: room - 2]
    indegree = {n: sum(n in targets for targets in links.values()) for n in links}
    said = sorted(counted, key=lambda n: (-indegree[n], n))[:2]
    assert found.named().tolist() == said
    wanted = reference.most_cited(links, 2)
    assert found.rank_performance() == len(wanted & set(said)) / len(wanted)
    assert found.crawl_performance() == len(wanted & {*sampled, *counted}) / len(wanted)
    assert found.split(1000) == (2, 998)
    plain = find(graph, top=2, budget=2, method="two-stage")
    assert isinstance(plain, TwoStage)
    assert plain.split(1000) == (996, 4)
    assert plain.split(4) == (2, 2)


# -- the rest ------------------------------------------------------------------------------------


@given(graph=graphs())
@settings(max_examples=40, deadline=None)
def test_the_largest_component(graph: Graph) -> None:
    links = links_of(graph)

    def reach(node: int) -> set[int]:
        found, queue = {node}, [node]
        while queue:
            for target in links[queue.pop()]:
                if target not in found:
                    found.add(target)
                    queue.append(target)
        return found

    reached = {node: reach(node) for node in links}
    parts = [[m for m in links if m in reached[n] and n in reached[m]] for n in links]
    assert largest_component(graph.indptr, graph.targets).tolist() == max(parts, key=len)


def test_comparing() -> None:
    graph = Graph.from_edges([(n, m) for n in range(30) for m in (0, 1, (n * 7) % 30) if n != m])
    curves = compare(graph, ["crawl-gai", "sample-u"], top=3, budget=20, repeat=3, points=4)
    assert [(curve.label, curve.measure) for curve in curves] == [
        ("crawl-gai", "crawl"),
        ("crawl-gai", "rank"),
        ("sample-u", "crawl"),
        ("sample-u", "rank"),
    ]
    assert curves[0].rows.shape == (3, len(curves[0].at))
    assert curves[0].at[-1] == 20
    assert (curves[0].error >= 0).all()


@pytest.mark.parametrize("text", ["crawl", "mix:0", "mix:x", "two-stage:0", "crawl-ai:1", ""])
def test_methods_that_are_none(text: str) -> None:
    with pytest.raises(SpecError):
        DiscoveryMethod.parse(text)


@pytest.mark.parametrize("text", ["mix:0.3", "two-stage:700", "crawl-gai"])
def test_methods_read_back(text: str) -> None:
    assert str(DiscoveryMethod.parse(text)) == text


@pytest.mark.parametrize(
    "call",
    [
        lambda graph: find(graph, top=0, budget=1),
        lambda graph: find(graph, top=1, budget=0),
        lambda graph: find(graph, top=1, budget=1, start=99),
    ],
)
def test_what_cannot_be_asked(call: Callable[[Graph], Discovery]) -> None:
    with pytest.raises(InputError):
        call(Graph.from_edges([(0, 1)]))


def test_in_degrees_count_distinct_sources() -> None:
    graph = Graph.from_edges([("a", "b"), ("a", "b"), ("c", "b"), ("b", "b")])
    assert indegrees(graph)[graph.index("b")] == 2
