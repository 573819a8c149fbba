"""The words of links, as numbers."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sonde import kernels
from sonde.simulation import recorded_visits, simulate
from sonde.sources.graph import Graph
from sonde.sources.words import MOST, link_words, page_words


def number(word: str) -> bytes:
    """The hash as its definition has it."""
    value = 2166136261
    for letter in word.encode():
        value = (value ^ (1 if letter == ord("/") else letter)) * 16777619 % 2**32
    return ((value ^ value >> 16) % 2**16).to_bytes(2, "little")


def test_anchor_address_and_window_in_this_order() -> None:
    words = link_words("Tide gauge", "https://a.example/sea/level-data.html?p=2", "the tide here")
    expected = ["tide", "gauge", "/sea", "/level", "/data", "the", "here"]
    assert words == b"".join(number(word) for word in expected)


def test_single_letters_say_nothing() -> None:
    assert link_words("Jazz A", "x/y?jazz") == link_words("jazz") == number("jazz")


def test_a_window_does_not_cut_words() -> None:
    text = "sea level and tide gauges"
    (words,) = page_words(text, [(14, 18)], ["x"], 6)
    assert words == b"".join(map(number, ["tide", "and"]))
    (words,) = page_words(text, [(14, 18)], ["x"], 7)
    assert words == b"".join(map(number, ["tide", "and", "gauges"]))


TEXTS = st.text(st.sampled_from("abÄİßé01 .-_/?#"), max_size=40) | st.text(max_size=20)


@given(TEXTS, TEXTS, TEXTS)
def test_words_are_distinct_and_few(anchor: str, target: str, window: str) -> None:
    words = link_words(anchor, target, window)
    numbers = [words[place : place + 2] for place in range(0, len(words), 2)]
    assert len(words) % 2 == 0
    assert len(set(numbers)) == len(numbers) <= MOST


@settings(deadline=None)  # the first example loads the uncompiled kernels
@given(TEXTS, st.data(), TEXTS)
def test_compiled_and_uncompiled_agree(text: str, data: st.DataObject, target: str) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    fast, slow = (
        kernels.load(engine).spelling.spelled(text, [start], [end], [target], 5, MOST)
        for engine in ("compiled", "python")
    )
    assert (fast[0].tolist(), fast[1].tolist()) == (slow[0].tolist(), slow[1].tolist())


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
    assert [link.words for link in visits("home").links] == [
        number("tides"),
        number("/jazz") + number("swing"),
    ]
    assert [link.words for link in visits("a").links] == [number("/jazz")]
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
