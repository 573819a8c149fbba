"""The feeds that a page names in its head."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

from sonde.net.charset import decode
from sonde.sources.hrefs import Base

_FEEDS = ("application/rss+xml", "application/atom+xml")


def feeds_of(body: bytes, url: str, content_type: str = "") -> list[str]:
    """The URLs of ``<link rel="alternate">`` elements whose type is RSS or Atom, each once.

    >>> head = b'<link rel=alternate type="application/atom+xml" href="/feed">'
    >>> feeds_of(head, "http://a.example/blog/")
    ['http://a.example/feed']
    """
    if b"rss+xml" not in body and b"atom+xml" not in body:
        return []
    html, _ = decode(body, content_type)
    base = Base(url)
    found: dict[str, None] = {}
    for node in LexborHTMLParser(html).css("link[href][type]"):
        attrs = node.attrs
        rel = (attrs.get("rel") or "").lower().split()
        if "alternate" in rel and (attrs.get("type") or "").strip().lower() in _FEEDS:
            target = base.join(attrs.get("href") or "")
            if target is not None:
                found[target] = None
    return list(found)
