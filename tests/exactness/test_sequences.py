"""The compiled replay, the uncompiled kernels and the explorer follow the obvious reference."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactness import reference
from sonde import kernels
from sonde.explorer import Explorer
from sonde.simulation import Simulation, recorded_visits, simulate, walk
from sonde.sources.graph import Graph

# Few distinct values, zeros first: ties are the rule. They are dyadic, so that sums are the same
# in any order; second-level sums come together in another order than the reference adds them.
VALUES = st.sampled_from([0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 0.5, 3.25])

LEAVES = [
    "random",
    "bfs",
    "oracle",
    "deg",
    *(f"{kind}:{how}" for kind in ("n", "e", "ne") for how in ("sum", "max", "avg")),
    "deg2",
    *(f"{kind}2:{how}" for kind in ("n", "e", "ne") for how in ("sum", "max", "avg")),
    *(f"lnh:{how}" for how in ("sum", "max", "avg")),
    *(f"lnh2:{how}" for how in ("sum", "max", "avg")),
    "opic",
    "opic:e",
    "opic:n",
    "opic:ne",
    "nr:exact",
    "nr:exact:d=0.25",
    "yield",
    "yield:k=2",
    "auto",
    "auto:k=0.5:words=3:share=0",
    "auto:ratio=0",
    "auto:ahead=0.5:e=0",
    "ridge",
    "ridge:prior=2:forget=0.9",
    "ucb",
    "ucb:c=3:prior=5",
    "posterior",
    "hurdle",
    "hurdle:prior=4:forget=0.9",
]
COMBINED = [
    "hybrid[ne,lnh,3]",
    "hybrid[bfs,opic,2]",
    "hybrid[random,lnh2,4]",
    "mab:eps=0.5[n,e,ne,lnh]",
    "mab:eps-first=0.4[n,deg,bfs]",
    "mab:var[n,e]",
    "mab:var:eps=0.5[n,lnh:max,random]",
    "mab:eps=0.3[hybrid[n,e,2],mab:eps=0.5[deg,opic],lnh]",
    "hybrid[mab:eps=0.5[n,e],lnh,5]",
    "hybrid[n,auto,3]",
    "mab:eps=0.5[yield,auto,n]",
    "hedge[n,deg,auto]",
    "hedge:rate=5:share=0.2[n,lnh,ucb]",
    "mab:thompson[n,e,auto]",
    "mab:thompson=4[hybrid[n,e,2],hedge[deg,lnh],random]",
    "hybrid[hedge[n,deg],mab:thompson=3[e,ridge],3]",
    "mab:eps=0.5[ridge,auto,n]",
]
ANCHORS = ("", "", "jazz", "jazz tide", "tide gauge", "sea level, tide")


@st.composite
def worlds(draw: st.DrawFn, largest: int = 12) -> tuple[reference.World, list[int]]:
    count = draw(st.integers(2, largest))
    nodes = st.integers(0, count - 1)
    scores = draw(st.lists(VALUES, min_size=count, max_size=count))
    edges = draw(st.lists(st.tuples(nodes, nodes, VALUES), max_size=4 * count))
    links: dict[int, list[tuple[int, float]]] = {}
    for source, target, alpha in edges:
        known = links.setdefault(source, [])
        if source != target and target not in [v for v, _ in known]:
            known.append((target, alpha))
    records = {v: draw(st.lists(st.sampled_from("abcde"), max_size=3)) for v in range(count)}
    seeds = draw(st.lists(nodes, min_size=1, max_size=3, unique=True))
    # What links are called is drawn once for a target and a parity, so that words mean something.
    called = draw(st.lists(st.sampled_from(ANCHORS), min_size=count, max_size=count))
    anchors = {(u, v): called[v - u % 2] for u in links for v, _ in links[u]}
    return reference.World(dict(enumerate(scores)), links, records, anchors=anchors), seeds


def graph_of(world: reference.World) -> Graph:
    edges = [(u, v, alpha) for u, links in world.links.items() for v, alpha in links]
    table = pa.table(
        {
            "source": pa.array([u for u, _, _ in edges], pa.int64()),
            "target": pa.array([v for _, v, _ in edges], pa.int64()),
            "score": pa.array([alpha for _, _, alpha in edges], pa.float64()),
            "anchor": pa.array([world.anchors.get((u, v), "") for u, v, _ in edges], pa.string()),
        }
    )
    nodes = pa.table(
        {
            "node": pa.array(list(world.scores), pa.int64()),
            "score": pa.array(list(world.scores.values()), pa.float64()),
            "records": pa.array([world.records.get(v, []) for v in world.scores]),
        }
    )
    return Graph.from_edges(table, nodes)


def told(graph: Graph, seeds: list[int], spec: str, **settings: Any) -> list[int]:
    """The sequence of an explorer that is driven by ask and tell."""
    refresh = settings.pop("refresh", 1)
    visits = recorded_visits(graph, with_records=True)
    explorer = Explorer(spec, free_seeds=True, truth=visits, **settings)
    explorer.add_seeds(seeds)
    leases = [lease for lease, _ in walk(explorer, visits, refresh)]
    return [lease.node for lease in leases if lease.chooser != "seed"]  # type: ignore[misc]


def agree(simulation: Simulation, expected: reference.Crawl) -> None:
    assert simulation.sequence == expected.sequence
    assert simulation.gains.tolist() == expected.gains
    for ours, theirs in zip(simulation.predictions, expected.predictions, strict=True):
        assert ours == theirs or (math.isnan(ours) and math.isnan(theirs))


@pytest.mark.parametrize("spec", LEAVES + COMBINED)
@settings(max_examples=40, deadline=None)
@given(drawn=worlds(), budget=st.integers(0, 14), seed=st.integers(0, 3))
def test_greedy(
    spec: str, drawn: tuple[reference.World, list[int]], budget: int, seed: int
) -> None:
    world, seeds = drawn
    graph = graph_of(world)
    expected = reference.crawl(world, seeds, spec, budget=budget, seed=seed)
    agree(simulate(graph, seeds=seeds, estimator=spec, budget=budget, seed=seed), expected)
    agree(
        simulate(graph, seeds=seeds, estimator=spec, budget=budget, seed=seed, engine="python"),
        expected,
    )
    assert told(graph, seeds, spec, budget=budget, seed=seed) == expected.sequence


@pytest.mark.slow
@pytest.mark.parametrize(
    "spec", ["oracle", "n", "lnh", "opic:n", "auto", "mab:eps=0.5[n,lnh,random]"]
)
@settings(max_examples=60, deadline=None)
@given(
    drawn=worlds(),
    budget=st.integers(0, 14),
    seed=st.integers(0, 3),
    refresh=st.integers(1, 5),
    certain=st.sampled_from([0.0, 0.5, 1.0]),
    slack=st.sampled_from([0.0, 0.5, 2.0]),
    objective=st.sampled_from(["sum", "count", "distinct"]),
)
def test_strategies_refresh_and_objectives(
    spec: str,
    drawn: tuple[reference.World, list[int]],
    budget: int,
    seed: int,
    refresh: int,
    certain: float,
    slack: float,
    objective: str,
) -> None:
    world, seeds = drawn
    graph = graph_of(world)
    expected = reference.crawl(
        world,
        seeds,
        spec,
        budget=budget,
        strategy=(certain, slack),
        refresh=refresh,
        objective=objective,
        seed=seed,
    )
    common: dict[str, Any] = {
        "budget": budget,
        "seed": seed,
        "refresh": refresh,
        "strategy": f"altered:{certain},{slack}",
        "objective": objective,
    }
    for engine in ("compiled", "python"):
        agree(simulate(graph, seeds=seeds, estimator=spec, engine=engine, **common), expected)
    assert told(graph, seeds, spec, **common) == expected.sequence


def test_both_engines_are_there() -> None:
    assert kernels.load("python").model.__file__.endswith(".py")


@settings(max_examples=100, deadline=None)
@given(drawn=worlds())
def test_cash_is_conserved(drawn: tuple[reference.World, list[int]]) -> None:
    world, seeds = drawn
    for spec in ("opic", "opic:e", "opic:n", "opic:ne"):
        explorer = Explorer(spec)
        explorer.add_seeds(seeds)
        visits = recorded_visits(graph_of(world))
        for _ in walk(explorer, visits):
            cash: Any = explorer._model.signals[0]
            assert math.isclose(sum(cash.cash) + cash.virtual, 1.0, abs_tol=1e-12)
