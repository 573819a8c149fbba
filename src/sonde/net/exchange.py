"""Fetch outcomes: a ``Response``, or a ``FetchProblem`` that says what went wrong.

Both carry the exchanges that took place (one for each request that was answered), with the bytes
as they went over the wire, for an archive; both say how many requests left the machine and how
many bytes came back, for the budget, and the *trips*: which URLs were answered, whatever became of
the answer, and how many seconds it took until the response head was there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

REASONS = {
    "bad-url": "not an http or https URL",
    "not-allowed": "the caller's rules (scope, robots) refused this URL; detail says which",
    "budget": "no request was left in the budget",
    "blocked-address": "the address is private, loopback, link-local or otherwise not public",
    "dns": "the name has no address",
    "connect": "no connection could be made",
    "tls": "the certificate or the handshake is not good",
    "timeout": "the server did not answer in time",
    "slow": "the body came too slowly",
    "too-large": "the response head is larger than allowed",
    "disconnected": "the server closed the connection without an answer",
    "bad-response": "not HTTP",
    "bad-encoding": "the body is not what its Content-Encoding says",
    "unwanted-type": "the media type is not wanted; detail names it",
    "redirect-loop": "a redirect led back to a URL already asked for",
    "too-many-redirects": "the chain of redirects is too long",
    "bad-redirect": "a redirect leads nowhere, or not to http or https",
    "http-NNN": "the server answered with this status",
}
"""All reasons of a ``FetchProblem``; ``http-NNN`` stands for ``http-404`` and the like."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one fetch, in seconds and bytes; each redirect has its own times."""

    connect: float = 10.0
    first_byte: float = 20.0  # from connected to the whole response head
    total: float = 60.0
    min_rate: float = 500.0  # bytes per second of the body, averaged, once ``grace`` is over
    grace: float = 5.0
    head: int = 32_768  # each line of the response head, and eight times that for all of it
    body: int = 10_000_000  # as received
    unpacked: int = 20_000_000
    redirects: int = 5


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer, as they were on the wire. Secrets are left out of the head."""

    url: str
    status: int
    request_head: bytes
    response_head: bytes
    body: bytes  # as received: content codings still on, transfer coding undone
    ip: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Response:
    """A good answer: 2xx, or 304 to a conditional request. ``url`` is where it came from."""

    url: str
    status: int
    headers: Mapping[str, str]  # names in any case; the first of several
    body: bytes  # content codings undone
    ip: str = ""
    rtt: float = 0.0  # seconds from sending the last request to having its response head
    seconds: float = 0.0
    requests: int = 0
    received: int = 0
    hops: tuple[Exchange, ...] = ()
    trips: tuple[tuple[str, float], ...] = ()
    cut: str = ""  # "size": at the limit; "broken": the connection ended early
    content_type: str = ""  # the whole header
    media_type: str = ""  # that alone, in lower case


@dataclass(frozen=True, slots=True)
class FetchProblem:
    """No page. ``reason`` is one of ``REASONS``; ``url`` is where it happened.

    An answer with an error status is kept in ``response``.
    """

    reason: str
    detail: str
    url: str
    requests: int = 0
    received: int = 0
    seconds: float = 0.0
    hops: tuple[Exchange, ...] = ()
    trips: tuple[tuple[str, float], ...] = ()
    response: Response | None = field(default=None, repr=False)


FetchOutcome: TypeAlias = Response | FetchProblem
