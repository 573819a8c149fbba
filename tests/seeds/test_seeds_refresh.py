"""Refreshing: nothing good is lost while the seeds allow, and the rest goes to new value."""

from __future__ import annotations

import pytest
import seeds_reference as reference
from hypothesis import given
from hypothesis import strategies as st

from sonde.errors import SpecError
from sonde.seeds import Amounts, refresh


def test_new_part_gets_the_seed_that_the_old_part_can_spare() -> None:
    # Old seeds 1 and 2 each cover one page of what 0 now covers alone; 5 is a new part.
    links = [[3, 4, 1, 2], [3], [4], [], [], [6, 7], [], []]
    found = refresh(
        reference.network(links), Amounts.of([1] * 8), [1, 2], 2, hops=1, method="greedy"
    )
    assert found.selection.nodes == [0, 5]
    assert (found.old_value, found.kept_value, found.new_value) == (4, 4, 4)
    assert found.dropped == (1, 2)


def test_spam_that_old_seeds_covered_need_not_be_kept() -> None:
    links = [[1], [], [], [4], []]
    values = [1, -10, 5, 1, 1]
    found = refresh(reference.network(links), Amounts.of(values), [0], 2, hops=1)
    assert (found.old_value, found.kept_value) == (1, 1)
    # The good page brings its spam along; the value added says so.
    assert found.selection.value == found.kept_value + found.new_value == -9 + 5


@given(st.data())
def test_all_good_pages_are_kept_while_k_allows_for_the_old_seeds(data: st.DataObject) -> None:
    links = data.draw(reference.small_graphs(12))
    values = data.draw(reference.values_for(links))
    nodes = st.integers(0, len(links) - 1)
    old = data.draw(st.lists(nodes, max_size=4))
    k, hops = data.draw(st.integers(0, 6)), data.draw(st.integers(0, 3))
    method = data.draw(st.sampled_from(["maxweight:2", "maxscc", "rootscc", "greedy", "sketch"]))
    found = refresh(reference.network(links), Amounts.of(values), old, k, hops=hops, method=method)
    good = {node for node in reference.union(links, old, hops) if values[node] > 0}
    covered = reference.union(links, found.selection.nodes, hops)
    assert len(set(found.selection.nodes)) == len(found.selection.nodes) <= k
    assert found.old_value == sum(values[node] for node in good)
    assert found.kept_value == sum(values[node] for node in good & covered)
    assert found.selection.value == sum(values[node] for node in covered)
    assert found.new_value == found.selection.value - found.kept_value
    assert set(found.dropped) == set(old) - set(found.selection.nodes)
    if k >= len(set(old)):
        assert good <= covered


def test_methods_blind_to_value_cannot_refresh() -> None:
    for method in ("random", "pagerank", "outdegree", "maxout"):
        with pytest.raises(SpecError, match="does not look at values"):
            refresh(reference.network([[]]), Amounts.of([1]), [], 1, hops=1, method=method)
