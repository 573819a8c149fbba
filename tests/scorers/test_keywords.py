"""Keyword scoring, against an obvious regular-expression reference."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sonde.errors import InputError
from sonde.kernels import load
from sonde.scorers.folding import FOLDING, fold, fold_bytes, fold_character
from sonde.scorers.keyword_matcher import KeywordMatcher
from sonde.scorers.keywords import KeywordScorer, log_count
from sonde.scorers.topic import Topic, exact_phrase
from sonde.sources.page import Page, PageLink, read_page

UNCOMPILED = load("python").folding.Folding(fold_character)


def matcher_of(phrases: list[str]) -> KeywordMatcher:
    """Of phrases as they stand, each once."""
    found = {phrase.key: phrase for phrase in map(exact_phrase, phrases)}
    return KeywordMatcher(found.values())


def reference_fold(text: str) -> str:
    return "".join(fold_character(character) for character in text)


def reference_count(phrases: list[str], text: str) -> int:
    """Fold character by character, then look at every place with a look-ahead."""
    folded = reference_fold(" ".join(text.split()))
    total = 0
    for phrase in {" ".join(reference_fold(phrase).split()) for phrase in phrases}:
        total += len(re.findall(rf"(?<!\w)(?={re.escape(phrase)}(?!\w))", folded))
    return total


LETTERS = st.text(alphabet="abeéèœoßsS'’- \n\t_1ñﬁfi\u0301İ", max_size=60)
WORDS = st.text(alphabet="abeéœoßs1", min_size=1, max_size=3)


@given(st.lists(WORDS, min_size=1, max_size=4), LETTERS)
@example(["oe"], "œ")
@example(["e"], "e\u0301")
def test_count_is_the_reference(phrases: list[str], text: str) -> None:
    assert matcher_of(phrases).count(text) == reference_count(phrases, text)


@given(
    st.lists(st.lists(WORDS, min_size=1, max_size=2).map(" ".join), min_size=1, max_size=3), LETTERS
)
def test_count_of_phrases_is_the_reference(phrases: list[str], text: str) -> None:
    assert matcher_of(phrases).count(text) == reference_count(phrases, text)


@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=40))
def test_folding_is_character_by_character_and_keeps_places(text: str) -> None:
    folded, data = fold(text), text.encode("utf-8", "surrogatepass")
    in_bytes = fold_bytes(data)
    assert in_bytes == folded.encode("utf-8", "surrogatepass")
    if all(ord(c) < 0x3000 for c in text):
        assert folded == reference_fold(text)
    places = FOLDING.places(data)
    assert len(places) == len(text) + 1
    assert places[-1] == len(in_bytes)
    for at, character in enumerate(text):
        piece = in_bytes[places[at] : places[at + 1]]
        if ord(character) < 0x3000:
            assert piece.decode("utf-8", "surrogatepass") == fold_character(character)


@given(st.text(alphabet="aZ-éœß\u0301ñﬁ字\U0001d4b3", max_size=40))
def test_compiled_and_uncompiled_folding_agree(text: str) -> None:
    data = text.encode()
    assert UNCOMPILED.fold(data) == FOLDING.fold(data)
    assert UNCOMPILED.places(data).tolist() == FOLDING.places(data).tolist()


def test_no_character_is_wider_than_the_table() -> None:
    assert fold("ﬃ") == "ffi"
    assert fold("𝒳É") == "𝒳e"


@pytest.mark.parametrize(
    ("phrase", "text", "count"),
    [
        ("war", "software War, war's WARS", 2),
        ("économie", "L'économie, l’ECONOMIE; economie", 3),
        ("cœur", "Cœur et coeur", 2),
        ("straße", "STRASSE Straße", 2),
        ("sea level", "sea level, Sea-Level, sea\n level, sealevel, sea – level", 3),
        ("sea-level", "sea level", 1),
        ("tide", "tide2 tide_x _tide tide", 1),
        ("naïve", "nai\u0308ve naive", 2),
        ("été", "e\u0301te\u0301", 1),
        ("война", "Война и мир", 1),
        ("a b a", "a b a b a", 2),
        ("soft", "so\u00adft", 1),
    ],
)
def test_by_hand(phrase: str, text: str, count: int) -> None:
    assert matcher_of([phrase]).count(text) == count


def test_phrases_count_each_on_their_own() -> None:
    assert matcher_of(["sea level", "level", "Level"]).count("the sea level") == 2


def test_nothing_to_look_for() -> None:
    with pytest.raises(InputError, match="no phrase"):
        KeywordScorer(" , ,")
    with pytest.raises(InputError, match="a letter or a digit"):
        exact_phrase("++")
    spelt = [phrase.spelt for phrase in Topic.of(" sea  level ,, tide ").phrases]
    assert spelt == ["sea level", "tide"]


def test_f() -> None:
    assert log_count(0) == 0.0
    assert log_count(1) == 1.0
    assert log_count(0.5) == 0.5
    assert log_count(10) == pytest.approx(1 + math.log(10))


def test_score_of_a_page() -> None:
    page = read_page(
        b"<nav><a href=/n>tide tables</a></nav><p>The tide and the <a href=/x>gauge</a> of "
        + b"x" * 60
        + b" tide",
        "http://a.example/",
    )
    scores = KeywordScorer("tide").score(page)
    assert scores.beta == log_count(2)
    assert scores.alphas == [log_count(1), log_count(1)]  # what the menu says is no promise


@given(
    st.text(alphabet="ab éœ-", max_size=80),
    st.lists(st.tuples(st.integers(0, 80), st.integers(0, 20)), max_size=5),
    st.integers(0, 12),
)
def test_alpha_counts_the_occurrences_that_lie_whole_in_the_window(
    raw: str, places: list[tuple[int, int]], window: int
) -> None:
    text = " ".join(raw.split())
    links = tuple(
        PageLink("http://a.example/", min(start, len(text)), min(start + length, len(text)))
        for start, length in places
    )
    page = Page("http://a.example/", text=text, links=links, window=window)
    scorer = KeywordScorer("a, b é, œ", exact=True)
    spans = scorer.matcher.speaking("").spans(text)
    assert len(spans) == reference_count(["a", "b é", "œ"], text)
    expected = [
        log_count(sum(link.start - window <= s and e <= link.end + window for s, e, _ in spans))
        for link in links
    ]
    assert list(scorer.score(page).alphas) == expected


def test_spans_are_places_in_the_original_text() -> None:
    text = "œuvre, cœur, l’œil"
    spans = matcher_of(["coeur", "oeil"]).spans(text)
    assert [text[start:end] for start, end, _ in spans] == ["cœur", "œil"]


def test_every_character_folds_among_others_as_it_does_alone() -> None:
    for code in (*range(0x80, 0x3000), *range(0xA640, 0xAC00), *range(0xF900, 0x10000), 0x10400):
        folded = fold_character(chr(code)) if code < 0x10000 else chr(code)
        assert fold(f"A-b{chr(code)}Zé") == f"a b{folded}ze"
