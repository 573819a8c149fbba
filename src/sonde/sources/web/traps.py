"""Crawl traps: places that always have one more page and nothing new on it.

Two kinds are told apart.

*Growing paths* are seen in the URL alone: a segment or a cycle of segments that comes three times
in a row, one segment that comes four times in all, or more than twenty segments.

*Stale templates* are seen by visiting. URLs of one shape (``template_of``: digits and hashes
collapsed, parameters by name) share a tally of how many visits there were and how many brought
something new. A visit is stale when hardly any of its pairs of neighbouring words (numbers left
out) had not been read before in the same place: the months of a calendar differ in numbers, the
facets of a shop in order. Shapes are tallied at three levels, so that a trap cannot hide by varying
one of them: the template, its path whatever the parameters, and its directory.

``factor`` is the shrunken share of fresh visits, to multiply a link's promise with: the yield
decays as the trap shows itself. ``verdict`` is the end of it: when the last visits brought almost
nothing new, what is left of that shape is a trap. Fresh pages that score nothing are not traps,
however many there are; the estimators deal with those.

Deterministic; ``state`` and ``restore`` are plain JSON data, and so is telling the log again.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sonde.kernels.text.simhash import distinct, merge, pair
from sonde.net.urls import group_of

_PRIOR = 2.0
_RECENT = 12
_HISTORY = 32
_FRESH_SHARE = 0.1  # of a shape's last visits: with no more it is a trap
_NEW_SHARE = 0.2  # of a page's pairs: with fewer the page is stale ...
_NEW_ENOUGH = 30  # ... unless there are so many all the same
_READ = 4_000  # characters of a page that are looked at
_MOST_PAIRS = 4_096  # remembered of one place; then it begins anew
_MOST_PLACES = 512  # remembered at one time: those visited last
_LONGEST_PATH = 20
_ASCII = bytes(range(128))
_NUMBERS = re.compile(r"\d+")
_MOST_REPEATS = 3

# How many visits convict a shape, by level: wider shapes need more evidence.
_ENOUGH = {"template": 12, "path": 20, "directory": 30}


@dataclass(slots=True)
class _Tally:
    """Visits in all, and one bit for each of the last ``_HISTORY``: was it fresh?"""

    visits: int = 0
    bits: int = 0

    def add(self, fresh: bool) -> None:
        self.visits += 1
        self.bits = (self.bits << 1 | fresh) & ((1 << _HISTORY) - 1)

    def fresh(self, last: int) -> int:
        """How many of the last so many visits were fresh."""
        return (self.bits & ((1 << last) - 1)).bit_count()

    @property
    def share(self) -> float:
        last = min(self.visits, _RECENT)
        return (self.fresh(last) + _PRIOR) / (last + _PRIOR)


class TrapDetector:
    """Keeps a tally for every shape visited."""

    def __init__(self) -> None:
        self._tallies: dict[str, _Tally] = {}
        self._shares: dict[str, float] = {}  # of the shapes that yield less than they could
        self._suspects: dict[str, None] = {}  # hosts with a stale visit: others are not looked at
        self._read: dict[str, NDArray[np.uint32]] = {}  # sorted pairs by place, last visited last

    def observe(self, url: str, content: str) -> bool:
        """Take in a visited page's content; whether it was fresh among its like."""
        shapes = _shapes(url)
        place = shapes[-1]  # the widest
        fresh = self._is_fresh(place, word_pairs(content[:_READ]))
        self._tally(url, shapes, fresh)
        return fresh

    def told(self, url: str, fresh: bool, content: str | None = None) -> None:
        """Take in what ``observe`` said of a page.

        The tallies become what they were. Where its content is not at hand any more, words read on
        that page count as new once more.
        """
        shapes = _shapes(url)
        if content is not None:
            self._is_fresh(shapes[-1], word_pairs(content[:_READ]))
        self._tally(url, shapes, fresh)

    def _tally(self, url: str, shapes: tuple[str, ...], fresh: bool) -> None:
        for shape in shapes:
            tally = self._tallies.setdefault(shape, _Tally())
            tally.add(fresh)
            self._note(shape, tally)
        if not fresh:
            self._suspects[group_of(url)] = None

    def _note(self, shape: str, tally: _Tally) -> None:
        if tally.share < 1.0:
            self._shares[shape] = tally.share
        else:
            self._shares.pop(shape, None)

    def _is_fresh(self, place: str, pairs: NDArray[np.uint32]) -> bool:
        known = self._read.pop(place, None)
        if known is None:
            if len(self._read) >= _MOST_PLACES:
                self._read.pop(next(iter(self._read)))
            self._read[place] = pairs
            return True
        merged = np.empty(len(known) + len(pairs), dtype=np.uint32)
        new: int = merge(known, pairs, merged)
        size = len(known) + new
        self._read[place] = merged[:size].copy() if size <= _MOST_PAIRS else pairs
        return new >= _NEW_ENOUGH or new > _NEW_SHARE * len(pairs)

    def factor(self, url: str) -> float:
        """What to multiply a link's promise with: 1 for places not known to be stale."""
        shares = self._shares
        if not shares:
            return 1.0
        least = 1.0
        for shape in _shapes(url):
            share = shares.get(shape, 1.0)
            if share < least:
                least = share
        return least

    def verdict(self, url: str, group: str) -> str | None:
        """Why a URL of a group is a trap, or ``None``."""
        grown = growing(url)
        if grown is not None:
            return grown
        if group not in self._suspects:
            return None
        for place, shape in enumerate(_shapes(url)):
            tally = self._tallies.get(shape)
            level = "template" if place == 0 else "path" if shape.endswith("?*") else "directory"
            enough = _ENOUGH[level]
            if tally is not None and tally.visits >= enough:
                fresh = tally.fresh(enough)
                if fresh <= _FRESH_SHARE * enough:
                    return f"stale {level}: {fresh} of the last {enough} pages like it were new"
        return None

    def state(self) -> dict[str, Any]:
        """Everything, as plain data."""
        return {
            "tallies": {
                shape: [tally.visits, tally.bits] for shape, tally in self._tallies.items()
            },
            "suspects": list(self._suspects),
            "read": {
                place: base64.b64encode(pairs.astype("<u4").tobytes()).decode()
                for place, pairs in self._read.items()
            },
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Become what ``state`` described."""
        self._tallies = {
            shape: _Tally(visits, bits) for shape, (visits, bits) in state["tallies"].items()
        }
        self._shares.clear()
        for shape, tally in self._tallies.items():
            self._note(shape, tally)
        self._suspects = dict.fromkeys(state["suspects"])
        self._read = {
            place: np.frombuffer(base64.b64decode(pairs), dtype="<u4").astype(np.uint32)
            for place, pairs in state["read"].items()
        }


def word_pairs(text: str) -> NDArray[np.uint32]:
    """The pairs of neighbouring words of a text, hashed, sorted, each once; numbers are left out.

    A word counts by its first eight bytes. White space must be collapsed.
    """
    raw = text.encode("utf-8", "replace")
    if not text.isascii() and any(map(str.isdecimal, raw.translate(None, _ASCII).decode())):
        raw = _NUMBERS.sub(" ", text).encode("utf-8", "replace")
    pairs = np.empty(len(raw) // 2 + 1, dtype=np.uint32)
    count: int = pair(raw, np.empty(len(raw) + 9, dtype=np.uint8), pairs)
    pairs = np.sort(pairs[:count])
    return pairs[: distinct(pairs)]


def growing(url: str) -> str | None:
    """Why a URL's path looks like one that grows for ever, or ``None``."""
    path = url.partition("?")[0]
    if path.count("/") < 5:  # scheme, host and two segments: too short to repeat anything
        return None
    segments = [segment for segment in path.split("/")[3:] if segment]
    if len(segments) > _LONGEST_PATH:
        return f"growing path: {len(segments)} segments"
    if len(set(segments)) == len(segments):
        return None
    for segment in set(segments):
        if segments.count(segment) > _MOST_REPEATS:
            return f"growing path: {segment!r} comes {segments.count(segment)} times"
    for width in (1, 2, 3):
        for at in range(len(segments) - _MOST_REPEATS * width + 1):
            cycle = segments[at : at + width]
            if segments[at : at + _MOST_REPEATS * width] == cycle * _MOST_REPEATS:
                return f"growing path: {'/'.join(cycle)!r} repeats"
    return None


@lru_cache(maxsize=16_384)  # a site's pages link to each other
def _shapes(url: str) -> tuple[str, ...]:
    """The shapes that a URL is tallied under, the widest last; the root's directory is not one."""
    template = template_of(url)
    path, query, _ = template.partition("?")
    shapes = [template]
    if query:
        shapes.append(path + "?*")
    directory = path[: path.rindex("/") + 1]
    if directory.count("/") > 3:
        shapes.append(directory + "*")
    return tuple(shapes)


# No pattern looks ahead: at each position of a long segment that takes quadratic time.
_HEXADECIMAL = re.compile(r"[0-9a-f-]{8,}", re.IGNORECASE)
_HASH = re.compile(r"[0-9a-f]{8,}(?:-[0-9a-f]{4,})*", re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]+")
_TOKEN = re.compile(r"[0-9A-Za-z_-]{24,}")


def template_of(url: str) -> str:
    """The shape of a normalised URL: digits and hashes collapsed, parameters by name only.

    >>> template_of("https://a.example/2026/11/x?page=3&q=tide")
    'https://a.example/0/0/x?page&q'

    Segments that repeat next to each other (singly or as a cycle) are collapsed, so that a path
    that grows for ever has one template.
    """
    path, _, query = url.partition("?")
    start = path.index("/", 8) + 1
    tail = path[start:]
    segments = tail.split("/")
    if len(segments) > 2 and len(set(segments)) < len(segments):
        segments = _without_cycles(segments)
        tail = "/".join(segments)
    if _DIGITS.search(tail):  # nothing else changes a segment's shape
        tail = "/".join(map(_shape, segments))
    template = path[:start] + tail
    if query:
        names = {part.partition("=")[0] for part in re.split("[&;]", query) if part}
        template += "?" + "&".join(sorted(_DIGITS.sub("0", name) for name in names))
    return template


def _shape(segment: str) -> str:
    if segment.isalpha():
        return segment
    segment = _replaced(_TOKEN, segment)
    segment = _HEXADECIMAL.sub(lambda run: _replaced(_HASH, run[0]), segment)
    return _DIGITS.sub("0", segment)


def _replaced(pattern: re.Pattern[str], text: str) -> str:
    """``h`` in place of each match that begins before the last digit: words have none."""
    last = max(map(text.rfind, "0123456789"))
    return pattern.sub(lambda found: "h" if found.start() <= last else found[0], text)


def _without_cycles(segments: list[str]) -> list[str]:
    """Collapse runs of a repeated segment, then repeated pairs, then repeated triples."""
    for width in (1, 2, 3):
        kept: list[str] = []
        at = 0
        while at < len(segments):
            unit = segments[at : at + width]
            kept += unit
            at += width
            if any(unit):
                while segments[at : at + width] == unit:
                    at += width
        segments = kept
    return segments
