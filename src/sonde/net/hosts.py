"""Hosts: one record of each, and the rules of when it may be asked next.

A host (``host:port``) and the IP address behind it each allow so many connections and want so long
a pause between requests: one connection and one second by default. A pause is kept from the start
of a request to the next start and from its end to the next start. A host may ask for more: by
Crawl-delay (``slow_down``), by Retry-After, by 429 and 503 (the pause doubles with each, and one
success ends it). ``rate=(k, d)`` allows at most k starts within any d seconds. Budgets of a host
and of a domain count every request that leaves.

No clock: ``now`` is passed in and may not go back. The same calls give the same answers, so a log
of them restores the state.

Hosts that may be asked now are kept in a set that changes only when something happens; the others
wait in a heap for their time, or for a connection to be given back. Each call touches the hosts
concerned (for an IP address, all hosts behind it), never all hosts.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Iterable, Iterator, KeysView
from dataclasses import dataclass, field
from typing import NamedTuple

from sonde.net.exchange import FetchOutcome
from sonde.net.retries import LONGEST_PAUSE
from sonde.net.robots import RobotsRecord, RobotsRules, record_of
from sonde.net.urls import domain_of, host_of
from sonde.records import Group

_FIRST_BACKOFF = 2.0
_MOST_DOUBLINGS = 11  # 2 s doubled eleven times is a bit more than an hour


@dataclass(slots=True)
class _Turn:
    """What a host or an IP address shares out."""

    pause: float
    next: float = float("-inf")
    open: int = 0


@dataclass(slots=True)
class _Address(_Turn):
    hosts: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True)
class Host(_Turn):
    """All that is known of one host. Round-trip times are kept as TCP keeps them: a smoothed mean
    and a smoothed deviation, in seconds."""

    name: str = ""
    requests: int = 0
    failures: int = 0
    bytes: int = 0
    rtt: float | None = None
    deviation: float | None = None
    delay: float | None = None  # what its robots.txt asks for
    robots: dict[str, RobotsRecord] | None = None  # by scheme: each origin has its own
    troubles: int = 0  # in a row
    closed: bool = False  # not asked any more: its budget is used up
    ip: str | None = None
    resolved: bool = False  # whether its address was looked up
    fresh_until: float = float("-inf")  # when to look it up again
    starts: deque[float] | None = None  # under a rate
    waits: float | None = None  # the time of its entry in the heap, if it has one
    opening: bool = False  # leased, but its address is not known yet
    reserved: int = 0  # turns taken for leases that have not arrived
    queue: deque[asyncio.Future[None]] | None = None  # requests that wait for their turn


class KeptHost(NamedTuple):
    """What a run keeps of a host."""

    host: str
    requests: int
    failures: int
    bytes: int
    rtt: float | None
    rtt_deviation: float | None
    delay: float | None


class Hosts:
    """All hosts met so far: their records, their turns, their budgets, their robots.txt."""

    def __init__(
        self,
        *,
        delay: float = 1.0,
        connections: int = 1,
        ip_delay: float | None = None,
        ip_connections: int | None = None,
        rate: tuple[int, float] | None = None,
        host_budget: int | None = None,
        domain_budget: int | None = None,
        longest_delay: float = LONGEST_PAUSE,
    ) -> None:
        self.delay = delay
        self.longest_delay = longest_delay
        self.connections = connections
        self.ip_delay = delay if ip_delay is None else ip_delay
        self.ip_connections = connections if ip_connections is None else ip_connections
        self.rate = rate
        self.closed: dict[Group, str] = {}
        """Names of the hosts that are not asked any more, and why."""
        self.rules = RobotsRules()
        self._host_budget = host_budget
        self._domain_budget = domain_budget
        self._hosts: dict[str, Host] = {}
        self._addresses: dict[str, _Address] = {}
        self._ready: dict[str, None] = {}
        self._heap: list[tuple[float, str]] = []
        self._domains: dict[str, int] = {}  # requests, under a budget
        self._changed: dict[str, Host] = {}

    def __len__(self) -> int:
        return len(self._hosts)

    def __iter__(self) -> Iterator[Host]:
        return iter(self._hosts.values())

    def get(self, name: str) -> Host | None:
        """The record of a host, if it is known."""
        return self._hosts.get(name)

    # -- turns ---------------------------------------------------------------------------------

    def add(self, name: str, now: float, ip: str | None = None) -> Host:
        """Make a host known, or tell its address. A new host may be asked at once."""
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = Host(self.delay, name=name)
            if self.rate is not None:
                host.starts = deque(maxlen=self.rate[0])
        elif ip is None or ip == host.ip:
            return host
        if ip is not None:
            self._move(host, ip)
        self._settle(host, now)
        return host

    def ready(self, now: float) -> KeysView[str]:
        """The hosts that may be asked now: a live view, in the order in which they became ready."""
        heap = self._heap
        while heap and heap[0][0] <= now:
            time, name = heapq.heappop(heap)
            host = self._hosts[name]
            if host.waits == time:
                host.waits = None
                self._settle(host, now)
        return self._ready.keys()

    def next_time(self) -> float | None:
        """When the next waiting host may become ready; ``None`` when none waits for a time.

        A host whose connections are all in use waits for ``finished``, not for a time.
        """
        heap = self._heap
        while heap and self._hosts[heap[0][1]].waits != heap[0][0]:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def started(self, host: Host, now: float) -> None:
        """A request to the host leaves."""
        host.open += 1
        host.next = max(host.next, now + host.pause)
        if host.starts is not None and self.rate is not None:
            host.starts.append(now)
            if len(host.starts) == self.rate[0]:
                host.next = max(host.next, host.starts[0] + self.rate[1])
        if host.ip is not None:
            address = self._addresses[host.ip]
            address.open += 1
            address.next = max(address.next, now + address.pause)
        self._settle_around(host, now)

    def finished(
        self,
        host: Host,
        now: float,
        *,
        trouble: bool | None = False,
        retry_after: float | None = None,
    ) -> None:
        """A request to the host has ended.

        ``trouble`` says that the server wants to be left alone, or cannot answer (429, 503, no
        connection, no answer in time): the pause doubles each time. It is ``None`` where nothing
        was sent after all. ``retry_after`` is what the server asked for, in seconds.
        """
        host.open -= 1
        pause = host.pause
        if trouble is None:
            pass
        elif trouble:
            doublings = min(host.troubles, _MOST_DOUBLINGS)
            host.troubles += 1
            pause = max(pause, _FIRST_BACKOFF * 2**doublings)
        else:
            host.troubles = 0
        if retry_after is not None:
            pause = max(pause, min(retry_after, LONGEST_PAUSE))
        host.next = max(host.next, now + pause)
        if host.ip is not None:
            address = self._addresses[host.ip]
            address.open -= 1
            address.next = max(address.next, now + address.pause)
        self._settle_around(host, now)

    def slow_down(self, host: Host, pause: float, now: float) -> None:
        """The host asks for a pause between requests (Crawl-delay); never less than the default."""
        pause = min(max(pause, self.delay), LONGEST_PAUSE)
        host.next += pause - host.pause
        host.pause = pause
        self._settle(host, now)

    def _move(self, host: Host, ip: str) -> None:
        """Put a host behind an address; its open connections count where they went."""
        if host.ip is not None:
            old = self._addresses[host.ip]
            del old.hosts[host.name]
            old.open -= host.open
        address = self._addresses.get(ip)
        if address is None:
            address = self._addresses[ip] = _Address(self.ip_delay)
        address.hosts[host.name] = None
        address.open += host.open
        host.ip = ip

    def _settle_around(self, host: Host, now: float) -> None:
        if host.ip is None:
            self._settle(host, now)
        else:
            for neighbour in self._addresses[host.ip].hosts:
                self._settle(self._hosts[neighbour], now)

    def _settle(self, host: Host, now: float) -> None:
        """Put a host where it belongs: ready, in the heap, or waiting for a connection."""
        time = host.next
        free = host.open < self.connections
        if host.ip is not None:
            address = self._addresses[host.ip]
            time = max(time, address.next)
            free = free and address.open < self.ip_connections
        if free and time <= now:
            self._ready[host.name] = None
            host.waits = None
            return
        self._ready.pop(host.name, None)
        if not free:
            host.waits = None
        elif host.waits != time:
            host.waits = time
            heapq.heappush(self._heap, (time, host.name))

    # -- answers and budgets -------------------------------------------------------------------

    def answered(self, host: Host, rtt: float | None, size: int) -> None:
        """A response head came after `rtt` seconds, or none; with all of it, `size` bytes."""
        self._changed[host.name] = host
        host.bytes += size
        if rtt is None:
            return
        if host.rtt is None or host.deviation is None:
            host.rtt, host.deviation = rtt, rtt / 2
        else:
            host.deviation += (abs(rtt - host.rtt) - host.deviation) / 4
            host.rtt += (rtt - host.rtt) / 8

    def failed(self, host: Host) -> None:
        """A page could not be had from this host."""
        self._changed[host.name] = host
        host.failures += 1

    def exhausted(self, name: str) -> str | None:
        """Which budget of a host is used up, or ``None``."""
        if self._host_budget is not None:
            host = self._hosts.get(name)
            if host is not None and host.requests >= self._host_budget:
                return "host-budget"
        if self._domain_budget is not None and (
            self._domains.get(_domain(name), 0) >= self._domain_budget
        ):
            return "domain-budget"
        return None

    def charge(self, host: Host, count: int = 1) -> None:
        """A request to this host leaves; -1 takes back one that could not."""
        self._changed[host.name] = host
        host.requests += count
        if self._domain_budget is not None:
            domain = _domain(host.name)
            self._domains[domain] = self._domains.get(domain, 0) + count

    def close(self, host: Host, why: str) -> None:
        """Ask a host nothing more."""
        host.closed = True
        self.closed.setdefault(host.name, why)

    def wait(self, host: Host, now: float) -> float:
        """How long until a request to the host may start, as far as that is known."""
        until = host.next
        if host.ip is not None:
            until = max(until, self._addresses[host.ip].next)
        return max(0.0, until - now)

    # -- robots.txt ----------------------------------------------------------------------------

    def allowed(self, url: str, name: str, now: float) -> bool | None:
        """Whether a normalised URL of a host may be fetched by its robots.txt; ``None`` if that
        must be fetched first."""
        host = self._hosts.get(name)
        if host is None or host.robots is None:
            return None
        record = host.robots.get(_scheme(url))
        if record is None or now >= record.expires:
            return None
        if record.verdict != "rules":
            return record.verdict == "allow"
        return self.rules.allowed(record, url)

    def forbidden(self, url: str, name: str, now: float) -> bool:
        """Whether it is known already, at little cost, that a URL may not be fetched: what is asked
        for every link of a page. Where there are many rules, it is left to the visit to ask."""
        host = self._hosts.get(name)
        if host is None or host.robots is None:
            return False
        record = host.robots.get(_scheme(url))
        if record is None or self.rules.many(record):
            return False
        return self.allowed(url, name, now) is False

    def robots_of(self, origin: str, name: str) -> RobotsRecord | None:
        """What is known of the robots.txt of an origin of a host, fresh or not."""
        host = self._hosts.get(name)
        return None if host is None or host.robots is None else host.robots.get(_scheme(origin))

    def note_robots(
        self, host: Host, origin: str, outcome: FetchOutcome, wall: float, now: float
    ) -> RobotsRecord | None:
        """Take in the outcome of fetching an origin's robots.txt, at a time of day."""
        record = record_of(origin, outcome, wall)
        if record is not None:
            self.restore_robots(host, record, now)
            self._changed[host.name] = host
        return record

    def restore_robots(self, host: Host, record: RobotsRecord, now: float) -> None:
        """Take in what is known of an origin; a later record replaces an earlier one."""
        if host.robots is None:
            host.robots = {}
        host.robots[_scheme(record.origin)] = record
        delay = self.rules.delay(record)
        if delay is not None:
            host.delay = delay
            if delay > self.longest_delay:
                self.close(host, "crawl-delay")
            self.slow_down(host, delay, now)

    # -- keeping -------------------------------------------------------------------------------

    def changed(self) -> list[KeptHost]:
        """What a run should keep of the hosts that were asked since this was last called."""
        rows = [
            KeptHost(
                name,
                host.requests,
                host.failures,
                host.bytes,
                host.rtt,
                host.deviation,
                host.delay,
            )
            for name, host in self._changed.items()
        ]
        self._changed.clear()
        return rows

    def recall(self, rows: Iterable[KeptHost], now: float) -> None:
        """Take in what a run knows of its hosts."""
        for row in rows:
            host = self.add(row.host, now)
            host.requests, host.failures, host.bytes = row.requests, row.failures, row.bytes
            host.rtt, host.deviation, host.delay = row.rtt, row.rtt_deviation, row.delay
            if self._domain_budget is not None:
                domain = _domain(row.host)
                self._domains[domain] = self._domains.get(domain, 0) + row.requests
        for host in self._hosts.values():
            if (spent := self.exhausted(host.name)) is not None:
                self.close(host, spent)


def _scheme(url: str) -> str:
    return "https" if url.startswith("https:") else "http"


def _domain(name: str) -> str:
    return domain_of(host_of(f"http://{name}"))
