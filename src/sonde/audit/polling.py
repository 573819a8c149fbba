"""Polling a site: a small crawl, and what it saw."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sonde.crawl import Crawl
from sonde.scorers.document import Document, Scores
from sonde.store.reading import RunReader

_HTML = ("text/html", "application/xhtml+xml", "")


@dataclass(frozen=True)
class PolledPage:
    """One page: its URL after redirects, how often it links to what, its hop from the start."""

    url: str
    links: dict[str, int]
    hop: int
    rtt: float | None


@dataclass(frozen=True)
class Poll:
    """What was seen of one site. ``invalid`` are URLs known not to be HTML pages, by reason."""

    url: str
    requests: int
    stop: str
    pages: tuple[PolledPage, ...]
    invalid: dict[str, str]
    hops: dict[str, int]  # of every URL on the frontier or beyond it
    rtt: tuple[float, float] | None  # smoothed mean and deviation of the site's first host


class _Notebook:
    """A scorer that finds every page worth nothing, and notes its links."""

    def __init__(self) -> None:
        self.links: dict[str, dict[str, int]] = {}

    def __str__(self) -> str:
        return "audit"

    def score(self, document: Document, /) -> Scores:
        if document.window:  # a feed has none
            self.links[document.url] = dict(Counter(link.url for link in document.links))
        return Scores(0.0, [0.0] * len(document.links))


def poll(
    url: str,
    budget: int,
    *,
    begun: Callable[[Crawl], None] = lambda crawl: None,
    **settings: Any,
) -> Poll:
    """Poll a site with so many requests, breadth first. ``begun`` is given the crawl before it
    runs; ``settings`` are those of a crawl."""
    notebook = _Notebook()
    with tempfile.TemporaryDirectory(prefix="sonde-audit-") as folder:
        path = Path(folder) / "run"
        crawl = Crawl(
            url,
            path=path,
            scorer=notebook,
            estimator="bfs",
            budget=budget,
            pages=False,
            text=False,
            **settings,
        )
        begun(crawl)
        result = crawl.run_to_end()
        with RunReader(path) as run:
            return _noted(url, result.requests, result.stop_reason, notebook, run)


def _noted(url: str, requests: int, stop: str, notebook: _Notebook, run: RunReader) -> Poll:
    pages = []
    invalid = {}
    for name, final, media, hop, rtt in run.rows(
        "SELECT url, final_url, media_type, depth, rtt FROM pages"
        " JOIN nodes ON nodes.number = pages.node ORDER BY lease"
    ):
        if media not in _HTML or final not in notebook.links:
            invalid[name] = media or "feed"
        else:
            pages.append(PolledPage(final, notebook.links[final], hop, rtt))
    for name, reason in run.rows(
        "SELECT url, reason FROM leases JOIN nodes ON nodes.number = leases.node"
        " WHERE outcome IN ('failure', 'skip') AND NOT retry"
    ):
        invalid[name] = reason
    first = run.one(
        "SELECT rtt, rtt_deviation FROM hosts WHERE rtt IS NOT NULL"
        " ORDER BY requests DESC, host LIMIT 1"
    )
    return Poll(
        url,
        requests,
        stop,
        tuple(pages),
        invalid,
        dict(run.rows("SELECT url, depth FROM nodes")),
        None if first is None else (first[0], first[1]),
    )
