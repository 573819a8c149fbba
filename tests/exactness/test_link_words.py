"""Lists of words are kept once each, and found again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sonde.explorer import Explorer
from sonde.kernels.model import links
from sonde.records import Failure, LinkColumns, Node, Outcome
from sonde.simulation import recorded_visits
from sonde.sources.graph import Graph
from sonde.sources.graph.generate import topical
from uncompiled import uncompiled

MODULES = (links, uncompiled(links))
# Few words and short lists repeat; long ones make the table grow.
LISTS = st.lists(
    st.one_of(
        st.binary(max_size=2).map(lambda text: text * 2),
        st.binary(max_size=40).map(lambda text: text[: len(text) // 2 * 2]),
    ),
    max_size=300,
)


@given(LISTS, st.integers(0, 300))
def test_every_list_has_the_number_of_its_first_appearance(lists: list[bytes], half: int) -> None:
    order: dict[bytes, int] = {}
    expected = [order.setdefault(each, len(order)) for each in lists]
    for module in MODULES:
        kept = module.LinkWords()
        numbers = np.zeros(len(lists), dtype=np.intc)
        kept.number_all(lists[:half], numbers[:half])
        kept.number_all(lists[half:], numbers[half:])
        assert numbers.tolist() == expected
        words = np.asarray(kept.words).astype("<u2")
        found = [
            words[kept.first[number] : kept.first[number + 1]].tobytes()
            for number in order.values()
        ]
        assert found == list(order)


@pytest.mark.parametrize("estimator", ["auto", "hybrid[ne,auto,60]", "ridge"])
def test_words_of_links_to_settled_nodes_change_nothing(estimator: str) -> None:
    """So that a crawl need not read them."""
    bare = topical(2_500, 25_000, seed=3)
    dice = np.random.default_rng(5)
    names = [f"n{number}" for number in range(bare.node_count)]
    sources = np.repeat(np.arange(bare.node_count), np.diff(bare.indptr))
    edges = pa.table(
        {
            "source": [names[source] for source in sources],
            "target": [names[target] for target in bare.targets],
            "score": bare.link_scores,
            "anchor": [
                f"word{bare.scores[target] > 0:d}{dice.integers(9)} other{dice.integers(30)}"
                for target in bare.targets
            ],
        }
    )
    graph = Graph.from_edges(edges, dict(zip(names, bare.scores.tolist(), strict=True)))
    visits = recorded_visits(graph)

    def crawled(*, all_words: bool) -> list[tuple[Node, float | None]]:
        explorer = Explorer(estimator, budget=500, seed=1)
        explorer.add_seeds(names[:5])
        settled: set[Node] = set()
        course: list[tuple[Node, float | None]] = []
        fate = np.random.default_rng(7)
        while leases := explorer.ask(3):
            for lease in leases:
                visit = visits(lease.node)
                outcome: Outcome = visit
                if fate.random() < 0.1:
                    outcome = Failure("lost", retry=fate.random() < 0.5)
                    if not outcome.retry:
                        settled.add(lease.node)
                else:
                    settled.add(lease.node)
                    links = visit.links
                    assert isinstance(links, LinkColumns)
                    assert links.words is not None
                    if not all_words:
                        heard = [
                            b"" if target in settled else said
                            for target, said in zip(links.targets, links.words, strict=True)
                        ]
                        links = replace(links, words=heard)
                    outcome = replace(visit, links=links)
                explorer.tell(lease, outcome)
                course.append((lease.node, lease.predicted))
        return course

    assert crawled(all_words=False) == crawled(all_words=True)
