"""The records of a run: what visits found, and what can still be read from its archived pages."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator

from sonde.sources.facts import Record
from sonde.store.reader import RunReader
from sonde.store.run_pages import run_pages

_RECORDS = "SELECT id, source, url, title, text, fields FROM records ORDER BY number"


def run_records(run: RunReader) -> Iterator[Record]:
    """What visits found, in order."""
    for name, source, url, title, text, fields in run.rows(_RECORDS):
        yield Record(name, source, url, title, text, json.loads(fields))


def read_records(run: RunReader, kinds: Collection[str], fields: str | None) -> Iterator[Record]:
    """What archived pages say in structured data, or what a file of fields finds on them, each
    record once."""
    known: set[str] = set()
    for page in run_pages(run):
        reading = page.content.reading
        for record in () if reading is None else reading.records(kinds, fields):
            if record.mark not in known:
                known.add(record.mark)
                yield record
