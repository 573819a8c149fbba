"""The HTTP client: one request, one answer, bounded in every dimension.

Every request that leaves the machine first takes from its ``FetchTally``; when that says no,
nothing is sent. This holds also for the one retry that HTTP allows when a server had closed a
kept-alive connection: it is charged where aiohttp connects and sends, not around it. Redirects are
not followed here (see ``polite_fetch``).
"""

from __future__ import annotations

import asyncio
import base64
import ssl
import time
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from types import TracebackType
from typing import Any

import aiohttp
from aiohttp import ClientRequest, ClientResponse, hdrs
from aiohttp.client_middlewares import ClientHandlerType
from aiohttp.connector import Connection
from aiohttp.http_exceptions import LineTooLong
from multidict import CIMultiDict
from yarl import URL

from sonde.errors import InputError
from sonde.net.client_settings import ClientSettings
from sonde.net.decoding import ACCEPTED, BadEncoding, unpack
from sonde.net.exchange import Exchange, FetchOutcome, FetchProblem, Limits, Response
from sonde.net.guard import BlockedAddress, Guard, GuardedResolver, Lookup, system_lookup
from sonde.net.secret import Secret, revealed
from sonde.net.session_cookies import SessionCookies, within
from sonde.net.urls import host_of, normalise
from sonde.system import is_exhausted, is_starved, no_descriptors

Take = Callable[[], bool]
"""Takes one request from the budget; ``False`` when none is left."""

Wanted = Callable[[str], bool]
"""Whether a body of this media type should be read."""

_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_SECRET_HEADERS = frozenset(("authorization", "proxy-authorization", "cookie"))
_CHUNK = 65_536
_MOST_INTERIM = 32
_MOST_NAMELESS = 10_000
_HOP_BODY = 65_536  # as much of a redirect's body is read: enough to keep the connection


class _OutOfBudget(Exception):
    """``take`` said no."""


class _TooSlow(Exception):
    """The body came at less than the least rate."""


class _Interim(aiohttp.ClientError):
    """More interim responses (100 Continue and the like) than anybody sends."""


class _ConnectedResponse(ClientResponse):
    """Remembers the peer, because a short answer's connection is gone before one can ask, and
    waits for no end of interim responses."""

    peer = ""

    async def start(self, connection: Connection) -> ClientResponse:
        transport = connection.transport
        peer = transport.get_extra_info("peername") if transport is not None else None
        self.peer = str(peer[0]) if peer else ""
        protocol: Any = connection.protocol
        if protocol is None:
            return await super().start(connection)
        read, heads = protocol.read, 0

        async def counted() -> Any:
            nonlocal heads
            heads += 1
            if heads > _MOST_INTERIM:
                raise _Interim(f"more than {_MOST_INTERIM} interim responses")
            return await read()

        protocol.read = counted
        try:
            return await super().start(connection)
        finally:
            del protocol.read


class FetchTally:
    """What one fetch, with its redirects, has used so far."""

    def __init__(self, take: Take) -> None:
        self._take = take
        self.requests = 0
        self.received = 0
        self.hops: list[Exchange] = []
        self.trips: list[tuple[str, float]] = []
        self.began = time.monotonic()

    async def charge(self, request: ClientRequest, send: ClientHandlerType) -> ClientResponse:
        """A middleware around connecting and sending, so around each attempt.

        Where no more files may be opened, nothing leaves: a ``ResourceError`` says that the request
        which was taken last should not count.
        """
        if not self._take():
            raise _OutOfBudget
        self.requests += 1
        try:
            return await send(request)
        except (OSError, aiohttp.ClientConnectorError) as error:
            # To look a name up takes a file too, and that error does not say what was missing.
            if is_starved(error) or (_is_dns(error) and is_exhausted()):
                self.requests -= 1
                raise no_descriptors() from None
            raise

    def problem(
        self, reason: str, detail: str, url: str, response: Response | None = None
    ) -> FetchProblem:
        """The end of a fetch that brought no page."""
        return FetchProblem(
            reason,
            detail,
            url,
            requests=self.requests,
            received=self.received,
            seconds=time.monotonic() - self.began,
            hops=tuple(self.hops),
            trips=tuple(self.trips),
            response=response,
        )


def _is_dns(error: BaseException) -> bool:
    return isinstance(error, aiohttp.ClientConnectorDNSError)


@lru_cache(maxsize=16)
def _timeout(connect: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=None, sock_connect=connect)


class Client:
    """Fetches pages. Use as an async context manager, or ``await close()``. ``named`` are hosts
    that the user named himself (see ``Guard``)."""

    def __init__(
        self,
        settings: ClientSettings,
        *,
        lookup: Lookup = system_lookup,
        named: Iterable[str] = (),
    ) -> None:
        self.settings = settings
        self.guard = Guard(allow_private=settings.allow_private, named=named)
        self.resolver = GuardedResolver(self.guard, lookup=lookup)
        self._proxy = URL(revealed(settings.proxy)) if settings.proxy is not None else None
        if self._proxy is not None and self._proxy.scheme not in ("http", "https"):
            raise InputError("a proxy is given as http://host:port")
        self._tls: ssl.SSLContext | None = None
        if settings.ca_file is not None:
            self._secured()
        self._session: aiohttp.ClientSession | None = None
        self._alarms: set[asyncio.Timeout] = set()
        self._forgiven = 0.0  # seconds
        self._nameless: dict[str, float] = {}  # names without addresses here, and until when

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            if self._proxy is not None and self._proxy.host is not None:
                self.guard.exempt.update(await self._proxy_addresses(self._proxy.host))
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=self.settings.connections,
                    resolver=self.resolver,
                    use_dns_cache=False,  # the resolver keeps its own
                    socket_factory=self.guard.socket,
                ),
                response_class=_ConnectedResponse,
                cookie_jar=SessionCookies(self.settings.sessions)
                if self.settings.sessions
                else aiohttp.DummyCookieJar(),
                auto_decompress=False,
                headers={
                    "User-Agent": self.settings.agent,
                    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5",
                    "Accept-Encoding": ACCEPTED,
                    **self.settings.headers,
                },
                read_bufsize=_CHUNK,
            )
        return self._session

    def _secured(self) -> ssl.SSLContext:
        """How TLS connections are checked; made when the first is needed, because it takes time."""
        if self._tls is None:
            file = self.settings.ca_file
            try:
                self._tls = ssl.create_default_context(cafile=None if file is None else str(file))
            except (OSError, ssl.SSLError) as error:
                raise InputError(f"cannot read certificates from {file}: {error}") from None
        return self._tls

    async def _proxy_addresses(self, host: str) -> list[str]:
        try:
            return [host] if ":" in host else await system_lookup(host)
        except OSError as error:
            raise InputError(f"the proxy {host} has no address: {error}") from None

    async def _refused_behind_proxy(self, host: str) -> str | None:
        """Why a proxy should not be sent to a name. What it stands for is the proxy's matter, as
        only that may be able to say; but a name that stands for private addresses here, and for
        nothing else, is refused."""
        if self.guard.allow_private or time.monotonic() < self._nameless.get(host, 0.0):
            return None
        try:
            await self.resolver.addresses(host)
        except BlockedAddress as error:
            return str(error)
        except OSError:
            if len(self._nameless) >= _MOST_NAMELESS:
                self._nameless.clear()
            self._nameless[host] = time.monotonic() + self.resolver.ttl
        return None

    def _waited(self) -> float:
        """A clock that stands still while this process is busy."""
        return time.monotonic() - self._forgiven

    def forgive(self, seconds: float) -> None:
        """This process was busy for so long: it does not count against servers."""
        self._forgiven += seconds
        for alarm in self._alarms:
            when = alarm.when()
            if when is not None and not alarm.expired():
                alarm.reschedule(when + seconds)

    async def request(
        self,
        url: str,
        group: str,
        tally: FetchTally,
        limits: Limits,
        wanted: Wanted | None = None,
        own: Mapping[str, str | Secret] | None = None,
        form: bytes | None = None,
    ) -> FetchOutcome | str:
        """One request and its answer; the next URL where it is a redirect.

        ``group`` is that of the normalised URL. ``wanted`` is asked with the media type before a
        body is read, ``own`` are headers for this request. With ``form``, fields as a browser
        encodes them, the request is a POST.
        """
        why = self.guard.literal_refusal(group)
        if why is None and self._proxy is not None:
            why = await self._refused_behind_proxy(host_of(url))
        if why is not None:
            return tally.problem("blocked-address", why, url)
        session = await self._opened()
        headers, hidden = self._headers_for(url, own or {}, posts=form is not None)
        began = time.monotonic()
        answer: ClientResponse | None = None
        alarm = asyncio.timeout(min(limits.total, limits.connect + limits.first_byte))
        self._alarms.add(alarm)
        try:
            async with alarm:
                answer = await session.request(
                    hdrs.METH_GET if form is None else hdrs.METH_POST,
                    URL(url, encoded=True),
                    headers=headers,
                    data=form,
                    allow_redirects=False,
                    timeout=_timeout(limits.connect),
                    proxy=self._proxy,
                    ssl=self._secured() if url.startswith("https:") else True,
                    middlewares=(tally.charge,),
                    max_line_size=limits.head,
                    max_field_size=limits.head,
                )
                rtt = time.monotonic() - began
                tally.trips.append((group, rtt))
                alarm.reschedule(asyncio.get_running_loop().time() + limits.total - rtt)
                return await self._answered(
                    url, answer, tally, limits, wanted, (began, rtt), hidden
                )
        except (_OutOfBudget, _TooSlow, BadEncoding, aiohttp.ClientError, OSError) as error:
            return tally.problem(*_explained(error), url)
        finally:
            self._alarms.discard(alarm)
            if answer is not None:
                answer.close()  # does nothing to a connection that was read to the end

    async def _answered(
        self,
        url: str,
        answer: ClientResponse,
        tally: FetchTally,
        limits: Limits,
        wanted: Wanted | None,
        times: tuple[float, float],
        hidden: frozenset[str],
    ) -> FetchOutcome | str:
        began, rtt = times
        size = _head_size(answer)
        tally.received += size
        if size > 8 * limits.head:
            return tally.problem("too-large", f"a response head of {size} bytes", url)
        redirect = answer.status in _REDIRECTS and hdrs.LOCATION in answer.headers
        content_type = answer.headers.get(hdrs.CONTENT_TYPE, "")
        media = content_type.partition(";")[0].strip().lower()
        good = 200 <= answer.status < 300
        if good and wanted is not None and not wanted(media):
            return tally.problem("unwanted-type", media, url)
        room = min(limits.body, _HOP_BODY) if redirect else limits.body
        body, cut = await _read_body(answer, room, limits, self._waited)
        tally.received += len(body)
        peer = answer.peer if isinstance(answer, _ConnectedResponse) else ""
        seconds = time.monotonic() - began
        heads = (b"", b"")
        if self.settings.heads:
            private = within(host_of(url), self.settings.sessions)
            heads = (_request_head(answer, hidden), _response_head(answer, private))
        tally.hops.append(Exchange(url, answer.status, *heads, body, peer, seconds))
        if redirect:
            target = normalise(answer.headers[hdrs.LOCATION], base=url)
            if target is None:
                where = repr(answer.headers[hdrs.LOCATION][:200])
                return tally.problem("bad-redirect", where, url)
            return target
        coding = answer.headers.get(hdrs.CONTENT_ENCODING, "")
        if coding and body:
            body, cut_here = unpack(body, coding, limits.unpacked)
            cut = cut or ("size" if cut_here else "")
        response = Response(
            url=url,
            status=answer.status,
            headers=answer.headers,
            body=body,
            ip=peer,
            rtt=rtt,
            seconds=time.monotonic() - tally.began,
            requests=tally.requests,
            received=tally.received,
            hops=tuple(tally.hops),
            trips=tuple(tally.trips),
            cut=cut,
            content_type=content_type,
            media_type=media,
        )
        if good or answer.status == 304:
            return response
        return tally.problem(f"http-{answer.status}", (answer.reason or "")[:100], url, response)

    def _headers_for(
        self, url: str, more: Mapping[str, str | Secret], *, posts: bool
    ) -> tuple[CIMultiDict[str] | None, frozenset[str]]:
        """Headers for this hop, and the lower-case names of those that nobody may see."""
        if not (more or posts or self.settings.host_headers or self.settings.logins):
            return None, _SECRET_HEADERS
        headers: CIMultiDict[str] = CIMultiDict()
        if posts:
            headers[hdrs.CONTENT_TYPE] = "application/x-www-form-urlencoded"
        host = host_of(url)
        own = {**self.settings.host_headers.get(host, {}), **more}
        for name, value in own.items():
            headers[name] = revealed(value)
        login = self.settings.logins.get(host)
        if login is not None:
            pair = f"{login[0]}:{login[1].reveal()}".encode()
            headers[hdrs.AUTHORIZATION] = "Basic " + base64.b64encode(pair).decode()
        return headers, _SECRET_HEADERS.union(
            name.lower() for name, value in own.items() if isinstance(value, Secret)
        )


def _head_size(answer: ClientResponse) -> int:
    """How many bytes the response's head has, with the blank line."""
    fields = sum(len(name) + len(value) + 4 for name, value in answer.raw_headers)
    return len(f"HTTP/1.1 {answer.status} {answer.reason or ''}") + 4 + fields


def _response_head(answer: ClientResponse, private: bool) -> bytes:
    """Status line and headers, as bytes, with the blank line; without cookies where they are
    somebody's."""
    version = answer.version
    number = f"{version.major}.{version.minor}" if version is not None else "1.1"
    lines = [
        f"HTTP/{number} {answer.status} {answer.reason or ''}".encode("utf-8", "surrogateescape")
    ]
    lines += [
        name + b": " + value
        for name, value in answer.raw_headers
        if not (private and name.lower() == b"set-cookie")
    ]
    return b"\r\n".join(lines) + b"\r\n\r\n"


def _request_head(answer: ClientResponse, hidden: frozenset[str]) -> bytes:
    """Request line and headers, without the headers whose lower-case names are ``hidden``."""
    info = answer.request_info
    lines = [f"{info.method} {info.url.raw_path_qs} HTTP/1.1"]
    lines += [
        f"{name}: {value}" for name, value in info.headers.items() if name.lower() not in hidden
    ]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n"


async def _read_body(
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
                raise _TooSlow(f"{size} bytes in {took:.0f} s")
    except aiohttp.ClientPayloadError:
        return b"".join(parts), "broken"
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
        return b"".join(parts), "broken"
    return b"".join(parts), ""


def _explained(error: BaseException) -> tuple[str, str]:
    """The reason and the detail for an error on the way; see ``exchange.REASONS``."""
    blocked = _cause(error, BlockedAddress)
    detail = str(blocked or error)[:300] or type(error).__name__
    reasons: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], str], ...] = (
        (_OutOfBudget, "budget"),
        (_TooSlow, "slow"),
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
