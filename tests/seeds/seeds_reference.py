"""The methods once more, in sets and fractions, as the issue states them: slow and obvious."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import networkx as nx
import numpy as np
from hypothesis import strategies as st

from sonde.seeds import LinkNetwork

Links = list[list[int]]
Values = Sequence[Fraction]


def network(links: Links) -> LinkNetwork:
    indptr = np.cumsum([0, *map(len, links)])
    flat = [target for row in links for target in row]
    return LinkNetwork.tidy(indptr, np.array(flat, dtype=np.int32))


def from_networkx(graph: nx.Graph) -> LinkNetwork:
    directed = nx.DiGraph(nx.convert_node_labels_to_integers(graph))
    return network([list(directed.successors(node)) for node in range(len(directed))])


@st.composite
def small_graphs(draw: st.DrawFn, most: int = 9) -> Links:
    """Links with repeats and loops among them, many of them too few to connect anything."""
    count = draw(st.integers(1, most))
    nodes = st.integers(0, count - 1)
    return [draw(st.lists(nodes, max_size=3)) for _ in range(count)]


def values_for(links: Links, least: int = -12) -> st.SearchStrategy[list[float]]:
    quarters = st.integers(4 * least, 48).map(lambda quarter: quarter / 4)
    few = st.sampled_from([1.0, 1.0, 10.0, max(-10.0, least)])
    return st.lists(st.one_of(few, quarters), min_size=len(links), max_size=len(links))


def ball(links: Links, centre: int, hops: int) -> set[int]:
    found = {centre}
    for _ in range(hops):
        found |= {target for node in found for target in links[node]}
    return found


def union(links: Links, seeds: Iterable[int], hops: int) -> set[int]:
    return set().union(*(ball(links, seed, hops) for seed in seeds))


def total(values: Values, nodes: Iterable[int]) -> Fraction:
    return sum((values[node] for node in nodes), Fraction(0))


def choose(
    links: Links,
    values: Values,
    k: int,
    hops: int,
    best: Callable[[set[int], list[int]], int | None],
) -> list[int]:
    """One seed at a time; ``best`` is told what is covered and what was chosen."""
    chosen: list[int] = []
    while len(chosen) < k:
        node = best(union(links, chosen, hops), chosen)
        if node is None:
            break
        chosen.append(node)
    return chosen


def first_best(nodes: Iterable[int], key: Callable[[int], Fraction]) -> int | None:
    """The first node of the largest key, if that is positive."""
    found = max(sorted(nodes), key=key, default=None)
    return found if found is not None and key(found) > 0 else None


def maxout(links: Links, values: Values, k: int, hops: int) -> list[int]:
    def best(covered: set[int], chosen: list[int]) -> int | None:
        def degree(node: int) -> Fraction:
            return Fraction(1 + len(set(links[node]) - covered - {node}))

        return first_best(set(range(len(links))) - covered, degree)

    return choose(links, values, k, hops, best)


def deep(
    links: Links, values: Values, k: int, hops: int, depth: int, among: str = "all"
) -> list[int]:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(links)))
    graph.add_edges_from((source, target) for source, row in enumerate(links) for target in row)
    groups = sorted(nx.strongly_connected_components(graph), key=min)
    lead = {node: group for group, nodes in enumerate(groups) for node in nodes}

    def best(covered: set[int], chosen: list[int]) -> int | None:
        def weight(node: int) -> Fraction:
            return total(values, ball(links, node, depth) - covered)

        def heft(group: int) -> Fraction:
            return total(values, groups[group] - covered)

        nodes = set(range(len(links)))
        if among != "all":
            group = first_best(range(len(groups)), heft)
            if group is None:
                return None
            if among == "root":
                above = {lead[node] for node in nx.ancestors(graph, min(groups[group]))} | {group}
                roots = [one for one in above if is_root(one)]
                group = max(sorted(roots), key=heft)
            nodes = set(groups[group])
        return first_best(nodes - set(chosen), weight)

    def is_root(group: int) -> bool:
        return all(lead[source] == group for node in groups[group] for source in graph.pred[node])

    return choose(links, values, k, hops, best)


def greedy(links: Links, values: Values, k: int, hops: int) -> list[int]:
    return deep(links, values, k, hops, hops)
