"""The text of a PDF, where pypdf is installed (the extra ``pdf``).

pypdf is plain Python: slower than a binding to a C++ library, and the safer reader for files that
strangers wrote. Work is bounded by a number of pages and of characters, and by time and memory: it
is done by a process of its own (``pdf_reader``), which is killed when it takes too long.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from sonde.sources.page import Page, plain_page

MAX_PAGES = 200
MAX_CHARACTERS = 1_000_000
MAX_SECONDS = 20
MAX_MEMORY = 1 << 30


def available() -> bool:
    """Whether PDF files can be read here."""
    return find_spec("pypdf") is not None


def read_pdf(body: bytes, url: str) -> Page | None:
    """The page of a PDF's text; ``None`` where it cannot be read (broken, encrypted, no reader, too
    much work)."""
    if not available():
        return None
    try:
        done = subprocess.run(_command(), input=body, capture_output=True, timeout=2 * MAX_SECONDS)
    except subprocess.TimeoutExpired:
        return None
    return _page(done.stdout, url)


async def read_pdf_meanwhile(body: bytes, url: str) -> Page | None:
    """The same, while the event loop goes on."""
    if not available():
        return None
    import asyncio  # whoever exports a run reads PDF files without it

    process = await asyncio.create_subprocess_exec(
        *_command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(2 * MAX_SECONDS):
            said, _ = await process.communicate(body)
    except TimeoutError:
        return None
    finally:
        with suppress(ProcessLookupError):
            process.kill()
    return _page(said, url)


def _command() -> list[str]:
    reader = Path(__file__).with_name("pdf_reader.py")
    limits = (MAX_SECONDS, MAX_MEMORY, MAX_PAGES, MAX_CHARACTERS)
    return [sys.executable, "-I", str(reader), *map(str, limits)]


def _page(said: bytes, url: str) -> Page | None:
    try:
        found = json.loads(said)
    except ValueError:  # it was ended half way
        return None
    return None if found is None else plain_page(found["text"], url, title=found["title"])
