"""The text of a PDF, where pypdf is installed (the extra ``pdf``).

pypdf is plain Python: slower than a binding to a C++ library, and the safer reader for files that
strangers wrote. Work is bounded by a number of pages and of characters.
"""

from __future__ import annotations

import io
import logging
from importlib.util import find_spec

from sonde.sources.page import Page, plain_page

MAX_PAGES = 200
MAX_CHARACTERS = 1_000_000


def available() -> bool:
    """Whether PDF files can be read here."""
    return find_spec("pypdf") is not None


def read_pdf(body: bytes, url: str) -> Page | None:
    """The page of a PDF's text; ``None`` where it cannot be read (broken, encrypted, no reader)."""
    if not available():
        return None
    import pypdf

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it comments on every oddity
    parts: list[str] = []
    size = 0
    title = ""
    try:
        reader = pypdf.PdfReader(io.BytesIO(body), strict=False)
        if reader.is_encrypted:
            return None
        if reader.metadata is not None:
            title = str(reader.metadata.title or "")
        for sheet in reader.pages[:MAX_PAGES]:
            text = sheet.extract_text()
            parts.append(text)
            size += len(text)
            if size >= MAX_CHARACTERS:
                break
    except Exception:  # a reader of hostile files fails in more ways than it documents
        if not parts:
            return None
    return plain_page("\n".join(parts)[:MAX_CHARACTERS], url, title=" ".join(title.split()))
