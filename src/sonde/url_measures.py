"""Where a URL lives, and what the URLs of a page's links say of the page and of each of them.

The *domain* of a URL is the registrable domain of its host by the public suffix list, without the
port; its *basename* is the URL up to the last ``/`` of its path, host and port included.

Over the links of a page u, each target once (repeats are counted apart):

- RFU(u, v): the share of the links that have v's domain, divided by the number of distinct domains;
- BFU(u, v): the same with basenames;
- RFU(u) and BFU(u): the same for u's own domain and basename.

All lie between 0 and 1, and are 0 for a page without links. A page all of whose links have one
domain has RFU 1 for each; n links of n domains have 1 / n squared each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from sonde.errors import InputError
from sonde.kernels.html.urls import basename_of, by_basename, measured
from sonde.net.urls import domain_of, host_of, normalise
from sonde.records import UrlPlace

_NOWHERE = ""
"""The domain of names that are no URLs: they all live together."""


def keys_of(name: str) -> tuple[str, str]:
    """The domain and the basename of a normalised URL; of any other name the part before its last
    ``/``, in a domain without a name."""
    basename = basename_of(name)
    if not name.startswith(("http://", "https://")):
        return _NOWHERE, basename
    return domain_of(host_of(name)), basename


class Surroundings:
    """The links of one page, counted by domain and by basename."""

    __slots__ = ("basenames", "count", "domains", "places")

    def __init__(self, targets: Iterable[str], known: dict[str, str] | None = None) -> None:
        """`targets`, each once. `known` may be kept by the caller: the domains of basenames."""
        known = {} if known is None else known
        basenames, counts, which = by_basename(list(targets))
        domains: dict[str, int] = {}
        for basename, count in zip(basenames, counts, strict=True):
            domain = known.get(basename)
            if domain is None:
                domain = known[basename] = keys_of(basename)[0]
            domains[domain] = domains.get(domain, 0) + count
        self.count = total = len(which)
        self.domains = {domain: count / total / len(domains) for domain, count in domains.items()}
        shared = [
            UrlPlace(
                known[basename],
                basename,
                self.domains[known[basename]],
                count / total / len(counts),
            )
            for basename, count in zip(basenames, counts, strict=True)
        ]
        self.basenames = dict(zip(basenames, shared, strict=True))
        """The place of a link without repeats, by basename."""
        self.places = [shared[number] for number in which]
        """The same by target, in their order."""

    def rfu(self, url: str) -> float:
        """RFU(u) of the page with this URL."""
        return self.domains.get(keys_of(url)[0], 0.0)

    def bfu(self, url: str) -> float:
        """BFU(u) of the page with this URL."""
        place = self.basenames.get(basename_of(url))
        return 0.0 if place is None else place.bfu


def places(
    urls: list[str], targets: list[str], renamed: dict[str, str], known: dict[str, str]
) -> list[UrlPlace]:
    """The places of targets among a page's links, of which some are known under another name.
    `known` is kept by the caller: the domains of basenames."""
    found: list[UrlPlace] = measured(urls, targets, renamed, known, _domain_of, _make)
    return found


def places_of(urls: Sequence[str | None], known: dict[str, str]) -> list[UrlPlace | None]:
    """The places of a page's links by their URLs, as they were found; ``None`` for one without.
    `known` is kept by the caller: the domains of basenames."""
    spelled = {url: _spelled(url) for url in urls if url}
    found = [spelled[url] for url in urls if url]
    of = dict(zip(found, places(found, found, {}, known), strict=True))
    return [of[spelled[url]] if url else None for url in urls]


def _spelled(url: str) -> str:
    """A URL as it is compared; other names are taken as they are."""
    spelled = normalise(url)
    if spelled is None and url.lower().startswith(("http:", "https:")):
        raise InputError(f"{url!r} is not a URL")
    return spelled or url


def _domain_of(basename: str) -> str:
    return keys_of(basename)[0]


_make = partial(tuple.__new__, UrlPlace)  # of a tuple, in half the time of a call
