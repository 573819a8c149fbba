"""Values by rules, the seam to runs, and sites."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
import seeds_reference as reference
from hypothesis import given
from hypothesis import strategies as st

from sonde.errors import InputError
from sonde.seeds import (
    Amounts,
    Facts,
    KnownGraph,
    Sites,
    allot,
    by_rules,
    select,
    select_by_site,
    uniqueness,
    worth,
)
from sonde.seeds import sites as sites_module
from sonde.seeds.sites import split
from sonde.sources.graph import Graph

NAMES = [f"http://{host}.example/{page}" for page in range(3) for host in "ab"]
EDGES = [(0, 2), (0, 4), (2, 4), (1, 3), (1, 5), (0, 1), (3, 0)]


def known(**columns: list[object]) -> KnownGraph:
    nodes = pa.table({"node": NAMES, "score": [0.5 * i for i in range(6)], **columns})
    edges = pa.table(
        {"source": [NAMES[a] for a, _ in EDGES], "target": [NAMES[b] for _, b in EDGES]}
    )
    return KnownGraph.of(Graph.from_edges(edges, nodes))


def test_rules_apply_in_their_order() -> None:
    network = reference.network([[1, 2, 3, 3], [3], [], [], []])
    facts = Facts(
        spam=np.array([True, True, False, False, True]),
        clicked=np.array([False, True, True, False, False]),
        crawled=np.array([True, True, False, False, True]),
        unique=0.5,
    )
    # Spam with two uncrawled links; spam that was clicked, with one; two uncrawled; plain spam.
    assert by_rules(network, facts).tolist() == [-9.0, 10.5, 0.0, 0.0, -10.0]
    assert facts.candidates(network).tolist() == [0, 1, 4]
    assert by_rules(network, Facts()).tolist() == [1.0] * 5


def test_uniqueness_is_learnt_site_by_site() -> None:
    sites = Sites.of(["a", "a", "a", "a", "b", "b", "c"])
    crawled = np.array([True, True, True, True, True, True, False])
    duplicate = np.array([True, False, False, False, False, True, True])
    shares = uniqueness(sites, crawled, duplicate)
    assert shares == pytest.approx([0.75] * 4 + [0.5] * 2 + [4 / 6])
    nothing = np.zeros(7, dtype=bool)
    assert uniqueness(sites, nothing, nothing).tolist() == [1.0] * 7


def test_facts_come_from_columns_or_from_a_run() -> None:
    marked = known(spam=[1, 0, 0, 0, 0, None], crawled=[True, True, True, True, False, False])
    nodes, amounts = worth(marked)
    assert nodes.tolist() == [0, 1, 2, 3]
    assert (amounts.units * amounts.unit).tolist() == [-9.0, 2.0, 2.0, 1.0]

    run = KnownGraph.of(
        Graph.from_edges([(NAMES[a], NAMES[b]) for a, b in EDGES]),
        crawled=np.array([True, True, True, True, False, False]),
        duplicate=np.array([False, True, True, True, False, False]),
    )
    assert run.names == [NAMES[i] for i in (0, 2, 4, 1, 3, 5)]
    # Order of discovery: a0 a1 a2 b0 b1 b2; the first four were crawled.
    facts = Facts.gather(run)
    assert facts.unique == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0, 0, 0])
    assert worth(run)[0].tolist() == [0, 1, 2, 3]
    assert Facts.gather(run, unique=0.25).unique == 0.25


def test_values_from_a_column_and_pages() -> None:
    graph = known(heat=[1, 2, None, 4, 5, 6], text=list("abcdef"))
    assert worth(graph, "pages")[1].units.tolist() == [1] * 6
    nodes, amounts = worth(graph, "score")
    assert (amounts.units * amounts.unit).tolist() == [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]
    assert len(nodes) == 6
    for kind, message in (
        ("heat", "node 2 has no finite value"),
        ("text", "does not hold numbers"),
        ("none", "no node column 'none'; it has heat, score, text"),
    ):
        with pytest.raises(InputError, match=message):
            worth(graph, kind)
    with pytest.raises(InputError, match="'spam' is for values by rules"):
        worth(graph, "pages", spam="heat")
    with pytest.raises(InputError, match="between 0 and 1"):
        worth(graph, unique=1.5)


def test_sites_by_host_or_column() -> None:
    graph = known(owner=["x", "y", "x", "x", "y", "y"])
    assert graph.sites("host").names == ["a.example", "b.example"]
    assert graph.sites("owner").labels.tolist() == [0, 1, 0, 0, 1, 1]
    unnamed = KnownGraph.of(Graph.from_edges([("1", "2"), ("http://[", "4")]))
    with pytest.raises(InputError, match="no node is named by a URL"):
        unnamed.sites("host")
    with pytest.raises(InputError, match="no node column 'owner'"):
        unnamed.sites("owner")
    assert Facts.gather(
        KnownGraph(
            unnamed.network, unnamed.names, {}, duplicate=np.array([True, False, False, False])
        )
    ).unique == pytest.approx([0.75] * 4)


@given(st.lists(st.integers(0, 60), max_size=8), st.integers(0, 40))
def test_seeds_are_shared_out_by_largest_remainder(importance: list[int], k: int) -> None:
    shares = allot(importance, k)
    if not sum(importance):
        assert shares == [0] * len(importance)
        return
    assert sum(shares) == k
    exact = [Fraction(k * weight, sum(importance)) for weight in importance]
    assert all(int(want) <= got <= int(want) + 1 for got, want in zip(shares, exact, strict=True))
    extra = [want % 1 for got, want in zip(shares, exact, strict=True) if got > int(want)]
    plain = [want % 1 for got, want in zip(shares, exact, strict=True) if got == int(want)]
    assert not extra or not plain or min(extra) >= max(plain)


def test_equal_remainders_go_to_the_first_site() -> None:
    assert allot([1, 1, 1], 2) == [1, 1, 0]
    assert allot([6, 3, 1], 5) == [3, 2, 0]  # 3.0, 1.5, 0.5


@given(st.data())
def test_each_site_is_chosen_for_on_its_own(data: st.DataObject) -> None:
    links = data.draw(reference.small_graphs(12))
    labels = data.draw(st.lists(st.integers(0, 2), min_size=len(links), max_size=len(links)))
    network, sites = reference.network(links), Sites.of(labels)
    values = data.draw(reference.values_for(links))
    amounts = Amounts.of(values)
    found = select_by_site(
        network, sites, 4, hops=2, method="maxweight:1", amounts=amounts, workers=1
    )
    shares = allot([amounts.at(part.nodes).positive for part in split(network, sites)], 4)
    for site, (one, share) in enumerate(zip(found, shares, strict=True)):
        nodes = np.flatnonzero(sites.labels == site).astype(np.int32)
        alone = select(
            network.within(nodes),
            share,
            hops=2,
            method="maxweight:1",
            values=np.array(values)[nodes],
        )
        assert one.nodes == nodes[alone.nodes].tolist()
        assert one.value == alone.value


def test_sites_side_by_side_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    dice = np.random.default_rng(2)
    links = [dice.integers(0, 200, 4).tolist() for _ in range(200)]
    network, sites = reference.network(links), Sites.of(dice.integers(0, 4, 200).tolist())
    amounts = Amounts.of(np.ones(200))

    def chosen(workers: int | None) -> list[list[int]]:
        return [
            one.nodes
            for one in select_by_site(
                network, sites, 9, hops=2, method="sketch", amounts=amounts, workers=workers
            )
        ]

    alone = chosen(1)
    monkeypatch.setattr(sites_module, "_WORTH_A_PROCESS", 0)
    assert chosen(2) == alone


def test_seeds_are_allotted_in_whole_numbers() -> None:
    with pytest.raises(InputError, match="at least 0"):
        allot([1], -1)
