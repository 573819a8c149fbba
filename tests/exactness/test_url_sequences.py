"""URL significance: compiled, uncompiled and told crawls follow the naive reference, to the bit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactness import reference
from exactness.test_sequences import VALUES, agree, worlds
from sonde.explorer import Explorer
from sonde.records import Node, Visit
from sonde.simulation import recorded_visits, simulate, walk
from sonde.sources.graph import Graph

SPECS = [
    "url",
    "url+lnh",
    "url+lnh:max",
    "url:-arf",
    "url:-rfu:-bfu",
    "url:-id:-repeats:-hop",
    "url+lnh:avg:-ne:-hop",
    "url:bfu=0.5:arf=2",
    "url:rfu=-1:id=0.25:hop=3",
    "url+lnh:n=1:arf=0.5",
    "hybrid[n,url,3]",
    "mab:eps=0.5[url,lnh,url+lnh]",
    "mab:var[url:arf=1,n]",
]
PLACES = [
    (f"{domain}.example", f"http://www.{domain}.example/{folder}")
    for domain in "ab"
    for folder in ("", "x/", "x/y/")
]


@st.composite
def placed_worlds(draw: st.DrawFn) -> tuple[reference.World, list[int]]:
    world, seeds = draw(worlds())
    if draw(st.booleans()):  # errors that are no dyadic numbers: the order of sums matters
        world = replace(world, scores={v: draw(VALUES) / 3 for v in world.scores})
    places = {v: draw(st.sampled_from(PLACES)) for v in world.scores}
    return replace(world, places=places), seeds


def name_of(world: reference.World, node: int) -> str:
    return f"{world.places[node][1]}{node}?q=/a/"


def graph_of(world: reference.World) -> Graph:
    names = {node: name_of(world, node) for node in world.scores}
    nodes = pa.table(
        {
            "node": list(names.values()),
            "score": list(world.scores.values()),
            "records": pa.array([world.records.get(v, []) for v in world.scores]),
        }
    )
    rows = [(names[u], names[v], alpha) for u, links in world.links.items() for v, alpha in links]
    edges = pa.table(
        [
            pa.array([row[0] for row in rows], pa.string()),
            pa.array([row[1] for row in rows], pa.string()),
            pa.array([row[2] for row in rows], pa.float64()),
        ],
        names=["source", "target", "score"],
    )
    return Graph.from_edges(edges, nodes)


def named(world: reference.World, crawl: reference.Crawl) -> Any:
    return replace(crawl, sequence=[name_of(world, node) for node in crawl.sequence])  # type: ignore[misc]


@pytest.mark.parametrize("spec", SPECS)
@settings(max_examples=40, deadline=None)
@given(
    drawn=placed_worlds(),
    budget=st.integers(0, 14),
    seed=st.integers(0, 3),
    refresh=st.sampled_from([1, 1, 3]),
)
def test_every_engine_follows_the_definition(
    spec: str,
    drawn: tuple[reference.World, list[int]],
    budget: int,
    seed: int,
    refresh: int,
) -> None:
    world, seeds = drawn
    graph = graph_of(world)
    common: dict[str, Any] = {"budget": budget, "seed": seed, "refresh": refresh}
    expected = named(world, reference.crawl(world, seeds, spec, **common))
    starts = [name_of(world, node) for node in seeds]
    for engine in ("compiled", "python"):
        agree(simulate(graph, seeds=starts, estimator=spec, engine=engine, **common), expected)
    visits = recorded_visits(graph, with_places=True)
    explorer = Explorer(spec, budget=budget, seed=seed, free_seeds=True)
    assert explorer.driver.reads_urls
    explorer.add_seeds(starts)
    leases = [lease for lease, _ in walk(explorer, visits, refresh) if lease.chooser != "seed"]
    assert [lease.node for lease in leases] == expected.sequence
    assert [lease.predicted for lease in leases] == expected.predictions
    plain = Explorer(spec, budget=budget, seed=seed, free_seeds=True)
    plain.add_seeds(starts)

    def told(node: Node) -> Visit:
        """The same visit, its links with their URLs and nothing worked out."""
        visit = visits(node)
        links = [link._replace(url=str(link.target)) for link in visit.links]
        return replace(visit, links=links)

    leases = [lease for lease, _ in walk(plain, told, refresh) if lease.chooser != "seed"]
    assert [lease.node for lease in leases] == expected.sequence
    assert [lease.predicted for lease in leases] == expected.predictions
