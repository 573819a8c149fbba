"""URL identity: one spelling for one place, and None for what cannot be crawled."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sonde.net.urls import (
    MAX_URL,
    domain_of,
    group_of,
    host_of,
    normalise,
    origin_of,
)
from sonde.sources.page import Base, Directory, resolved
from sonde.sources.web.url_shapes import template_of


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("HTTP://Example.ORG:80/a/./b/../c#frag", "http://example.org/a/c"),
        ("https://example.org:443", "https://example.org/"),
        ("  https://example.org/x\n", "https://example.org/x"),
        ("https://exam\tple.org/x", "https://example.org/x"),
        ("https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"),
        ("http://user:secret@example.org/", "http://example.org/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://[::FFFF:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
        ("http://a.example/x?PHPSESSID=abc123&q=1", "http://a.example/x?q=1"),
        ("http://a.example/x?q=1&jsessionid=abc", "http://a.example/x?q=1"),
        ("http://a.example/x;jsessionid=0AFF?q=1", "http://a.example/x?q=1"),
        ("http://a.example/x?CFID=1&CFTOKEN=2", "http://a.example/x"),
        ("http://a.example/x?sid=12", "http://a.example/x?sid=12"),
        ("http://a.example/x?sid=0123456789abcdef", "http://a.example/x"),
        ("http://a.example/x?a=1&sid=0123456789abcdef&b=2", "http://a.example/x?a=1&b=2"),
        (
            "http://a.example/x?inside=0123456789abcdef",
            "http://a.example/x?inside=0123456789abcdef",
        ),
        ("javascript:alert(1)", None),
        ("mailto:a@b.example", None),
        ("data:text/html,x", None),
        ("ftp://a.example/", None),
        ("http://", None),
        ("http://a b/", None),
        ("http://a.example/\x01", "http://a.example/"),
        ("http://a.example/\x01x", None),
        ("http://a.example/\ud800", None),
        ("http://a.example/" + "a" * 100_000, None),
        ("http://a.example/" + "a" * MAX_URL, None),
        ("http://a.example/x#" + "a" * 100_000, "http://a.example/x"),
    ],
)
def test_normalise(raw: str, expected: str | None) -> None:
    assert normalise(raw) == expected


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("../c?d#e", "https://a.example/c?d"),
        ("//b.example/x", "https://b.example/x"),
        ("?q=1", "https://a.example/b/x?q=1"),
        ("", "https://a.example/b/x"),
        ("tel:123", None),
        ("x\x02y", None),
    ],
)
def test_joining(href: str, expected: str | None) -> None:
    assert normalise(href, base="https://a.example/b/x") == expected
    assert Base("https://a.example/b/x").join(href) == expected


def test_a_base_that_cannot_be_parsed_makes_nothing_crawlable() -> None:
    assert normalise("x", base="not a url") is None


@given(st.text(max_size=60))
def test_normalising_anything_never_raises_and_is_idempotent(text: str) -> None:
    for raw in (text, "http://a.example/" + text, "http://" + text + "/"):
        once = normalise(raw)
        if once is not None:
            assert normalise(once) == once
            assert once.isascii()
            assert once.startswith(("http://", "https://"))
            assert "#" not in once
            assert group_of(once).startswith(host_of(once))


def test_parts() -> None:
    assert group_of("http://a.example:8080/x") == "a.example:8080"
    assert host_of("http://a.example:8080/x") == "a.example"
    assert host_of("http://[::1]:80/x") == "[::1]"
    assert host_of("http://[::1]/x") == "[::1]"
    assert origin_of("http://a.example:8080/x/y?z") == "http://a.example:8080"


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("a.b.example.co.uk", "example.co.uk"),
        ("www.example.org", "example.org"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("co.uk", "co.uk"),
    ],
)
def test_domains(host: str, domain: str) -> None:
    assert domain_of(host) == domain


@pytest.mark.parametrize(
    ("url", "template"),
    [
        ("http://a.example/2026/11/15/", "http://a.example/0/0/0/"),
        ("http://a.example/cal?month=3&year=2026", "http://a.example/cal?month&year"),
        ("http://a.example/cal?year=2026&month=3", "http://a.example/cal?month&year"),
        ("http://a.example/c/deadbeef01", "http://a.example/c/h"),
        ("http://a.example/a/a/a/a/x", "http://a.example/a/x"),
        ("http://a.example/a/b/a/b/a/b/x", "http://a.example/a/b/x"),
        ("http://a.example/a/b/c/a/b/c/x", "http://a.example/a/b/c/x"),
        ("http://a.example/item-12.html", "http://a.example/item-0.html"),
        ("http://a.example/about", "http://a.example/about"),
    ],
)
def test_templates(url: str, template: str) -> None:
    assert template_of(url) == template


HREF_PARTS = st.sampled_from(
    ["../", "./", "a", "b-c_d", "x.html", ".", "..", "/", "//", "~u", "%41", "é", "?q=1", "#f", ":",
     ";s=1", "&amp;", " ", "\\", "a" * 700]
)  # fmt: skip
BASES = st.sampled_from(
    [
        "http://a.example/",
        "http://a.example/x/y/z.html",
        "https://a.example:8443/x/?q=/y/",
        "http://u:p@a.example/x/y",
        "http://a.example/x;v=1/y",
        "http://127.0.0.1/x/%41/y.html",
    ]
)


@given(base=BASES, parts=st.lists(HREF_PARTS, max_size=6))
def test_hrefs_are_joined_alike_with_and_without_a_parser(base: str, parts: list[str]) -> None:
    written = "".join(parts)
    expected = None if resolved(written).startswith("#") else Base(base).join(resolved(written))
    assert Base(base).follow(written.encode()) == expected
    assert Base(base).follow(written.encode()) == expected  # from what is known


def test_a_plain_href_needs_no_parser() -> None:
    directory = Directory("http://a.example/x/y/")
    assert directory.plain(b"../z.html") == "http://a.example/x/z.html"
    assert directory.plain(b"../../../../z/") == "http://a.example/z/"
    assert directory.plain(b"./z") is None
    assert directory.plain(b"z?q") is None
