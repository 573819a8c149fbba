"""Fingerprints against their definition, written out with NumPy."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sonde.kernels.text import simhash as kernel
from sonde.sources.web import duplicates, traps
from sonde.sources.web.duplicates import simhash
from sonde.sources.web.traps import word_pairs
from uncompiled import uncompiled

MIX_1, MIX_2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
WORDS = ("the", "sea", "level", "12", "345", "٣٤", "rises", "été", "日本語", "a")
TEXTS = st.one_of(
    st.text(max_size=300),
    st.lists(st.sampled_from(WORDS)).map(" ".join),
    st.tuples(st.text(min_size=1, max_size=40), st.integers(1, 200)).map(lambda t: t[0] * t[1]),
)


def defined_simhash(text: str) -> int:
    raw = text.encode("utf-8", "replace")
    if len(raw) < 64:
        return 0
    runs = np.ndarray((len(raw) - 7,), dtype="<u8", buffer=raw, strides=(1,))
    long = len(raw) >= 2_048
    if long:
        starts = np.flatnonzero(np.frombuffer(raw, np.uint8)[:-8] == ord(" ")) + 1
        if len(starts) * 16 >= len(raw):
            runs = runs[starts]
    hashes = runs * MIX_1
    hashes ^= hashes >> np.uint64(29)
    hashes *= MIX_2
    sample = hashes[(hashes >> np.uint64(40)) & np.uint64(3) == 0] if long else hashes
    if len(sample) == 0:
        return 0
    sample ^= sample >> np.uint64(32)
    bits = np.unpackbits(sample.view(np.uint8).reshape(-1, 8), axis=1)
    votes = np.add.reduce(bits, axis=0, dtype=np.int32) * 2 > len(sample)
    return int.from_bytes(np.packbits(votes).tobytes(), "big") or 1


def defined_pairs(text: str) -> NDArray[np.uint32]:
    raw = b" " + re.sub(r"\d+", " ", text).encode("utf-8", "replace") + b" " * 8
    gaps = np.frombuffer(raw, np.uint8)[:-7] == ord(" ")
    starts = np.flatnonzero(gaps[:-1] & ~gaps[1:]) + 1
    words = np.ndarray((len(raw) - 7,), dtype="<u8", buffer=raw, strides=(1,))[starts] * MIX_1
    words ^= words >> np.uint64(29)
    pairs = (words[:-1] * MIX_2) ^ words[1:]
    return np.unique((pairs >> np.uint64(32)).astype(np.uint32))


@given(TEXTS)
@example("word " * 1_000)
@example("x" * 3_000)
@example("")
@settings(max_examples=200, deadline=None)
def test_fingerprints_are_what_they_are_defined_to_be(text: str) -> None:
    assert simhash(text) == defined_simhash(text)
    assert word_pairs(text).tolist() == defined_pairs(text).tolist()


PLAIN = uncompiled(kernel)


@given(TEXTS)
@settings(max_examples=40, deadline=None)
def test_the_same_uncompiled(text: str) -> None:
    expected = simhash(text), word_pairs(text).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duplicates, "majority_of", PLAIN.majority_of)
        patch.setattr(traps, "pair", PLAIN.pair)
        patch.setattr(traps, "distinct", PLAIN.distinct)
        assert (simhash(text), word_pairs(text).tolist()) == expected
