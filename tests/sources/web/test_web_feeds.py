"""Sitemaps and feeds; Markdown for export; PDF text."""

from __future__ import annotations

import gzip
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdf_files import pdf_of
from sonde.sources.page import read_page
from sonde.sources.web import pdf
from sonde.sources.web.feeds import is_feed, moment, read_feed
from sonde.sources.web.markdown import main_markdown
from sonde.sources.web.pdf import read_pdf

URL = "http://a.example/sitemap.xml"
SITEMAP = b"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
        xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <url><loc> http://a.example/1#x </loc><lastmod>2026-01-02</lastmod>
    <image:image><image:loc>http://a.example/i.png</image:loc></image:image></url>
  <url><loc>/2</loc></url><url><loc>mailto:x</loc></url><url></url>
</urlset>"""
RSS = b"""<rss version="2.0"><channel><title>T</title><link>http://a.example/</link>
<item><title>One &amp; only</title><link>http://a.example/1</link>
<pubDate>Fri, 02 Jan 2026 00:00:00 GMT</pubDate></item></channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><link href="/self" rel="self"/>
<entry><title>E</title><link rel="edit" href="/e"/><link href="/1"/>
<updated>2026-01-02T00:00:00Z</updated></entry></feed>"""
INDEX = b"<sitemapindex><sitemap><loc>http://a.example/s1.xml.gz</loc></sitemap></sitemapindex>"
WHEN = 1767312000.0


def test_sitemap() -> None:
    for body in (SITEMAP, gzip.compress(SITEMAP)):
        assert is_feed(body)
        feed = read_feed(body, URL)
        assert feed is not None
        assert (feed.kind, feed.cut) == ("sitemap", False)
        assert [(link.url, link.modified) for link in feed.links] == [
            ("http://a.example/1", WHEN),
            ("http://a.example/2", None),
        ]


@pytest.mark.parametrize(("body", "kind"), [(RSS, "rss"), (ATOM, "atom"), (INDEX, "index")])
def test_other_kinds(body: bytes, kind: str) -> None:
    assert is_feed(body)
    feed = read_feed(body, URL)
    assert feed is not None
    assert feed.kind == kind
    (link,) = feed.links
    if kind == "index":
        assert link.url == "http://a.example/s1.xml.gz"
    else:
        assert (link.url, link.modified) == ("http://a.example/1", WHEN)
        assert link.title in ("One & only", "E")


def test_text_sitemaps() -> None:
    feed = read_feed(b"http://a.example/1\n\nhttp://a.example/2\n", URL, max_links=1)
    assert feed is not None
    assert (feed.kind, len(feed.links), feed.cut) == ("text", 1, True)
    assert read_feed(b"just some text", URL) is None
    assert read_feed(b"", URL) is None


def test_entities_do_not_expand() -> None:
    laughs = b"<!DOCTYPE r [<!ENTITY a 'ha'>" + b"".join(
        b"<!ENTITY %c '%s'>" % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(9)
    )
    body = laughs + b"]><urlset><url><loc>http://a.example/&j;</loc></url></urlset>"
    began = time.process_time()
    assert read_feed(body, URL) is None
    assert time.process_time() - began < 0.5
    stolen = b'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><urlset><url><loc>&x;</loc>'
    assert read_feed(stolen, URL) is None


def test_broken_and_long_lists() -> None:
    feed = read_feed(SITEMAP[:-15], URL)
    assert feed is not None
    assert feed.cut
    many = b"<urlset>" + b"<url><loc>http://a.example/x</loc></url>" * 20 + b"</urlset>"
    feed = read_feed(many, URL, max_links=5)
    assert feed is not None
    assert (len(feed.links), feed.cut) == (5, True)
    assert read_feed(b"<html><body>no</body></html>", URL) is None
    assert read_feed(b"\x1f\x8bnot gzip", URL) is None
    assert not is_feed(b"<html>")
    assert not is_feed(b"plain")
    assert is_feed(b"<x/>", "application/rss+xml")


@given(st.binary(max_size=100))
def test_any_bytes(body: bytes) -> None:
    read_feed(b"<rss>" + body, URL)
    read_feed(body, URL)


@pytest.mark.parametrize("text", ["", "yesterday", "9999-99-99", "Fri, 99 Foo 2026"])
def test_no_moment(text: str) -> None:
    assert moment(text) is None


def test_markdown() -> None:
    html = b"""<body><nav>Menu</nav><h1>Tide *gauges*</h1><p>See <a href="/x">the <b>list</b></a>
    and <code>f(x)</code>.</p><ul><li>One</li><li>Two</li></ul><pre>a
  b</pre><blockquote>Quoted</blockquote><table><tr><td>a</td><td>b</td></tr><tr><td>c</table>
    <div hidden>no</div><script>no</script><a href="javascript:1">plain</a><footer>Foot</footer>"""
    assert main_markdown(html, URL) == (
        "# Tide \\*gauges\\*\n\nSee [the **list**](http://a.example/x) and `f(x)`.\n- One\n- Two"
        "\n\n```\na\n  b\n```\n\n> Quoted\n\n|  |  |\n|---|---|\n| a | b |\n| c |  |\n\nplain\n"
    )
    assert main_markdown(b"", URL) == "\n"
    assert main_markdown(b"<div>" * 5_000 + b"deep", URL) == "\n"


def test_markdown_of_the_main_text_that_was_found() -> None:
    html = b"""<div><p>Menu <a href=/x>one</a></p><h2>Tides</h2><p>The <b>sea \xe2\x82\xac level</b>
    rises.</p><form>Find</form><table><tr><td>a</td><td>b</td></tr></table><p>Legal</p></div>"""
    page = read_page(html, URL)
    begin, end = page.text.index("Tides"), page.text.index(" Legal")
    assert main_markdown(html, URL, main=((begin, end),)) == (
        "## Tides\n\nThe **sea \u20ac level** rises.\n\na\n\nb\n"
    )
    begin = page.text.index("level")
    assert main_markdown(html, URL, main=((begin, begin + 5), (end + 1, end + 3))) == (
        "**level**\n\nLe\n"
    )
    assert main_markdown(html, URL, main=()) == "\n"


def test_pdf(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pypdf")
    page = read_pdf(pdf_of("The sea level"), URL)
    assert page is not None
    assert (page.text, page.title) == ("The sea level", "A title")
    assert read_pdf(b"%PDF-1.4 broken", URL) is None
    monkeypatch.setattr(pdf, "find_spec", lambda name: None)
    assert read_pdf(pdf_of("x"), URL) is None
