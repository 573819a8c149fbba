"""Garbage, looked for less often while a crawl runs.

A page makes thousands of small objects that all die with it, and next to none of them in cycles.
Python's collector, at its default, would go through them several times a page.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_OBJECTS = 20_000  # new ones between two looks


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Raise the collector's threshold, where it is lower, until the end of the block."""
    before = gc.get_threshold()
    if 0 < before[0] < _OBJECTS:
        gc.set_threshold(_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
