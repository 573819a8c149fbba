"""A page's text, for export: plain, or as simple Markdown without navigation.

Main text is what the crawl has found to be so. The Markdown here keeps headings, paragraphs, lists,
quotations, code and links, and tables as tables (as GitHub writes them): a table that only lays out
a page, or that has a table inside, is read as the blocks that it holds. It runs once for each
exported page, so it is written to be read, not to be fast.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from selectolax.lexbor import LexborHTMLParser, LexborNode

from sonde.net.charset import decode, transcoded
from sonde.net.decoding import BadEncoding, unpack
from sonde.net.exchange import Limits
from sonde.sources.context import ArchivedPage
from sonde.sources.main_text import unpack_spans
from sonde.sources.page import Base, Spans, read_page, shallow
from sonde.sources.web.pdf import read_pdf

HTML = ("text/html", "application/xhtml+xml", "")


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


_LEFT_OUT = _names(
    "script style template noscript svg iframe object embed audio video canvas noframes datalist"
    " head form button select input textarea"
)
_UNSEEN = _names(
    "script style template noscript svg iframe object embed audio video canvas noframes noembed"
    " datalist title"
)
_BLOCKS = _names(
    "address article blockquote body center dd details dialog div dl dt fieldset figcaption figure"
    " hr li main menu ol p pre section summary table tr ul caption html tbody thead tfoot nav"
    " header footer aside"
)
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_WRAPPED = {"b": "**", "strong": "**", "i": "*", "em": "*", "code": "`"}
_DEEPEST = 200
_WIDEST = 64  # columns of a table
_MOST_CELLS = 50_000
_SPECIAL = re.compile(r"([\\`*_\[\]])")


def main_markdown(
    body: bytes, url: str, *, content_type: str = "", main: Spans | None = None
) -> str:
    """The main text of an HTML body as Markdown: what stands there in the text of its page, or by
    its markup alone."""
    tree = LexborHTMLParser(shallow(transcoded(body, content_type)[0]).decode(), scripting=True)
    if tree.body is None:
        return ""
    page = read_page(body, url, content_type=content_type)
    main = page.main if main is None else main
    if main is not None:
        _prune(tree, page.text, main)
    writer = _Writer(Base(url))
    writer.element(tree.body, 0)
    return writer.finished()


def _prune(tree: LexborHTMLParser, text: str, main: Spans) -> None:
    """Take out of a page what is not main text: the tree says the same characters in the same order
    as the text does, white space apart."""
    before = np.cumsum([0, *(character != " " for character in text)])
    kept = [(int(before[start]), int(before[end])) for start, end in main]
    at = 0
    for node in _visible(tree):
        said = node.text_content or ""
        size = sum(map(len, said.split()))
        if not any(start < at + size and at < end for start, end in kept):
            if size:
                node.remove()
        elif not any(start <= at and at + size <= end for start, end in kept):
            node.replace_with(_parts(said, at, kept))
        at += size


def _visible(tree: LexborHTMLParser) -> list[LexborNode]:
    """The nodes of visible text, in order."""
    found: list[LexborNode] = []
    waiting = [tree.root] if tree.root is not None else []
    while waiting:
        node = waiting.pop()
        if node.is_text_node:
            found.append(node)
        elif node.is_element_node:
            attributes = node.attributes
            hidden = (attributes.get("aria-hidden") or "").lower() == "true"
            if node.tag not in _UNSEEN and not hidden and "hidden" not in attributes:
                waiting += reversed(list(node.iter(include_text=True)))
    return found


def _parts(said: str, at: int, kept: list[tuple[int, int]]) -> str:
    """Those characters of a text that are kept, when so many came before it."""
    found = []
    keeps = any(start < at <= end for start, end in kept)  # the character before
    for character in said:
        if not character.isspace():
            keeps = any(start <= at < end for start, end in kept)
            at += 1
        if keeps:
            found.append(character)
    return "".join(found)


class _Writer:
    def __init__(self, base: Base) -> None:
        self._base = base
        self._blocks: list[str] = []
        self._line: list[str] = []
        self._prefix = ""

    def finished(self) -> str:
        self._end_block()
        return "\n\n".join(self._blocks).replace("\n\n- ", "\n- ").strip() + "\n"

    def _end_block(self) -> None:
        text = " ".join("".join(self._line).split())
        self._line.clear()
        if text.strip("-|#> "):
            self._blocks.append(self._prefix + text)
        self._prefix = ""

    def element(self, node: LexborNode, depth: int) -> None:
        """Write an element and what is in it."""
        tag = node.tag or ""
        attributes = node.attributes
        if (
            tag in _LEFT_OUT
            or "hidden" in attributes
            or attributes.get("aria-hidden") == "true"
            or depth > _DEEPEST
        ):
            return
        if tag == "table" and (rows := _table_rows(node)):
            self._end_block()
            for caption in (child for child in node.iter() if child.tag == "caption"):
                self.element(caption, depth + 1)
            self._blocks.append(self._table(rows, depth))
        elif tag == "pre":
            self._end_block()
            self._blocks.append("```\n" + node.text().strip("\n") + "\n```")
        elif tag in _HEADINGS or tag in _BLOCKS:
            self._end_block()
            self._prefix = _HEADINGS.get(tag, "- " if tag == "li" else "")
            if tag == "blockquote":
                self._prefix = "> "
            self._children(node, depth)
            self._end_block()
        elif tag in ("td", "th"):  # of a table that lays out
            self._end_block()
            self._children(node, depth)
            self._end_block()
        elif tag == "br":
            self._line.append(" ")
        elif tag in _WRAPPED:
            self._wrapped(node, depth, _WRAPPED[tag], _WRAPPED[tag])
        elif tag == "a" and (target := self._base.join(attributes.get("href") or "#")):
            self._wrapped(node, depth, "[", f"]({target.replace(')', '%29')})")
        else:
            self._children(node, depth)

    def _table(self, rows: list[list[LexborNode]], depth: int) -> str:
        """A table in bars; a first row that is no heading has an empty one above it."""
        grid = _grid([[(cell, self._cell(cell, depth)) for cell in row] for row in rows])
        headed = all(cell.tag == "th" for cell in rows[0]) or _within_head(rows[0][0])
        if not headed:
            grid.insert(0, [""] * len(grid[0]))
        lines = ["| " + " | ".join(row) + " |" for row in grid]
        lines.insert(1, "|" + "---|" * len(grid[0]))
        return "\n".join(lines)

    def _cell(self, cell: LexborNode, depth: int) -> str:
        """What stands in a cell, in one line."""
        writer = _Writer(self._base)
        writer._children(cell, depth + 3)
        writer._end_block()
        said = " ".join(block for block in writer._blocks if not block.startswith("```"))
        said += "".join(f" `{node.text().strip()}`" for node in cell.css("pre"))
        return " ".join(said.split()).replace("|", "\\|")

    def _wrapped(self, node: LexborNode, depth: int, before: str, after: str) -> None:
        if node.text().strip():
            self._line.append(before)
            self._children(node, depth)
            self._line.append(after)

    def _children(self, node: LexborNode, depth: int) -> None:
        for child in node.iter(include_text=True):
            if child.is_text_node:
                self._line.append(_SPECIAL.sub(r"\\\1", child.text_content or ""))
            elif child.is_element_node:
                self.element(child, depth + 1)


def _table_rows(table: LexborNode) -> list[list[LexborNode]]:
    """The cells of a table, row by row; none where it is no table of data: one column, one row, or
    tables or headings inside."""
    inside = table.css("table, h1, h2, h3")  # with the table itself
    if any(node.mem_id != table.mem_id for node in inside):
        return []
    rows = []
    for row in table.css("tr"):
        cells = [
            cell
            for cell in row.iter()
            if cell.tag in ("td", "th") and "hidden" not in cell.attributes
        ]
        if cells:
            rows.append(cells)
    if len(rows) < 2 or max(map(len, rows)) < 2 or sum(map(len, rows)) > _MOST_CELLS:
        return []
    return rows


def _within_head(cell: LexborNode) -> bool:
    row = cell.parent
    return row is not None and row.parent is not None and row.parent.tag == "thead"


def _span(cell: LexborNode, name: str, most: int) -> int:
    written = (cell.attributes.get(name) or "").strip()
    return min(int(written), most) if written.isdecimal() and int(written[:9]) > 0 else 1


def _grid(rows: list[list[tuple[LexborNode, str]]]) -> list[list[str]]:
    """Cells at their places: one that spans several stands in the first."""
    grid: list[dict[int, str]] = [{} for _ in rows]
    width = 1
    for number, row in enumerate(rows):
        column = 0
        for cell, said in row:
            while column in grid[number]:
                column += 1
            across = _span(cell, "colspan", _WIDEST)
            for below in range(number, min(number + _span(cell, "rowspan", len(rows)), len(rows))):
                for place in range(column, min(column + across, _WIDEST)):
                    grid[below].setdefault(place, "")
            if column < _WIDEST:
                grid[number][column] = said
            width = max(width, min(column + across, _WIDEST))
            column += across
    return [[row.get(place, "") for place in range(width)] for row in grid]


def text_of(
    page: ArchivedPage, media_type: str, main: bytes | None = None, *, markdown: bool = False
) -> str | None:
    """The main text of an archived page, by its media type: as Markdown, or plain. ``None`` where
    it has none."""
    try:
        body, _ = unpack(page.body, page.header("Content-Encoding"), Limits().unpacked)
    except BadEncoding:
        return None
    content_type = page.header("Content-Type")
    spans = unpack_spans(main)
    if media_type in HTML:
        if markdown:
            return main_markdown(body, page.url, content_type=content_type, main=spans)
        read = read_page(body, page.url, content_type=content_type)
        return (read if spans is None else replace(read, main=spans)).content
    if media_type == "application/pdf":
        sheets = read_pdf(body, page.url)
        return None if sheets is None else replace(sheets, main=spans).content
    return decode(body, content_type)[0] if media_type.startswith("text/") else None
