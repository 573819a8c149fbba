"""The methods against the worked example and against their statement in sets."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
import seeds_reference as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from sonde.errors import GraphError, InputError, SpecError
from sonde.seeds import Amounts, LinkNetwork, Method, covered_by, select
from sonde.seeds.coverage import Coverage
from sonde.seeds.methods import ALL, NAMES
from sonde.seeds.weights import pagerank

# 0 links to four pages, 1 to three of those four, 2 to two pages that nobody else links to.
HUB, COPY, OTHER = 0, 1, 2
WORKED = [[3, 4, 5, 6], [3, 4, 5], [7, 8], [], [], [], [], [], []]


def test_worked_example_step_by_step() -> None:
    network = reference.network(WORKED)
    assert network.degrees.tolist() == [4, 3, 2, 0, 0, 0, 0, 0, 0]

    plain = select(network, 2, hops=1, method="outdegree")
    assert plain.nodes == [HUB, COPY]
    assert [(seed.gain, seed.pages) for seed in plain.seeds] == [(5, 5), (1, 1)]
    assert plain.value == 6

    coverage = Coverage(network, Amounts.of(np.ones(9)), hops=1)
    chooser = Method.parse("maxout").start(coverage, 2, 0)
    assert chooser.next() == HUB  # degrees 4, 3, 2
    fresh, gain = coverage.take(HUB)
    assert (fresh.tolist(), gain) == ([0, 3, 4, 5, 6], 5)
    chooser.update(fresh)
    assert chooser.next() == OTHER  # degrees now 0 for the copy, 2 for the other
    fresh, gain = coverage.take(OTHER)
    assert (fresh.tolist(), gain) == ([2, 7, 8], 3)
    chooser.update(fresh)
    assert chooser.next() == COPY  # all that is left
    assert select(network, 2, hops=1, method="maxout").value == 8


@pytest.mark.parametrize("spec", ALL)
def test_a_page_is_chosen_once_and_the_choice_ends(spec: str) -> None:
    found = select(reference.network(WORKED), 50, hops=1, method=spec)
    assert len(set(found.nodes)) == len(found.nodes) <= 9
    # Only rootscc may stop before all is covered; here every root is alone, and it does not.
    assert found.value == 9


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_methods_choose_what_their_statement_says(data: st.DataObject) -> None:
    links = data.draw(reference.small_graphs())
    values = data.draw(reference.values_for(links))
    exact = [Fraction(value) for value in values]
    k, hops = data.draw(st.integers(0, 5)), data.draw(st.integers(0, 3))
    depth = data.draw(st.integers(0, 3))
    expected = {
        "maxout": reference.maxout(links, exact, k, hops),
        f"maxweight:{depth}": reference.deep(links, exact, k, hops, depth),
        f"maxscc:{depth}": reference.deep(links, exact, k, hops, depth, "component"),
        f"rootscc:{depth}": reference.deep(links, exact, k, hops, depth, "root"),
        "greedy": reference.greedy(links, exact, k, hops),
    }
    network = reference.network(links)
    for spec, nodes in expected.items():
        assert select(network, k, hops=hops, method=spec, values=values).nodes == nodes, spec


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_coverage_reported_is_coverage_recomputed(data: st.DataObject) -> None:
    links = data.draw(reference.small_graphs(14))
    values = data.draw(reference.values_for(links))
    k, hops = data.draw(st.integers(0, 6)), data.draw(st.integers(0, 4))
    spec = data.draw(st.sampled_from(ALL))
    found = select(reference.network(links), k, hops=hops, method=spec, values=values)
    before: set[int] = set()
    for place, seed in enumerate(found.seeds):
        now = reference.union(links, found.nodes[: place + 1], hops)
        assert seed.pages == len(now - before)
        assert seed.gain == sum(values[node] for node in now - before)
        before = now
    assert found.value == sum(values[node] for node in before)
    assert found.pages == len(before)
    assert found.value == covered_by(
        reference.network(links), found.nodes, hops=hops, values=values
    )


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_greedy_is_within_its_guarantee_and_under_its_ceiling(data: st.DataObject) -> None:
    links = data.draw(reference.small_graphs(8))
    signed = data.draw(st.booleans())
    values = data.draw(reference.values_for(links, -12 if signed else 0))
    k, hops = data.draw(st.integers(1, 3)), data.draw(st.integers(0, 3))
    balls = [reference.ball(links, node, hops) for node in range(len(links))]
    best = max(
        sum(values[node] for node in set().union(*(balls[seed] for seed in seeds)))
        for size in range(k + 1)
        for seeds in combinations(range(len(links)), min(size, len(links)))
    )
    network = reference.network(links)
    for spec in ("greedy", "sketch:3"):
        found = select(network, k, hops=hops, method=spec, values=values, seed=1)
        assert found.bound is not None
        assert found.bound >= found.value
        if spec == "greedy":
            assert found.bound >= best
            assert signed or found.value >= (1 - 1 / math.e) * best


@given(st.data())
def test_the_first_of_a_longer_choice_are_the_shorter_one(data: st.DataObject) -> None:
    network = reference.network(data.draw(reference.small_graphs(14)))
    for spec in ALL:
        longer = select(network, 6, hops=2, method=spec, seed=3).nodes
        assert select(network, 3, hops=2, method=spec, seed=3).nodes == longer[:3]


def test_fractions_that_doubles_add_up_wrongly_still_tie() -> None:
    # 0.1 + 0.2 and 0.2 + 0.1 + 0 differ from 0.3 in doubles; here both pairs are worth the same.
    links = [[2, 3], [3, 2], [], []]
    values = [0.3, 0.3, 0.1, 0.2]
    assert select(reference.network(links), 1, hops=1, method="greedy", values=values).nodes == [0]
    thirds = select(reference.network(links), 9, hops=1, method="maxweight:1", values=values)
    assert thirds.value == pytest.approx(0.9, rel=1e-15)
    assert len(thirds.seeds) == 2  # nothing of 1e-17 is left over to choose for


def test_negative_values_can_make_a_later_gain_larger() -> None:
    # Pages 0 and 1 both lead to the spam; once 0 has paid for it, 1 is worth choosing.
    links = [[2, 3], [2], [], []]
    found = select(reference.network(links), 2, hops=1, method="greedy", values=[9, 8, -10, 9])
    assert [(seed.node, seed.gain) for seed in found.seeds] == [(3, 9.0)]
    found = select(reference.network(links), 3, hops=1, method="greedy", values=[9, 8, -7, 9])
    assert [(seed.node, seed.gain) for seed in found.seeds] == [(0, 11.0), (1, 8.0)]


def test_more_hops_than_pages_are_as_many_as_one_likes() -> None:
    chain = reference.network([[1], [2], []])
    found = select(chain, 1, hops=10**12, method="greedy")
    assert (found.nodes, found.value, found.hops) == ([0], 3, 10**12)
    assert select(chain, 1, hops=1, method=f"maxweight:{10**12}").nodes == [0]


def test_nothing_worth_choosing_is_nothing_chosen() -> None:
    network = reference.network([[1], [0]])
    for spec in ("maxweight", "maxscc", "rootscc", "greedy", "sketch"):
        assert select(network, 2, hops=1, method=spec, values=[-1, 0]).seeds == ()
    for spec in ALL:
        assert select(reference.network([]), 2, hops=1, method=spec).seeds == ()


def test_random_is_seeded_and_baselines_go_on_to_k() -> None:
    network = reference.network(WORKED)
    drawn = [tuple(select(network, 4, hops=1, method="random", seed=s).nodes) for s in range(5)]
    assert len(set(drawn)) > 1
    assert drawn[2] == tuple(select(network, 4, hops=1, method="random", seed=2).nodes)
    assert len(select(network, 4, hops=5, method="outdegree", values=[-1.0] * 9).seeds) == 4


def test_pagerank_is_networkx_own() -> None:
    graph = nx.gn_graph(60, seed=5)
    graph.add_edges_from([(0, 7), (3, 40)])
    ours = pagerank(reference.from_networkx(graph))
    theirs = nx.pagerank(graph, alpha=0.85, tol=1e-13, max_iter=1000)
    assert ours == pytest.approx([theirs[node] for node in range(60)], abs=1e-10)
    found = select(reference.from_networkx(graph), 5, hops=1, method="pagerank").nodes
    assert found == np.argsort(-np.round(ours, 9), kind="stable")[:5].tolist()


def test_repeated_links_and_loops_do_not_count() -> None:
    network = reference.network([[0, 1, 1, 1], [2, 3], [], []])
    assert network.degrees.tolist() == [1, 2, 0, 0]
    assert network.reversed.targets.tolist() == [0, 1, 1]
    assert network.within(np.array([1, 3], dtype=np.int32)).targets.tolist() == [1]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("best", "no seed method 'best'"),
        ("maxweight:", "at least 0"),
        ("maxweight:-1", "at least 0"),
        ("sketch:2", "at least 3"),
        ("greedy:2", "takes no parameter"),
    ],
)
def test_a_method_that_cannot_be_read(spec: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Method.parse(spec)


def test_a_method_is_spelt_as_it_is_read() -> None:
    for name in NAMES:
        method = Method.parse(name)
        assert Method.parse(str(method)) == method
    assert str(Method.parse("maxweight")) == "maxweight:2"
    assert str(Method.parse("sketch:64")) == "sketch:64"


def test_input_that_does_not_fit() -> None:
    network = reference.network([[1], []])
    with pytest.raises(InputError, match="3 values were given for 2 nodes"):
        select(network, 1, hops=1, values=[1, 1, 1])
    with pytest.raises(InputError, match="node 1 has no finite value"):
        select(network, 1, hops=1, values=[1, math.inf])
    with pytest.raises(InputError, match="too large"):
        select(network, 1, hops=1, values=[1e308, 1e308])
    with pytest.raises(InputError, match="one number a node"):
        select(network, 1, hops=1, values=[[1, 2]])
    with pytest.raises(InputError, match="hops must be at least 0"):
        select(network, 1, hops=-1)
    with pytest.raises(InputError, match="number of seeds"):
        select(network, -1, hops=1)
    with pytest.raises(GraphError, match="does not fit"):
        LinkNetwork.tidy(np.array([0, 2]), np.array([0]))
    with pytest.raises(GraphError, match="a node that it does not have"):
        LinkNetwork.tidy(np.array([0, 1]), np.array([1]))
