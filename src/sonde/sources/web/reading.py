"""An archived response, read again: text, Markdown, HTML, links, structured data, licences."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, lru_cache

from sonde.net.charset import decode
from sonde.net.decoding import BadEncoding, unpack
from sonde.net.exchange import Limits
from sonde.sources.context import ArchivedPage
from sonde.sources.facts import Record
from sonde.sources.main_text import unpack_spans
from sonde.sources.page import Page, read_page
from sonde.sources.web.collector import Collector
from sonde.sources.web.markdown import HTML, main_markdown, text_of
from sonde.sources.web.structured import StructuredPage


@lru_cache(8)
def _collector(kinds: tuple[str, ...], fields: str | None) -> Collector:
    return Collector(kinds, fields)


class WebReading:
    """A response of the Web (a ``Reading``)."""

    def __init__(self, page: ArchivedPage, media_type: str, main: bytes | None = None) -> None:
        self._page = page
        self._main = main
        self._media_type = media_type
        self._content_type = page.header("Content-Type")

    @cached_property
    def body(self) -> bytes | None:
        """The body, its codings undone; ``None`` where it is not what it says it is."""
        try:
            return unpack(
                self._page.body, self._page.header("Content-Encoding"), Limits().unpacked
            )[0]
        except BadEncoding:
            return None

    @property
    def _html(self) -> bytes | None:
        return self.body if self._media_type in HTML else None

    @cached_property
    def text(self) -> str | None:
        return text_of(self._page, self._media_type, self._main)

    @property
    def markdown(self) -> str | None:
        html = self._html
        if html is None:
            return self.text
        main = unpack_spans(self._main)
        return main_markdown(html, self._page.url, content_type=self._content_type, main=main)

    @property
    def html(self) -> str | None:
        html = self._html
        return None if html is None else decode(html, self._content_type)[0]

    @cached_property
    def _read(self) -> Page | None:
        html = self._html
        if html is None:
            return None
        return read_page(html, self._page.url, content_type=self._content_type)

    @property
    def anchors(self) -> Mapping[str, str]:
        found: dict[str, str] = {}
        if self._read is not None:
            for link in self._read.links:
                if not found.get(link.url):
                    found[link.url] = self._read.anchor(link)
        return found

    def records(self, kinds: Collection[str], fields: str | None) -> Sequence[Record]:
        html = self._html
        if html is None:
            return ()
        collector = _collector(tuple(kinds), fields)
        return collector.records(html, self._page.url, self._content_type)

    @property
    def licences(self) -> Sequence[str]:
        html = self._html
        if html is None:
            return ()
        return StructuredPage(html, self._page.url, self._content_type).licences
