"""Between aiohttp and the client: heads as bytes, bodies within bounds, errors as reasons."""

from __future__ import annotations

import time
from collections.abc import Callable

import aiohttp
from aiohttp import ClientRequest, ClientResponse
from aiohttp.client_middlewares import ClientHandlerType
from aiohttp.connector import Connection
from aiohttp.http_exceptions import LineTooLong

from .decoding import BadEncoding
from .exchange import Exchange, Limits
from .guard import BlockedAddress

_CHUNK = 65_536

Take = Callable[[], bool]
"""Takes one request from the budget; ``False`` when none is left."""


class OutOfBudget(Exception):
    """``take`` said no."""


class TooSlow(Exception):
    """The body came at less than the least rate."""


class Answer(ClientResponse):
    """Remembers the peer, because a short answer's connection is gone before one can ask."""

    peer = ""

    async def start(self, connection: Connection) -> ClientResponse:
        transport = connection.transport
        peer = transport.get_extra_info("peername") if transport is not None else None
        self.peer = str(peer[0]) if peer else ""
        return await super().start(connection)


class Tally:
    """What one fetch has used so far."""

    def __init__(self, take: Take) -> None:
        self._take = take
        self.requests = 0
        self.received = 0
        self.hops: list[Exchange] = []
        self.trips: list[tuple[str, float]] = []
        self.began = time.monotonic()

    async def charge(self, request: ClientRequest, send: ClientHandlerType) -> ClientResponse:
        """A middleware around connecting and sending, so around each attempt."""
        if not self._take():
            raise OutOfBudget
        self.requests += 1
        return await send(request)


def head_size(answer: ClientResponse) -> int:
    """How many bytes the response's head has, with the blank line."""
    fields = sum(len(name) + len(value) + 4 for name, value in answer.raw_headers)
    return len(f"HTTP/1.1 {answer.status} {answer.reason or ''}") + 4 + fields


def response_head(answer: ClientResponse) -> bytes:
    """Status line and headers, as bytes, with the blank line."""
    version = answer.version
    number = f"{version.major}.{version.minor}" if version is not None else "1.1"
    lines = [
        f"HTTP/{number} {answer.status} {answer.reason or ''}".encode("utf-8", "surrogateescape")
    ]
    lines += [name + b": " + value for name, value in answer.raw_headers]
    return b"\r\n".join(lines) + b"\r\n\r\n"


def request_head(answer: ClientResponse, hidden: frozenset[str]) -> bytes:
    """Request line and headers, without the headers whose lower-case names are ``hidden``."""
    info = answer.request_info
    lines = [f"{info.method} {info.url.raw_path_qs} HTTP/1.1"]
    lines += [
        f"{name}: {value}" for name, value in info.headers.items() if name.lower() not in hidden
    ]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n"


async def read_body(
    answer: ClientResponse, room: int, limits: Limits, clock: Callable[[], float]
) -> tuple[bytes, str]:
    """The body up to ``room`` bytes, and how it was cut: not, at the ``size``, or ``broken``."""
    began = clock()
    parts: list[bytes] = []
    size = 0
    content = answer.content
    try:
        while True:
            part = await content.read(_CHUNK)
            if not part:
                break
            parts.append(part)
            size += len(part)
            if size > room:
                parts[-1] = part[: len(part) - (size - room)]
                return b"".join(parts), "size"
            took = clock() - began
            if took > limits.grace and size < limits.min_rate * took:
                raise TooSlow(f"{size} bytes in {took:.0f} s")
    except aiohttp.ClientPayloadError:
        return b"".join(parts), "broken"
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
        return b"".join(parts), "broken"
    return b"".join(parts), ""


def explained(error: BaseException) -> tuple[str, str]:
    """The reason and the detail for an error on the way; see ``exchange.REASONS``."""
    blocked = _cause(error, BlockedAddress)
    detail = str(blocked or error)[:300] or type(error).__name__
    reasons: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], str], ...] = (
        (OutOfBudget, "budget"),
        (TooSlow, "slow"),
        (TimeoutError, "timeout"),
        (BadEncoding, "bad-encoding"),
        (aiohttp.ClientConnectorDNSError, "dns"),
        (aiohttp.ClientSSLError, "tls"),
        (aiohttp.ClientConnectorError, "connect"),
        (aiohttp.ClientConnectionError, "disconnected"),
        (aiohttp.InvalidURL, "bad-url"),
        (OSError, "disconnected"),
    )
    if blocked is not None:
        return "blocked-address", detail
    for kind, reason in reasons:
        if isinstance(error, kind):
            return reason, detail
    if _cause(error, LineTooLong) is not None or "many headers" in detail.lower():
        return "too-large", "the response head is too large"
    return "bad-response", detail


def _cause(error: BaseException | None, kind: type[BaseException]) -> BaseException | None:
    """The first error of a kind behind an error."""
    while error is not None:
        if isinstance(error, kind):
            return error
        inner = getattr(error, "os_error", None)
        if isinstance(inner, kind):
            return inner
        error = error.__cause__
    return None
