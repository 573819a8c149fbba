"""Pages read in one pass say what a walk over the parsed tree says."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tree_walk import Walk

from sonde.kernels import markup
from sonde.sources.web import nesting, reading
from sonde.sources.web.charset import decode
from sonde.sources.web.reading import read
from uncompiled import uncompiled

URL = "http://a.example/dir/page.html"

_TAGS = (
    "a p div nav header footer aside span b i table tr td ul li br img script style title meta"
    " base link template svg math noscript iframe textarea select option h1 form button xmp"
    " plaintext frameset frame area object html head body caption font dl dt custom-element"
)
TAGS = _TAGS.split()
ATTRIBUTES = (
    "",
    " href=/x",
    " href='y?a=1&amp;b=2'",
    ' href="#top"',
    " href=z#part rel=nofollow",
    " HREF='javascript:x()'",
    " hidden",
    " aria-hidden=TRUE",
    " aria-hidden=false",
    " src=/s",
    " rel='NoFollow noopener' href=//b.example/",
    ' title="a<b>c&quot;"',
    " =x a\"b='c'",
    " class=a id=b lang=fr",
    " href='http://a.example/dir/page.html'",
    " href=' \u00a0sp ace '",
)
TEXTS = (
    "tide gauge",
    " ",
    "\n\t ",
    "&nbsp;",
    "\u00a0\u2003x",
    "&amp;&lt;p&gt;",
    "é\U0001f30a",
    "a<b",
    "-->",
    "</p",
    "<!--c-->",
    "<!-- > <p> -->",
    "<?pi?>",
    "<!doctype html>",
    "&#0;",
    "\x00",
    "]]>",
    "x > y",
    '"',
)
PIECES = st.one_of(
    st.builds(
        lambda tag, attribute: f"<{tag}{attribute}>",
        st.sampled_from(TAGS),
        st.sampled_from(ATTRIBUTES),
    ),
    st.sampled_from(TAGS).map(lambda tag: f"</{tag}>"),
    st.sampled_from(TEXTS),
    st.text(max_size=5),
)
SOUP = st.lists(PIECES, max_size=30).map("".join)


def said(html: str) -> tuple[object, ...]:
    found = read(html, URL, 10_000)
    return found.text, found.content, found.title, found.links


def walked(html: str) -> tuple[object, ...]:
    walk = Walk(html, URL)
    return walk.text, walk.content, walk.title, walk.links


@given(SOUP)
@example("<svg><title>a</title></svg><title>b</title><nav>x</nav>y<nav>z</nav>")
@example("<a href=/x>a <object><a href=/y> b</a></object></a>c")
@settings(max_examples=400, deadline=None)
def test_any_html(html: str) -> None:
    if "<math" in html and ("<xmp" in html or "<plaintext" in html):
        return  # written out without entities there, so that they read as something else
    assert said(html) == walked(html)


def _pages(archive: Path, most: int) -> Iterator[bytes]:
    with tarfile.open(archive) as files:
        for number, member in enumerate(files):
            file = files.extractfile(member) if member.isfile() else None
            if file is not None and number % 40 == 0:
                yield file.read()
                most -= 1
                if most == 0:
                    return


@pytest.mark.parametrize("name", ["webkb-html.tar.xz", "schools-wikipedia-html.tar.xz"])
def test_real_pages(name: str) -> None:
    archive = Path(__file__).resolve().parents[4] / "shared" / "data" / name
    if not archive.exists():
        pytest.skip(f"needs {name} of the shared data sets")
    for body in _pages(archive, 60):
        html, _ = decode(body, "text/html")
        assert said(html) == walked(html)


PLAIN = uncompiled(markup)


@given(SOUP)
@settings(max_examples=60, deadline=None)
def test_the_same_uncompiled(html: str) -> None:
    compiled = said(html)
    reach = nesting.shallow(html)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "markup", PLAIN)
        patch.setattr(nesting, "markup", PLAIN)
        assert said(html) == compiled
        assert nesting.shallow(html) == reach


@given(
    st.lists(
        st.sampled_from(["<", ">", "<a", " ", "x", "=", '"', "/", "</", "<!--", "-", "é", "\u2003"])
    )
)
@settings(max_examples=200, deadline=None)
def test_no_text_takes_the_scan_beyond_its_end(pieces: list[str]) -> None:
    raw = "".join(pieces).encode()
    size = len(raw)
    rooms = (np.empty(size, np.uint8), np.empty(size, np.uint8), np.empty(size, np.intc))
    anchors, notes = np.empty((4, 7), np.intc), np.empty(4, np.intc)
    plain = PLAIN.scan(raw, *nesting.ELEMENTS, *rooms, anchors, notes)
    assert plain == markup.scan(raw, *nesting.ELEMENTS, *rooms, anchors, notes)
    assert plain[0] <= size


def test_attributes_that_would_take_for_ever_end_the_page() -> None:
    many = "<p>before" + ("<b " + "".join(f"a{n}=1 " for n in range(900)) + ">x</b>") * 1_000
    assert len(nesting.shallow(many)) < len(many)
    assert read(many, URL, 10).cut
    one = "<p>before<b " + "x" * 100 + "".join(f" a{n}" for n in range(1_001)) + ">x"
    assert nesting.shallow(one) == "<p>before"


def test_tags_inside_scripts_do_not_count_as_nesting() -> None:
    html = "<script>" + "write('<div>');" * 1_000 + "</script><p>after"
    assert nesting.shallow(html) == html
