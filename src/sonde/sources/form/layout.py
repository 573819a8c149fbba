"""A result page: its records, and the way to the next one.

A *layout* is a CSS selector of the records, the place of the id in one (``SELECTOR@ATTRIBUTE``;
without an attribute the element's text; by default the first link's target), and a selector of the
link to the next page. What is not described is learned: the records are the largest group of
siblings alike (same tag and class) that each have a link of their own; the next page is a link
that says so.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from sonde.errors import InputError
from sonde.net.urls import normalise, origin_of

ENOUGH = 3
"""So many alike are a list of results."""

_LINK = "a[href]@href"
_NEXT = re.compile(r"^\W*(next|more|older|suivante?|weiter|nächste|siguiente|[›»→>])\b\W*", re.I)
_ARROWS = ("›", "»", "→", ">", "&gt;")
_CHROME = frozenset(("nav", "header", "footer", "aside"))
_PLAIN = re.compile(r"[A-Za-z][\w-]*")


class SearchHit(NamedTuple):
    """One result."""

    id: str
    text: str
    title: str = ""


class ResultPage(NamedTuple):
    """What a result page says."""

    records: list[SearchHit]
    next: str | None


@dataclass(frozen=True)
class Layout:
    """Where things are on a result page; empty for what is not known."""

    result: str = ""
    id: str = _LINK
    next: str = ""

    def __post_init__(self) -> None:
        for name in ("result", "id", "next"):
            selector = getattr(self, name).partition("@")[0]
            try:
                if selector:
                    LexborHTMLParser("<p>").css(selector)
            except SelectolaxError:
                raise InputError(f"{name}: not a CSS selector: {selector!r}") from None

    def read(self, html: str, url: str) -> tuple[ResultPage, str]:
        """The page, and the selector of its records: this layout's, or one that was found."""
        tree = LexborHTMLParser(html)
        result = self.result or learned(tree)
        records: dict[str, SearchHit] = {}
        for node in tree.css(result) if result else ():
            name = self._id(node, url)
            if name and name not in records:
                said = " ".join(node.text(separator=" ").split())
                records[name] = SearchHit(name, said, self._title(node))
        return ResultPage(list(records.values()), self._next(tree, url)), result

    def _id(self, node: LexborNode, url: str) -> str:
        selector, _, attribute = self.id.partition("@")
        found = node.css_first(selector) if selector else node
        if found is None:
            return ""
        if not attribute:
            return " ".join(found.text().split())
        value = (found.attrs.get(attribute) or "").strip()
        if attribute == "href" and value:
            return normalise(value, base=url) or ""
        return value

    def _title(self, node: LexborNode) -> str:
        """What its heading says, else its first link that says anything."""
        for part in node.css("h1, h2, h3, h4, h5, h6") or node.css("a[href]"):
            if said := " ".join(part.text(separator=" ").split()):
                return said
        return ""

    def _next(self, tree: LexborHTMLParser, url: str) -> str | None:
        if self.next:
            nodes = tree.css(self.next)
        else:
            nodes = tree.css("a[rel~=next], link[rel~=next]") or [
                node for node in tree.css("a[href]") if _says_next(node)
            ]
        for node in nodes[:1]:
            target = normalise(node.attrs.get("href") or "", base=url)
            if target is not None and target != url and origin_of(target) == origin_of(url):
                return target
        return None


def _says_next(node: LexborNode) -> bool:
    said = " ".join(node.text().split())
    return len(said) < 20 and (said in _ARROWS or _NEXT.match(said) is not None)


def learned(tree: LexborHTMLParser) -> str:
    """A selector of the results, or nothing where no group of siblings looks like them."""
    groups: dict[tuple[int, str], list[LexborNode]] = defaultdict(list)
    for link in tree.css("a[href]"):
        node = link
        while (parent := node.parent) is not None:
            if node.tag in _CHROME or parent.tag in _CHROME:
                break
            group = groups[parent.mem_id, _selector(node)]
            if not group or group[-1].mem_id != node.mem_id:
                group.append(node)
            node = parent
    best: tuple[int, str] | None = None
    for (_, selector), nodes in groups.items():
        if len(nodes) < ENOUGH or nodes[0].tag in ("a", "td", "th", "html", "body", "head"):
            continue
        said = sum(len(node.text(strip=True)) for node in nodes)
        if best is None or said > best[0]:
            parent = nodes[0].parent
            within = "" if parent is None or parent.tag == "body" else f"{_selector(parent)} > "
            best = said, within + selector
    return "" if best is None else best[1]


def _selector(node: LexborNode) -> str:
    """Tag and first plain class."""
    classes = [name for name in (node.attrs.get("class") or "").split() if _PLAIN.fullmatch(name)]
    return f"{node.tag}.{classes[0]}" if classes else str(node.tag)
