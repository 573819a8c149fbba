"""Importing a crawl's run: the tracker starts from what it brought, and looks again when it starts.

A crawl keeps links, not the feeds that a page names. So the first page of each host comes without
its tag and date, and the tracker's first visit of it is not conditional.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import numpy as np

from sonde.crawling import OpenedRun
from sonde.crawling.keeper import RunArchive, RunKeeper
from sonde.errors import InputError
from sonde.net.client_settings import client_settings
from sonde.net.urls import group_of
from sonde.sources.web.kind import Web
from sonde.sources.web.source import WebAccess
from sonde.track.citations import Citations

_LAST = """
SELECT nodes.number, nodes.url, outcome, reason, retry, settled FROM nodes LEFT JOIN leases
ON leases.number = (SELECT max(number) FROM leases WHERE node = nodes.number
    AND outcome IS NOT NULL)
WHERE nodes.number >= ? OR leases.number > ? ORDER BY nodes.number
"""

_PAGES = """
SELECT pages.lease, pages.node, settled, pages.flags, title, etag, modified, digest, warc, targets
FROM pages JOIN leases ON leases.number = pages.lease WHERE pages.lease > ? ORDER BY pages.lease
"""


def take_in(store: Citations, now: float, window: float) -> int:
    """Nodes and links that the crawl has brought since the last time; how many pages."""
    known, lease = store.recall("track_taken") or (0, 0)
    nodes, latest = 0, lease
    ids: dict[int, int] = {}
    with store.change():
        for number, url, outcome, reason, retry, settled in store.run(_LAST, known, lease):
            found = store.find(url)
            state = _state(outcome, reason, retry)
            if found is None:
                ids[number] = store.add(url, state, settled or now)
            else:
                ids[number] = found[0]
                if found[1] in ("frontier", "dropped") and state == "visited":
                    store.update(found[0], state=state, why="", retry=None)
            nodes = number + 1
        pages = _pages(store, lambda number: _id(store, ids, number), lease, now, window)
        if pages:
            latest = pages[-1]
        store.remember("track_taken", (max(known, nodes), latest))
    return len(pages)


def _state(outcome: str | None, reason: str | None, retry: int | None) -> str:
    if outcome == "visit":
        return "visited"
    if outcome is None or retry:
        return "frontier"
    return "gone" if reason in ("http-404", "http-410") else "dropped"


def _id(store: Citations, ids: dict[int, int], number: int) -> int:
    found = ids.get(number)
    if found is None:
        url = store.value("SELECT url FROM nodes WHERE number = ?", number)
        known = store.find(url)
        assert known is not None
        found = ids[number] = known[0]
    return found


def _pages(
    store: Citations, id_of: Callable[[int], int], lease: int, now: float, window: float
) -> list[int]:
    taken = []
    hosts: set[str] = set()
    for number, node, settled, flags, title, etag, modified, digest, warc, targets in store.run(
        _PAGES, lease
    ).fetchall():
        taken.append(number)
        source = id_of(node)
        kept = store.node(source)
        when = min(settled if settled is not None else now, now)
        if kept.last is not None and kept.last >= when:
            continue  # the tracker has seen it since
        facts = {"last": when, "visits": kept.visits + 1, "title": title, "why": ""}
        host = group_of(kept.url)
        if lease or host in hosts:
            facts |= {"etag": etag, "modified": modified, "digest": digest, "warc": warc}
        hosts.add(host)
        if "feed" in flags.split():
            store.update(source, state="list", **facts)
            continue
        linked = {id_of(target) for target in np.frombuffer(targets, "<i4").tolist()} - {source}
        never, fresh = store.see(source, sorted(linked), kept.last, when)
        elapsed = window if kept.last is None else when - kept.last
        store.update(
            source,
            state="visited",
            links=kept.links + len(never),
            fresh=len(fresh),
            elapsed=elapsed,
            score=len(fresh),
            intervals=kept.intervals + 1,
            changes=kept.changes + bool(fresh),
            watched=kept.watched + elapsed,
            **facts,
        )
    return taken


@asynccontextmanager
async def connected(opened: OpenedRun) -> AsyncIterator[WebAccess]:
    """The Web as the crawl of a run has learned to know it."""
    run, settings = opened.run, opened.settings
    if settings.login is not None:
        raise InputError(f"{run.path}: its crawl logs in, and to track it so is not possible")
    archive = RunArchive(run) if settings.pages and run.pages is not None else None
    web = WebAccess(
        settings,
        opened.seeds,
        client_settings(settings),
        settings.fetch_limits,
        RunKeeper(run, Web.tables),
        archive,
    )
    try:
        web.recall()
        yield web
    finally:
        await web.close()
        if archive is not None:
            archive.close()
