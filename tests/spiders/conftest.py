"""Scrapy for the tests of its add-on, where it is installed."""

from __future__ import annotations

import pytest
from scrapy_sites import ScrapyLoop

_LOOP: list[ScrapyLoop] = []


@pytest.fixture(scope="session")
def scrapy_loop() -> ScrapyLoop:
    """Scrapy, ready to crawl."""
    pytest.importorskip("scrapy", reason="the extra scrapy is not installed")
    if not _LOOP:
        _LOOP.append(ScrapyLoop())
    return _LOOP[0]
