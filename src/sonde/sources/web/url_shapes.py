"""URL shapes: what pages have in common by their addresses alone.

A *template* is a URL with digits and hashes collapsed and its parameters by name. Wider shapes are
its path whatever the parameters, its directory, and its first segment (or the root, for pages right
below it); the widest is the host.

A path *grows* when a segment or a cycle of segments comes three times in a row, one segment comes
four times in all, or there are more than twenty of them: relative links gone wrong do that.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_LONGEST_PATH = 20
_MOST_REPEATS = 3

LEVELS = ("template", "path", "directory", "segment")
"""The shapes of a URL, the widest last."""


class Shapes(NamedTuple):
    """The shapes of a URL; "" for one that it has not."""

    host: str
    template: str
    path: str
    directory: str
    segment: str

    @property
    def place(self) -> str:
        """Where what a page says is compared: its directory, or the root."""
        return self.directory or self.path or self.segment

    def levels(self) -> list[tuple[str, str]]:
        """The shapes that there are, with the names of their levels."""
        return [(level, shape) for level, shape in zip(LEVELS, self[1:], strict=True) if shape]


@lru_cache(maxsize=16_384)  # a site's pages link to each other
def shapes_of(url: str) -> Shapes:
    """The shapes of a normalised URL. The root is no directory: a small site has no other."""
    template = template_of(url)
    path, query, _ = template.partition("?")
    directory = path[: path.rindex("/") + 1]
    host = url[: url.index("/", 8) + 1]
    first, slash, _ = url[len(host) :].partition("?")[0].partition("/")
    return Shapes(
        host,
        template,
        path + "?*" if query else "",
        directory + "*" if directory.count("/") > 3 else "",
        f"{host}{first}/**" if slash else f"{host}**",
    )


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
