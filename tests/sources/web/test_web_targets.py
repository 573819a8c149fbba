"""Links gathered by the kernel, against a plain account of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sonde import kernels
from sonde.kernels.html import links as kernel
from sonde.sources.page import PageLink
from uncompiled import uncompiled

URLS = st.sampled_from("abcdefgh")
LINKS = st.lists(
    st.builds(PageLink, URLS, st.integers(0, 5), st.integers(0, 9), st.booleans()), max_size=12
)
KERNELS = {
    "compiled": (kernel, kernels.load("compiled").register),
    "plain": (uncompiled(kernel), kernels.load("python").register),
}


def plain(
    links: list[PageLink],
    alphas: list[float],
    known: list[str],
    aliases: dict[str, str],
    refused: set[str],
    heeds: bool,
) -> dict[str, tuple[float, int, int]]:
    found: dict[str, tuple[float, int, int]] = {}
    for (url, start, end, nofollow), alpha in zip(links, alphas, strict=True):
        target = aliases.get(url, url)
        if (nofollow and heeds) or (target not in known and target in refused):
            continue
        promise, first, last = found.get(target, (0.0, start, end))
        if end - start > last - first:
            first, last = start, end
        found[target] = promise + alpha, first, last
    return found


@pytest.mark.parametrize("engine", KERNELS)
@given(
    links=LINKS,
    known=st.lists(URLS, unique=True),
    aliases=st.dictionaries(URLS, URLS, max_size=3),
    refused=st.sets(URLS, max_size=4),
    ask=st.booleans(),
    heeds=st.booleans(),
)
def test_each_target_once(
    engine: str,
    links: list[PageLink],
    known: list[str],
    aliases: dict[str, str],
    refused: set[str],
    ask: bool,
    heeds: bool,
) -> None:
    module, registers = KERNELS[engine]
    nodes: Any = registers.Register()
    nodes.number_all(known)
    shunned: list[str] = []

    def admit(url: str) -> str | None:
        target = aliases.get(url, url)
        return None if target not in known and target in refused else target

    alphas = [float(2**place) for place in range(len(links))]
    found = module.gathered(
        tuple(links), alphas, nodes, aliases, ask, admit, shunned.append if heeds else None
    )
    expected = plain(links, alphas, known, aliases, refused, heeds)
    assert list(zip(*found, strict=True)) == [
        (name, known.index(name) if name in known else -1, *rest) for name, rest in expected.items()
    ]
    assert shunned == [link.url for link in links if link.nofollow and heeds]


@pytest.mark.parametrize("engine", KERNELS)
@given(status=st.lists(st.integers(0, 3)), data=st.data())
def test_settled_targets_are_told_apart(
    engine: str, status: list[int], data: st.DataObject
) -> None:
    numbers = data.draw(st.lists(st.integers(-1, len(status) - 1)))
    expected = [place for place, at in enumerate(numbers) if at < 0 or status[at] < 2]
    assert KERNELS[engine][0].unsettled(numbers, bytearray(status), 2) == expected
