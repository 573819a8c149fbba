"""The index of passages: the text of a run's pages in pieces, found by BM25 (SQLite's FTS5).

The index is in memory: what a run forgets is forgotten here too, as the index is made anew then. It
follows a run that is still being crawled.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sonde.errors import InputError
from sonde.serve.quotation import one_line, visible
from sonde.store.reader import RunReader
from sonde.store.run_pages import content_of, reads_of

LONGEST = 1_200
"""Characters of a passage at most, headings above it not counted."""

_PER_PAGE = 3
_WORD = re.compile(r"\w+")
_HEADING = re.compile(r"^#{1,6} ")

_PAGES = """
SELECT pages.lease, final_url, title, settled FROM pages
JOIN leases ON leases.number = pages.lease
WHERE outcome = 'visit' AND pages.lease > ? ORDER BY pages.lease
"""
_PAGE = """
SELECT pages.lease, final_url, title, settled FROM pages
JOIN leases ON leases.number = pages.lease JOIN nodes ON nodes.number = pages.node
WHERE outcome = 'visit' AND (nodes.url = ? OR final_url = ?) ORDER BY pages.lease DESC LIMIT 1
"""
_FOUND = """
SELECT lease, url, title, fetched, heading, text, -bm25(passages, 0, 0, 3, 0, 2, 1) AS rank
FROM passages WHERE passages MATCH ? ORDER BY rank DESC, lease, rowid
"""


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A piece of a page. ``heading`` is what it stands under, ``fetched`` when the page was."""

    lease: int
    url: str
    title: str
    fetched: str
    heading: str
    text: str
    rank: float = 0.0


@dataclass(frozen=True, slots=True)
class ArchivedText:
    """The text of a page as Markdown, with where and when it is from."""

    lease: int
    url: str
    title: str
    fetched: str
    text: str


def page_text(run: RunReader, url: str) -> ArchivedText | None:
    """A page by its URL, or by that which it redirected to; ``None`` where it was not visited."""
    row = run.one(_PAGE, url, url)
    return None if row is None else _read(run, row)


def _read(run: RunReader, row: tuple[Any, ...]) -> ArchivedText:
    lease, url, title, settled = row
    content = content_of(run, lease, reads_of(run))
    text = None if content is None else content.markdown or content.text
    fetched = datetime.fromtimestamp(settled, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return ArchivedText(lease, url, one_line(title), fetched, visible(text or ""))


class PassageIndex:
    """The passages of one run."""

    def __init__(self) -> None:
        self._database = sqlite3.connect(":memory:", isolation_level=None)
        try:
            self._database.execute(
                "CREATE VIRTUAL TABLE passages USING fts5(lease UNINDEXED, url UNINDEXED, title,"
                " fetched UNINDEXED, heading, text, tokenize = 'porter unicode61')"
            )
        except sqlite3.OperationalError as error:
            raise InputError(f"finding passages needs SQLite with FTS5: {error}") from None
        self._last = 0
        self._forgotten: object = None

    def follow(self, run: RunReader) -> None:
        """Take in what a run has visited since."""
        forgotten = run.meta("forgotten")
        if forgotten != self._forgotten:
            self._database.execute("DELETE FROM passages")
            self._last, self._forgotten = 0, forgotten
        for row in list(run.rows(_PAGES, self._last)):
            page = _read(run, row)
            self._last = page.lease
            self._database.executemany(
                "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (page.lease, page.url, page.title, page.fetched, heading, text)
                    for heading, text in pieces(page.text)
                ],
            )

    def find(self, query: str) -> Iterator[RankedPassage]:
        """The passages that have words of a query, the best first; of a page only a few."""
        words = _WORD.findall(query)[:64]
        if not words:
            raise InputError("a query has at least one word")
        shown: dict[int, int] = {}
        matched = " OR ".join(f'"{word}"' for word in words)
        for row in self._database.execute(_FOUND, (matched,)):
            passage = RankedPassage(*row)
            shown[passage.lease] = shown.get(passage.lease, 0) + 1
            if shown[passage.lease] <= _PER_PAGE:
                yield passage


def pieces(markdown: str) -> Iterator[tuple[str, str]]:
    """A page in passages, each with the heading that it stands under.

    >>> list(pieces("# Tides" + chr(10) * 2 + "They rise." + chr(10) * 2 + "They fall."))
    [('Tides', 'They rise.\\n\\nThey fall.')]
    """
    heading, size = "", 0
    gathered: list[str] = []
    for block in re.split(r"\n{2,}", markdown):
        block = block.strip("\n")
        if _HEADING.match(block):
            if gathered:
                yield heading, "\n\n".join(gathered)
            heading, gathered, size = one_line(block.lstrip("# ")), [], 0
            continue
        while block:
            part, block = block[:LONGEST], block[LONGEST:]
            if block and " " in part:  # not within a word
                cut = part.rfind(" ")
                part, block = part[:cut], part[cut + 1 :] + block
            if gathered and size + len(part) > LONGEST:
                yield heading, "\n\n".join(gathered)
                gathered, size = [], 0
            gathered.append(part)
            size += len(part)
    if gathered:
        yield heading, "\n\n".join(gathered)
