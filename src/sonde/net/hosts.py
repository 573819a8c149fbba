"""Hosts: one record of each, and the rules of when it may be asked next.

A host (``host:port``), the IP address behind it and its registrable domain each allow so many
connections and want so long a pause between requests: one connection and one second by default.
Names cost nothing: whoever has a thousand of them has one server's turns. A pause is kept from the
start of a request to the next start and from its end to the next start. A host may ask for more: by
Crawl-delay (``slow_down``), by Retry-After, by 429 and 503 (the pause doubles with each, and one
success ends it). ``rate=(k, d)`` allows at most k starts within any d seconds. Budgets of a host
and of a domain count every request that leaves.

No clock: ``now`` is passed in and may not go back. The same calls give the same answers, so a log
of them restores the state.

Hosts that may be asked now are kept in a set that changes only when something happens; the others
wait in a heap for their time, or for a connection to be given back. Each call touches the hosts
concerned (those that share their turns), never all hosts.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Iterable, Iterator, KeysView
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from sonde.net.exchange import FetchOutcome
from sonde.net.retries import LONGEST_PAUSE
from sonde.net.robots import RobotsRecord, RobotsRules, record_of
from sonde.net.urls import domain_of, host_of
from sonde.records import Group

_FIRST_BACKOFF = 2.0
_MOST_DOUBLINGS = 11  # 2 s doubled eleven times is a bit more than an hour

_MOST_LOOKED_AT = 1_000

OFFERED = 16
"""Hosts of one domain, or behind one address, that are offered at a time."""


@dataclass(slots=True)
class _Turn:
    """What a host, an IP address or a domain shares out."""

    pause: float
    next: float = float("-inf")
    open: int = 0


@dataclass(slots=True)
class _Shared(_Turn):
    """The turns that all hosts behind an IP address, or of a domain, have together."""

    hosts: dict[str, Host] = field(default_factory=dict)

    def admit(self, host: Host) -> None:
        """One more host; its open connections count where they went."""
        self.hosts[host.name] = host
        self.open += host.open

    def dismiss(self, host: Host) -> None:
        """A host that has moved."""
        del self.hosts[host.name]
        self.open -= host.open


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
    domain: str = ""
    ip: str | None = None
    shares: tuple[_Shared, ...] = ()  # of its domain, and of its address once that is known
    resolved: bool = False  # whether its address was looked up
    fresh_until: float = float("-inf")  # when to look it up again
    starts: deque[float] | None = None  # under a rate
    asked: int = 0  # which start, of all hosts, its last one was
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
        shared_delay: float | None = None,
        shared_connections: int | None = None,
        rate: tuple[int, float] | None = None,
        host_budget: int | None = None,
        domain_budget: int | None = None,
        longest_delay: float = LONGEST_PAUSE,
    ) -> None:
        self.delay = delay
        self.longest_delay = longest_delay
        self.connections = connections
        self.shared_delay = delay if shared_delay is None else shared_delay
        self.shared_connections = connections if shared_connections is None else shared_connections
        self.rate = rate
        self.closed: dict[Group, str] = {}
        """Names of the hosts that are not asked any more, and why."""
        self.rules = RobotsRules()
        self._host_budget = host_budget
        self._domain_budget = domain_budget
        self._hosts: dict[str, Host] = {}
        self._shares: dict[str, _Shared] = {}  # by domain and by address
        self.crowded = False
        """Whether somebody has so many hosts that not all of them are offered at a time."""
        self._ready: dict[str, None] = {}
        self._unready: dict[str, Host] = {}
        self._heap: list[tuple[float, str]] = []
        self._domain_requests: dict[str, int] = {}  # under a budget
        self._changed: dict[str, Host] = {}
        self._starts = 0

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
            host = self._hosts[name] = Host(self.delay, name=name, domain=_domain(name))
            if self.rate is not None:
                host.starts = deque(maxlen=self.rate[0])
            self._join(host)
        elif ip is None or ip == host.ip:
            return host
        if ip is not None and ip != host.ip:
            host.ip = ip
            self._join(host)
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

    def soon(self, now: float, within: float) -> Iterator[tuple[str, float]]:
        """The hosts that may not be asked now and may be within so many seconds, as far as can be
        told, and in how many: one whose connections are in use, when an answer is due."""
        for host in islice(self._unready.values(), _MOST_LOOKED_AT):
            if host.closed or host.opening:
                continue
            wait = self.wait(host, now)
            if host.waits is None:
                if host.rtt is None:
                    continue
                wait = max(wait, host.rtt)
            if wait <= within:
                yield host.name, wait

    def started(self, host: Host, now: float) -> None:
        """A request to the host leaves."""
        host.open += 1
        self._starts += 1
        host.asked = self._starts
        host.next = max(host.next, now + host.pause)
        if host.starts is not None and self.rate is not None:
            host.starts.append(now)
            if len(host.starts) == self.rate[0]:
                host.next = max(host.next, host.starts[0] + self.rate[1])
        for share in host.shares:
            share.open += 1
            share.next = max(share.next, now + share.pause)
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
        for share in host.shares:
            share.open -= 1
            share.next = max(share.next, now + share.pause)
        self._settle_around(host, now)

    def slow_down(self, host: Host, pause: float, now: float) -> None:
        """The host asks for a pause between requests (Crawl-delay); never less than the default."""
        pause = min(max(pause, self.delay), LONGEST_PAUSE)
        host.next += pause - host.pause
        host.pause = pause
        self._settle(host, now)

    def _join(self, host: Host) -> None:
        """Put a host among those that it shares its turns with."""
        for share in host.shares:
            share.dismiss(host)
        names = dict.fromkeys((host.domain, host.ip or host.domain))
        host.shares = tuple(
            self._shares.setdefault(name, _Shared(self.shared_delay)) for name in names
        )
        for share in host.shares:
            share.admit(host)
            self.crowded = self.crowded or len(share.hosts) > OFFERED

    def _settle_around(self, host: Host, now: float) -> None:
        self._settle(host, now)
        for share in host.shares:
            if len(share.hosts) > 1:
                for neighbour in share.hosts.values():
                    if neighbour is not host:
                        self._settle(neighbour, now)

    def _settle(self, host: Host, now: float) -> None:
        """Put a host where it belongs: ready, in the heap, or waiting for a connection."""
        time = host.next
        free = host.open < self.connections
        for share in host.shares:
            time = max(time, share.next)
            free = free and share.open < self.shared_connections
        if free and time <= now:
            self._ready[host.name] = None
            self._unready.pop(host.name, None)
            host.waits = None
            return
        self._ready.pop(host.name, None)
        self._unready[host.name] = host
        if not free:
            host.waits = None
        elif host.waits != time:
            host.waits = time
            heapq.heappush(self._heap, (time, host.name))

    def offered(self, names: Iterable[str]) -> list[str]:
        """Of these hosts, a few of each domain and of each address, those first that were not asked
        for longest: where one has thousands of names, to list them all whenever its turn comes
        would be work without end."""
        if not self.crowded:
            return list(names)
        counts: dict[int, int] = {}
        chosen = []
        for name in sorted(names, key=lambda each: self._hosts[each].asked):
            shares = [id(share) for share in self._hosts[name].shares]
            if all(counts.get(share, 0) < OFFERED for share in shares):
                chosen.append(name)
                for share in shares:
                    counts[share] = counts.get(share, 0) + 1
        return chosen

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
            self._domain_requests.get(_domain(name), 0) >= self._domain_budget
        ):
            return "domain-budget"
        return None

    def charge(self, host: Host, count: int = 1) -> None:
        """A request to this host leaves; -1 takes back one that could not."""
        self._changed[host.name] = host
        host.requests += count
        if self._domain_budget is not None:
            domain = host.domain
            self._domain_requests[domain] = self._domain_requests.get(domain, 0) + count

    def close(self, host: Host, why: str) -> None:
        """Ask a host nothing more."""
        host.closed = True
        self.closed.setdefault(host.name, why)

    def wait(self, host: Host, now: float) -> float:
        """How long until a request to the host may start, as far as that is known."""
        until = max(host.next, *(share.next for share in host.shares))
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
                self._domain_requests[domain] = self._domain_requests.get(domain, 0) + row.requests
        for host in self._hosts.values():
            if (spent := self.exhausted(host.name)) is not None:
                self.close(host, spent)


def _scheme(url: str) -> str:
    return "https" if url.startswith("https:") else "http"


def _domain(name: str) -> str:
    return domain_of(host_of(f"http://{name}"))
