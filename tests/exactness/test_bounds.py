"""What would lead a kernel out of the bounds of its arrays is refused at its door.

Compiled, nothing checks an index; so these say what a caller, or a page, must not be able to do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sonde.kernels import load
from sonde.kernels.html import links, scan
from sonde.kernels.text import folding, link_words, shingles, wikidump, wikimarks, wikitext
from sonde.sources.page import CHARACTERS, ELEMENTS
from uncompiled import uncompiled

PLAIN = load("python")


def both(compiled: Any, plain: Any = None) -> pytest.MarkDecorator:
    """A test for the compiled module and for the one that is not."""
    modules = [compiled, uncompiled(compiled) if plain is None else plain]
    return pytest.mark.parametrize("module", modules, ids=["compiled", "plain"])


MARK = b"\x02"
END = b"\x03"


@both(wikitext, PLAIN.wikitext)
@pytest.mark.parametrize(
    "text",
    [
        b"\n" + MARK + b"\n",
        b"\n" + MARK + b"00000000tide" + END + MARK + b"00000000again" + END + b"\n",
        b"\n" + MARK + b"00000001tide" + END + b"\n",
        b"\n" + MARK + b"0000000",
        b"\n" + MARK + b"!!!!!!!!tide\n",
        b"\n" + MARK * 4_000 + b"\n",
    ],
    ids=["bare", "twice", "unknown", "cut", "no number", "many"],
)
def test_marks_that_no_link_has_left(module: Any, text: bytes) -> None:
    with pytest.raises(ValueError, match="a mark that no link has left"):
        module.settle(bytearray(text), len(text), [b"Tide"])


@both(wikitext, PLAIN.wikitext)
def test_marks_of_links(module: Any) -> None:
    text = bytearray(b"\nthe " + MARK + b"00000000tide" + END + b" rises\n")
    size, found = module.settle(text, len(text), [b"Tide"])
    assert bytes(text[:size]) == b"the tide rises"
    assert found == [(b"Tide", 4, 8)]


@both(wikitext, PLAIN.wikitext)
def test_text_that_ends_within_a_character(module: Any) -> None:
    text = bytearray("\nmarée".encode()[:-2])
    with pytest.raises(ValueError, match="cut short"):
        module.settle(text, len(text), [])


@both(wikitext, PLAIN.wikitext)
def test_more_text_than_there_is(module: Any) -> None:
    with pytest.raises(ValueError, match="no text of 9 bytes in 4"):
        module.strip(bytearray(b"\nab\n"), 9, True)
    with pytest.raises(ValueError, match="no text of 9 bytes in 4"):
        module.settle(bytearray(b"\nab\n"), 9, [])


@both(wikimarks, PLAIN.wikimarks)
def test_captions_that_are_longer_than_labels(module: Any) -> None:
    text = b"\n[[File:a.png|tide]]\n"
    with pytest.raises(ValueError, match="longer than the label"):
        module.marked(bytearray(text), len(text), lambda _: "file", lambda _: b"x" * 1_000)
    with pytest.raises(ValueError, match="no text of 99 bytes"):
        module.marked(bytearray(text), 99, lambda _: "", lambda _: b"")


@both(wikidump, PLAIN.wikidump)
def test_pieces_of_a_dump_that_are_not_there(module: Any) -> None:
    with pytest.raises(ValueError, match="no bytes 0 to 9 in 6"):
        module.Scanner().scan(b"<page>", 0, 9)
    with pytest.raises(ValueError, match="no bytes 2 to 9 in 6"):
        module.unescaped(b"a &lt;", 2, 9)
    with pytest.raises(ValueError, match="cut short"):
        module.unescaped(b"a &l", 0, 4)
    store, size = module.unescaped(b"", -1, -1)  # a page without a text
    assert bytes(store[:size]) == b"\n\n"


@both(folding, PLAIN.folding)
@pytest.mark.parametrize("text", [b"\xc3", b"a\xe2\x82", b"\xf0\x9f\x8c"])
def test_utf8_that_is_cut_short_is_not_folded(module: Any, text: bytes) -> None:
    table = module.Folding(str.lower)
    with pytest.raises(ValueError, match="cut short"):
        table.fold(text)
    with pytest.raises(ValueError, match="cut short"):
        table.places(text)


@both(link_words, PLAIN.link_words)
@pytest.mark.parametrize(("start", "end"), [(-1, 2), (3, 2), (2, 5), (90_000, 90_001)])
def test_anchors_that_are_not_in_the_text(module: Any, start: int, end: int) -> None:
    with pytest.raises(ValueError, match="is not in the text"):
        module.words_of_links("tide", [start], [end], ["http://a.example/"], 10, 8)


@both(shingles)
def test_bins_that_cannot_be_filled(module: Any) -> None:
    hashes = np.arange(4, dtype=np.uint64)
    for found, bins in ((hashes[:0], 8), (hashes, 0), (hashes, 12)):
        with pytest.raises(ValueError, match="power of two"):
            module.minima(found, np.zeros(bins, dtype=np.uint64))


@both(scan)
@pytest.mark.parametrize("short", range(6))
def test_too_little_room_for_a_page(module: Any, short: int) -> None:
    html = b"<p>tide"
    rooms: list[Any] = [np.zeros(7, dtype=np.uint8), np.zeros((7, 3), dtype=np.intc)]
    rooms += [np.zeros((1, 7), dtype=np.intc), np.zeros((1, 2), dtype=np.intc)]
    rooms += [np.zeros((3, 3), dtype=np.intc), np.zeros((3, 4), dtype=np.uint64)]
    assert module.scan(html, ELEMENTS, CHARACTERS, *rooms)[0] == 4
    rooms[short] = np.ascontiguousarray(rooms[short][..., :-1])
    with pytest.raises(ValueError, match=r"room|takes"):
        module.scan(html, ELEMENTS, CHARACTERS, *rooms)


@both(links)
def test_links_that_do_not_fit_together(module: Any) -> None:
    anchors = np.zeros((2, 7), dtype=np.intc)
    register = load("compiled").register.Register()
    with pytest.raises(ValueError, match="no 3 anchors"):
        module.followed(b"", anchors, 3, {}, lambda _: None, "", tuple, [], 9)
    with pytest.raises(ValueError, match="1 links have 0 promises"):
        module.gathered((("a", 0, 0, False),), [], register, {}, True, lambda _: None, None)
    with pytest.raises(ValueError, match="the node 2 has no status"):
        module.unsettled([2], bytearray(2), 1)


@pytest.mark.parametrize("engine", ["compiled", "python"])
def test_lists_of_words_have_two_bytes_a_word(engine: str) -> None:
    kept = load(engine).links.LinkWords()
    with pytest.raises(ValueError, match="two a word"):
        kept.number_all([b"abcd", b"abc"], np.zeros(2, dtype=np.intc))


@pytest.mark.parametrize("engine", ["compiled", "python"])
def test_a_crawl_that_is_followed_goes_over_the_frontier(engine: str) -> None:
    kernels = load(engine)
    first, targets = np.array([0, 1, 1]), np.array([1], dtype=np.intc)
    frontier = kernels.frontier.Frontier(1, 2, False)
    links = kernels.links.Links(2, False, False, targets, np.ones(1))
    model = kernels.model.Model(
        frontier,
        links,
        kernels.dice.Dice(0),
        kernels.chooser.Single(kernels.rankings.Tournament(frontier, 0)),
        kernels.neighbourhood.Neighbourhood(frontier, links, {"deg": 0}, 2),
        [],
        1.0,
        0.0,
    )
    kernels.replay.begin(model, np.zeros(2), first, [0])
    worth = np.zeros(2), np.zeros(2)
    with pytest.raises(ValueError, match="the node 0 is not on the frontier"):
        kernels.replay.follow(model, *worth, first, np.array([0], dtype=np.intc))
    assert kernels.replay.follow(model, *worth, first, np.array([1], dtype=np.intc)).tolist() == [1]
    with pytest.raises(ValueError, match="the node 1 is not on the frontier"):
        kernels.replay.follow(model, *worth, first, np.array([1], dtype=np.intc))
