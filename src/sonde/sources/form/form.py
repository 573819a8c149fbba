"""A search form: found on a page, or described."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from sonde.net.urls import normalise
from sonde.sources.form_fields import untouched_fields

_NAMES = ("q", "query", "search", "s", "keyword", "keywords", "term", "words", "text", "find")
_TYPED = ("", "text", "search")


@dataclass(frozen=True)
class SearchForm:
    """Where a keyword is sent, and how. ``fields`` are sent along as they are."""

    action: str
    method: str
    field: str
    fields: tuple[tuple[str, str], ...] = ()

    def request(self, word: str) -> tuple[str, bytes | None]:
        """The URL to ask for, and the body of a POST."""
        pairs = [*self.fields, (self.field, word)]
        if self.method == "post":
            return self.action, urlencode(pairs).encode()
        parts = urlsplit(self.action)
        kept = [(name, value) for name, value in parse_qsl(parts.query) if name != self.field]
        return urlunsplit(parts._replace(query=urlencode([*kept, *pairs]))), None

    def as_data(self) -> list[object]:
        """For a run to keep."""
        return [self.action, self.method, self.field, [list(pair) for pair in self.fields]]

    @classmethod
    def from_data(cls, data: Sequence[object]) -> SearchForm:
        """What was kept."""
        action, method, field, fields = data
        assert isinstance(fields, list)
        return cls(str(action), str(method), str(field), tuple((n, v) for n, v in fields))


def find_form(html: str, url: str) -> SearchForm | None:
    """The form on a page that looks most like a search, if any does."""
    tree = LexborHTMLParser(html)
    best: tuple[int, SearchForm] | None = None
    for node in tree.css("form"):
        likely = _likely(node)
        if likely is None or (best is not None and best[0] >= likely[0]):
            continue
        action = normalise(node.attrs.get("action") or "", base=url) or url
        method = "post" if (node.attrs.get("method") or "").lower() == "post" else "get"
        if method == "get":  # a browser replaces the query of the action by the fields
            action = urlunsplit(urlsplit(action)._replace(query=""))
        field = likely[1]
        best = likely[0], SearchForm(action, method, field, untouched_fields(node, (field,)))
    return None if best is None else best[1]


def _likely(form: LexborNode) -> tuple[int, str] | None:
    """How much a form looks like a search, and the field for the keyword; ``None`` for not."""
    if form.css_first("input[type=password], input[type=email], input[type=file]") is not None:
        return None
    found: tuple[int, str] | None = None
    for node in form.css("input[name]"):
        kind = (node.attrs.get("type") or "").lower()
        name = node.attrs.get("name") or ""
        if kind not in _TYPED or not name:
            continue
        points = 1 + 4 * (kind == "search") + 3 * (name.lower() in _NAMES)
        if found is None or points > found[0]:
            found = points, name
    if found is None:
        return None
    told = " ".join(form.attrs.get(name) or "" for name in ("role", "id", "class", "action"))
    return found[0] + 3 * ("search" in told.lower()), found[1]
