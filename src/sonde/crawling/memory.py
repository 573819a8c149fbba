"""What a crawl of the Web has learned about sites, besides the explorer's model.

Which places are traps, which spellings of a URL are one page, which pages say nearly the same, and
which URLs turned out to stand for a page that is known under another. All of it can be read back
from a run: pages are observed again in the order of the log. The words that a place has said are in
the snapshot that a run is left with; after a kill those of later pages are read again from what the
run has kept of them. Where it keeps neither pages nor text, a place may once more seem fresh.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable
from typing import Any

from sonde.sources.web.simhash import NearDuplicates
from sonde.sources.web.traps import TrapDetector
from sonde.sources.web.variants import VariantLearner

_PAGES = """
SELECT url, final_url, fingerprint, canonical, flags, log.data, log.seq, pages.lease
FROM log JOIN pages ON pages.lease = log.lease JOIN nodes ON nodes.number = pages.node
WHERE log.kind = 'settle' ORDER BY log.seq
"""


class Memory:
    """Traps, variants, near duplicates, aliases."""

    def __init__(self) -> None:
        self.traps = TrapDetector()
        self.variants = VariantLearner()
        self.near = NearDuplicates()
        self.aliases: dict[str, str] = {}  # a URL that is the page of another, which was visited

    def visited(self, url: str, final_url: str, canonical: str | None, mark: int) -> None:
        """A page was visited, and stands for all its names."""
        if final_url != url:
            self.aliases[final_url] = url
            self.variants.redirected(url, final_url)
        if canonical is not None and canonical not in (url, final_url):
            self.aliases.setdefault(canonical, url)
        self.variants.observe(final_url, mark)
        self.near.add(mark, url)

    def state(self) -> bytes:
        """What the log does not hold."""
        return zlib.compress(json.dumps(self.traps.state()).encode(), 1)

    def recall(self, database: sqlite3.Connection, content_of: Callable[[int], str | None]) -> None:
        """Become what the run's pages and its last snapshot say. ``content_of`` reads again what
        the page of a lease said."""
        row = database.execute(
            "SELECT log_seq, state FROM snapshots WHERE part = 'traps' ORDER BY log_seq DESC"
        ).fetchone()
        since = 0
        if row is not None:
            since = row[0]
            self.traps.restore(json.loads(zlib.decompress(row[1])))
        for url, final_url, mark, canonical, flags, data, seq, lease in database.execute(_PAGES):
            if "feed" in flags.split():
                continue
            told: dict[str, Any] = json.loads(data) if data else {}
            self.visited(url, final_url, canonical, mark & 0xFFFFFFFFFFFFFFFF)
            if seq > since:
                self.traps.told(final_url, told.get("fresh", True), content_of(lease))
