"""RFU and BFU by hand on small pages, and within their bounds on any."""

from __future__ import annotations

import random
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sonde.kernels.html import urls as url_kernel
from sonde.kernels.model import significance as kernel
from sonde.net.urls import normalise
from sonde.records import UrlPlace
from sonde.sources.graph import Graph
from sonde.sources.page import read_page
from sonde.url_measures import Surroundings, keys_of, places
from uncompiled import uncompiled

COUNTS = st.integers(0, 2**31 - 1)
HOME = "http://www.a.example/docs/index.html"


def around(*hrefs: str, url: str = HOME) -> Surroundings:
    """The surroundings of a page with these links, read as a crawl reads it."""
    body = "".join(f'<a href="{href}">x</a>' for href in hrefs)
    page = read_page(body.encode(), url, content_type="text/html; charset=utf-8")
    return Surroundings(dict.fromkeys(link.url for link in page.links))


def placed(urls: Iterable[str]) -> dict[str, UrlPlace]:
    """The places of all targets of a page with these links."""
    urls = list(urls)
    targets = list(dict.fromkeys(urls))
    return dict(zip(targets, places(urls, targets, {}, {}), strict=True))


def test_no_links() -> None:
    page = around()
    assert (page.count, page.domains, page.basenames) == (0, {}, {})
    assert (page.rfu(HOME), page.bfu(HOME)) == (0.0, 0.0)


def test_one_domain() -> None:
    page = around("http://www.a.example/docs/x", "http://b.a.example/y", "/z", "/docs/w")
    assert page.domains == {"a.example": 1.0}
    assert page.rfu(HOME) == 1.0
    # Three basenames; two of four links are beside the page: 2/4 / 3.
    assert page.bfu(HOME) == 2 / 4 / 3
    assert page.places[2] == UrlPlace("a.example", "http://www.a.example/", 1.0, 1 / 4 / 3, 0)


def test_all_distinct() -> None:
    page = around("http://b.example/", "http://c.example/", "http://d.example/", "/e/f")
    assert set(page.domains.values()) == {1 / 4 / 4}
    assert {place.bfu for place in page.basenames.values()} == {1 / 4 / 4}
    assert page.rfu(HOME) == 1 / 16
    assert page.bfu(HOME) == 0.0  # nothing beside it is linked


def test_relative_links() -> None:
    page = around("x.html", "./y.html", "../up.html", "sub/z.html", "?page=2", "//other.example/q")
    assert {basename: place.bfu for basename, place in page.basenames.items()} == {
        "http://www.a.example/docs/": 3 / 6 / 4,  # x, y and index.html?page=2
        "http://www.a.example/": 1 / 6 / 4,
        "http://www.a.example/docs/sub/": 1 / 6 / 4,
        "http://other.example/": 1 / 6 / 4,
    }
    assert page.rfu(HOME) == 5 / 6 / 2


def test_duplicate_links_count_once_and_their_repeats_apart() -> None:
    page = around("x", "x", "x#part", "http://b.example/y")
    assert page.count == 2
    assert page.rfu(HOME) == 1 / 2 / 2
    x, y = "http://www.a.example/docs/x", "http://b.example/y"
    told = places([x, y, f"{x}?s=1", x], [y, x], {f"{x}?s=1": x}, {})
    assert [place.repeats for place in told] == [0, 2]
    assert told[0].rfu == 1 / 2 / 2


def test_links_to_the_page_itself_do_not_exist() -> None:
    assert around("#top", HOME, "x").count == 1


def test_ports_are_of_the_basename_and_not_of_the_domain() -> None:
    page = around("http://www.a.example:8080/docs/x", "http://www.a.example:80/docs/y")
    assert page.rfu(HOME) == 1.0
    assert page.bfu(HOME) == 1 / 2 / 2
    assert keys_of("http://www.a.example:8080/d/x") == (
        "a.example",
        "http://www.a.example:8080/d/",
    )


def test_international_names() -> None:
    page = around("http://bücher.example/ä/x", "http://www.xn--bcher-kva.example/%C3%A4/y")
    assert page.domains == {"xn--bcher-kva.example": 1.0}
    assert sorted(page.basenames) == [
        "http://www.xn--bcher-kva.example/%C3%A4/",
        "http://xn--bcher-kva.example/%C3%A4/",
    ]


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("http://a.b.c.co.uk/x", "c.co.uk"),
        ("http://www.city.kawasaki.jp/", "city.kawasaki.jp"),
        ("http://me.github.io/x", "me.github.io"),
        ("http://127.0.0.1:8000/x", "127.0.0.1"),
        ("http://[::1]:8000/x", "[::1]"),
        ("http://localhost/x", "localhost"),
        ("http://食狮.公司.cn/x", "xn--85x722f.xn--55qx5d.cn"),
    ],
)
def test_domains_by_the_public_suffix_list(url: str, domain: str) -> None:
    address = normalise(url)
    assert address is not None
    assert keys_of(address)[0] == domain


@pytest.mark.parametrize(
    ("url", "basename"),
    [
        ("http://a.example/", "http://a.example/"),
        ("http://a.example/x/", "http://a.example/x/"),
        ("http://a.example/x?next=/y/z", "http://a.example/"),
        ("http://a.example/x/y;s=1", "http://a.example/x/"),
        ("wp/a/Page.htm", "wp/a/"),
        ("Page", ""),
    ],
)
def test_basenames(url: str, basename: str) -> None:
    assert url_kernel.basename_of(url) == basename


URLS = st.builds(
    "http://{}{}/{}{}".format,
    st.sampled_from(["a.example", "b.a.example", "c.co.uk", "d.c.co.uk", "[::1]"]),
    st.sampled_from(["", ":81"]),
    st.sampled_from(["", "x/", "x/y/", "z/"]),
    st.sampled_from(["1", "2", "3?q=/", ""]),
)


@given(st.dictionaries(URLS, st.integers(1, 4), max_size=30), URLS)
def test_measures_stay_between_0_and_1_and_follow_the_definition(
    times: dict[str, int], own: str
) -> None:
    page = Surroundings(times)
    links = [url for url, count in times.items() for _ in range(count)]
    assert 0 <= page.rfu(own) <= 1
    assert 0 <= page.bfu(own) <= 1
    keys = [keys_of(url) for url in times]
    for (url, place), alone in zip(placed(links).items(), page.places, strict=True):
        assert place[:4] == alone[:4]
        domain, basename = keys_of(url)
        assert (place.domain, place.basename, place.repeats) == (domain, basename, times[url] - 1)
        alike = [[key[part] for key in keys].count(keys_of(url)[part]) for part in (0, 1)]
        assert place.rfu == alike[0] / len(keys) / len({key[0] for key in keys})
        assert place.bfu == alike[1] / len(keys) / len({key[1] for key in keys})
        assert 0 < place.bfu <= 1
        assert 0 < place.rfu <= 1


@given(st.lists(URLS, max_size=30), st.dictionaries(URLS, URLS, max_size=5), st.randoms())
def test_compiled_or_not_measures_are_the_same(
    urls: list[str], renamed: dict[str, str], dice: random.Random
) -> None:
    def domain(basename: str) -> str:
        return keys_of(basename)[0]

    named = [renamed.get(url, url) for url in urls]
    targets = sorted(set(named))
    dice.shuffle(targets)
    targets = targets[: dice.randint(0, len(targets))]
    expected = uncompiled(url_kernel).measured(urls, targets, renamed, {}, domain, UrlPlace._make)
    assert places(urls, targets, renamed, {}) == expected
    whole = placed(named)
    assert expected == [whole[target] for target in targets]
    assert [place.repeats for place in expected] == [named.count(url) - 1 for url in targets]


NAMES = st.one_of(URLS, st.text("aé漢/?", max_size=6))


@given(st.lists(NAMES, max_size=40, unique=True))
def test_links_are_grouped_as_one_by_one(names: list[str]) -> None:
    numbers: dict[str, int] = {}
    expected = [numbers.setdefault(url_kernel.basename_of(name), len(numbers)) for name in names]
    counts = [expected.count(number) for number in range(len(numbers))]
    for module in (url_kernel, uncompiled(url_kernel)):
        assert module.by_basename(names) == (list(numbers), counts, expected)


PLACES = st.builds(UrlPlace, st.just("d"), st.just("b"), st.floats(0, 1), st.floats(0, 1), COUNTS)


@given(st.lists(st.none() | PLACES, max_size=20), st.lists(st.integers(0, 19), max_size=40))
def test_measures_are_kept_as_they_were(some: list[UrlPlace | None], order: list[int]) -> None:
    told = [some[at] for at in order if at < len(some)]
    for packed in (kernel.packed, uncompiled(kernel).packed):
        found = np.frombuffer(packed(told), np.dtype([("r", "<f8"), ("b", "<f8"), ("n", "<i4")]))
        expected = [(-1.0, -1.0, -1) if place is None else tuple(place[2:]) for place in told]
        assert found.tolist() == expected


@given(st.lists(st.tuples(URLS, URLS), min_size=1, max_size=40))
def test_a_graph_of_urls_has_the_places_that_its_pages_would_have(
    pairs: list[tuple[str, str]],
) -> None:
    links: dict[str, dict[str, int]] = {}
    for source, target in pairs:
        if source != target:
            links.setdefault(source, {})[target] = 1
    assume(links)
    edges = pa.table(
        [
            pa.array([u for u in links for _ in links[u]], pa.string()),
            pa.array([v for u in links for v in links[u]], pa.string()),
        ],
        names=["source", "target"],
    )
    graph = Graph.from_edges(edges)
    for source, targets in links.items():
        expected = placed(targets)
        number = graph.index(source)
        span = range(graph.indptr[number], graph.indptr[number + 1])
        assert len(span) == len(targets)
        for link in span:
            node = int(graph.targets[link])
            place = expected[str(graph.name(node))]
            assert graph.places.of(node, link)[2:] == place[2:]
    for part in (0, 1):
        numbers = (graph.places.domain, graph.places.basename)[part]
        keys = [keys_of(name)[part] for name in graph.names.to_pylist()]
        assert len(set(zip(keys, numbers.tolist(), strict=True))) == len(set(keys))


def test_names_that_are_numbers_all_live_together() -> None:
    graph = Graph.from_edges([(1, 2), (1, 3), (2, 3)])
    assert graph.places.domains == graph.places.basenames == 1
    assert np.array_equal(graph.places.rfu, [1.0, 1.0, 1.0])
