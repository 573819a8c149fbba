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

from collections.abc import Iterable, Mapping

from sonde.records import Place

from .address import domain_of, host_of

_NOWHERE = ""
"""The domain of names that are no URLs: they all live together."""


def basename_of(url: str) -> str:
    """The URL up to the last ``/`` of its path.

    >>> basename_of("https://a.example:8080/docs/x?next=/y/")
    'https://a.example:8080/docs/'
    """
    end = url.find("?")
    return url[: url.rfind("/", 0, len(url) if end < 0 else end) + 1]


def keys_of(name: str) -> tuple[str, str]:
    """The domain and the basename of a normalised URL; of any other name the part before its last
    ``/``, in a domain without a name."""
    basename = basename_of(name)
    if not name.startswith(("http://", "https://")):
        return _NOWHERE, basename
    return domain_of(host_of(name)), basename


class Surroundings:
    """The links of one page, counted by domain and by basename."""

    __slots__ = ("basenames", "count", "domains", "homes")

    def __init__(self, targets: Iterable[str], known: dict[str, str] | None = None) -> None:
        """`targets`, each once. `known` may be kept by the caller: the domains of basenames."""
        known = {} if known is None else known
        homes: dict[str, str] = {}
        counts: dict[str, int] = {}
        for target in targets:  # once a link of each page: basename_of, without the call
            basename = basename_of(target) if "?" in target else target[: target.rfind("/") + 1]
            homes[target] = basename
            counts[basename] = counts.get(basename, 0) + 1
        domains: dict[str, int] = {}
        for basename, count in counts.items():
            domain = known.get(basename)
            if domain is None:
                domain = known[basename] = keys_of(basename)[0]
            domains[domain] = domains.get(domain, 0) + count
        total = len(homes)
        self.count = total
        self.homes = homes
        self.domains = {domain: count / total / len(domains) for domain, count in domains.items()}
        self.basenames = {
            basename: Place(
                known[basename],
                basename,
                self.domains[known[basename]],
                count / total / len(counts),
            )
            for basename, count in counts.items()
        }
        """The place of a link without repeats, by basename."""

    def place(self, target: str, times: int = 1) -> Place:
        """The place of a link to one of the targets, which stands on the page so many times."""
        found = self.basenames[self.homes[target]]
        return found if times == 1 else Place(*found[:4], times - 1)

    def rfu(self, url: str) -> float:
        """RFU(u) of the page with this URL."""
        return self.domains.get(keys_of(url)[0], 0.0)

    def bfu(self, url: str) -> float:
        """BFU(u) of the page with this URL."""
        place = self.basenames.get(basename_of(url))
        return 0.0 if place is None else place.bfu


def places(times: Mapping[str, int], known: dict[str, str] | None = None) -> dict[str, Place]:
    """The place of every link of a page, from how often each target stands on it."""
    around = Surroundings(times, known)
    shared = around.basenames
    found = {target: shared[basename] for target, basename in around.homes.items()}
    for target, count in times.items():
        if count > 1:
            found[target] = around.place(target, count)
    return found
