"""The register numbers nodes as a dictionary and a list would."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sonde.kernels.model import register
from uncompiled import uncompiled

MODULES = (register, uncompiled(register))
TEXTS = st.one_of(
    st.text(max_size=3),
    st.text("\ud800a\0é漢", max_size=4),  # lone surrogates have no UTF-8
    st.text(min_size=20, max_size=200),
)
NODES = st.one_of(TEXTS, st.integers(0, 5), st.tuples(st.integers(0, 2), TEXTS), st.none())


@given(st.lists(NODES, max_size=200), st.lists(NODES, max_size=20))
def test_numbers_follow_the_order_of_appearance(nodes: list[Any], asked: list[Any]) -> None:
    numbers: dict[Any, int] = {}
    expected = [numbers.setdefault(node, len(numbers)) for node in nodes]
    for module in MODULES:
        kept = module.Register()
        half = len(nodes) // 2
        given = kept.number_all(nodes[:half]) + [kept.number(node) for node in nodes[half:]]
        assert given == expected
        assert len(kept) == len(numbers)
        assert [kept.node(number) for number in range(len(kept))] == list(numbers)
        assert [kept.find(node) for node in asked] == [numbers.get(node, -1) for node in asked]
        for beyond in (-1, len(numbers)):
            with pytest.raises(IndexError):
                kept.node(beyond)


def test_it_grows() -> None:
    kept: Any = register.Register()
    names = [f"https://www.host-{n % 50}.example/section/{n}.html" for n in range(50_000)]
    assert kept.number_all(names) == list(range(50_000))
    assert kept.number_all(reversed(names)) == list(range(49_999, -1, -1))
    assert [kept.node(number) for number in range(50_000)] == names
