"""What a run knows of one URL: where it was seen, whether it was asked, what came of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sonde.store.reader import RunReader


@dataclass(frozen=True, slots=True)
class Parent:
    """A visited page that links to the URL; ``link_score`` is what the link promised."""

    url: str
    score: float | None
    link_score: float
    lease: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """One row of the ledger."""

    lease: int
    chooser: str
    arm: int
    predicted: float | None
    rank: int | None
    ready: int | None
    outcome: str | None
    reason: str | None
    retry: int
    score: float | None
    gain: float | None
    requests: int
    bytes: int
    seconds: float
    asked: float
    settled: float | None


@dataclass(frozen=True, slots=True)
class Seen:
    """The page as it was last visited."""

    final_url: str
    status: int
    title: str
    media_type: str
    language: str
    flags: str


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything about one URL. ``state`` is one of

    visited, failed, skipped, in flight, frontier (it may still be asked), refused (seen, and
    kept off the frontier), redirect (only the target of another URL's redirect), unknown.
    """

    url: str
    state: str
    reason: str
    number: int | None = None
    depth: int | None = None
    first_seen_on: str | None = None
    attempts: tuple[Attempt, ...] = ()
    page: Seen | None = None
    parents: tuple[Parent, ...] = ()
    redirected_from: tuple[str, ...] = ()


_STATES = {"visit": "visited", "failure": "failed", "skip": "skipped", "interrupt": "skipped"}


def trace(run: RunReader, url: str) -> Trace:
    """What the run knows of a URL."""
    redirected = tuple(
        source
        for (source,) in run.rows(
            "SELECT DISTINCT nodes.url FROM pages JOIN nodes ON nodes.number = pages.node"
            " WHERE final_url = ? AND nodes.url <> ?",
            url,
            url,
        )
    )
    node = run.one("SELECT number, parent, depth FROM nodes WHERE url = ?", url)
    if node is None:
        return _off_the_frontier(run, url, redirected)
    number, parent, depth = node
    attempts = _attempts(run, number)
    state, reason = "frontier", ""
    if attempts:
        last = attempts[-1]
        if last.outcome is None:
            state = "in flight"
        elif not last.retry and last.outcome != "interrupt":
            state = _STATES[last.outcome]
        reason = last.reason or ""
    return Trace(
        url=url,
        state=state,
        reason=reason,
        number=number,
        depth=depth,
        first_seen_on=None if parent is None else _asked(run, parent),
        attempts=attempts,
        page=_page(run, number),
        parents=_parents(run, number, parent or 0),
        redirected_from=redirected,
    )


def _off_the_frontier(run: RunReader, url: str, redirected: tuple[str, ...]) -> Trace:
    refused = run.one("SELECT reason, lease FROM refused WHERE url = ?", url)
    if refused is not None:
        seen_on = None if refused[1] is None else _asked(run, refused[1])
        return Trace(url, "refused", refused[0], first_seen_on=seen_on, redirected_from=redirected)
    return Trace(url, "redirect" if redirected else "unknown", "", redirected_from=redirected)


def _asked(run: RunReader, lease: int) -> str | None:
    """The URL that a lease asked for."""
    found = run.one(
        "SELECT url FROM leases JOIN nodes ON nodes.number = leases.node WHERE leases.number = ?",
        lease,
    )
    return None if found is None else str(found[0])


def _attempts(run: RunReader, number: int) -> tuple[Attempt, ...]:
    rows = run.rows(
        "SELECT number, chooser, arm, predicted, rank, ready, outcome, reason, retry, score, gain,"
        " requests, bytes, seconds, asked, settled FROM leases WHERE node = ? ORDER BY number",
        number,
    )
    return tuple(Attempt(*row) for row in rows)


def _page(run: RunReader, number: int) -> Seen | None:
    row = run.one(
        "SELECT final_url, status, title, media_type, language, flags FROM pages WHERE node = ?"
        " ORDER BY lease DESC LIMIT 1",
        number,
    )
    return None if row is None else Seen(*row)


def _parents(run: RunReader, number: int, first: int) -> tuple[Parent, ...]:
    """The pages that link to a node, in order of visit, from the lease on that brought it."""
    needle = np.array([number], "<i4").tobytes()
    found = []
    for lease, url, score, targets, scores in run.rows(
        "SELECT lease, url, score, targets, scores FROM pages"
        " JOIN leases ON leases.number = pages.lease JOIN nodes ON nodes.number = pages.node"
        " WHERE lease >= ? AND instr(targets, ?) > 0 ORDER BY lease",
        first,
        needle,
    ):
        # The bytes may also be found across two numbers.
        places = np.flatnonzero(np.frombuffer(targets, "<i4") == number)
        if len(places):
            alpha = float(np.frombuffer(scores, "<f8")[places].sum())
            found.append(Parent(url, score, alpha, lease))
    return tuple(found)


def title_of(run: RunReader, lease: int) -> str:
    """What the page is called that a lease visited."""
    found = run.one("SELECT title FROM pages WHERE lease = ?", lease)
    return "" if found is None else str(found[0])
