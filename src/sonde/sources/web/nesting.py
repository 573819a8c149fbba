"""HTML cut where it would take the parser for ever.

An HTML parser looks through the open elements at most tags, and through a tag's attributes at each
attribute: a million nested ``<div>``, or tags with thousands of attributes, take it hours. Browsers
stop nesting at 512; here the page ends there, or where its attributes are too many.
"""

from __future__ import annotations

from sonde.kernels.html import scan
from sonde.kernels.html.depth_limit import safe_length
from sonde.kernels.html.tags import Names

MAX_DEPTH = 512
MAX_ATTRIBUTES = 1_000
"""In one tag."""
MAX_PAIRS = 20_000_000
"""The squares of all tags' numbers of attributes, added up: each is compared with each."""

ELEMENTS = Names(scan.ELEMENTS)
"""The kernels' table of elements."""


def shallow(html: bytes) -> bytes:
    """HTML in UTF-8, or as much of it as comes before it would take too long."""
    safe: int = safe_length(html, ELEMENTS, MAX_DEPTH, MAX_ATTRIBUTES, MAX_PAIRS)
    return html if safe == len(html) else html[:safe]
