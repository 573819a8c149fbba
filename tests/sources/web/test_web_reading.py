"""Pages read in one pass say what a walk over the parsed tree says."""

from __future__ import annotations

import random
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tree_walk import Walk

from sonde.kernels.html import depth_limit, scan, wellformed
from sonde.net.charset import decode
from sonde.sources import page as room
from sonde.sources.page import CHARACTERS, Page, read_html, resolved
from uncompiled import uncompiled

URL = "http://a.example/dir/page.html"

_TAGS = (
    "a p div nav header footer aside span b i table tr td ul li br img script style title meta"
    " base link template svg math noscript iframe textarea select option h1 form button xmp"
    " plaintext frameset frame area object html head body caption font dl dt custom-element"
    " main article section"
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
    " role=Navigation",
    " role='menu x'",
    " role=main",
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
    found = read_html(html.encode("utf-8", "replace"), URL, 10_000)
    content = Page(URL, text=found.text, main=found.main).content
    return found.text, content, found.title, found.links


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
    dice = random.Random(1)
    for body in _pages(archive, 60):
        html, _ = decode(body, "text/html")
        assert said(html) == walked(html)
        tags = [tag.span() for tag in re.finditer("<[^>]*>", html)] or [(0, 0)]
        for start, end in dice.choices(tags, k=3):  # with a tag left out, and put elsewhere
            at = dice.randrange(len(html) + 1)
            left_out = html[:start] + html[end:]
            moved = left_out[:at] + html[start:end] + left_out[at:]
            assert said(left_out) == walked(left_out)
            assert said(moved) == walked(moved)


# -- pages in order -----------------------------------------------------------------------------

HELD = {
    "table": ("caption", "colgroup", "thead", "tbody", "tr", "script"),
    "colgroup": ("col",),
    "thead": ("tr",),
    "tbody": ("tr", "style"),
    "tr": ("td", "th"),
    "ul": ("li",),
    "dl": ("dt", "dd"),
    "select": ("option", "optgroup"),
    "optgroup": ("option",),
    "svg": ("g", "path", "title", "style"),
    "g": ("path", "title"),
    "head": ("meta", "title", "link", "base", "script", "style", "noscript"),
    "p": ("a", "b", "span", "br", "img", "code"),
    **dict.fromkeys(("title", "textarea", "option", "script", "style", "noscript", "iframe"), ()),
}
ANYWHERE = (
    *(
        "a",
        "p",
        "div",
        "nav",
        "span",
        "b",
        "h2",
        "table",
        "ul",
        "dl",
        "br",
        "img",
        "form",
        "button",
    ),
    *("svg", "textarea", "select", "input", "script", "noscript", "iframe", "video", "hr", "pre"),
    *("custom-element", "label"),
)
WRITTEN = (
    "tide gauge",
    " \n",
    "a &amp; b &lt;",
    "&eacute;&#233;&#xE9; & ",
    "&nbsp;&emsp;x",
    "\u00e9\U0001f30a",
    "<!-- a --> x",
)
ORDERED_ATTRIBUTES = (
    *(one for one in ATTRIBUTES if 'a"b' not in one),
    ' href="?a=1&b=2&copy=3"',
    " href='a&#38;b#c'",
    " a = 'b' c",
    " href='x y #z'",
)


@st.composite
def ordered(draw: st.DrawFn, name: str = "body", deep: int = 5) -> str:
    """An element and what it may hold, nearly always in order."""
    attributes = draw(st.sampled_from(("", "", *ORDERED_ATTRIBUTES)))
    if name in ("br", "img", "input", "hr", "col", "meta", "link", "base", "path"):
        return f"<{name}{attributes}{draw(st.sampled_from(('', '/', ' /')))}>"
    inside = []
    names = HELD.get(name, ANYWHERE)
    for _ in range(draw(st.integers(0, 4 if deep else 0))):
        if not names or draw(st.integers(0, 2)) == 0:
            silent = name in ("table", "colgroup", "thead", "tbody", "tr", "head")
            inside.append("\n" if silent else draw(st.sampled_from(WRITTEN)))
        else:
            inside.append(draw(ordered(draw(st.sampled_from(names)), deep - 1)))
    if draw(st.booleans()):
        name = name.upper()
    return f"<{name}{attributes}>{''.join(inside)}</{name}>"


@st.composite
def document(draw: st.DrawFn) -> str:
    head, body = draw(ordered("head", 2)), draw(ordered())
    if draw(st.booleans()):
        head = f"<!doctype html>\n<html lang=en>{head}"
        body += "</html>\n"
    whole = head + body
    if draw(st.integers(0, 3)) == 0:  # something out of place
        at = draw(st.integers(0, len(whole)))
        whole = whole[:at] + draw(PIECES) + whole[at:]
    return whole


def in_order(html: str) -> bool:
    raw = html.encode("utf-8", "replace")
    return bool(wellformed.wellformed(raw, room._RULES, CHARACTERS, 512, 1_000))


@pytest.mark.slow
@given(document())
@settings(max_examples=1_500, deadline=None)
def test_a_page_in_order_says_what_its_tree_says(html: str) -> None:
    assert said(html) == walked(html)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a<b>c</b></p><ul><li>x</li></ul>", True),
        ("<!doctype html><html><head><title>t</title></head><body><p>x</p></body></html>\n", True),
        (
            "<table><tr><td><table><tbody><tr><th>x</th></tr></tbody></table></td></tr></table>",
            True,
        ),
        ("<svg viewBox='0 0 1 1'><path d='M0'/><g><title>x</title></g></svg>", True),
        ("<script>if (a < b) { x('<p>') }</script>", True),
        ("a & b &copy; &#8212;", True),
        ("<p>a<p>b", False),
        ("<p>a<div>b</div></p>", False),
        ("<li>a<li>b", False),
        ("<b><i>x</b></i>", False),
        ("<a href=x>a<a href=y>b</a></a>", False),
        ("<table>text<tr><td>x</td></tr></table>", False),
        ("<table><td>x</td></table>", False),
        ("<svg><p>x</p></svg>", False),
        ("<div/>", False),
        ("&copy 2020", False),
        ("&#1;", False),
        ("a < b", False),
        ("<p hidden>x", False),
        ("<template><p>x</p></template>", False),
        ("<script><!-- <script> </script> --></script>", False),
        ("<head>x</head>", False),
        ("<body>x</body>y", False),
        ("<div><html></html></div>", False),
    ],
)
def test_what_is_in_order(html: str, expected: bool) -> None:
    assert in_order(html) is expected
    assert said(html) == walked(html)


def test_generated_pages_are_mostly_in_order() -> None:
    """Or the property above would say little of the pages that it is about."""
    seen = []

    @given(document())
    @settings(max_examples=200, deadline=None)
    def look(html: str) -> None:
        seen.append(in_order(html))

    look()
    assert sum(seen) > len(seen) / 3


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("?a=1&amp;b=2", "?a=1&b=2"),
        ("?a=1&b=2&copy=3", "?a=1&b=2&copy=3"),
        ("&copy", "©"),
        ("&copyright", "&copyright"),
        ("&notit;", "&notit;"),
        ("&#65;&#x42&#0;&#xD800;&#x80;&#99999999999;", "AB\ufffd\ufffd€\ufffd"),
        ("&", "&"),
        ("&;&#;&#x;", "&;&#;&#x;"),
        ("&NotEqualTilde;", "≂̸"),
    ],
)
def test_references_in_values(value: str, expected: str) -> None:
    assert resolved(value) == expected
    from selectolax.lexbor import LexborHTMLParser

    node = LexborHTMLParser(f'<a href="{value}">x</a>').css_first("a")
    assert node is not None
    assert node.attributes["href"] == expected


@given(st.text(alphabet="&#;=xX0189acopyltgmNt", max_size=12))
def test_any_references_in_values(value: str) -> None:
    from selectolax.lexbor import LexborHTMLParser

    node = LexborHTMLParser(f'<a href="{value}">x</a>').css_first("a")
    assert node is not None
    assert resolved(value) == node.attributes["href"]


PLAIN = uncompiled(scan)
PLAIN_LIMIT = uncompiled(depth_limit)
PLAIN_WELLFORMED = uncompiled(wellformed)


@given(SOUP | document())
@settings(max_examples=100, deadline=None)
def test_the_same_uncompiled(html: str) -> None:
    compiled = said(html)
    raw = html.encode("utf-8", "replace")
    reached = room.shallow(raw)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "scan", PLAIN.scan)
        patch.setattr(room, "wellformed", PLAIN_WELLFORMED.wellformed)
        patch.setattr(room, "safe_length", PLAIN_LIMIT.safe_length)
        assert said(html) == compiled
        assert room.shallow(raw) == reached


@given(
    st.lists(
        st.sampled_from(
            [
                "<",
                ">",
                "<a",
                " ",
                "x",
                "=",
                '"',
                "/",
                "</",
                "<!--",
                "-",
                "é",
                "\u2003",
                "&",
                "&#",
                "1;",
                "amp;",
                "'",
            ]
        )
    )
)
@settings(max_examples=200, deadline=None)
def test_no_text_takes_the_scan_beyond_its_end(pieces: list[str]) -> None:
    raw = "".join(pieces).encode()
    size = len(raw)
    rooms = (np.empty(size, np.uint8), np.empty((size, 3), np.intc))
    anchors, notes = np.empty((4, 7), np.intc), np.empty((4, 2), np.intc)
    layout = np.empty((4, 3), np.intc), np.empty((4, 4), np.uint64)
    plain = PLAIN.scan(raw, room.ELEMENTS, CHARACTERS, *rooms, anchors, notes, *layout)
    before = [part.copy() for part in layout]
    assert plain == scan.scan(raw, room.ELEMENTS, CHARACTERS, *rooms, anchors, notes, *layout)
    for one, other, known in zip(before, layout, plain[-2:], strict=True):
        assert np.array_equal(np.asarray(one)[:known], np.asarray(other)[:known])
    assert PLAIN_WELLFORMED.wellformed(raw, room._RULES, CHARACTERS, 9, 9) == wellformed.wellformed(
        raw, room._RULES, CHARACTERS, 9, 9
    )
    assert plain[0] <= size


def test_attributes_that_would_take_for_ever_end_the_page() -> None:
    tags = ("<b " + "".join(f"a{n}=1 " for n in range(900)) + ">x</b>") * 1_000
    many = b"<p>before" + tags.encode()
    assert len(room.shallow(many)) < len(many)
    assert read_html(many, URL, 10).cut
    one = "<p>before<b " + "x" * 100 + "".join(f" a{n}" for n in range(1_001)) + ">x"
    assert room.shallow(one.encode()) == b"<p>before"


def test_tags_inside_scripts_do_not_count_as_nesting() -> None:
    html = b"<script>" + b"write('<div>');" * 1_000 + b"</script><p>after"
    assert room.shallow(html) == html


def test_names_that_share_a_place_are_told_apart() -> None:
    """Whatever is open, elements that are closed in their turn make a page no deeper."""
    told = """
        div ul ol dl table section article main nav aside header footer figure blockquote pre h1 h2
        h3 h4 h5 h6 form fieldset details summary address button label legend em code span strong
        cite tt sub sup var kbd samp dfn abbr q time data mark small ins del bdi bdo ruby x-part y
    """
    names = told.split()
    inside = "".join(f"<{name}>x</{name}>" * 600 for name in names)
    html = "".join(f"<{name}>" for name in names) + inside
    assert room.shallow(html.encode()) == html.encode()
