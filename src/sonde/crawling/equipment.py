"""What a crawl gives to its source: plain settings, and objects that a program brought along."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sonde.crawling.logbook import Logbook
from sonde.crawling.settings import Settings
from sonde.protocols import Source
from sonde.sources.kind import Equipment, Kind


@dataclass(frozen=True, kw_only=True)
class CrawlEquipment(Equipment):
    """What a source in this room is given besides: all settings, the book, objects."""

    settings: Settings
    book: Logbook
    objects: Mapping[str, Any]


class Custom(Kind):
    """An object that a program brought along: a run keeps that there was one."""

    name = "custom"
    summary = "an object of a program's own"

    def __init__(self, source: Source | None) -> None:
        self._source = source

    def make(self, options: Any, equipment: Any) -> Source:
        assert self._source is not None
        return self._source
