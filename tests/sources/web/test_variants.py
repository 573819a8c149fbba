"""Spellings, parameters and hosts merge only after the site has shown it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sonde.net.urls import normalise
from sonde.sources.web.variants import RULES, PageNames, VariantLearner

PAIRS = {
    "slash": ("http://a.example/d{}/", "http://a.example/d{}"),
    "order": ("http://a.example/p?n={}&a=1", "http://a.example/p?a=1&n={}"),
    "index": ("http://a.example/d{}/index.html", "http://a.example/d{}/"),
    "scheme": ("http://a.example/d{}", "https://a.example/d{}"),
    "www": ("http://www.a.example/d{}", "http://a.example/d{}"),
}


@pytest.mark.parametrize("rule", PAIRS)
def test_a_rule_holds_after_three_pairs_and_not_before(rule: str) -> None:
    variant, plain = PAIRS[rule]
    learner = VariantLearner()
    for number in range(3):
        assert learner.canonical(variant.format(9)) == variant.format(9)
        assert not learner.learned
        content = random.Random(number).getrandbits(64)
        learner.observe(variant.format(number), content)
        learner.observe(plain.format(number), content)
    assert learner.rules(plain.format(9)) == [rule]
    assert learner.canonical(variant.format(9)) == learner.canonical(plain.format(9))
    elsewhere = variant.format(9).replace("a.example", "b.example")
    assert learner.canonical(elsewhere) == elsewhere


@pytest.mark.parametrize("rule", PAIRS)
def test_one_pair_that_differs_is_enough_against_it(rule: str) -> None:
    variant, plain = PAIRS[rule]
    learner = VariantLearner()
    for number in range(5):
        content = random.Random(number).getrandbits(64)
        learner.observe(variant.format(number), content)
        learner.observe(plain.format(number), ~content & (2**64 - 1) if number == 4 else content)
    assert learner.rules(plain.format(9)) == []


def test_one_content_everywhere_shows_nothing() -> None:
    """A site that answers everything with one page has not shown that slashes do not matter."""
    learner = VariantLearner()
    for number in range(9):
        learner.observe(f"http://a.example/d{number}", 77)
        learner.observe(f"http://a.example/d{number}/", 77)
    assert learner.rules("http://a.example/") == []


def test_redirects_show_a_rule_and_its_direction() -> None:
    learner = VariantLearner()
    for number in range(3):
        learner.redirected(f"http://a.example/d{number}", f"http://a.example/d{number}/")
        learner.redirected(f"http://a.example/d{number}", "http://a.example/login")
    assert learner.canonical("http://a.example/x") == "http://a.example/x/"
    assert learner.canonical("http://a.example/x.html") == "http://a.example/x.html"


def test_differences_by_several_rules_show_nothing() -> None:
    learner = VariantLearner()
    for number in range(5):
        learner.observe(f"http://www.a.example/d{number}/", number + 1)
        learner.observe(f"https://a.example/d{number}", number + 1)
    assert learner.rules("http://a.example/") == []


@given(st.text(alphabet="ab./?=&w1", max_size=20), st.sampled_from(["http", "https"]))
def test_spellings_are_urls_and_settle(tail: str, scheme: str) -> None:
    url = normalise(f"{scheme}://www.a.example/{tail}")
    assert url is not None
    for spellings in RULES.values():
        for spell in spellings:
            once = spell(url)
            assert normalise(once) == once
            if spell.__name__ != "_index_off":
                assert spell(once) == once


def test_a_parameter_that_does_not_matter_is_settled_on_its_first_value() -> None:
    learner = VariantLearner()
    for number in range(3):
        for token in ("x", "y"):
            url = f"http://a.example/p{number}?token={token}&v=1"
            assert learner.canonical(url) == url
            learner.observe(url, number + 1)
    assert learner.canonical("http://a.example/p9?token=z&v=2") == "http://a.example/p9?token=x&v=2"
    assert learner.canonical("http://a.example/p9?v=2") == "http://a.example/p9?v=2"
    elsewhere = "http://a.example/other/p9?token=z"
    assert learner.canonical(elsewhere) == elsewhere


def test_a_parameter_goes_where_pages_without_it_are_the_same() -> None:
    learner = VariantLearner()
    for number in range(3):
        learner.observe(f"http://a.example/p{number}", number + 1)
        learner.observe(f"http://a.example/p{number}?s=1", number + 1)
    assert learner.canonical("http://a.example/p9?s=4") == "http://a.example/p9"


def test_one_page_that_differs_keeps_a_parameter() -> None:
    learner = VariantLearner()
    for number in range(5):
        learner.observe(f"http://a.example/p{number}?id=1", number + 1)
        learner.observe(f"http://a.example/p{number}?id=2", number + 1 + 9 * (number == 2))
    assert learner.canonical("http://a.example/p9?id=4") == "http://a.example/p9?id=4"


def mirrored(learner: VariantLearner, *, pages: int = 3, differs: bool = False) -> None:
    for number in range(pages + differs):
        first, second = f"http://a.example/p{number}", f"http://m.example/p{number}"
        same = number < pages
        learner.observe(first, number + 1)
        learner.observe(second, number + 1 if same else 99, first if same else None)


def test_a_host_with_the_same_pages_at_the_same_paths_is_a_mirror() -> None:
    learner = VariantLearner()
    mirrored(learner, pages=2)
    assert learner.canonical("http://m.example/x?y=1") == "http://m.example/x?y=1"
    mirrored(learner)
    assert learner.canonical("http://m.example/x?y=1") == "http://a.example/x?y=1"


def test_a_page_that_differs_and_a_host_that_was_named_are_no_mirrors() -> None:
    learner = VariantLearner()
    mirrored(learner, differs=True)
    assert learner.canonical("http://m.example/x") == "http://m.example/x"
    named = VariantLearner(["http://a.example/", "http://m.example/"])
    mirrored(named)
    assert named.canonical("http://m.example/x") == "http://m.example/x"


def test_names_of_a_page_are_those_that_redirects_and_it_itself_say() -> None:
    names = PageNames()
    names.visited("http://a.example/1", "http://a.example/one", "http://a.example/uno", 5, None)
    for name in ("one", "uno", "1"):
        assert names.stands_for(f"http://a.example/{name}") == "http://a.example/1"
