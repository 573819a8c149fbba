"""Marks of languages in URLs, translations of one page, and the language of a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sonde.language_detection import detected
from sonde.net.urls import normalise
from sonde.url_languages import CODES, marks, primary, speaks, untranslated, without_translations


@pytest.mark.parametrize(
    ("url", "kind", "language", "bare"),
    [
        ("https://fr.a.example/x", "host", "fr", "https://a.example/x"),
        ("https://a.example/fr/x", "directory", "fr", "https://a.example/x"),
        ("https://a.example/docs/pt_BR/x", "directory", "pt", "https://a.example/docs/x"),
        ("https://a.example/zh-hans/x", "directory", "zh", "https://a.example/x"),
        ("https://a.example/fr", "directory", "fr", "https://a.example/"),
        ("https://a.example/x.fr.html", "suffix", "fr", "https://a.example/x.html"),
        ("https://a.example/x.html.fr", "suffix", "fr", "https://a.example/x.html"),
        ("https://a.example/x-de", "suffix", "de", "https://a.example/x"),
        ("https://a.example/x_de.htm", "suffix", "de", "https://a.example/x.htm"),
        ("https://a.example/x?lang=fr&y=1", "parameter", "fr", "https://a.example/x?y=1"),
        ("https://a.example/x?y=1&uselang=zh-tw", "parameter", "zh", "https://a.example/x?y=1"),
        ("https://a.example/x?hl=fr", "parameter", "fr", "https://a.example/x"),
    ],
)
def test_a_mark_is_found_and_taken_away(url: str, kind: str, language: str, bare: str) -> None:
    (mark,) = marks(url)
    assert (mark.kind, mark.language) == (kind, language)
    assert untranslated(url) == bare


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/",
        "https://a.example/index.html",
        "https://a.example/xy/index.html",
        "https://127.0.0.1:8080/x.js",
        "https://a.example/french/x",
        "https://a.example/.fr",
        "https://a.example/x?long=fr",
        "https://a.example/x?lang=french",
    ],
)
def test_what_is_no_code_is_no_mark(url: str) -> None:
    assert list(marks(url)) == []
    assert untranslated(url) == url


@given(st.text(max_size=60))
def test_any_url_can_be_asked(tail: str) -> None:
    url = normalise("https://a.example/" + tail)
    if url is not None:
        for mark in marks(url):
            assert 0 < mark.start < mark.end <= len(url)
        assert untranslated(url).startswith("https://")


def test_a_region_is_of_its_language() -> None:
    assert speaks("en-gb", "en")
    assert speaks("EN_us", "en")
    assert speaks("nb", "no")
    assert speaks("pt-BR", "pt_br")
    assert not speaks("pt", "pt-br")
    assert not speaks("enm", "en")
    assert {primary(code) for code in CODES} <= CODES


def test_translations_give_way_to_the_first() -> None:
    rows = [
        ("https://a.example/fr/x", "fr"),
        ("https://a.example/x", "en"),
        ("https://a.example/y.de.html", "de"),
        ("https://a.example/de/y.html", "de"),  # the same language: another page
        ("https://a.example/y.html", ""),
        ("somebody", ""),
        ("somebody", ""),
    ]
    kept = list(without_translations(rows, lambda row: row))
    assert kept == [rows[0], rows[2], rows[3], rows[5], rows[6]]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The tide gauge is a device that measures the change in sea level at a place.", "en"),
        ("Ein Pegel ist eine Einrichtung, mit der man den Wasserstand eines Meeres misst.", "de"),
        ("Мареограф измеряет и записывает колебания уровня моря в данной точке берега.", "ru"),
        ("検潮儀は、海面の高さの変化を測定して記録する装置である。", "ja"),
        ("Menu", None),
        ("Home About Contact Products Services News Blog Careers Support Login Search", None),
        ("std::vector::push_back std::map::insert std::string::find_first_of std::list", None),
        ("Smith Johnson Williams Brown Jones Garcia Miller Davis Rodriguez Martinez", None),
        ("qlwk zjxv pqow mnbv xzlk qpwo zmxn alsk qowp zxmn lkqj wpoq vbnm zqxw plok", None),
        ("1234 5678 " * 100, None),
        ("", None),
    ],
)
def test_the_language_of_a_text_is_seen_where_there_is_enough(
    text: str, language: str | None
) -> None:
    assert detected(text) == language
