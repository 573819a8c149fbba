"""Fields: records of one's own, read from pages by CSS selectors that a TOML file has.

    [product]                       # a kind of record, by a name of one's own
    each = "div.product"            # one for each such element; without it, one a page
    id = "a.title@href"             # what it is called; without it, what it says
    title = "a.title"
    text = "p.summary"
    [product.fields]
    price = ".price"
    image = "img@src"               # SELECTOR@ATTRIBUTE; @href and @src become whole addresses
    tags = ["ul.tags li"]           # in brackets: all that fit, as a list

A selector is looked for within its element (``@ATTRIBUTE`` alone is the element's own). A record of
which nothing was found is none.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from selectolax.lexbor import LexborNode

from sonde.errors import InputError
from sonde.sources.context import RECORD_KINDS
from sonde.sources.facts import Record
from sonde.sources.web.css_path import CssPath, outermost
from sonde.sources.web.structured import StructuredPage, bounded, digest_of

_MOST = 1_000  # records of one kind on one page
_LISTED = 200  # values of one field
_VALUE = 5_000  # characters of one value
_TEXT = 50_000
_WORK = 10_000_000  # characters of texts of one page, again where elements share them
_NESTED = 4  # records within records
_ADDRESSES = ("href", "src", "action", "cite", "data-src")


@dataclass(frozen=True, slots=True)
class Selector:
    """Where a value is: a path or none (the element itself), an attribute or none (the text), the
    first or all."""

    path: CssPath | None
    attribute: str
    all: bool = False

    @classmethod
    def of(cls, written: Any, where: str) -> Selector:
        """A selector as a file has it."""
        many = isinstance(written, list) and len(written) == 1
        text = written[0] if many else written
        if not isinstance(text, str) or not text.strip():
            raise InputError(
                f'{where} must be a selector such as "h1" or "a@href", not {written!r}'
            )
        css, mark, attribute = text.strip().rpartition("@")
        if not mark or "]" in attribute:  # an @ inside of the selector itself
            css, attribute = text.strip(), ""
        return cls(CssPath.of(css, where) if css else None, attribute.lower(), many)

    def read(self, node: LexborNode, page: StructuredPage, longest: int = _VALUE) -> Any:
        """The value within a node: a text, a list of texts, ``None`` for nothing."""
        nodes = [node] if self.path is None else self.path.all(node)
        nodes = nodes[: _LISTED if self.all else 1]
        values = [said for each in nodes if (said := self._said(each, page, longest))]
        if self.all:
            return values or None
        return values[0] if values else None

    def _said(self, node: LexborNode, page: StructuredPage, longest: int) -> str:
        if not self.attribute:
            said = node.text(separator=" ") if page.work < _WORK else ""
            page.work += len(said)
            return " ".join(said.split())[:longest]
        value = " ".join((node.attributes.get(self.attribute) or "").split())
        if self.attribute in _ADDRESSES and value:
            value = page.base.join(value) or value
        return value[:longest]


@dataclass(frozen=True, slots=True)
class RecordRule:
    """A kind of record: where it is, and where its parts are in it."""

    name: str
    each: CssPath | None = None
    id: Selector | None = None
    title: Selector | None = None
    text: Selector | None = None
    url: Selector | None = None
    fields: Mapping[str, Selector] = field(default_factory=dict)

    def records(self, page: StructuredPage) -> Iterator[Record]:
        """The records of this kind on a page."""
        root = page.tree.root
        if root is None:
            return
        nodes = [root] if self.each is None else outermost(self.each.all(root), _NESTED)
        for node in nodes[:_MOST]:
            record = self._record(node, page)
            if record is not None:
                yield record

    def _record(self, node: LexborNode, page: StructuredPage) -> Record | None:
        values = {name: selector.read(node, page) for name, selector in self.fields.items()}
        fields = bounded({name: value for name, value in values.items() if value is not None})
        named = self._part(self.id, node, page)
        title = self._part(self.title, node, page)
        text = self._part(self.text, node, page, _TEXT)
        if not (fields or named or title or text):
            return None
        url = self._part(self.url, node, page) or (named if "://" in named[:9] else page.url)
        if not named:
            named = (
                digest_of({**fields, "": f"{title}\n{text}"}) if self.each is not None else page.url
            )
        return Record(named, self.name, url, title, text, fields)

    @staticmethod
    def _part(
        selector: Selector | None, node: LexborNode, page: StructuredPage, longest: int = _VALUE
    ) -> str:
        found = None if selector is None else selector.read(node, page, longest)
        return " ".join(found) if isinstance(found, list) else found or ""


def read_rules(text: str, where: str = "fields") -> tuple[RecordRule, ...]:
    """The rules of a file; whatever is wrong with it is said with its place."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where}: not TOML: {error}") from None
    if not tables:
        raise InputError(f"{where}: names no kind of record (a table such as [product])")
    rules = []
    for name, table in tables.items():
        place = f"{where}: {name}"
        if not isinstance(table, dict):
            raise InputError(f"{place} must be a table of selectors, such as [{name}.fields]")
        if name in RECORD_KINDS:
            raise InputError(f"{place}: structured data has this name; take another")
        fields = table.pop("fields", {})
        if not isinstance(fields, dict):
            raise InputError(f"{place}: fields must be a table of selectors")
        parts = {
            part: Selector.of(table.pop(part), f"{place}: {part}")
            for part in ("id", "title", "text", "url")
            if part in table
        }
        each = table.pop("each", "")
        if table:
            known = "each, id, title, text, url, fields"
            raise InputError(f"{place}: unknown key {next(iter(table))!r} (known: {known})")
        path = CssPath.of(str(each), f"{place}: each") if each else None
        if not fields and not parts:
            raise InputError(f"{place}: says of no field where it is")
        chosen = {key: Selector.of(value, f"{place}: {key}") for key, value in fields.items()}
        rules.append(RecordRule(name, path, fields=chosen, **parts))
    return tuple(rules)
