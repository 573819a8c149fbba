"""Lists of words are kept once each, and found again."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sonde.kernels import wordings
from uncompiled import uncompiled

MODULES = (wordings, uncompiled(wordings))
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
        kept = module.Wordings()
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
