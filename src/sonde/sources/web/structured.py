"""Structured data of pages: JSON-LD, microdata, OpenGraph and meta, as records; licence hints.

The tree is lexbor's; what is done with it is small, and here for the sake of its bounds: the
library that is kept for this (extruct) brings twenty packages along, and takes seconds for a page
of half a megabyte whose items refer to one another. Microdata is read as the HTML standard says,
with each element visited once an item, at most ``_STEPS`` a page; of whatever is too much (items,
depth, length) the rest is left out.

A JSON-LD object is called by its ``@id``, else by its ``url``, a microdata item by its ``itemid``,
else by its ``url``; what has no name is called by what it says, so that the same thing on two pages
is one record. OpenGraph and meta speak of the page, and are called by its address.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from sonde.net.charset import transcoded
from sonde.sources.context import RECORD_KINDS
from sonde.sources.facts import Record
from sonde.sources.page import Base, shallow

_LARGEST = 2_000_000  # bytes of HTML that are looked at
_SCRIPT = 500_000  # characters of one script of JSON-LD
_ITEMS = 500  # records of one kind on one page
_STEPS = 200_000  # elements that are looked at for microdata, again where items share them
_DEEPEST = 16  # of items in items
_VALUE = 5_000  # characters of one value
_FIELDS = 65_536  # characters of all fields of a record, as JSON

_LD_COMMENT = re.compile(
    r"^\s*(?:<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/)|(?:-->|//\s*\]\]>|/\*\s*\]\]>\s*\*/)\s*$"
)
_OPEN_GRAPH = ("og:", "article:", "book:", "product:", "profile:", "video:", "music:", "twitter:")
_META = re.compile(
    r"(?:description|keywords|author|date|publisher|copyright|license|rights|generator|subject"
    r"|robots|tdm-reservation|tdm-policy|(?:dc|dcterms|citation|prism|geo|article|parsely|sailthru)"
    r"[._:-].{1,80})",
    re.IGNORECASE,
)
_URLS = {
    "a": "href", "area": "href", "link": "href", "audio": "src", "embed": "src", "iframe": "src",
    "img": "src", "source": "src", "track": "src", "video": "src", "object": "data",
}  # fmt: skip
_TITLES = ("name", "headline", "title", "og:title", "twitter:title", "dc.title", "dcterms.title",
    "citation_title")  # fmt: skip
_TEXTS = ("description", "articleBody", "text", "abstract", "og:description", "reviewBody",
    "twitter:description", "dc.description", "dcterms.description")  # fmt: skip
_COMMONS = re.compile(
    r"https?://(?:www\.)?creativecommons\.org/(?:licenses|publicdomain)/[\w./+-]+"
)
_LICENCES = 10


class StructuredPage:
    """The tree of an HTML body, for all that is read from it."""

    def __init__(self, body: bytes, url: str, content_type: str = "") -> None:
        html = transcoded(body, content_type)[0]
        if len(html) > _LARGEST:
            html = html[:_LARGEST].decode("utf-8", "ignore").encode()
        self.tree = LexborHTMLParser(shallow(html).decode("utf-8", "replace"), scripting=True)
        self.url = url
        self.base = Base(url)
        self.work = 0  # characters of texts that were read so far

    def records(self, kinds: Collection[str]) -> Iterator[Record]:
        """The structured data of these kinds, in the order of ``RECORD_KINDS``."""
        readers: dict[str, Callable[[], Iterator[dict[str, Any]]]] = {
            "json-ld": self._json_ld,
            "microdata": self._microdata,
            "opengraph": self._open_graph,
            "meta": self._meta,
        }
        for kind in RECORD_KINDS:
            if kind not in kinds:
                continue
            for number, item in enumerate(readers[kind]()):
                if number == _ITEMS:
                    break
                yield self._record(kind, item)

    def _record(self, kind: str, item: dict[str, Any]) -> Record:
        fields = bounded(item)
        url = self._joined(_first(fields, ("url", "og:url"))) or self.url
        if kind in ("opengraph", "meta"):
            name = url if kind == "opengraph" else self.url
        else:
            given = _first(fields, ("@id", "itemid"))
            own = _first(fields, ("url",))
            name = given or (url if own else "") or digest_of(fields)
        return Record(
            id=name,
            source=kind,
            url=url,
            title=_first(fields, _TITLES),
            text=_first(fields, _TEXTS),
            fields=fields,
        )

    def _joined(self, href: str) -> str:
        return (self.base.join(href) or "") if href else ""

    # -- each kind -----------------------------------------------------------------------------

    def _json_ld(self) -> Iterator[dict[str, Any]]:
        for script in self.tree.css('script[type*="ld+json" i]'):
            written = script.text()
            if len(written) > _SCRIPT:
                continue
            try:
                data = json.loads(_LD_COMMENT.sub("", written).strip(), strict=False)
            except (ValueError, RecursionError):
                continue
            yield from _objects(data)

    def _open_graph(self) -> Iterator[dict[str, Any]]:
        found = self._metas(lambda name: name.startswith(_OPEN_GRAPH))
        if found:
            yield found

    def _meta(self) -> Iterator[dict[str, Any]]:
        found = self._metas(lambda name: _META.fullmatch(name) is not None)
        if found:
            title = self.tree.css_first("title")
            said = "" if title is None else " ".join(title.text().split())
            yield ({"title": said[:_VALUE]} if said else {}) | found

    def _metas(self, wanted: Callable[[str], bool]) -> dict[str, Any]:
        """What metas with a name of this sort say; several of one name are a list."""
        found: dict[str, Any] = {}
        for meta in self.tree.css("meta[content]")[:_ITEMS]:
            attributes = meta.attributes
            name = (attributes.get("property") or attributes.get("name") or "").strip().lower()
            value = " ".join((attributes.get("content") or "").split())[:_VALUE]
            if value and wanted(name):
                _add(found, name, value)
        return found

    def _microdata(self) -> Iterator[dict[str, Any]]:
        reader = _Microdata(self.tree, self._joined)
        for node in self.tree.css("[itemscope]:not([itemprop])"):
            item = reader.item(node)
            if item is None:
                return
            yield item

    @property
    def licences(self) -> list[str]:
        """What the page says of its licence: links that say so, links to Creative Commons, and
        metadata, also of reservations of text and data mining."""
        found: list[str] = []
        for node in self.tree.css("a[rel~=license i][href], link[rel~=license i][href]"):
            found.append(self._joined(node.attributes.get("href") or ""))
        for node in self.tree.css('a[href*="creativecommons.org/"]')[:_ITEMS]:
            match = _COMMONS.match(node.attributes.get("href") or "")
            found.append(match[0] if match else "")
        metas = self._metas(lambda name: _META.fullmatch(name) is not None)
        for name, value in metas.items():
            last = re.split(r"[._:-]", name)[-1]
            if last in ("license", "licence", "rights", "copyright"):
                found += [str(each) for each in (value if isinstance(value, list) else [value])]
            elif name == "tdm-reservation":
                found.append(f"tdm-reservation: {value}")
            elif name == "robots" and re.search(r"\bno(?:image)?ai\b", str(value)):
                found.append(f"robots: {value}")
        for item in self._json_ld():
            stated = item.get("license")
            if isinstance(stated, dict):
                stated = stated.get("@id") or stated.get("url") or stated.get("name")
            found += [
                str(each) for each in (stated if isinstance(stated, list) else [stated]) if each
            ]
        kept = dict.fromkeys(" ".join(each.split())[:300] for each in found)
        return [each for each in kept if each][:_LICENCES]


class _Microdata:
    """Items of one page (https://html.spec.whatwg.org/multipage/microdata.html)."""

    def __init__(self, tree: LexborHTMLParser, join: Callable[[str], str]) -> None:
        self._join = join
        self._steps = 0
        self._ids: dict[str, LexborNode] = {}
        if tree.css_first("[itemref]") is not None:
            for node in tree.css("[id]"):
                self._ids.setdefault(node.attributes.get("id") or "", node)

    def item(self, root: LexborNode, within: frozenset[int] = frozenset()) -> dict[str, Any] | None:
        """The properties of an item, ``None`` when the page has had its share of work."""
        attributes = root.attributes
        found: dict[str, Any] = {}
        if kind := (attributes.get("itemtype") or "").strip():
            found["@type"] = kind[:_VALUE]
        if name := (attributes.get("itemid") or "").strip():
            found["itemid"] = self._join(name) or name[:_VALUE]
        within |= {root.mem_id}
        pending = [
            node
            for name in reversed((attributes.get("itemref") or "").split()[:_ITEMS])
            if (node := self._ids.get(name)) is not None and node.mem_id not in within
        ]
        pending += reversed(list(root.iter()))
        seen: set[int] = {root.mem_id}
        while pending:
            node = pending.pop()
            self._steps += 1
            if self._steps > _STEPS:
                return None
            if node.mem_id in seen:
                continue
            seen.add(node.mem_id)
            told = node.attributes
            scoped = "itemscope" in told
            names = (told.get("itemprop") or "").split()
            if names:
                value: Any = self._value(node)
                if scoped:
                    deeper = len(within) < _DEEPEST and node.mem_id not in within
                    value = self.item(node, within) if deeper else ""
                    if value is None:
                        return None
                for name in names[:8]:
                    _add(found, name, value)
            if not scoped:
                pending += reversed(list(node.iter()))
        return found

    def _value(self, node: LexborNode) -> str:
        tag, attributes = node.tag or "", node.attributes
        if "itemscope" in attributes:
            return ""
        if tag == "meta":
            return (attributes.get("content") or "")[:_VALUE]
        if tag in _URLS:
            href = (attributes.get(_URLS[tag]) or "").strip()
            return self._join(href) or href[:_VALUE]
        for name, tags in (("value", ("data", "meter")), ("datetime", ("time",))):
            if tag in tags and attributes.get(name):
                return str(attributes[name])[:_VALUE]
        said = node.text()
        self._steps += len(said) // 64
        return " ".join(said.split())[:_VALUE]


def _objects(data: Any) -> Iterator[dict[str, Any]]:
    """The objects that a script of JSON-LD tells: those at its top, and those of a graph."""
    for each in data if isinstance(data, list) else [data]:
        if not isinstance(each, dict):
            continue
        graph = each.get("@graph")
        if isinstance(graph, list):
            yield from (item for item in graph if isinstance(item, dict))
        elif each:
            yield each


def _add(found: dict[str, Any], name: str, value: Any) -> None:
    """A property; several of one name are a list."""
    if name not in found:
        if len(found) < _ITEMS:
            found[name] = value
    elif isinstance(found[name], list):
        if len(found[name]) < _ITEMS:
            found[name].append(value)
    elif found[name] != value:
        found[name] = [found[name], value]


def _first(fields: Mapping[str, Any], names: Collection[str]) -> str:
    """The first text among properties of these names."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, dict):
            value = value.get("@id") or value.get("@value")
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def digest_of(fields: Mapping[str, Any]) -> str:
    """What to call a thing that has no name: it is what it says."""
    told = json.dumps(fields, sort_keys=True, default=str).encode("utf-8", "replace")
    return "sha256:" + hashlib.sha256(told).hexdigest()[:32]


def bounded(item: Mapping[str, Any]) -> dict[str, Any]:
    """Properties of a bearable size: where they are too long in all, the largest go."""
    clean: dict[str, Any] = {str(name)[:200]: _cut(value, 0) for name, value in item.items()}
    sizes = {name: len(json.dumps(value, default=str)) for name, value in clean.items()}
    size = sum(sizes.values())
    for name in sorted(sizes, key=lambda each: -sizes[each]):
        if size <= _FIELDS:
            break
        size -= sizes[name]
        del clean[name]
    return clean


def _cut(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _VALUE else value[:_VALUE]
    if isinstance(value, (dict, list)) and depth >= _DEEPEST:
        return None
    if isinstance(value, dict):
        return {
            str(name)[:200]: _cut(each, depth + 1) for name, each in list(value.items())[:_ITEMS]
        }
    if isinstance(value, list):
        return [_cut(each, depth + 1) for each in value[:_ITEMS]]
    return value
