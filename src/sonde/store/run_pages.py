"""The pages of a run, one at a time, with what they said."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sonde.errors import InputError
from sonde.sources.kinds import kind_named
from sonde.store.page_content import PageContent, Reads
from sonde.store.reader import RunReader

_PAGES = """
SELECT leases.number, nodes.url, final_url, title, score, gain, predicted, depth, status,
    media_type, language, flags, settled, hex(digest), text, warc, main
FROM log JOIN leases ON leases.number = log.lease JOIN nodes ON nodes.number = leases.node
JOIN pages ON pages.lease = leases.number
WHERE log.kind = 'settle' AND outcome = 'visit' ORDER BY log.seq
"""


@dataclass(frozen=True, slots=True)
class RunPage:
    """One visit. ``node`` is what was asked for, ``url`` what answered, after redirects. ``digest``
    is the SHA-1 of the body, in hexadecimal."""

    lease: int
    node: str
    url: str
    title: str
    score: float
    gain: float
    predicted: float | None
    depth: int
    status: int
    media_type: str
    language: str
    flags: str
    visited: datetime
    digest: str
    content: PageContent = field(repr=False, compare=False)

    @property
    def text(self) -> str | None:
        """The main text; ``None`` where ``missing`` says why."""
        try:
            return self.content.text
        except InputError as error:
            raise InputError(f"{error} ({self.node})") from None

    @property
    def markdown(self) -> str | None:
        """The text as Markdown; ``None`` where the run kept no answer."""
        return self.content.markdown

    @property
    def html(self) -> str | None:
        """The body, decoded; ``None`` where the run kept no answer."""
        return self.content.html

    @property
    def missing(self) -> str:
        """Why there is no text; empty where there is."""
        return self.content.missing


def run_pages(run: RunReader) -> Iterator[RunPage]:
    """All visits of a run, in order."""
    reading = reads_of(run)
    for row in run.rows(_PAGES):
        settled, digest, text, warc, main = row[12:]
        visited = datetime.fromtimestamp(settled or 0.0, UTC)
        content = PageContent(text, warc, main, row[9], row[11], run.archived, reading)
        told: tuple[Any, ...] = (*row[:12], visited, (digest or "").lower(), content)
        yield RunPage(*told)


def content_of(run: RunReader, lease: int, reading: Reads) -> PageContent | None:
    """What the page of one visit said; ``None`` where it has no page."""
    row = run.one("SELECT text, warc, main, media_type, flags FROM pages WHERE lease = ?", lease)
    if row is None:
        return None
    text, warc, main, media_type, flags = row
    return PageContent(text, warc, main, media_type, flags, run.archived, reading)


def reads_of(run: RunReader) -> Reads:
    """How the run's kind of source reads what is archived; of a source that is not there any more
    nothing is read."""
    config: dict[str, Any] = run.meta("config") or {}
    with suppress(InputError):
        return kind_named(config.get("source", "web")).reading
    return lambda archived, media_type, main: None
