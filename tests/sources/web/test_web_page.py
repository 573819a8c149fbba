"""Reading HTML: text, links with their windows, and what a page says of itself."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sonde.net.charset import decode
from sonde.sources.page import WINDOW, plain_page, read_page

URL = "http://a.example/dir/page"


def urls(html: str) -> list[str]:
    return [link.url for link in read_page(html.encode(), URL).links]


def test_text_and_content() -> None:
    page = read_page(
        b"""<html lang="fr-FR"><head><title> A
        title </title><style>x{}</style><script>var a="no"</script></head><body>
        <header>Head <a href="/h">home</a></header><nav>Nav</nav>
        <p>One<b>two</b> three&nbsp;four</p><p>five<br>six</p>
        <template>no</template><noscript>no</noscript><div hidden>no <a href="/no">no</a></div>
        <div aria-hidden="true">no</div><div aria-hidden="false">yes</div>
        <ul><li>a</li><li>b</li></ul><table><tr><td>c</td><td>d</td></tr></table>
        <svg><title>no</title></svg><aside>Aside</aside><footer>Foot</footer></body></html>""",
        URL,
    )
    assert page.title == "A title"
    assert page.language == "fr-fr"
    assert page.text == "Head home Nav Onetwo three four five six yes a b c d Aside Foot"
    assert page.content == "Onetwo three four five six yes a b c d"
    assert [link.url for link in page.links] == ["http://a.example/h"]


def test_links_their_anchors_and_windows() -> None:
    before, after = "b" * 70, "a" * 70
    page = read_page(f"<p>{before} <a href='x?q#f'> tide <i>gau</i>ge </a> {after}".encode(), URL)
    (link,) = page.links
    assert link.url == "http://a.example/dir/x?q"
    assert page.anchor(link) == "tide gauge"
    assert page.context(link) == "b" * (WINDOW - 1) + " tide gauge " + "a" * (WINDOW - 1)


def test_what_is_a_link_and_what_is_not() -> None:
    assert urls(
        "<a href=#top>x</a><a href=javascript:x>x</a><a href='mailto:a@b'>x</a><a>x</a>"
        "<a href=''>x</a><a href='page'>self</a><a href='//b.example/'>b</a>"
        "<map><area href=m></map><a href='http://[bad'>x</a><a href='data:,x'>x</a>"
        "<a href='  /sp ace '>x</a>"
    ) == ["http://b.example/", "http://a.example/dir/m", "http://a.example/sp%20ace"]


def test_frames_and_refresh_are_links() -> None:
    assert urls("<frameset><frame src=f1><frame src=f2></frameset>") == [
        "http://a.example/dir/f1",
        "http://a.example/dir/f2",
    ]
    assert urls("<meta http-equiv=Refresh content='0; url=/new'>") == ["http://a.example/new"]


def test_base_href() -> None:
    assert urls("<base href='/other/'><base href='/late/'><a href=x>x</a>") == [
        "http://a.example/other/x"
    ]
    assert urls("<base href='javascript:1'><a href=x>x</a>") == ["http://a.example/dir/x"]


def test_nofollow_robots_canonical() -> None:
    page = read_page(
        b"<meta name=Robots content='noindex'><link rel=canonical href=/c#x>"
        b"<a rel='external NoFollow' href=/x>x</a><a href=/y rel=next>y</a>",
        URL,
    )
    assert page.robots == "noindex"
    assert page.canonical == "http://a.example/c"
    assert [link.nofollow for link in page.links] == [True, False]


def test_head_elements_after_a_noscript_image_are_still_read() -> None:
    page = read_page(
        b"<head><noscript><img src=p.gif></noscript><link rel=canonical href=/c></head>x", URL
    )
    assert page.canonical == "http://a.example/c"
    assert page.text == "x"


def test_link_list_is_cut() -> None:
    page = read_page(b"<a href=/1>x</a>" * 2 + b"<a href=/2>x</a>", URL, max_links=2)
    assert len(page.links) == 2
    assert page.cut


def test_empty_and_broken_bodies() -> None:
    assert read_page(b"", URL).text == ""
    assert read_page(b"\x00\xff\xfe<a href=/x>y", URL).links[0].url == "http://a.example/x"
    assert read_page(b"<div>" * 400 + b"deep", URL).text == "deep"
    assert (
        read_page(b"<a href=/x><table><a href=/y>y</a>z", URL).links[0].url == "http://a.example/x"
    )


@pytest.mark.parametrize(
    "unit", ["<div>", "<ul><li>", "<a href=/x><font>", "<b><i>", "<table><td>", "<p><span>"]
)
def test_deep_nesting_ends_the_page(unit: str) -> None:
    body = b"<p>before</p>" + unit.encode() * 100_000 + b"<p>after</p>"
    began = time.process_time()
    page = read_page(body, URL)
    assert time.process_time() - began < 2.0
    assert page.text == "before"
    assert page.cut


def test_flat_pages_with_many_tags_are_read_whole() -> None:
    page = read_page(b"<p>x<br><li>y<td>" * 5_000 + b"<p>end", URL)
    assert page.text.endswith("end")
    assert not page.cut
    image = b"<p>before<img src='data:image/png;base64," + b"A" * 100_000 + b"'>after"
    assert read_page(image, URL).text == "before after"
    drawing = b"<p>before <b data-d='" + b"M 10 20 " * 5_000 + b"'>after"
    assert read_page(drawing, URL).text == "before after"
    many = read_page(b"<p>before<p " + b"a=1 " * 100_000 + b">after", URL)
    assert (many.text, many.cut) == ("before", True)


def test_application_shells_are_recognised() -> None:
    shell = b"<div id=root></div><script src=/app.js></script>"
    assert read_page(shell, URL).needs_script
    assert not read_page(shell + b"<p>" + b"real text " * 40, URL).needs_script
    assert not read_page(b"<p>Short.</p><script>count()</script>", URL).needs_script


def test_plain_text() -> None:
    page = plain_page("a\n b", URL, title="t")
    assert (page.text, page.content, page.title, page.links) == ("a b", "a b", "t", ())


@given(st.text(alphabet="<>/a bp=\"'hrefnavd!-", max_size=200))
def test_spans_lie_in_the_text_for_any_soup(soup: str) -> None:
    page = read_page(soup.encode(), URL)
    assert "  " not in page.text
    assert page.text == page.text.strip()
    assert page.content == " ".join(page.content.split())
    for link in page.links:
        assert 0 <= link.start <= link.end <= len(page.text)
        assert page.anchor(link) == page.anchor(link).strip()


@pytest.mark.parametrize(
    ("body", "header", "text", "codec"),
    [
        ("é".encode(), "", "é", "utf-8"),
        ("é".encode("latin-1"), "", "é", "cp1252"),
        ("é".encode("latin-1"), "text/html; charset=ISO-8859-1", "é", "cp1252"),
        ("é".encode("latin-1"), "text/html; charset=utf-8", "\ufffd", "utf-8"),
        (b"\xef\xbb\xbf" + "é".encode(), "text/html; charset=latin1", "é", "utf-8"),
        ("é".encode("utf-16"), "", "é", "utf-16-le"),
        (b'<meta charset="windows-1251">' + "Д".encode("cp1251"), "", None, "cp1251"),
        (b'<meta http-equiv=x content="text/html; charset=koi8-r">', "", None, "koi8-r"),
        (b'<meta charset="utf-16">x', "", None, "utf-8"),
        (b'<meta charset="rot13">x', "", None, "utf-8"),
        (b'<?xml version="1.0" encoding="iso-8859-2"?>', "", None, "iso8859-2"),
        ("日本".encode("shift_jis"), "text/html;charset='Shift_JIS'", "日本", "cp932"),
        (b"x", "text/html; charset=base64", "x", "utf-8"),
    ],
)
def test_charsets(body: bytes, header: str, text: str | None, codec: str) -> None:
    decoded, found = decode(body, header)
    assert found == codec
    if text is not None:
        assert decoded == text


@given(st.binary(max_size=80), st.sampled_from(["", "utf-8", "gb2312", "iso-2022-jp", "utf-16"]))
def test_decoding_never_fails(body: bytes, charset: str) -> None:
    decode(body, f"text/html; charset={charset}")


def test_marked_menus_are_no_part_of_the_content() -> None:
    body = b"<nav>" + b"menu " * 30 + b"</nav><p>" + b"the sea level rises " * 20
    assert read_page(body, URL).content == ("the sea level rises " * 20).strip()
