"""The words of links, as numbers."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sonde.simulation import recorded_visits, simulate
from sonde.sources.graph import Graph
from sonde.sources.words import MOST, link_words, word_number


def test_anchor_address_and_window_in_this_order() -> None:
    words = link_words(
        "Tide gauge", "https://a.example/sea/level-data.html?page=2", "the tide here"
    )
    expected = ["tide", "gauge", "/sea", "/level", "/data", "the", "here"]
    assert words == tuple(word_number(word) for word in expected)


def test_a_word_in_an_address_is_not_that_word_in_a_text() -> None:
    assert set(link_words("jazz", "")).isdisjoint(link_words("", "https://a.example/jazz"))


def test_upper_case_does_not_count_and_single_letters_say_nothing() -> None:
    assert link_words("Jazz A", "x") == link_words("jazz", "")


@given(st.text(), st.text(), st.text())
def test_numbers_are_distinct_few_and_fit_two_bytes(anchor: str, target: str, window: str) -> None:
    words = link_words(anchor, target, window)
    assert len(set(words)) == len(words) <= MOST
    assert all(0 <= word < 65_536 for word in words)


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
        [word_number("tides")],
        [word_number("/jazz"), word_number("swing")],
    ]
    assert [link.words for link in visits("a").links] == [[word_number("/jazz")]]
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
