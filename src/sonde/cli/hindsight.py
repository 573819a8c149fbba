"""What the model thought of a node at any time, by telling the run's log to a fresh explorer."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, fields

from sonde.crawling.retelling import retell
from sonde.crawling.settings import Settings
from sonde.errors import InputError
from sonde.explorer import Explorer, Opinion
from sonde.records import Visit
from sonde.store.history import Entry, entries, nodes
from sonde.store.reader import RunReader
from sonde.store.summary import RANKED


@dataclass(frozen=True, slots=True)
class Moment:
    """The node as the model saw it after so many visits; ``because`` is the lease of the page
    whose links changed it, ``None`` for the last word."""

    visits: int
    because: int | None
    opinions: tuple[Opinion, ...]


def settings_of(run: RunReader) -> Settings:
    """What the run was told; what it keeps besides settings is left out."""
    known = {field.name for field in fields(Settings)}
    config = run.meta("config") or {}
    return Settings.of({name: value for name, value in config.items() if name in known})


def explorer_of(run: RunReader) -> Explorer:
    """A fresh explorer of the run's own making."""
    settings = settings_of(run)
    config = run.meta("config") or {}
    web = config.get("source", "web") == "web"
    return Explorer(
        settings.estimator,
        settings.strategy,
        settings.limits,
        settings.objective,
        settings.seed,
        grouped=config.get("kind", {}).get("grouped", web),
    )


def hindsight(
    run: RunReader, explorer: Explorer, url: str, before: int | None = None
) -> list[Moment]:
    """How the opinion of a node changed, as long as it was on the frontier.

    The log is told up to the lease `before`, or to its end. The last moment is the state then;
    only it has ranks, because a rank looks at the whole frontier.
    """
    moments: list[Moment] = []
    changed: int | None = None
    for entry in retold(run, explorer):
        if changed is not None:
            moments += _moment(explorer, url, changed, ranked=False)
            changed = None
        if entry.kind == "lease" and entry.lease is not None:
            if entry.lease.number == before:
                break
            if entry.lease.node == url:
                moments += _moment(explorer, url, None, ranked=True)
        if isinstance(entry.outcome, Visit) and entry.lease is not None:
            linked = any(link.target == url for link in entry.outcome.links)
            changed = entry.lease.number if linked else None
    if changed is not None:
        moments += _moment(explorer, url, changed, ranked=False)
    return moments + _moment(explorer, url, None, ranked=True)


def retold(run: RunReader, explorer: Explorer) -> Iterator[Entry]:
    """Tell the log; each entry is given out before the explorer hears of it."""
    try:
        known = nodes(run.database)
        for entry in entries(run.database, known):
            yield entry
            retell(explorer, known, entry, entry.lease)
    except sqlite3.DatabaseError as error:
        raise InputError(f"{run.folder}: cannot be read: {error}") from None


def _moment(explorer: Explorer, url: str, because: int | None, *, ranked: bool) -> list[Moment]:
    """One moment, or none where the node is not on the frontier."""
    if not explorer.waits(url):
        return []
    opinions = explorer.opinions(url, RANKED if ranked else 0)
    return [Moment(explorer.visits, because, tuple(opinions))]
