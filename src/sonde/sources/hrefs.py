"""Hrefs: links as they are written in HTML, turned into URLs as browsers do.

Character references are undone first. A name without its semicolon counts only where nothing that
could belong to a query follows, so that ``?a=1&copy=2`` stays what its author meant. Then the href
is joined to the URL of its page; most are plain paths and need no parser for that.
"""

from __future__ import annotations

import re
from html.entities import html5

import can_ada

from sonde.kernels.html.tags import Names
from sonde.net.urls import MAX_URL, join

CHARACTERS = Names(
    {name[:-1]: ord(text) for name, text in html5.items() if name[-1] == ";" and len(text) == 1}
)
"""The code points of names that end in a semicolon and stand for one, for the kernels."""

_REFERENCE = re.compile("&(?:#([0-9]+);?|#[xX]([0-9a-fA-F]+);?|([a-zA-Z0-9]+)(;?)(=?))")
_REPLACEMENT = "\ufffd"


def resolved(value: str) -> str:
    """The value of an attribute, its references undone.

    >>> resolved("?a=1&amp;b=2&copy=3&#x41;&eacute;")
    '?a=1&b=2&copy=3Aé'
    """
    return _REFERENCE.sub(_resolved, value) if "&" in value else value


def _resolved(reference: re.Match[str]) -> str:
    decimal, hexadecimal, name, semicolon, equals = reference.groups()
    if name is None:
        digits = (decimal or hexadecimal).lstrip("0") or "0"
        return _numbered(int(digits, 10 if decimal else 16) if len(digits) < 8 else -1)
    text = html5.get(name + semicolon)
    if text is None or (equals and not semicolon):
        return reference[0]
    return text + equals


def _numbered(code: int) -> str:
    if not 0 < code < 0x110000 or 0xD800 <= code < 0xE000:
        return _REPLACEMENT
    if 0x80 <= code < 0xA0:  # what these numbers mean on pages that were once windows-1252
        try:
            return bytes([code]).decode("cp1252")
        except UnicodeDecodeError:
            pass
    return chr(code)


# What needs no parser to be joined: a path below the page's directory or one above it, of segments
# that are neither dots nor anything that is written otherwise in a URL.
_PLAIN = re.compile(
    rb"((?:\.\./)*)([A-Za-z0-9_~-][A-Za-z0-9_.~-]*(?:/[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)*/?)"
)
_MOST_DIRECTORIES = 128
_MOST_HREFS = 1_024


class Directory:
    """Where a page stands, and what hrefs on pages there came to: a site's pages link to each
    other."""

    __slots__ = ("above", "known")

    def __init__(self, url: str) -> None:
        self.known: dict[bytes, str | None] = {}
        self.above: list[str] = []
        """This directory and those above it; empty where joining takes more than their names."""
        if url.startswith(("http://", "https://")) and "@" not in url and ";" not in url:
            root = url.index("/", 8)
            while len(url) > root:
                self.above.append(url)
                url = url[: url.rindex("/", 0, len(url) - 1) + 1]

    def plain(self, written: bytes) -> str | None:
        """The URL of an href that needs no parser."""
        parts = _PLAIN.fullmatch(written) if self.above else None
        if parts is None:
            return None
        ups = min(len(parts[1]) // 3, len(self.above) - 1)
        url = self.above[ups] + parts[2].decode()
        return url if len(url) <= MAX_URL else None


_DIRECTORIES: dict[str, Directory] = {}


def _directory_of(url: str) -> Directory:
    """The directory of a URL; those of the latest pages are kept."""
    path = url.partition("?")[0]
    name = path[: path.rindex("/") + 1]
    directory = _DIRECTORIES.pop(name, None)
    if directory is None or len(directory.known) >= _MOST_HREFS:
        directory = Directory(name)
        if len(_DIRECTORIES) >= _MOST_DIRECTORIES:
            del _DIRECTORIES[next(iter(_DIRECTORIES))]
    _DIRECTORIES[name] = directory
    return directory


class Base:
    """A parsed URL that many links are resolved against."""

    __slots__ = ("_parsed", "directory")

    def __init__(self, url: str) -> None:
        self._parsed = can_ada.parse(url)
        self.directory = _directory_of(self._parsed.href)

    def follow(self, written: bytes) -> str | None:
        """The identity of an href as it is written on this page, references and all."""
        known = self.directory.known
        if written in known:
            return known[written]
        joined = self.directory.plain(written)
        if joined is None:
            href = resolved(written.decode())
            joined = None if href.startswith("#") else self.join(href)
        # A reference that begins with a question mark is relative to the page, not its directory;
        # white space, backslashes and character references may hide one.
        if len(known) < _MOST_HREFS and (written[:1].isalnum() or written[:1] in (b"/", b".")):
            known[written] = joined
        return joined

    def join(self, href: str) -> str | None:
        """The identity of ``href`` as found on this page, or ``None`` where not crawlable."""
        return join(self._parsed, href)
