"""What each host was asked, how it answered, and what it may still be asked.

Round-trip times are kept as TCP keeps them: a smoothed mean and a smoothed deviation. Per-host and
per-domain budgets count every request that leaves, as the crawl's own budget does.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from sonde.sources.web.address import domain_of, host_of
from sonde.store.journal import Journal


@dataclass(slots=True)
class Host:
    """One host's tally."""

    requests: int = 0
    failures: int = 0
    bytes: int = 0
    rtt: float | None = None
    deviation: float | None = None
    delay: float | None = None
    troubles: int = 0  # in a row; not kept with the run

    def answered(self, rtt: float) -> None:
        """A response head came after so many seconds."""
        if self.rtt is None or self.deviation is None:
            self.rtt, self.deviation = rtt, rtt / 2
        else:
            self.deviation += (abs(rtt - self.rtt) - self.deviation) / 4
            self.rtt += (rtt - self.rtt) / 8


class Hosts:
    """All hosts met so far, and their budgets."""

    def __init__(
        self, journal: Journal, *, host_budget: int | None, domain_budget: int | None
    ) -> None:
        self._journal = journal
        self._host_budget = host_budget
        self._domain_budget = domain_budget
        self._hosts: dict[str, Host] = {}
        self._domains: dict[str, int] = {}
        self._changed: dict[str, Host] = {}

    def __getitem__(self, group: str) -> Host:
        host = self._hosts.get(group)
        if host is None:
            host = self._hosts[group] = Host()
        self._changed[group] = host
        return host

    def __len__(self) -> int:
        return len(self._hosts)

    def exhausted(self, group: str) -> str | None:
        """Which budget of a host is used up, or ``None``."""
        if self._host_budget is not None:
            host = self._hosts.get(group)
            if host is not None and host.requests >= self._host_budget:
                return "host-budget"
        if self._domain_budget is not None:
            domain = domain_of(host_of(f"http://{group}"))
            if self._domains.get(domain, 0) >= self._domain_budget:
                return "domain-budget"
        return None

    def take(self, group: str, count: int = 1) -> None:
        """A request to this host leaves; -1 takes back one that could not."""
        self[group].requests += count
        if self._domain_budget is not None:
            domain = domain_of(host_of(f"http://{group}"))
            self._domains[domain] = self._domains.get(domain, 0) + count

    def write(self) -> None:
        """Hand the rows that changed to the journal; called before each commit."""
        if self._changed:
            self._journal.extend(
                "hosts",
                [
                    (
                        name,
                        host.requests,
                        host.failures,
                        host.bytes,
                        host.rtt,
                        host.deviation,
                        host.delay,
                    )
                    for name, host in self._changed.items()
                ],
            )
            self._changed.clear()

    def recall(self, database: sqlite3.Connection) -> None:
        """Take in what a run knows of its hosts."""
        for name, *row in database.execute(
            "SELECT host, requests, failures, bytes, rtt, rtt_deviation, delay FROM hosts"
        ):
            self._hosts[name] = Host(*row)
            if self._domain_budget is not None:
                domain = domain_of(host_of(f"http://{name}"))
                self._domains[domain] = self._domains.get(domain, 0) + row[0]
