"""Responses as sonde reads them: the page, its score, and what its links are called and promise."""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from scrapy.http import HtmlResponse, TextResponse

from sonde.errors import InputError
from sonde.net.urls import normalise
from sonde.scorers.document import Scorer
from sonde.sources.facts import PageFacts
from sonde.sources.page import Page, plain_page, read_page

_LONGEST = 300  # characters of what links to one URL are called


class Promise(NamedTuple):
    """What a page says of a URL that it links to."""

    text: str
    score: float


class ReadResponse:
    """A response, read once. ``promises`` are by normal URL."""

    def __init__(self, response: Any, scorer: Scorer | None) -> None:
        self._response = response
        self.page = _page(response)
        self.score = 0.0
        self.promises: dict[str, Promise] = {}
        page = self.page
        if page is None:
            return
        alphas = [0.0] * len(page.links)
        if scorer is not None:
            self.score, scores = scorer.score(page)
            alphas = list(scores)
        for link, alpha in zip(page.links, alphas, strict=True):
            said = page.anchor(link)
            before = self.promises.get(link.url)
            if before is not None:
                said = before.text if said in before.text else f"{before.text} {said}"
                alpha += before.score
            self.promises[link.url] = Promise(said[:_LONGEST], alpha)

    def promise(self, url: str) -> Promise:
        """What the page says of a URL; nothing of one that it does not link to."""
        return self.promises.get(normalise(url) or url, Promise("", 0.0))

    def facts(self, *, text: bool) -> PageFacts:
        """What a run keeps of it."""
        response, page = self._response, self.page
        return PageFacts(
            final_url=response.url,
            status=response.status,
            media_type=_header(response, "Content-Type").partition(";")[0].strip().lower(),
            language=page.language[:35] if page else "",
            title=page.title[:500] if page else "",
            digest=hashlib.sha1(response.body, usedforsecurity=False).digest(),
            etag=_header(response, "ETag") or None,
            modified=_header(response, "Last-Modified") or None,
            rtt=response.meta.get("download_latency") if response.request else None,
            flags="cached" if "cached" in response.flags else "",
            text=page.content if page and text else None,
        )


def _page(response: Any) -> Page | None:
    if isinstance(response, HtmlResponse):
        kind = f"text/html; charset={response.encoding}"
        return read_page(response.body, response.url, content_type=kind)
    if isinstance(response, TextResponse):
        return plain_page(response.text, response.url)
    return None


def _header(response: Any, name: str) -> str:
    value = response.headers.get(name)
    return "" if value is None else value.decode("latin-1")


async def own_score(judge: Callable[[Any], Any], response: Any) -> float:
    """What the spider's own ``sonde_score`` says of a response; it may be a coroutine function."""
    value = judge(response)
    if inspect.isawaitable(value):
        waiting: Awaitable[Any] = value
        value = await waiting
    score = float(value)
    if not 0.0 <= score < math.inf:
        raise InputError(f"sonde_score returned {value!r}; scores are finite and not negative")
    return score
