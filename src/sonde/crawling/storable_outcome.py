"""Outcomes as a run can keep them: what a source says of a node, made storable before it counts.

Sources repeat what strangers say. Text that no database takes is made whole here, for every source
and before the explorer hears of it, so that a node has one name in memory and on disk. What cannot
be stored at all is a failure of that node, not of the run.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from sonde.records import Failure, Link, LinkColumns, Outcome, Visit
from sonde.sources.facts import PageFacts, PageVisit, Record
from sonde.store.journal import storable
from sonde.whole_text import whole

UNSTORABLE = "unstorable"
"""Why a node has failed whose visit holds what no run can keep."""

_TEXTS = ("final_url", "media_type", "language", "title", "flags")
_TEXTS_OR_NONE = ("etag", "modified", "canonical", "warc")
_FACTS = tuple(each.name for each in fields(PageFacts))


def storable_outcome(outcome: Outcome) -> Outcome:
    """The outcome itself where everything in it can be kept, else one that can be."""
    if not isinstance(outcome, Visit):
        reason = whole(outcome.reason)
        return outcome if reason is outcome.reason else replace(outcome, reason=reason)
    changed: dict[str, Any] = {}
    try:
        links = _links(outcome.links)
        if links is not outcome.links:
            changed["links"] = links
        if outcome.records:
            changed["records"] = tuple(map(_record, outcome.records))
        if isinstance(outcome, PageVisit):
            if outcome.facts is not None:
                changed["facts"] = _facts(outcome.facts)
            if outcome.found:
                changed["found"] = [_found(record) for record in outcome.found]
            if outcome.refused:
                changed["refused"] = [(_text(node), _text(why)) for node, why in outcome.refused]
    except (TypeError, ValueError, RecursionError):
        return Failure(UNSTORABLE, spent=outcome.spent)
    return replace(outcome, **changed) if changed else outcome


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return whole(value)


def _ascii(texts: Iterable[Any]) -> bool:
    """Whether all are texts of plain letters: nearly always, and quick to see."""
    try:
        return "".join(texts).isascii()
    except TypeError:
        return False


def _links(links: Sequence[Link]) -> Sequence[Link]:
    if isinstance(links, LinkColumns):
        if _ascii(links.targets) and (links.groups is None or _ascii(filter(None, links.groups))):
            return links
        groups = None if links.groups is None else [_whole(group) for group in links.groups]
        return replace(links, targets=[_whole(target) for target in links.targets], groups=groups)
    if all(_ascii(column) for column in _names(links)):
        return links
    return [
        link._replace(target=_whole(link.target), group=_whole(link.group), text=whole(link.text))
        for link in links
    ]


def _names(links: Sequence[Link]) -> Iterator[Iterable[Any]]:
    yield (link.target for link in links)
    yield (link.group or "" for link in links)
    yield (link.text for link in links)


def _whole(name: Hashable) -> Hashable:
    """A name made whole; of one that is no text the logbook says so."""
    return whole(name) if isinstance(name, str) else name


def _record(record: Hashable) -> Hashable:
    """A record as the log can keep it: a text or a number."""
    if isinstance(record, str):
        return whole(record)
    if record is None or isinstance(record, (bool, int)):
        return record
    if isinstance(record, float) and math.isfinite(record):
        return record
    raise TypeError


def _found(record: Record) -> Record:
    """A record whose texts are whole, and whose fields can be written."""
    json.dumps(dict(record.fields), default=str)  # or they cannot
    texts = (record.id, record.source, record.url, record.title, record.text)
    if _ascii(texts):
        return record
    named, source, url, title, text = map(_text, texts)
    return replace(record, id=named, source=source, url=url, title=title, text=text)


def _facts(facts: PageFacts) -> PageFacts:
    changed: dict[str, Any] = {}
    for name in _FACTS:
        value = getattr(facts, name)
        if name in _TEXTS or (name in _TEXTS_OR_NONE and value is not None):
            kept: Any = _text(value)
        elif value is None or isinstance(value, (str, bytes, int, float)):
            kept = storable(value)
        elif isinstance(value, np.generic):  # a number of a kernel's
            kept = storable(value.item())
        elif name == "stale" and all(each is None or isinstance(each, int) for each in value):
            kept = value
        else:
            raise TypeError
        if kept is not value:
            changed[name] = kept
    return replace(facts, **changed) if changed else facts
