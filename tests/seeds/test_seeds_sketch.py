"""The sketches: close to exact greedy on named graphs, and honest about what they guarantee."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import seeds_reference as reference

from sonde.seeds import LinkNetwork, select
from sonde.seeds.amounts import Amounts
from sonde.seeds.coverage import Coverage
from sonde.seeds.sketch import Sketch

NAMED = {
    "karate": lambda: nx.karate_club_graph(),
    "les miserables": lambda: nx.les_miserables_graph(),
    "florentine": lambda: nx.florentine_families_graph(),
    "scale-free": lambda: nx.scale_free_graph(2000, seed=1),
    "sparse random": lambda: nx.fast_gnp_random_graph(2000, 0.0015, seed=2, directed=True),
    "random": lambda: nx.fast_gnp_random_graph(1500, 0.003, seed=3, directed=True),
    "small world": lambda: nx.watts_strogatz_graph(1500, 4, 0.1, seed=4),
    "growing tree": lambda: nx.gn_graph(2000, seed=5).reverse(),
    "grid": lambda: nx.grid_2d_graph(40, 40, create_using=nx.DiGraph),
}


@pytest.fixture(scope="module", params=NAMED)
def named(request: pytest.FixtureRequest) -> LinkNetwork:
    return reference.from_networkx(NAMED[request.param]())


@pytest.mark.parametrize("hops", [2, 5])
def test_within_two_percent_of_greedy(named: LinkNetwork, hops: int) -> None:
    exact = select(named, 20, hops=hops, method="greedy")
    for seed in (0, 1, 2):
        found = select(named, 20, hops=hops, method="sketch", seed=seed)
        assert found.value >= 0.98 * exact.value
        assert found.bound is not None
        assert found.bound >= found.value


def test_within_two_percent_of_greedy_with_spam_and_clicks(named: LinkNetwork) -> None:
    dice = np.random.default_rng(7)
    values = 1 + 0.83 * dice.integers(0, 6, named.nodes)
    values[dice.random(named.nodes) < 0.05] = -10
    values[dice.random(named.nodes) < 0.05] = 10
    exact = select(named, 20, hops=4, method="greedy", values=values)
    found = select(named, 20, hops=4, method="sketch", values=values, seed=1)
    assert found.value >= 0.98 * exact.value


def test_the_estimate_is_what_theory_says() -> None:
    """Arrivals on a ball of value g come at rate g: counts are unbiased for any values."""
    links = [[2, 3], [4], [], [], []]
    values = np.array([1, 5, 3, 20, 70])
    coverage = Coverage(reference.network(links), Amounts.of(values), hops=1)
    dice = np.random.default_rng(3)
    draws = dice.choice(5, size=40_000, p=values / values.sum()).astype(np.int32)
    hits, counts = np.zeros(5, dtype=np.int64), np.zeros(5, dtype=np.int64)
    used = coverage.sample(draws, 0, 10**9, hits, counts, np.zeros(3, dtype=np.int64))
    assert used == 40_000
    shares = counts / 40_000 * values.sum()
    assert shares == pytest.approx([24, 75, 3, 20, 70], abs=1.5)


@pytest.mark.parametrize("spam", [-1.0, -3.0])
def test_spam_everywhere_ends_the_choice_in_the_end(spam: float) -> None:
    """Counts that negative values hold down for ever are settled by measuring."""
    dice = np.random.default_rng(1)
    count = 300
    links = [dice.integers(0, count, 6).tolist() for _ in range(count)]
    values = np.where(np.arange(count) % 2, 1.0, spam)
    found = select(reference.network(links), 5, hops=3, method="sketch:8", values=values)
    exact = select(reference.network(links), 5, hops=3, method="greedy", values=values)
    assert 0 <= found.value <= exact.value


def test_the_ceiling_holds_as_often_as_it_says() -> None:
    network = reference.from_networkx(nx.fast_gnp_random_graph(400, 0.01, seed=9, directed=True))
    exact = select(network, 5, hops=2, method="greedy")
    ceilings = [
        select(network, 5, hops=2, method="sketch:16", seed=seed).bound for seed in range(60)
    ]
    assert sum(ceiling is not None and ceiling >= exact.value for ceiling in ceilings) >= 59


def test_the_same_seed_gives_the_same_choice() -> None:
    network = reference.from_networkx(nx.scale_free_graph(500, seed=1))
    one, two = (select(network, 10, hops=3, method="sketch:8", seed=4) for _ in range(2))
    assert one == two


def test_nothing_left_is_a_ceiling_of_what_is_covered() -> None:
    coverage = Coverage(reference.network([[1], []]), Amounts.of([1, 1]), hops=1)
    coverage.take(0)
    assert Sketch(coverage, 1, 8, 0).bound() == 2
