"""Traps stop paying, real pages do not; variants merge only after the site has shown it."""

from __future__ import annotations

import calendar
import itertools
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sonde.net.urls import group_of, normalise
from sonde.sources.web.duplicates import RULES, VariantLearner
from sonde.sources.web.traps import TrapDetector, growing

HOST = "http://a.example"


def verdict(traps: TrapDetector, url: str) -> str | None:
    return traps.verdict(url, group_of(url))


def month(number: int) -> tuple[str, str]:
    year, at = 2020 + number // 12, number % 12 + 1
    text = f"Events in {calendar.month_name[at]} {year}. " + calendar.TextCalendar().formatmonth(
        year, at
    )
    text += " There are no events in this month."
    return f"{HOST}/calendar/{year}/{at:02}/", " ".join(text.split())


def article(number: int) -> tuple[str, str]:
    rng = random.Random(number)
    words = " ".join(rng.choice(WORDS) for _ in range(300))
    return f"{HOST}/article/{number}", f"Article {number}. {words}"


WORDS = ["".join(p) for p in itertools.product("bdfglmnprst", "aeiou", "lnrst", "aeo")]


def test_a_calendar_is_convicted_within_a_few_visits() -> None:
    traps = TrapDetector()
    visits = 0
    for number in range(500):
        url, text = month(number)
        if verdict(traps, url) is None:
            traps.observe(url, text)
            visits += 1
    assert visits <= 30
    assert traps.factor(month(600)[0]) < 0.4
    assert "stale" in (verdict(traps, month(600)[0]) or "")


def test_facets_are_convicted_whatever_the_parameters() -> None:
    traps = TrapDetector()
    names = ["colour", "size", "sort", "brand", "price", "page", "view"]
    visits = 0
    for count in (1, 2, 3):
        for chosen in itertools.combinations(names, count):
            for value in range(3):
                query = "&".join(f"{name}={value}" for name in chosen)
                url = f"{HOST}/shop/list?{query}"
                if verdict(traps, url) is None:
                    visits += 1
                    traps.observe(
                        url,
                        "Our shop has " + "many fine things of all kinds " * 12 + f"{value} hits",
                    )
    assert visits <= 45


def test_real_pages_of_one_shape_are_not_a_trap() -> None:
    traps = TrapDetector()
    for number in range(300):
        url, text = article(number)
        assert verdict(traps, url) is None
        assert traps.observe(url, text)
    assert traps.factor(article(301)[0]) == 1.0
    for number in range(40):  # a calendar on the same host does not convict the articles
        traps.observe(*month(number))
    assert verdict(traps, article(302)[0]) is None
    assert traps.factor(article(302)[0]) == 1.0


def test_pages_with_hardly_any_text_are_stale_after_the_first() -> None:
    traps = TrapDetector()
    assert traps.observe(f"{HOST}/x/1", "")
    assert not traps.observe(f"{HOST}/x/2", "")


@pytest.mark.parametrize(
    ("path", "trap"),
    [
        ("/a/b/c", False),
        ("/a/a/b", False),
        ("/a/a/a/b", True),
        ("/x/a/b/a/b/a/b", True),
        ("/a/b/c/a/b/c/a/b/c", True),
        ("/a/x/a/y/a/z/a", True),
        ("/a/x/a/y/a/z", False),
        ("/" + "/".join(map(str, range(25))), True),
        ("/" + "/".join(map(str, range(12))), False),
    ],
)
def test_growing_paths(path: str, trap: bool) -> None:
    assert (growing(HOST + path) is not None) is trap
    assert (verdict(TrapDetector(), HOST + path) is not None) is trap


def test_trap_state_restores() -> None:
    traps = TrapDetector()
    for number in range(20):
        traps.observe(*month(number))
        traps.observe(*article(number))
    again = TrapDetector()
    again.restore(json.loads(json.dumps(traps.state())))
    assert again.state() == traps.state()
    for url in (month(50)[0], article(50)[0]):
        assert verdict(again, url) == verdict(traps, url)
        assert again.factor(url) == traps.factor(url)


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
        content = random.Random(number).getrandbits(64)
        learner.observe(variant.format(number), content)
        learner.observe(plain.format(number), content ^ 1)
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
