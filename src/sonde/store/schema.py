"""The tables of a run's database, and the version that says how to read them.

Everything that a decision rested on is in ``log``, in the order in which it happened; telling the
log to a fresh explorer gives its state bit for bit. The other tables are what the log refers to.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from sonde.errors import InputError

VERSION = 4

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- A node's number is its order of discovery, as in the explorer.
CREATE TABLE nodes (
    number INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    host TEXT NOT NULL,
    parent INTEGER,               -- the lease on which it was first seen; NULL for a seed
    depth INTEGER NOT NULL
);

-- One row for everything that changed the explorer's state.
--   seed: a node was named as a seed          lease: a node was asked
--   extend: a lease was given another unit    settle: an outcome was told
--   interrupt: a lease in flight when the run was killed, settled as spent on resume
--   correct: the score of a page that was visited before is another one, once
--   time: seconds that went (budgets in seconds)
--   budget: the limit was raised on resume
--   harvest: the crawl had ended for a low harvest, which is judged from here on
--   dice: an ask that found nothing has turned the dice all the same
--   lost: requests reserved before a power cut that the log knows nothing of; they count as spent
--   aside: a request that belongs to no lease (a spider's media)
CREATE TABLE log (
    seq INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    lease INTEGER,                -- lease number, where there is one
    node INTEGER,
    -- JSON, by kind, NULL where there is nothing to say.
    --   lease: hold (the units held, unless it is one request), dice (where they turned), and the
    --     hosts that were ready, as changes since the lease before: on and off (numbers of hosts
    --     in order of discovery), or all (true: the choice was not restricted)
    --   extend: the units added, unless it is one request
    --   settle: retry, cost, records, stale (what was found of a page that brought little new:
    --     whether it was fresh, repeats another, requests left, copies another host), places
    --     (domain and basename of each link's target, where the source is not the Web), rtt (where
    --     the model hears of it: the microseconds after which each request was answered, with the
    --     host where that is not the node's own)
    --   correct: score, and told, what it was before
    --   time, budget, lost, aside: the units; dice: the state
    data TEXT
);

-- The ledger: one row a lease.
CREATE TABLE leases (
    number INTEGER PRIMARY KEY,
    node INTEGER NOT NULL,
    arm INTEGER NOT NULL,         -- which leaf picked it; -1 for a seed
    chooser TEXT NOT NULL,
    predicted REAL,
    rank INTEGER,                 -- among all frontier nodes, exact up to 100; 0 beyond
    ready INTEGER,                -- how many hosts were ready when it was first among them
    asked REAL NOT NULL,          -- wall clock
    outcome TEXT,                 -- visit, failure, skip, interrupt; NULL while in flight
    reason TEXT,
    retry INTEGER NOT NULL DEFAULT 0,  -- settled without a visit, and back on the frontier
    score REAL,                   -- as it was last corrected
    gain REAL,
    told_score REAL,              -- as they were told, where they were corrected since
    told_gain REAL,
    requests INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    seconds REAL NOT NULL DEFAULT 0,
    settled REAL
);
CREATE INDEX leases_node ON leases (node);

-- What a visit brought, besides its score. Links are arrays: numbers as little-endian int32,
-- scores as float64, in the order told; places (where the model reads them) as records of RFU and
-- BFU, float64, and further links to the same target, int32. Domain and basename of a target follow
-- from its URL.
CREATE TABLE pages (
    lease INTEGER PRIMARY KEY,
    node INTEGER NOT NULL,
    final_url TEXT NOT NULL,      -- after redirects
    status INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    language TEXT NOT NULL,
    title TEXT NOT NULL,
    sketch BLOB,                 -- what it is recognised by (see sources/web/twins.py)
    twin INTEGER,                 -- the lease of the earlier page that it nearly repeats,
    jaccard REAL,                 -- with the similarity of their main texts
    containment REAL,             -- and the share of the shorter one that the other has
    digest BLOB,                  -- of the body
    etag TEXT,
    modified TEXT,
    rtt REAL,
    canonical TEXT,               -- what the page says its URL is, where that differs
    flags TEXT NOT NULL DEFAULT '',  -- needs-script, rendered, near-duplicate, cut, noindex
    main BLOB,                    -- where main text stands in the text, int32 pairs of characters;
                                  -- NULL where it is all of it
    text BLOB,                    -- main text, zstd, kept with --no-pages unless --no-text
    warc TEXT,                    -- file and offset of the record of the page, "name:offset"
    rendered TEXT,                -- why a browser drew it, what that cost and brought
    targets BLOB NOT NULL,
    scores BLOB NOT NULL,
    places BLOB,
    words BLOB                    -- of the links: NULL without any (see store/log.py)
);
CREATE INDEX pages_node ON pages (node);

-- URLs seen and never put on the frontier, each once, with the first reason.
CREATE TABLE refused (
    url TEXT PRIMARY KEY,
    reason TEXT NOT NULL,         -- scope, robots, trap, duplicate, nofollow, too-deep, ...
    lease INTEGER                 -- where it was seen
) WITHOUT ROWID;

-- What visits found: results of a search form, posts, structured data of pages. Each once, as the
-- first visit that brought it had it.
CREATE TABLE records (
    number INTEGER PRIMARY KEY,
    source TEXT NOT NULL,         -- form, post, json-ld, microdata, opengraph, meta, or a table of
                                  -- a file of fields
    id TEXT NOT NULL,
    lease INTEGER NOT NULL,
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    fields TEXT NOT NULL,         -- JSON
    UNIQUE (source, id)
);
CREATE INDEX records_lease ON records (lease);

-- The positions in the log that there is a checkpoint of (see store/log.py).
CREATE TABLE checkpoints (log_seq INTEGER PRIMARY KEY);

-- The parts that a source keeps by name, as of a position in the log.
CREATE TABLE snapshots (
    log_seq INTEGER NOT NULL,
    part TEXT NOT NULL,
    state BLOB NOT NULL,
    PRIMARY KEY (log_seq, part)
) WITHOUT ROWID;
"""


TABLES = frozenset(re.findall(r"CREATE TABLE (\w+)", SCHEMA))
"""The tables that every run has."""

TABLES_THERE = "SELECT name FROM sqlite_schema WHERE type = 'table'"
"""The query for those that a database has."""


def check_tables(path: Path, there: Collection[str]) -> None:
    """Say so where a run lacks one of its tables."""
    if missing := sorted(TABLES.difference(there)):
        raise InputError(f"{path}: damaged: it has no table {', '.join(missing)}")


def wrong_version(folder: Path, version: int) -> InputError:
    """What to say of a run folder of another version, or of none."""
    if version == 0:
        return InputError(f"{folder}: not the database of a run")
    age = "a newer" if version > VERSION else "an older"
    return InputError(
        f"{folder}: written by {age} sonde (version {version} of the run folder, this one reads"
        f" {VERSION})"
    )
