"""What a URL is: one spelling for one place.

Identity is the WHATWG parser's serialisation (what a browser would send), minus what never
reaches the server (the fragment), minus what must not be stored (credentials), minus session
ids. Nothing else is merged here: whether ``/a`` and ``/a/`` are one page is for the site to show
(see ``variants``).

Session ids that are removed, wherever they stand as a query parameter or a ``;`` path parameter:

- always: ``phpsessid``, ``jsessionid``, ``aspsessionid...``, ``asp.net_sessionid``, ``cfid``,
  ``cftoken``, ``zenid``, ``oscsid``, ``sessionid``, ``session_id``;
- only when the value looks like an id (16 or more letters and digits), because sites use these
  names for sections and stories too: ``sid``, ``sessid``, ``session``.
"""

from __future__ import annotations

import re
from functools import lru_cache

import can_ada
from publicsuffixlist import PublicSuffixList

from .references import resolved

MAX_URL = 2_000
"""Longer URLs are not crawlable. Search engines and the sitemap protocol stop near 2,048."""

_MAX_RAW = 4 * MAX_URL  # an href may shrink (dot segments, tabs), but not by this much

_STRIPPED = "".join(map(chr, range(0x21)))  # C0 controls and space, which WHATWG strips
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_MAYBE_SESSION = re.compile(r"sess|sid=|cfid=|cftoken=|zenid=", re.IGNORECASE)
_SESSION = re.compile(
    r"""(?P<lead>[?&;])
    (?:(?:phpsessid|jsessionid|aspsessionid[a-z]*|asp\.net_sessionid|cfid|cftoken|zenid|oscsid
         |session_?id)=[^&;?/]*
      |(?:sid|sessid|session)=[a-z0-9]{16,}(?=[&;?/]|$))""",
    re.IGNORECASE | re.VERBOSE,
)


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
        if len(href) > _MAX_RAW:
            href = href.partition("#")[0]
            if len(href) > _MAX_RAW:
                return None
        if not href.isprintable() and _CONTROL.search(href.strip(_STRIPPED)):
            return None
        try:
            return _identity(self._parsed + href)
        except (ValueError, TypeError):  # TypeError: lone surrogates
            return None


def normalise(url: str, base: str | None = None) -> str | None:
    """The identity of a URL, or ``None`` when it is not crawlable.

    Not crawlable: schemes other than http and https, what the WHATWG parser refuses, control
    characters other than those it strips, and URLs longer than ``MAX_URL``.
    """
    try:
        if base is not None:
            return Base(base).join(url)
        if len(url) > _MAX_RAW:
            url = url.partition("#")[0]
            if len(url) > _MAX_RAW:
                return None
        if not url.isprintable() and _CONTROL.search(url.strip(_STRIPPED)):
            return None
        return _identity(can_ada.parse(url))
    except (ValueError, TypeError):
        return None


def _identity(parsed: can_ada.URL) -> str | None:
    href = parsed.href
    if not href.startswith(("http://", "https://")):
        return None
    if "@" in href and parsed.has_credentials():
        parsed.username = ""
        parsed.password = ""
        href = parsed.href
    if "#" in href:
        href = href[: href.index("#")]
    if ("?" in href or ";" in href) and _MAYBE_SESSION.search(href):
        href = _without_session(href)
    return href if len(href) <= MAX_URL else None


def _without_session(href: str) -> str:
    """Remove session parameters, and the separators that they leave over."""
    path, mark, query = href.partition("?")
    path = _SESSION.sub("", path)
    if not mark:
        return path
    query = _SESSION.sub(lambda m: "?" if m["lead"] == "?" else "", "?" + query)[1:]
    query = query.lstrip("&;")
    return f"{path}?{query}" if query else path


def group_of(url: str) -> str:
    """Host and port of a normalised URL: the group that shares a politeness delay."""
    return url.split("/", 3)[2]


def host_of(url: str) -> str:
    """The host of a normalised URL, without the port; IPv6 keeps its brackets."""
    netloc = url.split("/", 3)[2]
    if netloc.endswith("]"):
        return netloc
    return netloc.partition(":")[0] if netloc[0] != "[" else netloc[: netloc.index("]") + 1]


def origin_of(url: str) -> str:
    """``scheme://host:port`` of a normalised URL: what one robots.txt speaks for."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"


@lru_cache(maxsize=1)
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()  # reads the list that the package ships: no network


@lru_cache(maxsize=65_536)
def domain_of(host: str) -> str:
    """The registrable domain of a host (``a.b.co.uk`` gives ``b.co.uk``).

    An IP address, a bare public suffix and a name without dots are their own domain.
    """
    if host.startswith("[") or host.replace(".", "").isdigit():
        return host
    return _suffixes().privatesuffix(host.rstrip(".")) or host


_HASH = re.compile(r"(?=[0-9a-f-]*[0-9])[0-9a-f]{8,}(?:-[0-9a-f]{4,})*", re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]+")
_TOKEN = re.compile(r"(?=[^/]*[0-9])[0-9A-Za-z_-]{24,}")


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
    segment = _TOKEN.sub("h", segment)
    return _DIGITS.sub("0", _HASH.sub("h", segment))


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
