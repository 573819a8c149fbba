"""Copied hosts: hosts whose pages stand on other hosts already, and how new hosts are tried.

The first page of a host either is a twin of one on another host, or it is not. When of the hosts
tried last nearly all were copies, new hosts come under suspicion as a whole, and are *sampled* as
stale shapes are (see ``staleness``): with each further copy an eighth as many are let through, and
each host that says something of its own takes half of that back. On a host that has brought copies
alone, half of the URLs are let through after the first, an eighth after the second, and so on.

All that takes evidence, and hundreds of hosts can be asked before the first of them has answered.
So new hosts begin slowly, as connections do (``Newcomers``): few at a time, one more for each
that has something of its own, half as many after each copy. Hosts that the user has named are no
copies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sonde.net.guard import GuardedResolver
from sonde.net.hosts import Hosts
from sonde.net.turns import Turns
from sonde.net.urls import group_of
from sonde.records import Group
from sonde.sources.web.staleness import Finding, Tally, is_sampled

_FEWEST = 4  # hosts that make new ones suspects
_FIRST = 3  # hosts tried at a time, to begin with
_STEP = 2


class CopiedHosts:
    """What hosts turned out to be."""

    def __init__(self, seeds: Iterable[str]) -> None:
        self._named = frozenset(map(group_of, seeds))
        self._copies: dict[str, int] = {}  # pages by host; -1 where one was no copy
        self._tally = Tally()

    def observe(self, url: str, finding: Finding) -> bool | None:
        """A page was visited, and this was found: whether its host seems to be a copy; ``None``
        where that was known before."""
        host, left = group_of(url), finding.left
        copied = finding.copied and host not in self._named
        before = self._copies.get(host)
        if before is None:
            self._copies[host] = 1 if copied else -1
            self._tally.add(not copied, max(_FEWEST, 0 if left is None else min(left // 150, 32)))
            return copied
        if before > 0:
            self._copies[host] = before + 1 if copied else -1
        return None

    def knows(self, group: str) -> bool:
        """Whether a page of a host was visited."""
        return group in self._copies

    def verdict(self, url: str, group: str) -> str | None:
        """Why a URL is left out, or ``None`` where it is not."""
        copies = self._copies.get(group)
        if copies is None:
            bits = 0 if group in self._named else self._tally.sampled
            return "new hosts are copies" if bits and not is_sampled(group, bits) else None
        bits = _STEP * copies - 1 + self._tally.sampled
        if copies > 0 and not is_sampled(url, bits):
            return f"nothing but copies at {group}"
        return None


class Newcomers(Turns):
    """The turns of hosts, where new ones begin slowly."""

    def __init__(
        self, hosts: Hosts, resolver: GuardedResolver | None, seeds: Iterable[str]
    ) -> None:
        super().__init__(hosts, resolver)
        self._known = set(map(group_of, seeds))
        self._tried: set[str] = set()  # asked, and not heard of yet
        self._window = _FIRST

    def heard(self, group: str, copied: bool | None) -> None:
        """A visit to a host has ended; whether it is a copy, where that was found."""
        if group in self._known:
            return
        self._known.add(group)
        self._tried.discard(group)
        if copied is not None:
            self._window = max(1, self._window // 2) if copied else self._window + 1

    def ready(self, waiting: dict[Group, int]) -> Collection[Group] | None:
        """The hosts that may be asked now; no new ones while enough of these are being tried."""
        chosen = super().ready(waiting)
        if len(self._tried) < self._window:
            return chosen
        found = waiting if chosen is None else chosen
        return [group for group in found if group in self._known]

    def reserve(self, group: Group) -> None:
        """A lease was given for this host."""
        super().reserve(group)
        if isinstance(group, str) and group not in self._known:
            self._tried.add(group)
