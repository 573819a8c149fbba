"""The collector: which records a crawl takes from its pages."""

from __future__ import annotations

from collections.abc import Collection

from sonde.sources.facts import Record
from sonde.sources.web.fields import read_rules
from sonde.sources.web.structured import StructuredPage


class Collector:
    """Reads structured data of these kinds, and what a file of fields (its text) describes."""

    def __init__(self, kinds: Collection[str], fields: str | None) -> None:
        self._kinds = frozenset(kinds)
        self._rules = () if fields is None else read_rules(fields)

    def records(self, body: bytes, url: str, content_type: str = "") -> list[Record]:
        """The records of an HTML body, each once."""
        page = StructuredPage(body, url, content_type)
        found = [record for rule in self._rules for record in rule.records(page)]
        if self._kinds:
            found += page.records(self._kinds)
        return list({record.mark: record for record in reversed(found)}.values())[::-1]
