"""Wikitext without its markup."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from wikitext_reference import plain as reference

from sonde.data.wiki.titles import Resolver, Titles
from sonde.data.wiki.wikipages import plain as plain_bytes
from sonde.kernels import load

RESOLVER = Resolver(Titles({0: "", 2: "User", 6: "File", 14: "Category"}))


def plain(wikitext: str) -> tuple[str, list[tuple[str, int, int]]]:
    """Text in, text out."""
    wikitext = re.sub("[\x01-\x05]", "", wikitext)
    data = bytearray(f"\n{wikitext}\n", "utf-8")
    text, links = plain_bytes(data, len(data), RESOLVER.kind)
    return text.decode(), [(target.decode(), start, end) for target, start, end in links]


def kind_of(target: str) -> str:
    return RESOLVER.kind(target.encode())


def shown(wikitext: str) -> str:
    return plain(wikitext)[0]


def linked(wikitext: str) -> list[tuple[str, str]]:
    """The links' targets and anchors."""
    text, links = plain(wikitext)
    return [(target, text[start:end]) for target, start, end in links]


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("plain words", "plain words"),
        ("'''bold''' and ''italic''", "bold and italic"),
        ("== Head ==\n* one\n** two\n# three\n: four", "Head one two three four"),
        ("a [[tide]]s b", "a tides b"),
        ("a [[Tide gauge|gauge]] b", "a gauge b"),
        ("a [[Mercury (planet)|]] b", "a Mercury b"),
        ("a [https://x.example a label] b [https://x.example] c", "a a label b c"),
        ("a<!-- hidden --> b <!-- never closed", "a b"),
        ("a<ref>note</ref> b<ref name=x/> c", "a b c note"),
        ("{{Infobox person\n| name = Ada\n| url = https://x.example\n}} text", "Ada text"),
        ("{{outer|{{inner|deep}}|kept}}", "deep kept"),
        ("{{stub}}text", "text"),
        ("<nowiki>[[not a link]] ''</nowiki> x", "[[not a link]] '' x"),
        ("{{t|<nowiki>a</nowiki>}}<ref><nowiki>b</nowiki></ref> <nowiki>c</nowiki>", "a c b"),
        ("a<br/>b <span class='x'>c</span>d", "a b cd"),
        ("x <math>a^2</math> y", "x y"),
        ("&amp; &lt;b&gt; &nbsp;z", "& <b> z"),
        ('{| class="t"\n|-\n! head\n| style="x" | cell || other\n|}\nend', "head cell other end"),
        ("[[File:A.jpg|thumb|200px|a [[tide]] here]] after", "a tide here after"),
        ("text [[Category:Seas]]\n[[Category:Tides|x]]", "text"),
        ("see [[:Category:Seas]]", "see Category:Seas"),
        ("__NOTOC__ x", "x"),
        ("unclosed [[link and {{template", "unclosed [[link and"),
    ],
)
def test_visible_text(wikitext: str, text: str) -> None:
    assert shown(wikitext).strip() == text


def test_links_stand_at_their_anchors() -> None:
    assert linked("A [[tide]]s, ''[[Tide gauge|the '''gauge''']]'' and [[ Sea ]].") == [
        ("tide", "tides"),
        ("Tide gauge", "the gauge"),
        (" Sea ", "Sea"),
    ]
    assert linked("[[File:A.jpg|thumb|a [[tide]] here]] [[Category:Seas]]") == [
        ("File:A.jpg", "a tide here"),
        ("tide", "tide"),
        ("Category:Seas", ""),
    ]


@pytest.mark.parametrize(
    "unit",
    [
        "<ref>",
        "<ref><nowiki></ref>",
        "<nowiki>",
        "</pre><pre>",
        "[[",
        "[[a|",
        "[http://a",
        "{{",
        "{|\n| aaa=bbb=",
        "=",
        "\n==",
        "<a",
        "<!--",
        "__A",
        "| a ",
        "\n ",
    ],
)
def test_no_page_takes_long(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    began = time.process_time()
    plain(f"{{|\n{text}x")
    assert time.process_time() - began < 2


word = st.text("abcdefgh", min_size=1, max_size=6)


@given(st.lists(st.tuples(st.booleans(), word, word), max_size=20))
def test_words_and_links_in_order(parts: list[tuple[bool, str, str]]) -> None:
    wikitext = " ".join(f"[[{t}|{w}]]" if is_link else w for is_link, t, w in parts)
    text, links = plain(wikitext)
    assert text == " ".join(w for _, _, w in parts)
    assert [(t, text[a:b]) for t, a, b in links] == [(t, w) for is_link, t, w in parts if is_link]


@given(st.text("ab[]{}|<>'=*#:!\n &;/-_", max_size=60))
def test_anything_gives_collapsed_text_and_ordered_links(wikitext: str) -> None:
    text, links = plain(wikitext)
    assert "  " not in text
    assert not set("\n\x01\x02\x03\x04\x05") & set(text)
    assert all(0 <= start <= end <= len(text) for _, start, end in links)
    assert [start for _, start, _ in links] == sorted(start for _, start, _ in links)


FRAGMENTS = [
    "[[",
    "]]",
    "[[tide]]s",
    "[[a|b]]",
    "[[File:x.jpg|thumb|",
    "|]]",
    "[[Category:c]]",
    "[[:Category:c|]]",
    "[",
    "]",
    "[http://x",
    "https://x.y",
    "//z",
    "{{",
    "}}",
    "{{t|",
    "{{{1}}}",
    "{|",
    "|}",
    "|-",
    "|+",
    "!",
    "!!",
    "|",
    "||",
    "|name=v",
    "|url=http://x",
    "|étage=1",
    "=",
    "==",
    "'''",
    "''",
    "'",
    "<br>",
    "<BR/>",
    "</p>",
    "<h2>",
    "<h7>",
    "<blocKquote>",
    "<b>",
    "</b>",
    "<a",
    "<x",
    ">",
    "<",
    "<p_>",
    "<pé>",
    "<ref>",
    "</ref>",
    "<ref/>",
    "<nowiki>",
    "</nowiki>",
    "<math>",
    "</math>",
    "<!--",
    "-->",
    "<!",
    "__TOC__",
    "__",
    "_",
    "__NO_",
    "&",
    "&amp;",
    "&#2;",
    "&nbsp;",
    "&lt;br&gt;",
    "*",
    "#",
    ":",
    ";",
    "----",
    "---",
    "File:",
    "Image:x",
    "File:a|b",
    "\x02",
    "\x03",
    "\x020\x04",
    "\x010\x05",
    "é",
    "字",
    'style="x"',
    "align=left",
    "|width=5%",
    "😀",
    "a",
    "b",
    "1",
    ".",
]
fragment = st.sampled_from([*FRAGMENTS, " ", "\n", "\t", "\n ", "\u00a0", "\u2003", "\x1c", "\x85"])


@settings(max_examples=400)
@given(st.lists(fragment, max_size=25).map("".join))
@example("{|\n| a=b")
@example("x<a <br> b>")
@example("__T''OC__")
@example("|{{x}}a=b")
@example("a [[File:x|thumb|b [[c]] ]] d [[e")
@example("\n=x=")
def test_against_the_definition(wikitext: str) -> None:
    assert plain(wikitext) == tuple(reference(wikitext, kind_of))


@settings(max_examples=100)
@given(st.lists(fragment, max_size=25).map("".join))
def test_compiled_and_uncompiled_agree(wikitext: str) -> None:
    expected = plain(wikitext)
    modules = load("python")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sonde.data.wiki.wikipages.kernel", modules.wikitext)
        patch.setattr("sonde.data.wiki.wikipages.wikimarks", modules.wikimarks)
        assert plain(wikitext) == expected


@pytest.mark.parametrize(
    ("target", "title"),
    [
        ("tide gauge", (0, "Tide gauge")),
        ("Tide_gauge#History", (0, "Tide gauge")),
        ("%2B1_Button", (0, "+1 Button")),
        ("user:ada", (2, "User:Ada")),
        ("USER : ada", (2, "User:Ada")),
        ("Image:x.jpg", (6, "File:X.jpg")),
        (":Category:seas", (14, "Category:Seas")),
        ("Dune: Part Two", (0, "Dune: Part Two")),
        ("#section", (0, "")),
        ("Special:Search", (-1, "")),
        ("AT&amp;T", (0, "AT&T")),
    ],
)
def test_titles(target: str, title: tuple[int, str]) -> None:
    assert RESOLVER.title(target) == title


def test_small_first_letters_where_the_wiki_has_them() -> None:
    resolver = Resolver(Titles({0: ""}, frozenset((0,))))
    assert resolver.title("tide") == (0, "tide")
