"""bzip2 read block by block, against the standard library."""

from __future__ import annotations

import bz2
import io
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sonde.data import bzip
from sonde.data.bzip import HOLE, decompressed

MARKS = [mark.to_bytes(6, "big") for mark in (0x314159265359, 0x177245385090)]


def read(data: bytes, threads: int = 1) -> tuple[bytes, dict[str, int]]:
    problems: Counter[str] = Counter()
    return b"".join(decompressed(io.BytesIO(data), problems, threads)), dict(problems)


def noise(length: int, seed: int = 1) -> bytes:
    """Bytes that cannot be compressed."""
    return random.Random(seed).randbytes(length)


contents = st.one_of(
    st.binary(max_size=300),
    st.lists(st.sampled_from([*MARKS, b"<page>", b"\0", b"a" * 300, b"\xff"]), max_size=30).map(
        b"".join
    ),
)


@settings(max_examples=60)
@given(st.lists(st.tuples(contents, st.integers(1, 9)), min_size=1, max_size=5), st.integers(1, 3))
def test_any_streams(streams: list[tuple[bytes, int]], threads: int) -> None:
    data = b"".join(bz2.compress(part, level) for part, level in streams)
    assert read(data, threads) == (bz2.decompress(data), {})


@pytest.mark.parametrize("step", [7, 1000, 1 << 20])
def test_many_blocks_however_they_are_read(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """At level 1 a block has 100 kB, and begins anywhere in a byte."""
    text = noise(250_000) + b"".join(b"%d tides\n" % n for n in range(60_000))
    monkeypatch.setattr(bzip, "STEP", step)
    packed = bz2.compress(text, 1) + bz2.compress(text[:130_000], 1)
    if step < 1000:  # byte by byte takes its time: one stream is enough
        text = text[:150_000]
        packed = bz2.compress(text, 1)
        assert read(packed, 2) == (text, {})
    else:
        assert read(packed, 3) == (text + text[:130_000], {})


def test_what_looks_like_a_mark_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Places every 30 kB are taken for marks, some in every block."""
    text = noise(300_000, seed=5)
    packed = bz2.compress(text, 1)
    real = bzip._marks

    def more(data: bytes, since: int) -> list[tuple[int, int]]:
        found = list(real(data, since))
        false = [(8 * at + 3, bzip._END) for at in range(max(since, 50), len(data) - 7, 30_000)]
        return sorted({*found, *false})

    monkeypatch.setattr(bzip, "_marks", more)
    assert read(packed, 2) == (text, {})


def test_a_damaged_block_costs_itself_alone() -> None:
    text = noise(350_000, seed=2)
    packed = bytearray(bz2.compress(text, 1))
    packed[150_000] ^= 0x10  # in the second of four blocks
    out, problems = read(bytes(packed), 2)
    assert problems == {"damaged compressed blocks": 1}
    before, _, after = out.partition(HOLE)
    assert text.startswith(before)
    assert text.endswith(after)
    assert len(text) - len(before) - len(after) in range(95_000, 101_000)


@pytest.mark.parametrize(
    ("ending", "problems"),
    [
        (b"", {}),
        (b"\0" * 40, {}),
        (b"what is this", {"damaged compressed blocks": 1}),
    ],
)
def test_after_the_end(ending: bytes, problems: dict[str, int]) -> None:
    out, found = read(bz2.compress(b"tides") + ending)
    assert (out.removesuffix(HOLE), found) == (b"tides", problems)


def test_truncated_anywhere() -> None:
    text = noise(150_000, seed=3)
    packed = bz2.compress(text, 1)
    for kept in range(40, len(packed), 9_001):
        out, problems = read(packed[:kept])
        assert text.startswith(out)
        assert problems == {"truncated compressed files": 1}


def test_no_bzip2_at_all_is_not_held_in_memory() -> None:
    out, problems = read(noise(5_000_000))
    assert not out.replace(HOLE, b"")
    assert problems["damaged compressed blocks"] >= 1


def test_closing_early_ends_the_threads() -> None:
    stream = decompressed(io.BytesIO(bz2.compress(noise(500_000), 1)), Counter(), 2)
    assert next(stream)
    stream.close()
