"""A fetched body, read: its text, its links with their places in the text, what it says of itself.

One walk over the parsed tree does all of it, because what is done per page decides the speed of
a crawl. What a reader cannot see (script, style, template, noscript, ``hidden``,
``aria-hidden="true"``, media fall-backs) is neither text nor link: hidden links are how sites trap
robots. Navigation, header, footer and aside are text for a link's window, but not for the page's
own score: ``text`` has them, ``content`` has not.

White space is collapsed to single spaces, and a block element is a word boundary where an inline
one is not. A link keeps the span of its anchor in ``text``; its window is that span and
``WINDOW`` characters on either side.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sonde.net.charset import transcoded
from sonde.sources.web.reading import PageLink, read
from sonde.sources.web.simhash import simhash

WINDOW = 50
"""Visible characters on either side of an anchor that belong to its window."""

MAX_SIZE = 10_000_000
"""Bytes of a document (in UTF-8) past this number are not read; the page says that it was cut."""

MAX_LINKS = 10_000
"""Links past this number on one page are not taken; the page says that it was cut."""


@dataclass(frozen=True)
class Page:
    """What was read from one body. ``url`` is the address that answered, after redirects."""

    url: str
    title: str = ""
    language: str = ""
    text: str = ""
    content: str = ""
    links: tuple[PageLink, ...] = ()
    canonical: str | None = None
    robots: str = ""
    charset: str = "utf-8"
    cut: bool = False
    needs_script: bool = False
    window: int = WINDOW

    def anchor(self, link: PageLink) -> str:
        """The visible text of the anchor."""
        return self.text[link.start : link.end]

    def context(self, link: PageLink) -> str:
        """The anchor and ``window`` visible characters on either side."""
        return self.text[max(0, link.start - self.window) : link.end + self.window]

    @cached_property
    def fingerprint(self) -> int:
        """The simhash of the content, computed when first asked for."""
        return simhash(self.content)


def read_page(
    body: bytes, url: str, *, content_type: str = "", language: str = "", max_links: int = MAX_LINKS
) -> Page:
    """Read an HTML body. ``language`` is what the Content-Language header says, if anything.

    >>> page = read_page(b"<title>T</title><p>See <a href=/x>the tide gauge</a> now", "http://a.example/")
    >>> page.text, page.links[0].url, page.anchor(page.links[0])
    ('See the tide gauge now', 'http://a.example/x', 'the tide gauge')
    """
    html, charset = transcoded(body, content_type)
    whole = len(html) <= MAX_SIZE
    found = read(html if whole else _begun(html), url, max_links)
    return Page(
        url=url,
        title=found.title,
        language=(found.language or language).strip().replace("_", "-").partition(",")[0].lower(),
        text=found.text,
        content=found.content,
        links=tuple(found.links),
        canonical=found.canonical,
        robots=", ".join(found.robots),
        charset=charset,
        cut=found.cut or not whole,
        needs_script=found.shell,
    )


def _begun(html: bytes) -> bytes:
    """As much of a document as is read, and no part of a character."""
    return html[:MAX_SIZE].decode("utf-8", "ignore").encode()


def plain_page(text: str, url: str, *, title: str = "") -> Page:
    """A page made of bare text (a text file, the text of a PDF): no links."""
    collapsed = " ".join(text.split())
    return Page(url=url, title=title, text=collapsed, content=collapsed)
