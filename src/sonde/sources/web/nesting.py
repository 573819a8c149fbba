"""HTML cut where it would take the parser for ever.

An HTML parser looks through the open elements at most tags, and through a tag's attributes at each
attribute: a million nested ``<div>``, or tags with thousands of attributes, take it hours. Browsers
stop nesting at 512; here the page ends there, or where its attributes are too many.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sonde.kernels import markup

MAX_DEPTH = 512
MAX_ATTRIBUTES = 1_000
"""In one tag."""
MAX_PAIRS = 20_000_000
"""The squares of all tags' numbers of attributes, added up: each is compared with each."""

ELEMENTS: tuple[NDArray[np.uint64], NDArray[np.intc]] = markup.elements()  # type: ignore[no-untyped-call]
"""The kernel's table of elements."""


def shallow(html: str) -> str:
    """The HTML, or as much of it as comes before it would take too long."""
    raw = html.encode("utf-8", "replace")
    safe: int = markup.reach(raw, *ELEMENTS, MAX_DEPTH, MAX_ATTRIBUTES, MAX_PAIRS)
    return html if safe == len(raw) else raw[:safe].decode("utf-8")
