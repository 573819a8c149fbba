"""Twins: what is proposed and confirmed, against the sets of shingles themselves."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sonde.kernels.text.boilerplate import Imprint
from sonde.kernels.text.shingles import Bands, ShingleSet, digest, shared, shingled
from sonde.sources.main_text import MainText
from sonde.sources.web.twins import (
    FEWEST,
    SIMILAR,
    SKETCH,
    Print,
    Twins,
    print_of,
    printed,
    similarity,
)

_PIECES = np.array([[0, 128, 0]], dtype=np.intc)
_NODES = np.empty((0, 4), dtype=np.uint64)


def shingles_of(text: str, *, numbers: bool = True) -> np.ndarray:
    page = Imprint(text.encode(), _PIECES, _NODES)
    found = np.empty(page.words, dtype=np.uint64)
    count = shingled(page, np.ones(page.words, dtype=np.uint8), found, numbers, True)
    return np.unique(found[:count])


def runs(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return {tuple(words[at : at + 3]) for at in range(len(words) - 2)}


words = st.lists(st.sampled_from(["a", "bb", "ccc", "d1", "22", "7"]), max_size=30)


@given(words)
def test_shingles_are_the_runs_of_three_words(said: list[str]) -> None:
    text = " ".join(said)
    assert len(shingles_of(text)) == len(runs(text))
    bare = " ".join(word for word in said if not word.isdigit())
    assert np.array_equal(shingles_of(text, numbers=False), shingles_of(bare))


@given(words, words)
def test_similarity_of_short_pages_is_exact(one: list[str], other: list[str]) -> None:
    mine, theirs = runs(" ".join(one)), runs(" ".join(other))
    found, _ = similarity(
        print_of(shingles_of(" ".join(one))), print_of(shingles_of(" ".join(other)))
    )
    expected = len(mine & theirs) / len(mine | theirs) if mine and theirs else 0.0
    assert found == expected


def test_similarity_of_long_pages_is_close() -> None:
    dice = random.Random(3)
    said = [f"w{dice.randrange(5_000)}" for _ in range(8 * SKETCH)]
    for changed in (0, 20, 200, 900):
        other = list(said)
        for at in dice.sample(range(len(said)), changed):
            other[at] = f"v{at}"
        mine, theirs = runs(" ".join(said)), runs(" ".join(other))
        found, _ = similarity(*(print_of(shingles_of(" ".join(text))) for text in (said, other)))
        assert abs(found - len(mine & theirs) / len(mine | theirs)) < 0.04


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 60)), min_size=2, max_size=12))
@settings(deadline=None)
def test_a_twin_is_an_earlier_page_of_which_nine_tenths_are_shared(
    drawn: list[tuple[int, int]],
) -> None:
    base = [[f"{letter}{number}" for number in range(60)] for letter in "xyz"]
    twins = Twins()
    told: list[set[tuple[str, ...]]] = []
    for number, (which, cut) in enumerate(drawn):
        text = " ".join(base[which][: 60 - cut // 4] + [f"own{cut}"] * (cut // 20))
        mine = runs(text)
        twin = twins.find(print_of(shingles_of(text)))
        if twin is not None:
            theirs = told[twin.number]
            assert twin.jaccard == len(mine & theirs) / len(mine | theirs) >= SIMILAR
        elif len(mine) >= FEWEST:
            assert mine not in told  # a page that was there before is always found
        twins.add(str(number), number, print_of(shingles_of(text)), None)
        told.append(mine)


def test_the_earliest_twin_is_named_and_tiny_pages_have_none() -> None:
    twins = Twins()
    text = " ".join(f"w{number}" for number in range(40))
    for name in ("first", "second"):
        assert (twins.find(print_of(shingles_of(text))) is None) == (name == "first")
        twins.add(name, 0, print_of(shingles_of(text)), None)
    found = twins.find(print_of(shingles_of(text)))
    assert found is not None
    assert (found.name, found.jaccard, found.containment) == ("first", 1.0, 1.0)
    tiny = print_of(shingles_of("one two three four"))
    twins.add("tiny", 2, tiny, None)
    assert twins.find(tiny) is None


@given(st.sets(st.integers(0, 50)), st.sets(st.integers(0, 50)))
def test_shared_counts_what_two_sorted_arrays_have_in_common(
    one: set[int], other: set[int]
) -> None:
    arrays = [np.array(sorted(numbers), dtype=np.uint32) for numbers in (one, other)]
    assert shared(*arrays) == len(one & other)


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4), max_size=40), st.integers(1, 5)
)
def test_bands_give_the_pages_that_agree_in_their_order(pages: list[list[int]], deep: int) -> None:
    bands = Bands(4, deep)
    members: dict[int, list[int]] = {}
    for number, page in enumerate(pages):
        asked = np.array(page, dtype=np.uint64)
        expected = sorted({one for key in page for one in members.get(key, [])})
        assert bands.candidates(asked) == expected
        assert bands.add(asked) == number
        for key in page:
            known = members.setdefault(key, [])
            if len(known) < deep:
                known.append(number)


@given(words, words)
def test_digests_tell_texts_apart(one: list[str], other: list[str]) -> None:
    def digest_of(said: list[str]) -> tuple[int, int]:
        page = Imprint(" ".join(said).encode(), _PIECES, _NODES)
        return digest(page, np.ones(page.words, dtype=np.uint8), True, True)  # type: ignore[no-any-return]

    assert (digest_of(one) == digest_of(other)) == (one == other)
    assert digest_of(one)[1] == len(one)


def page_of(text: str) -> MainText:
    page = Imprint(text.encode(), _PIECES, _NODES)
    return MainText(text, text.encode(), page, np.ones(page.words, dtype=np.uint8))


@given(words.filter(lambda said: len(said) > 12))
def test_a_print_is_what_it_was_after_it_was_kept(said: list[str]) -> None:
    made = printed(page_of(" ".join(said)))
    again = Print.unpacked(made.packed())
    assert (again.count, again.whole) == (made.count, made.whole)
    assert np.array_equal(again.bands, made.bands)
    assert np.array_equal(again.sketch, made.sketch)
    head = Print.unpacked(made.packed()[:128])
    assert np.array_equal(head.bands, made.bands)
    assert Print.unpacked(None).count == 0


def test_what_is_out_of_memory_is_read_again() -> None:
    texts = [" ".join(f"{number}w{word}" for word in range(30)) for number in range(3_000)]
    prints = [printed(page_of(text)) for text in texts]
    read: list[int] = []

    def kept(lease: int) -> bytes:
        read.append(lease)
        return prints[lease].packed()

    twins = Twins(kept)
    for number, each in enumerate(prints):
        assert twins.find(each) is None
        twins.add(f"page {number}", number, each, None)
    read.clear()
    found = twins.find(prints[5])
    assert found is not None
    assert (found.name, found.lease, found.jaccard) == ("page 5", 5, 1.0)
    assert read == [5]


def test_a_page_with_all_the_words_of_another_is_its_twin_whatever_its_main_text() -> None:
    text = " ".join(f"w{number}" for number in range(40))
    first, second = page_of(text), page_of(text)
    second.kept[:] = 0
    twins = Twins()
    content = twins.add("first", 1, printed(first), None)
    found = twins.find(printed(second))
    assert found is not None
    assert (found.name, found.jaccard) == ("first", 1.0)
    assert twins.add("second", 2, printed(second), found.number) == content


def test_sets_of_shingles_say_what_is_new() -> None:
    page = page_of("a b c d a b c d 7 a b c")
    known = ShingleSet()
    assert known.read(page.imprint, page.kept) == (4, 9)  # numbers are passed over
    assert known.read(page.imprint, page.kept) == (0, 9)
    again = ShingleSet(known.state().tolist())
    assert again.live == known.live == 4
    assert again.read(page.imprint, page.kept) == (0, 9)
