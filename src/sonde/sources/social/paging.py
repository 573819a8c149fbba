"""Pagination: how the pages of an answer follow one another.

``link``    the header ``Link: <URL>; rel="next"``
``cursor``  a value in the answer that is sent back as a parameter; the end where there is none
``last``    a value in the last item, sent as a parameter; the end at an empty page
``url``     a URL in the answer
``page``    a parameter that counts from 1; the end at an empty page
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from sonde.net.urls import normalise, origin_of
from sonde.sources.social.picking import text

PAGINGS = ("link", "cursor", "last", "url", "page")

_LINK = re.compile(r"<([^>]*)>([^<]*)")
_NEXT = re.compile(r"""rel\s*=\s*"?[^";,]*\bnext\b""", re.IGNORECASE)


@dataclass(frozen=True)
class Next:
    """Where the next page is: ``by`` is one of ``PAGINGS``."""

    by: str
    path: str = ""
    parameter: str = ""


def next_url(
    rule: Next, url: str, data: Any, items: Sequence[Any], headers: Mapping[str, str]
) -> str | None:
    """The URL of the next page; ``None`` at the end, and where it would be another origin's."""
    if not items:
        return None
    found: str | None = None
    if rule.by == "link":
        for target, parameters in _LINK.findall(headers.get("Link", "")):
            if _NEXT.search(parameters):
                found = normalise(target, base=url)
    elif rule.by == "url":
        found = normalise(text(data, rule.path), base=url) if text(data, rule.path) else None
    elif rule.by == "page":
        value = dict(parse_qsl(urlsplit(url).query)).get(rule.parameter, "1")
        found = _with(url, rule.parameter, str(int(value) + 1)) if value.isdigit() else None
    else:
        value = text(data if rule.by == "cursor" else items[-1], rule.path)
        found = _with(url, rule.parameter, value) if value else None
    if found is None or found == url or origin_of(found) != origin_of(url):
        return None
    return found


def _with(url: str, name: str, value: str) -> str:
    parts = urlsplit(url)
    pairs = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] != name]
    return urlunsplit(parts._replace(query=urlencode([*pairs, (name, value)])))
