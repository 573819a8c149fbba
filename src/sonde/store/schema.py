"""The tables of a run's database, and the version that says how to read them.

Everything that a decision rested on is in ``log``, in the order in which it happened; telling the
log to a fresh explorer gives its state bit for bit. The other tables are what the log refers to.
"""

from __future__ import annotations

from pathlib import Path

from sonde.errors import InputError

VERSION = 3

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
--   time: seconds that went (budgets in seconds)
--   budget: the limit was raised on resume
--   dice: an ask that found nothing has turned the dice all the same
--   lost: requests reserved before a power cut that the log knows nothing of; they count as spent
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
    --   settle: retry, cost, records, fresh (what the trap detector said), places (domain and
    --     basename of each link's target, where the source is not the Web), rtt (where the model
    --     hears of it: the microseconds after which each request was answered, with the host where
    --     that is not the node's own)
    --   time, budget, lost: the units; dice: the state
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
    score REAL,
    gain REAL,
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
    fingerprint INTEGER,          -- simhash of the content text, as a signed number
    digest BLOB,                  -- of the body
    etag TEXT,
    modified TEXT,
    rtt REAL,
    canonical TEXT,               -- what the page says its URL is, where that differs
    flags TEXT NOT NULL DEFAULT '',  -- needs-script, near-duplicate, cut, noindex
    text BLOB,                    -- content text, zstd, kept with --no-pages unless --no-text
    warc TEXT,                    -- file and offset of the response record, "name:offset"
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


def wrong_version(folder: Path, version: int) -> InputError:
    """What to say of a run folder of another version, or of none."""
    if version == 0:
        return InputError(f"{folder}: not the database of a run")
    age = "a newer" if version > VERSION else "an older"
    return InputError(
        f"{folder}: written by {age} sonde (version {version} of the run folder, this one reads"
        f" {VERSION})"
    )


TRACKING = """
-- A node of the tracked graph. state: frontier (seen, not visited), visited, gone (404, 410),
-- moved (to the node in moved), dropped (why says it), list (a feed or a sitemap).
CREATE TABLE IF NOT EXISTS tracked (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    why TEXT NOT NULL DEFAULT '',
    title TEXT NOT NULL DEFAULT '',
    found REAL NOT NULL,          -- when it was first seen
    visits INTEGER NOT NULL DEFAULT 0,
    last REAL,                    -- when it was last visited
    links INTEGER NOT NULL DEFAULT 0,    -- distinct links seen on it
    fresh INTEGER NOT NULL DEFAULT 0,    -- links new at the last visit
    elapsed REAL NOT NULL DEFAULT 0,     -- between the last two visits; of a list: until it is due
    score REAL NOT NULL DEFAULT 0,       -- link score at the last visit
    intervals INTEGER NOT NULL DEFAULT 0,
    changes INTEGER NOT NULL DEFAULT 0,  -- intervals that ended with a new link
    watched REAL NOT NULL DEFAULT 0,     -- the sum of intervals
    etag TEXT,
    modified TEXT,
    digest BLOB,
    warc TEXT,                    -- where the page as last fetched is kept
    misses INTEGER NOT NULL DEFAULT 0,   -- failures in a row
    retry REAL,                   -- it is left alone until then
    dated REAL,                   -- the latest date that a list gave it
    announced INTEGER NOT NULL DEFAULT 0,  -- a list says that it changed since it was visited
    moved INTEGER
);
CREATE INDEX IF NOT EXISTS tracked_retry ON tracked (retry) WHERE retry IS NOT NULL;
CREATE INDEX IF NOT EXISTS tracked_announced ON tracked (dated) WHERE announced;
CREATE INDEX IF NOT EXISTS tracked_lists ON tracked (id) WHERE state = 'list';

-- A link. It is there at the moment of its date, which entries of feeds have, or, without one,
-- when it was last seen. A link that a page has gained since a list dated it came at that date.
CREATE TABLE IF NOT EXISTS citations (
    source INTEGER NOT NULL,
    target INTEGER NOT NULL,
    first REAL NOT NULL,
    last REAL NOT NULL,
    dated REAL,
    PRIMARY KEY (source, target)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS citations_target ON citations (target);

-- Every visit, with the requests that were charged to it before they left.
CREATE TABLE IF NOT EXISTS sent (
    number INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    why TEXT NOT NULL,            -- expand, recrawl, announced, list
    charged REAL NOT NULL,        -- when the last of its requests was charged
    requests INTEGER NOT NULL,
    bytes INTEGER NOT NULL DEFAULT 0,
    outcome TEXT,                 -- NULL: in flight, or cut off
    status INTEGER,
    fresh INTEGER
);

CREATE TABLE IF NOT EXISTS ranked (
    node INTEGER PRIMARY KEY,
    rank INTEGER NOT NULL,
    cited INTEGER NOT NULL,       -- distinct sources within the window
    entered REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS ranking_changes (
    time REAL NOT NULL,
    change TEXT NOT NULL,         -- entered, left
    url TEXT NOT NULL,
    rank INTEGER NOT NULL,        -- where it stands now, or stood last
    cited INTEGER NOT NULL,
    why TEXT NOT NULL DEFAULT ''  -- of one that left: gone, moved
);
CREATE INDEX IF NOT EXISTS ranking_changes_time ON ranking_changes (time);
"""
"""What a run has besides once it is tracked; made when that begins, and of any version."""
