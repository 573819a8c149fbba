"""The words of links, as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sonde import link_words as words_module
from sonde.kernels.text import link_words as text_kernel
from sonde.link_words import MOST, link_words, page_words, words_of
from sonde.records import LinkColumns, Visit
from sonde.simulation import recorded_visits, simulate
from sonde.sources.graph import Graph
from uncompiled import uncompiled


def number(word: str) -> bytes:
    """The hash as its definition has it."""
    value = 2166136261
    for letter in word:
        code = 1 if letter == "/" else ord(letter.lower()[0])
        value = (value ^ code) * 16777619 % 2**32
    return ((value ^ value >> 16) % 2**16).to_bytes(2, "little")


def test_anchor_address_and_window_in_this_order() -> None:
    words = link_words("Tide gauge", "https://a.example/sea/level-data.html?p=2", "the tide here")
    expected = ["tide", "gauge", "/sea", "/level", "/data", "the", "here"]
    assert words == b"".join(number(word) for word in expected)


def test_single_letters_say_nothing() -> None:
    assert link_words("Jazz A", "x/y?jazz") == link_words("jazz") == number("jazz")


def test_a_window_does_not_cut_words() -> None:
    text = "sea level and tide gauges"
    (words,) = page_words(text, [14], [18], ["x"], 6)
    assert words == b"".join(map(number, ["tide", "and"]))
    (words,) = page_words(text, [14], [18], ["x"], 7)
    assert words == b"".join(map(number, ["tide", "and", "gauges"]))


TEXTS = st.text(st.sampled_from("abÄİßé01 .-_/?#"), max_size=80) | st.text(max_size=20)


@given(TEXTS, TEXTS, TEXTS)
def test_words_are_distinct_and_few(anchor: str, target: str, window: str) -> None:
    words = link_words(anchor, target, window)
    numbers = [words[place : place + 2] for place in range(0, len(words), 2)]
    assert len(words) % 2 == 0
    assert len(set(numbers)) == len(numbers) <= MOST


def runs(text: str) -> list[tuple[int, int]]:
    """Where the words of a text stand."""
    found = []
    for is_word, places in groupby(range(len(text)), lambda place: text[place].isalnum()):
        each = list(places)
        if is_word and len(each) > 1:
            found.append((each[0], each[-1] + 1))
    return found


def plain(text: str, start: int, end: int, address: str, window: int) -> bytes:
    def inside(low: int, high: int) -> list[bytes]:
        return [number(text[a:b]) for a, b in runs(text) if low <= a and b <= high]

    path = address.partition("?")[0].partition("#")[0]
    tail = "/".join(path.split("/")[-2:])
    folder, slash, name = tail.rpartition("/")
    tail = folder + slash + (name.rpartition(".")[0] if "." in name else name)
    of_address = [number("/" + tail[a:b]) for a, b in runs(tail)]
    around = inside(start - window, end + window) if window else []
    return b"".join(list(dict.fromkeys(inside(start, end) + of_address + around))[:MOST])


@pytest.mark.parametrize(
    "kernel", [text_kernel, uncompiled(text_kernel)], ids=["compiled", "plain"]
)
@given(text=TEXTS, data=st.data())
@settings(deadline=None)
def test_words_of_links(kernel: object, text: str, data: st.DataObject) -> None:
    places = st.integers(0, len(text))
    spans = [
        (min(pair), max(pair))
        for pair in data.draw(st.lists(st.tuples(places, places), max_size=8))
    ]
    addresses = [data.draw(TEXTS) for _ in spans]
    window = data.draw(st.integers(0, 10))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words_module, "words_of_links", kernel.words_of_links)  # type: ignore[attr-defined]
        found = page_words(
            text, [start for start, _ in spans], [end for _, end in spans], addresses, window
        )
    assert found == [
        plain(text, start, end, address, window)
        for (start, end), address in zip(spans, addresses, strict=True)
    ]


def words_in(visit: Visit) -> Sequence[bytes] | None:
    assert isinstance(visit.links, LinkColumns)
    return visit.links.words


@given(st.lists(st.tuples(TEXTS, st.none() | TEXTS), max_size=6))
def test_texts_and_addresses_of_many_links_are_read_as_those_of_each(
    links: list[tuple[str, str | None]],
) -> None:
    expected = [link_words(text, url or "") for text, url in links]
    assert words_of([text for text, _ in links], [url for _, url in links]) == expected


def test_a_graph_has_words_where_its_edges_have_texts() -> None:
    edges = pa.table(
        {
            "source": ["home", "home", "a"],
            "target": ["a", "b/jazz.html", "b/jazz.html"],
            "score": [0.0, 1.0, 0.0],
            "anchor": ["tides", None, ""],
            "context": ["", "swing", ""],
        }
    )
    graph = Graph.from_edges(edges)
    visits = recorded_visits(graph)
    assert words_in(visits("home")) == [
        number("tides"),
        number("/jazz") + number("swing"),
    ]
    assert words_in(visits("a")) == [number("/jazz")]
    assert Graph.from_edges([(1, 2)]).link_words is None


def test_words_lead_a_crawl() -> None:
    """Of equal pages the ones are taken whose links are called as those that brought something."""
    names = [f"n{number}" for number in range(400)]
    good = {name for number, name in enumerate(names) if number % 8 == 0}
    edges = pa.table(
        {
            "source": ["home"] * len(names),
            "target": names,
            "anchor": ["jazz" if name in good else "imprint" for name in names],
        }
    )
    graph = Graph.from_edges(edges, dict.fromkeys(good, 1.0) | {"home": 0.0})
    gains = {
        estimator: simulate(graph, seeds=["home"], estimator=estimator, budget=60).gain
        for estimator in ("auto", "auto:words=0")
    }
    assert gains["auto"] > 45
    assert gains["auto:words=0"] == pytest.approx(60 / 8, abs=1)
