"""URLs: one spelling for one place, and the host, group, origin and domain of each.

Identity is the WHATWG parser's serialisation (what a browser would send), minus what never
reaches the server (the fragment), minus what must not be stored (credentials), minus session
ids. Nothing else is merged here: whether ``/a`` and ``/a/`` are one page is for the site to show
(a source may learn it).

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

MAX_URL = 2_000
"""Longer URLs are not crawlable. Search engines and the sitemap protocol stop near 2,048."""

_MAX_RAW = 4 * MAX_URL  # an href may shrink (dot segments, tabs), but not by this much

_STRIPPED = "".join(map(chr, range(0x21)))  # C0 controls and space, which WHATWG strips
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# A host with a path, as people write it where a browser takes it.
_HOST = re.compile(r"(?:[\w-]+(?:\.[\w-]+)+|localhost)(:\d+)?(?:[/?].*)?")
_LOCAL = re.compile(r"localhost|[\d.]+(?:[:/]|$)")
_MAYBE_SESSION = re.compile(r"sess|sid=|cfid=|cftoken=|zenid=", re.IGNORECASE)
_SESSION = re.compile(
    r"""(?P<lead>[?&;])
    (?:(?:phpsessid|jsessionid|aspsessionid[a-z]*|asp\.net_sessionid|cfid|cftoken|zenid|oscsid
         |session_?id)=[^&;?/]*
      |(?:sid|sessid|session)=[a-z0-9]{16,}(?=[&;?/]|$))""",
    re.IGNORECASE | re.VERBOSE,
)


def normalise(url: str, base: str | None = None) -> str | None:
    """The identity of a URL, or ``None`` when it is not crawlable.

    Not crawlable: schemes other than http and https, what the WHATWG parser refuses, control
    characters other than those it strips, and URLs longer than ``MAX_URL``.
    """
    try:
        if base is not None:
            return join(can_ada.parse(base), url)
        if len(url) > _MAX_RAW:
            url = url.partition("#")[0]
            if len(url) > _MAX_RAW:
                return None
        if not url.isprintable() and _CONTROL.search(url.strip(_STRIPPED)):
            return None
        return _identity(can_ada.parse(url))
    except (ValueError, TypeError):
        return None


def join(base: can_ada.URL, href: str) -> str | None:
    """The identity of an href as found on a page, or ``None`` where it is not crawlable."""
    if len(href) > _MAX_RAW:
        href = href.partition("#")[0]
        if len(href) > _MAX_RAW:
            return None
    if not href.isprintable() and _CONTROL.search(href.strip(_STRIPPED)):
        return None
    try:
        return _identity(base + href)
    except (ValueError, TypeError):  # TypeError: lone surrogates
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


def meant(text: str) -> str:
    """What to say of a text that is no URL, but would be one with a scheme in front of it."""
    host = _HOST.fullmatch(text)
    if host is None:
        return ""
    scheme = "http" if host[1] or _LOCAL.match(text) else "https"
    return f" (did you mean {scheme}://{text:.200}?)"


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
