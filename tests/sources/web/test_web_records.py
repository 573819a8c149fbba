"""Structured data and fields of pages: what the standards say, and never more work than the page is
long."""

from __future__ import annotations

import json
import random

import pytest
from selectolax.lexbor import LexborHTMLParser

from sonde.errors import InputError
from sonde.sources.context import RECORD_KINDS
from sonde.sources.facts import Record
from sonde.sources.web.collector import Collector
from sonde.sources.web.css_path import CssPath, outermost
from sonde.sources.web.fields import read_rules
from sonde.sources.web.structured import StructuredPage

URL = "http://a.example/shop/1"


def found(html: str, *kinds: str, fields: str | None = None) -> list[Record]:
    return Collector(kinds, fields).records(html.encode(), URL)


# -- structured data -------------------------------------------------------------------------------


def test_json_ld_objects_and_graphs() -> None:
    html = """<script type="application/ld+json">{"@id": "#p", "@type": "Product", "name": "Gauge",
    "description": "It measures", "offers": {"price": 3}}</script>
    <script type='application/LD+json; charset=utf-8'><!-- {"@graph": [{"name": "A", "url": "/a"},
    {"name": "B"}, 7]} --></script>
    <script type="application/ld+json">not json</script>
    <script>{"name": "script"}</script>"""
    product, a, b = found(html, "json-ld")
    assert (product.id, product.source, product.title) == ("#p", "json-ld", "Gauge")
    assert product.text == "It measures"
    assert product.fields["offers"] == {"price": 3}
    assert (a.id, a.url) == ("http://a.example/a",) * 2
    assert b.id.startswith("sha256:")
    assert b.url == URL


def test_what_has_no_name_is_the_same_thing_on_every_page() -> None:
    html = b'<script type="application/ld+json">{"b": 1, "name": "X"}</script>'
    other = b'<p>else<script type="application/ld+json">{"name": "X", "b": 1}</script>'
    (one,) = Collector(("json-ld",), None).records(html, URL)
    (two,) = Collector(("json-ld",), None).records(other, "http://b.example/")
    assert one.mark == two.mark


def test_microdata_as_the_standard_says() -> None:
    html = """<div itemscope itemtype="https://schema.org/Book" itemid="urn:isbn:1"
    itemref="more no">
    <span itemprop="name">A <b>book</b></span><a itemprop="url link" href="/b">x</a>
    <img itemprop=image src=cover.png><time itemprop=date datetime="2026-01-02">then</time>
    <meta itemprop=pages content=7><data itemprop=weight value=3>three</data>
    <div itemprop=author itemscope><i itemprop=name>Ann</i></div>
    <div itemscope><i itemprop=name>a thing of its own</i></div></div>
    <p id=more><i itemprop=name>Second name</i></p>"""
    book, inner = found(html, "microdata")
    assert book.id == "urn:isbn:1"
    assert book.fields == {
        "@type": "https://schema.org/Book",
        "itemid": "urn:isbn:1",
        "name": ["A book", "Second name"],
        "url": "http://a.example/b",
        "link": "http://a.example/b",
        "image": "http://a.example/shop/cover.png",
        "date": "2026-01-02",
        "pages": "7",
        "weight": "3",
        "author": {"name": "Ann"},
    }
    assert inner.fields == {"name": "a thing of its own"}


def test_items_that_refer_to_themselves_end() -> None:
    html = """<div itemscope id=a itemref="b a"><i itemprop=x>1</i></div>
    <div id=b itemprop=child itemscope itemref=a><i itemprop=y>2</i></div>"""
    (item,) = found(html, "microdata")
    assert item.fields["x"] == "1"
    assert item.fields["child"]["y"] == "2"


def test_open_graph_and_meta_speak_of_the_page() -> None:
    html = """<title>The page</title><meta property="og:title" content="Shown">
    <meta property="og:image" content="1.png"><meta property="og:image" content="2.png">
    <meta name="description" content="About"><meta name="DC.Creator" content="Ann">
    <meta name="viewport" content="width=1">"""
    graph, meta = found(html, "opengraph", "meta")
    assert (graph.id, graph.title) == (URL, "Shown")
    assert graph.fields["og:image"] == ["1.png", "2.png"]
    assert meta.fields == {"title": "The page", "description": "About", "dc.creator": "Ann"}
    assert (meta.title, meta.text) == ("The page", "About")
    assert found("<p>nothing", *RECORD_KINDS) == []


def test_licences() -> None:
    html = """<a rel="license" href="/terms">x</a><link rel=license href="/terms">
    <a href="https://creativecommons.org/licenses/by/4.0/?x">CC</a>
    <meta name="dcterms.rights" content="All  rights reserved"><meta name=robots content="noai">
    <meta name="tdm-reservation" content="1">
    <script type="application/ld+json">{"license": {"@id": "https://l.example/"}}</script>"""
    assert StructuredPage(html.encode(), URL).licences == [
        "http://a.example/terms",
        "https://creativecommons.org/licenses/by/4.0/",
        "All rights reserved",
        "robots: noai",
        "tdm-reservation: 1",
        "https://l.example/",
    ]


NESTED = "<div itemscope itemprop=a><i itemprop=b>x</i>"
ALL = " ".join(f"a{j}" for j in range(400))
REFERRING = "".join(
    f"<div itemscope id=a{i} itemref='{ALL}'><i itemprop=x>{i}</i></div>" for i in range(400)
)


@pytest.mark.parametrize(
    "html",
    [
        "<div itemscope><i itemprop=a>x</i></div>" * 200_000,
        REFERRING,
        "<div itemscope>" + NESTED * 400,
        "<div itemscope>" + "<b itemprop=a>" * 500 + "x " * 1_000_000,
        "<script type=application/ld+json>" + "[" * 200_000 + "</script>",
        "<script type=application/ld+json>" + json.dumps([{"x": i} for i in range(20_000)]),
        "<script type=application/ld+json>{'name': 1}</script>" * 100_000,
        "<meta property=og:a content=b>" * 300_000,
        "<div itemscope itemprop='" + "a " * 900_000 + "'>",
    ],
)
def test_hostile_pages_cost_little(html: str) -> None:
    """Without its bounds some of these take minutes, and some a stack that is not there."""
    assert len(found(html, *RECORD_KINDS)) <= 500 * len(RECORD_KINDS)


# -- fields ----------------------------------------------------------------------------------------

FIELDS = """
[product]
each = "div.product"
id = "a.title@href"
title = "a.title"
text = "p"
[product.fields]
price = ".price"
stock = "@data-stock"
tags = ["ul.tags li"]
missing = "video@src"

[page]
title = "h1"
"""
SHOP = """<h1>The  shop</h1>
<div class=product data-stock=4><a class=title href=/g>Gauge</a><p>Measures <b>tides</b></p>
<i class=price>3.50</i><ul class=tags><li>sea<li>level</ul></div>
<div class=product><a class=title href=/h>Hook</a></div><div class=product></div>"""


def test_fields_by_selectors() -> None:
    gauge, hook, page = found(SHOP, fields=FIELDS)
    assert gauge == Record(
        "http://a.example/g",
        "product",
        "http://a.example/g",
        "Gauge",
        "Measures tides",
        {"price": "3.50", "stock": "4", "tags": ["sea", "level"]},
    )
    assert (hook.title, hook.fields) == ("Hook", {})
    assert (page.id, page.source, page.title) == (URL, "page", "The shop")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = ", "not TOML"),
        ("", "names no kind of record"),
        ("x = 1", "must be a table"),
        ("[x]\neach = 'p'", "says of no field"),
        ("[x]\ntitle = 'a[['", "not a CSS selector"),
        ("[x]\ntitle = 3", "must be a selector"),
        ("[x]\ntitel = 'p'", "unknown key 'titel'"),
        ("[x.fields]\na = 'b ~ c ~ d'", "takes too long"),
        ("[x.fields]\na = 'b:has(c d)'", "takes too long"),
        ("[meta]\ntitle = 'p'", "take another"),
    ],
)
def test_what_is_wrong_with_a_file_of_fields_is_said(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_rules(text, "f.toml")


SELECTORS = [
    "div b", "div > b i", "div b > i", "b + i", "div div b", "span, b i", "div i ~ b",
    "div > b > i span", "div:has(b) i", "div:not(.x) b, i",
]  # fmt: skip


@pytest.mark.parametrize("selector", SELECTORS)
def test_a_path_selects_what_the_selector_does(selector: str) -> None:
    dice = random.Random(selector)
    tags = ["div", "b", "i", "span"]
    for _ in range(60):
        html = "".join(
            dice.choice([f"<{dice.choice(tags)}>", f"</{dice.choice(tags)}>", "x"])
            for _ in range(60)
        )
        tree = LexborHTMLParser(html)
        assert tree.root is not None
        wanted = {node.mem_id for node in tree.css(selector)}
        assert {node.mem_id for node in CssPath.of(selector, "").all(tree.root)} == wanted


def test_a_path_is_looked_for_within_its_root() -> None:
    tree = LexborHTMLParser("<div id=r><b>1</b><div><b>2</b></div></div>")
    root = tree.css_first("#r")
    assert root is not None
    said = [node.text() for node in CssPath.of("div > b", "").all(root)]
    assert said == ["2"]  # the b of the root itself has no div within the root around it


def test_outermost() -> None:
    tree = LexborHTMLParser("<p id=a></p><div id=b><div id=c><div id=d></div></div></div>")
    nodes = tree.css("div, p")
    for levels, names in ((1, "ab"), (2, "abc"), (9, "abcd")):
        assert "".join(str(node.id) for node in outermost(nodes, levels)) == names


def test_selectors_on_hostile_pages_cost_little() -> None:
    """A matcher that tries all ways to place the parts takes hours for the first of these."""
    fields = (
        "[x]\neach = 'p div div div'\ntext = 'div div div a'\n[x.fields]\na = ['div div div div']"
    )
    for html in (
        ("<p>" + "<div>" * 500 + "</div>" * 500) * 300,
        "<p>" + "<div>" * 500 + "<a>x</a>" * 100_000,
        "<p>" + "<div>" * 500 + "x" * 1_000_000,
    ):
        found(html, fields=fields)
