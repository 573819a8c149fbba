"""What a page said: from the text that a run keeps, or from the answer in its archive, read when it
is asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cached_property

from sonde.errors import InputError
from sonde.sources.context import ArchivedPage, Reading
from sonde.store.log import unpack_text
from sonde.store.warcreader import Archived

Reads = Callable[[ArchivedPage, str, bytes | None], Reading | None]
"""How a kind of source reads an archived answer of a media type, whose main text stands there (see
the table ``pages``)."""


def text_hash(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


class PageContent:
    """The content of one visit. A run keeps its text (``stored``), or its answer (``place``), or
    both, or neither."""

    def __init__(
        self,
        stored: bytes | str | None,
        place: str | None,
        main: bytes | None,
        media_type: str,
        flags: str,
        read: Callable[[str], Archived] | None,
        reading: Reads,
    ) -> None:
        self._stored = stored
        self._place = place
        self._main = main
        self._media_type = media_type
        self._flags = flags.split()
        self._read = read
        self._reading = reading

    @cached_property
    def reading(self) -> Reading | None:
        """The archived answer, as its kind of source reads it; ``None`` where none is kept."""
        if self._place is None or self._read is None:
            return None
        return self._reading(self._read(self._place), self._media_type, self._main)

    @property
    def text(self) -> str | None:
        """The main text."""
        if isinstance(self._stored, bytes):
            text = unpack_text(self._stored)
            if text is None:
                raise InputError("damaged: the text of a page")
            return text
        if self._stored is not None or "feed" in self._flags:
            return self._stored
        return None if self.reading is None else self.reading.text

    @property
    def markdown(self) -> str | None:
        """The same with headings, lists, tables, code and links; ``None`` without the answer."""
        if "feed" in self._flags or self.reading is None:
            return None
        return self.reading.markdown

    @property
    def html(self) -> str | None:
        """The body as it came, decoded; ``None`` without the answer, and for what is not HTML."""
        return None if self.reading is None else self.reading.html

    @property
    def missing(self) -> str:
        """Why there is no text, where there is none."""
        if "feed" in self._flags:
            return "a feed or sitemap: it has links and no text"
        if self.text is not None:
            return ""
        if "noindex" in self._flags:
            return "the page asks not to be indexed: nothing of it is kept"
        if self._place is None:
            return "nothing of it was kept (--no-pages --no-text, or forgotten)"
        return f"nothing that could be read ({self._media_type or 'no media type'})"
