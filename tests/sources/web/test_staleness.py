"""Staleness: what is fresh, who is a suspect, and that suspects are sampled, not walled off."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sonde.kernels.html.scan import LINK
from sonde.kernels.text.boilerplate import Imprint
from sonde.sources.main_text import MainText
from sonde.sources.web.staleness import Finding, Staleness, enough, is_sampled, own_words

HOST = "http://h.example/"
_NODES = np.empty((0, 4), dtype=np.uint64)


def said(text: str, links: str = "") -> MainText:
    """A page of words, of which the last are in links."""
    whole = f"{text} {links}"
    pieces = np.array([[0, 128, 0], [len(text.encode()) + 1, LINK, 0]], dtype=np.intc)
    page = Imprint(whole.encode(), pieces, _NODES)
    return MainText(whole, whole.encode(), page, np.ones(page.words, dtype=np.uint8))


def own(number: int, words: int = 60) -> str:
    return " ".join(f"n{number}w{word}" for word in range(words))


def crawl(pages: list[tuple[str, MainText]], left: int) -> tuple[Staleness, list[str]]:
    """Visit what is let through; the URLs visited."""
    staleness = Staleness()
    visited = []
    for url, text in pages:
        if staleness.verdict(url) is None:
            staleness.observe(url, text, left)
            visited.append(url)
    return staleness, visited


def test_pages_with_words_of_their_own_are_never_refused() -> None:
    menu = own(-1, 2_000)
    pages = [(f"{HOST}item/{number}", said(f"{menu} {own(number, 40)}")) for number in range(300)]
    assert len(crawl(pages, 0)[1]) == 300


def test_a_calendar_takes_little_of_the_budget() -> None:
    pages = [
        (f"{HOST}calendar/{number}", said("no events in this month see the next one or the last"))
        for number in range(3_000)
    ]
    for left in (600, 3_000):
        visits = len(crawl(pages, left)[1])
        assert enough("template", left) <= visits <= enough("template", left) + 25


def test_a_path_that_grows_and_a_page_that_is_not_found_are_repeats() -> None:
    text = own(1)
    growing = [
        (f"{HOST}a/" + "".join(f"{part}/" for part in f"{number:b}"), said(text))
        for number in range(1_000)
    ]
    missing = [
        (f"{HOST}word-{number:x}z", said(f"{own(2)} word {number:x}z", f"link{number % 7}"))
        for number in range(1_000)
    ]
    for pages in (growing, missing):
        assert len(crawl(pages, 600)[1]) < 80


def test_a_suspect_is_sampled_and_comes_back_when_it_has_something_new() -> None:
    stale = said("the same words again and again and again")
    staleness, _ = crawl([(f"{HOST}t/{number}", stale) for number in range(40)], 0)
    urls = [f"{HOST}t/{number}" for number in range(1_000, 5_000)]
    let_through = [url for url in urls if staleness.verdict(url) is None]
    assert 0 < len(let_through) < 2_000
    assert let_through == [url for url in urls if staleness.verdict(url) is None]
    assert "nothing new at" in str(next(filter(None, map(staleness.verdict, urls))))
    for number, url in enumerate(let_through[:8]):
        staleness.observe(url, said(own(number)), 0)
    assert all(staleness.verdict(url) is None for url in urls)


def test_evidence_grows_with_what_is_left_to_spend() -> None:
    wanted = [enough("template", left) for left in (0, 600, 5_000, 10**6, None)]
    assert wanted == [12, 12, 50, 128, 128]
    assert enough("segment", 0) == 32


def test_what_a_page_only_echoes_of_its_url_is_not_its_own() -> None:
    main = own_words(said("sorry green apple was not found"), f"{HOST}green-apple")
    assert main.kept.tolist() == [1, 0, 0, 1, 1, 1]


@given(st.text(), st.integers(0, 20))
def test_a_smaller_share_is_part_of_a_larger_one(name: str, bits: int) -> None:
    assert is_sampled(name, 0)
    if is_sampled(name, bits + 1):
        assert is_sampled(name, bits)


visits = st.lists(
    st.tuples(st.sampled_from(["t/1", "t/2", "t/3?a=1", "x", "y"]), st.integers(0, 3)), max_size=60
)


@given(visits, st.integers(0, 60))
@settings(deadline=None)
def test_state_and_the_log_give_the_same_staleness(drawn: list[tuple[str, int]], cut: int) -> None:
    whole, told, taken_up = Staleness(), Staleness(), Staleness()
    for number, (path, text) in enumerate(drawn):
        url, page = HOST + path, said(own(text, 9))
        if number == cut:
            taken_up.restore(json.loads(json.dumps(whole.state())))
        finding = whole.observe(url, page, 0)
        told.told(url, page, Finding.of(finding.noted))
        if number >= cut:
            assert taken_up.observe(url, page, 0) == finding
    assert told.state() == whole.state()
    if cut < len(drawn):
        assert taken_up.state() == whole.state()
    for path, _ in drawn:
        assert told.verdict(HOST + path) == whole.verdict(HOST + path)
        assert told.factor(HOST + path) == whole.factor(HOST + path)
