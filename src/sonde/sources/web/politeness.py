"""When may which host be asked next?

A host (the group ``host:port``) and the IP address behind it each allow so many connections and
want so long a pause between requests: one connection and one second by default. A pause is kept
from the start of a request to the next start and from its end to the next start. A host may ask
for more: by Crawl-delay (``slow_down``), by Retry-After, by 429 and 503 (the pause doubles with
each, and one success ends it). ``rate=(k, d)`` allows at most k starts within any d seconds.

No clock: ``now`` is passed in and may not go back. The same calls give the same answers, so a log
of them restores the state.

Hosts that may be asked now are kept in a set that changes only when something happens; the others
wait in a heap for their time, or for a connection to be given back. Each call touches the hosts
concerned (for an IP address, all hosts behind it), never all hosts.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import KeysView
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime

LONGEST_PAUSE = 24 * 3600.0
"""No server can make the crawler wait longer than this."""

_FIRST_BACKOFF = 2.0
_MOST_DOUBLINGS = 11  # 2 s doubled eleven times is a bit more than an hour


@dataclass(slots=True)
class _Turn:
    """What a host or an IP address shares out."""

    pause: float
    next: float = float("-inf")
    open: int = 0


@dataclass(slots=True)
class _Host(_Turn):
    ip: str | None = None
    troubles: int = 0
    starts: deque[float] | None = None
    waits: float | None = None  # the time of its entry in the heap, if it has one


@dataclass(slots=True)
class _Address(_Turn):
    hosts: dict[str, None] = field(default_factory=dict)


class Politeness:
    """Keeps every host's and every address's turn."""

    def __init__(
        self,
        *,
        delay: float = 1.0,
        connections: int = 1,
        ip_delay: float | None = None,
        ip_connections: int | None = None,
        rate: tuple[int, float] | None = None,
    ) -> None:
        self.delay = delay
        self.connections = connections
        self.ip_delay = delay if ip_delay is None else ip_delay
        self.ip_connections = connections if ip_connections is None else ip_connections
        self.rate = rate
        self._hosts: dict[str, _Host] = {}
        self._addresses: dict[str, _Address] = {}
        self._ready: dict[str, None] = {}
        self._heap: list[tuple[float, str]] = []

    def add(self, host: str, now: float, ip: str | None = None) -> None:
        """Make a host known, or tell its address. A new host may be asked at once."""
        known = self._hosts.get(host)
        if known is None:
            known = self._hosts[host] = _Host(self.delay)
            if self.rate is not None:
                known.starts = deque(maxlen=self.rate[0])
        elif ip is None or ip == known.ip:
            return
        if ip is not None:
            self._move(host, known, ip)
        self._settle(host, now)

    def ready(self, now: float) -> KeysView[str]:
        """The hosts that may be asked now: a live view, in the order in which they became ready."""
        heap = self._heap
        while heap and heap[0][0] <= now:
            time, host = heapq.heappop(heap)
            known = self._hosts[host]
            if known.waits == time:
                known.waits = None
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

    def started(self, host: str, ip: str | None, now: float) -> None:
        """A request to the host leaves."""
        self.add(host, now, ip)
        known = self._hosts[host]
        known.open += 1
        known.next = max(known.next, now + known.pause)
        if known.starts is not None and self.rate is not None:
            known.starts.append(now)
            if len(known.starts) == self.rate[0]:
                known.next = max(known.next, known.starts[0] + self.rate[1])
        if known.ip is not None:
            address = self._addresses[known.ip]
            address.open += 1
            address.next = max(address.next, now + address.pause)
        self._settle_around(host, now)

    def finished(
        self, host: str, now: float, *, trouble: bool = False, retry_after: float | None = None
    ) -> None:
        """A request to the host has ended.

        ``trouble`` says that the server wants to be left alone, or cannot answer (429, 503, no
        connection, no answer in time): the pause doubles each time. ``retry_after`` is what it
        asked for, in seconds.
        """
        known = self._hosts[host]
        known.open -= 1
        pause = known.pause
        if trouble:
            doublings = min(known.troubles, _MOST_DOUBLINGS)
            known.troubles += 1
            pause = max(pause, _FIRST_BACKOFF * 2**doublings)
        else:
            known.troubles = 0
        if retry_after is not None:
            pause = max(pause, min(retry_after, LONGEST_PAUSE))
        known.next = max(known.next, now + pause)
        if known.ip is not None:
            address = self._addresses[known.ip]
            address.open -= 1
            address.next = max(address.next, now + address.pause)
        self._settle_around(host, now)

    def slow_down(self, host: str, pause: float, now: float) -> None:
        """The host asks for a pause between requests (Crawl-delay); never less than the default."""
        self.add(host, now)
        known = self._hosts[host]
        pause = min(max(pause, self.delay), LONGEST_PAUSE)
        known.next += pause - known.pause
        known.pause = pause
        self._settle(host, now)

    def _move(self, host: str, known: _Host, ip: str) -> None:
        """Put a host behind an address; its open connections count where they went."""
        if known.ip is not None:
            old = self._addresses[known.ip]
            del old.hosts[host]
            old.open -= known.open
        address = self._addresses.get(ip)
        if address is None:
            address = self._addresses[ip] = _Address(self.ip_delay)
        address.hosts[host] = None
        address.open += known.open
        known.ip = ip

    def _settle_around(self, host: str, now: float) -> None:
        ip = self._hosts[host].ip
        if ip is None:
            self._settle(host, now)
        else:
            for neighbour in self._addresses[ip].hosts:
                self._settle(neighbour, now)

    def _settle(self, host: str, now: float) -> None:
        """Put a host where it belongs: ready, in the heap, or waiting for a connection."""
        known = self._hosts[host]
        time = known.next
        free = known.open < self.connections
        if known.ip is not None:
            address = self._addresses[known.ip]
            time = max(time, address.next)
            free = free and address.open < self.ip_connections
        if free and time <= now:
            self._ready[host] = None
            known.waits = None
            return
        self._ready.pop(host, None)
        if not free:
            known.waits = None
        elif known.waits != time:
            known.waits = time
            heapq.heappush(self._heap, (time, host))


def retry_after(value: str | None, wall: float) -> float | None:
    """Seconds to wait by a Retry-After header, given the time of day; ``None`` for nothing."""
    if not value:
        return None
    value = value.strip()
    if value.isascii() and value.isdigit():
        return min(float(value[:9]), LONGEST_PAUSE)
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return min(max(0.0, moment.timestamp() - wall), LONGEST_PAUSE)
