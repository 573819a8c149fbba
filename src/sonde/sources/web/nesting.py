"""HTML cut where it would take the parser for ever.

An HTML parser looks through the open elements at most tags, and through a tag's attributes at each
attribute: a million nested ``<div>``, or one tag with a million attributes, take it hours. Browsers
stop nesting at 512; here the page ends there, or at a tag with more than a thousand attributes.
Both are estimated from the text alone, closely only where a page has very many tags or a very long
one: other pages cannot do harm.
"""

from __future__ import annotations

import re

MAX_DEPTH = 512
MAX_ATTRIBUTES = 1_000

_MANY_TAGS = 4_096
_LONG_TAG = 4_000
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")

# Elements that hold nothing, or that the next of their kind closes.
_FLAT = frozenset(
    (
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param"),
        *("source", "track", "wbr", "frame", "p", "li", "td", "th", "tr", "option", "dt", "dd"),
        *("tbody", "thead", "tfoot", "a", "html", "head", "body", "optgroup", "colgroup"),
    )
)


def shallow(html: str) -> str:
    """The HTML, or as much of it as comes before it would take too long."""
    pieces = html.split("<")
    if len(html) > _LONG_TAG and max(map(len, pieces)) > _LONG_TAG:
        at = -1
        for piece in pieces:
            if len(piece) > _LONG_TAG and _attributes(piece) > MAX_ATTRIBUTES:
                html = html[: max(0, at)]
                break
            at += len(piece) + 1
    if len(pieces) > _MANY_TAGS:
        html = _cut_deep(html)
    return html


def _attributes(piece: str) -> int:
    """About how many attributes a tag has, given the text from its name to the next tag."""
    if not piece[0].isalpha():
        return 0
    return len(_QUOTED.sub("", piece).partition(">")[0].split())


def _cut_deep(html: str) -> str:
    depth = 0
    for tag in _TAG.finditer(html):
        if tag[2].lower() in _FLAT:
            continue
        if tag[1]:
            depth = max(0, depth - 1)
        else:
            depth += 1
            if depth > MAX_DEPTH:
                return html[: tag.start()]
    return html
