"""What a crawl gives to its source: plain settings, and objects that a program brought along."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sonde.budgets import Budget
from sonde.crawling.logbook import Logbook
from sonde.crawling.settings import Settings
from sonde.protocols import Source
from sonde.sources.kind import Equipment, Kind

_OBJECTS = ("estimator", "strategy", "objective", "scorer", "renderer", "lookup")
"""Settings that may be objects, which a run cannot keep."""


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


def split(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Plain settings, and those that are objects."""
    plain = dict(settings)
    objects = {
        name: plain.pop(name)
        for name in _OBJECTS
        if plain.get(name) is not None and not isinstance(plain[name], str)
    }
    for name in ("renderer", "lookup"):
        plain.pop(name, None)
    budget = plain.get("budget")
    if isinstance(budget, Budget):
        if budget.cost is not None:
            objects["cost"] = budget.cost
        del plain["budget"]
        plain |= {
            name: value
            for name, value in (
                ("budget", budget.requests),
                ("bytes", budget.bytes),
                ("seconds", budget.seconds),
            )
            if value is not None
        }
    return plain, objects
