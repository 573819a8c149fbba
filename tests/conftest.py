"""How properties are tested: not timed, because a busy machine must not fail them, and with the
same examples in every run. ``pytest --hypothesis-profile explore`` looks for new ones."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("explore", deadline=None)
settings.register_profile("same", deadline=None, derandomize=True)
settings.load_profile("same")

# Whoever starts the tests in the background of a shell has them ignore Ctrl-C, and so would every
# process that they start: tests of Ctrl-C would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def scrapy_loop() -> Any:
    """Scrapy, ready to crawl, where it is installed: one a process."""
    pytest.importorskip("scrapy", reason="the extra scrapy is not installed")
    from scrapy_sites import ScrapyLoop

    return ScrapyLoop()
