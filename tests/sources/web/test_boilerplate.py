"""Main text: the kernels against the definition, state and bounds, words of unspaced scripts."""

from __future__ import annotations

import re
from typing import Any

import boilerplate_reference as reference
import numpy as np
import pytest
from boilerplate_reference import Block
from hypothesis import given, settings
from hypothesis import strategies as st

from sonde import kernels
from sonde.kernels.html import scan
from sonde.kernels.html.tags import hash_of
from sonde.kernels.text import boilerplate, lossy_counting, tokens

ENGINES = ("compiled", "python")
WORDS = [f"w{number}" for number in range(9)]


def kernel(engine: str, name: str) -> Any:
    return getattr(kernels.load(engine), name)


def imprint(page: list[Block], engine: str) -> Any:
    """What the scan of such a page would give."""
    text = b""
    pieces: list[list[int]] = []
    nodes: list[list[int]] = []
    for block in page:
        flags = (
            (scan.NAVIGATION if block.navigation else 0)
            | (scan.MAIN if block.main else 0)
            | (scan.HEADING if block.heading else 0)
        )
        parent = 0
        for name, kind, own in block.path:
            hashed = [hash_of(f"{name}.{kind}".encode()), hash_of(own.encode()) if own else 0]
            nodes.append([parent, *hashed, flags | (scan.NAMED if kind else 0)])
            parent = len(nodes)
        for number, (words, link) in enumerate(block.pieces):
            begins = scan.BEGINS if number == 0 else 0
            text += b" " if text else b""
            pieces.append([len(text), flags | begins | (scan.LINK if link else 0), parent])
            text += " ".join(words).encode()
    return kernel(engine, "boilerplate").Imprint(
        text,
        np.array(pieces, dtype=np.intc).reshape(-1, 3),
        np.array(nodes, dtype=np.uint64).reshape(-1, 4),
    )


def main_of(site: Any, page: Any) -> list[bool]:
    kept = np.zeros(page.words, dtype=np.uint8)
    site.main(page, kept)
    return [bool(flag) for flag in kept]


names = st.sampled_from(["div", "p", "ul", "h1"])
elements = st.tuples(names, st.sampled_from(["", "menu", "text"]), st.sampled_from(["", "a", "b"]))
some_words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(tuple)
blocks = st.builds(
    Block,
    pieces=st.lists(st.tuples(some_words, st.booleans()), min_size=1, max_size=3).map(tuple),
    path=st.lists(elements, max_size=3).map(tuple),
    navigation=st.sampled_from([False, False, False, True]),
    main=st.booleans(),
    heading=st.sampled_from([0, 0, 0, 1, 2]),
)
menus = st.lists(blocks, min_size=1, max_size=3)
# A site: pages with a menu of their own choice before the text and after it.
sites = st.tuples(
    st.lists(menus, min_size=1, max_size=2),
    st.lists(
        st.tuples(st.integers(0, 1), st.lists(blocks, max_size=4), st.integers(0, 1)),
        min_size=1,
        max_size=14,
    ),
).map(
    lambda drawn: [
        [*drawn[0][top % len(drawn[0])], *own, *drawn[0][bottom % len(drawn[0])]]
        for top, own, bottom in drawn[1]
    ]
)


@pytest.mark.parametrize("engine", ENGINES)
@given(pages=sites)
@settings(max_examples=60, deadline=None)
def test_kernels_keep_the_words_that_the_definition_keeps(
    engine: str, pages: list[list[Block]]
) -> None:
    site, plain = kernel(engine, "boilerplate").Site(), reference.Site()
    for page in pages:
        ready = imprint(page, engine)
        site.learn(ready)
        plain.learn(page)
        assert main_of(site, ready) == [kept for block in plain.main(page) for kept in block]


@given(pages=sites, cut=st.integers(0, 14))
@settings(max_examples=30, deadline=None)
def test_a_restored_site_goes_on_as_the_one_that_was_left(
    pages: list[list[Block]], cut: int
) -> None:
    site = boilerplate.Site()
    ready = [imprint(page, "compiled") for page in pages]
    for page in ready[:cut]:
        site.learn(page)
        main_of(site, page)
    taken_up = boilerplate.Site()
    taken_up.restore(site.state())
    for page in ready[cut:]:
        for one in (site, taken_up):
            one.learn(page)
        assert main_of(site, page) == main_of(taken_up, page)
    mine, theirs = site.state(), taken_up.state()
    assert all(np.array_equal(mine[name], theirs[name]) for name in mine)


def test_spans_are_the_text_of_the_words_that_are_kept() -> None:
    own = Block((((("so",)), False), (("it", "goes"), True)))
    page = imprint([own, Block((((("again",)), False),))], "compiled")
    text = b"so it goes again"
    for kept, expected in (
        ([1, 1, 1, 1], [b"so it goes again"]),
        ([0, 1, 1, 0], [b"it goes "]),
        ([1, 0, 0, 1], [b"so ", b"again"]),
        ([0, 0, 0, 0], []),
    ):
        found = boilerplate.spans(page, np.array(kept, dtype=np.uint8))
        assert [text[begin:end] for begin, end in np.asarray(found)] == expected


@pytest.mark.parametrize("engine", ENGINES)
@given(pages=st.lists(st.lists(st.integers(1, 12)), max_size=20), limit=st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_counts_are_never_too_high_and_too_low_by_what_was_closed(
    engine: str, pages: list[list[int]], limit: int
) -> None:
    table = kernel(engine, "lossy_counting").LossyCounting(limit)
    true = {key: sum(key in page for page in pages) for key in range(1, 13)}
    for page in pages:
        table.turn()
        for key in page:
            table.see(key)
        table.close()
        assert table.live <= limit
    for key, count in true.items():
        assert count - table.closed <= table.count(key) <= count
    if len({key for page in pages for key in page}) <= limit:
        assert all(table.count(key) == count for key, count in true.items())


def test_a_page_brings_no_more_keys_than_it_may() -> None:
    table = lossy_counting.LossyCounting(1_000, most_new=10)
    table.turn()
    places = [table.see(key) for key in range(1, 31)]
    assert sum(place >= 0 for place in places) == table.live == 10


def words_in(text: str) -> list[str]:
    """The words by their definition, unspaced scripts left whole."""
    return re.findall(r"\w+", text)


@pytest.mark.parametrize("engine", ENGINES)
@given(text=st.text(st.sampled_from("abc1_ .é'ßдא-\u00a0"), max_size=40))
def test_words_are_runs_of_letters_digits_and_underscores(engine: str, text: str) -> None:
    found = tokenised(text, engine)
    assert [text.encode()[place:].decode() for place, _, _ in found] == [
        text[match.start() :] for match in re.finditer(r"\w+", text)
    ]
    for (_, key, number), word in zip(found, words_in(text), strict=True):
        assert number == bool(re.fullmatch("[0-9]+", word))
        assert tokenised(word, engine) == [(0, key, number)]


def tokenised(text: str, engine: str = "compiled") -> list[tuple[int, int, bool]]:
    raw = text.encode()
    starts = np.zeros(len(raw), dtype=np.intc)
    keys = np.zeros(len(raw), dtype=np.uint64)
    numbers = np.zeros(len(raw), dtype=np.uint8)
    count = kernel(engine, "tokens").tokenise(raw, starts, keys, numbers)
    return [(int(starts[i]), int(keys[i]), bool(numbers[i])) for i in range(count)]


@given(st.text(st.sampled_from("暗号化する世界のการเข้ារ"), min_size=1, max_size=30))
def test_unspaced_scripts_are_cut_alike_wherever_they_stand(text: str) -> None:
    alone = [key for _, key, _ in tokenised(text)]
    inside = [key for _, key, _ in tokenised(f"see, {text}. end")]
    assert inside[1:-1] == alone
    assert tokenised(text) == tokenised(text, "python")


def test_unspaced_scripts_are_cut_into_words_of_a_few_characters() -> None:
    text = "".join(chr(0x4E00 + 37 * number % 5_000) for number in range(3_000))
    assert 600 <= len(tokenised(text)) <= 1_500


def test_tokens_of_spaced_and_unspaced_scripts_are_apart() -> None:
    assert [place for place, _, _ in tokenised("abc暗")] == [0, 3]
    assert (
        tokens.tokenise(b"", *(np.zeros(0, kind) for kind in (np.intc, np.uint64, np.uint8))) == 0
    )
