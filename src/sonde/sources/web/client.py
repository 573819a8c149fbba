"""The HTTP client: one URL in, one outcome out, bounded in every dimension.

Every request that leaves the machine first calls ``take()``; when that returns ``False`` nothing
is sent. This holds for each redirect, and for the one retry that HTTP allows when a server had
closed a kept-alive connection: ``take`` is called where aiohttp connects and sends, not around it.

Before each hop ``allow(url)`` is awaited; a reason stops the fetch there. It may take its time
(fetch a robots.txt, wait for a host's turn): the limits of the hop start after it.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from types import TracebackType

import aiohttp
from aiohttp import ClientResponse, hdrs
from multidict import CIMultiDict
from yarl import URL

from ...errors import InputError
from .address import host_of, normalise
from .decoding import ACCEPTED, BadEncoding, unpack
from .exchange import Exchange, FetchProblem, Limits, Outcome, Response
from .guard import Guard, GuardedResolver, Lookup, system_lookup
from .secret import Secret, revealed
from .settings import ClientSettings
from .wire import (
    Answer,
    OutOfBudget,
    Take,
    Tally,
    TooSlow,
    explained,
    head_size,
    read_body,
    request_head,
    response_head,
)

Allow = Callable[[str], Awaitable[str | None]]
Wanted = Callable[[str], bool]

_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_SECRET_HEADERS = frozenset(("authorization", "proxy-authorization", "cookie"))
_CHUNK = 65_536
_HOP_BODY = 65_536  # as much of a redirect's body is read: enough to keep the connection


class _Problem(Exception):
    def __init__(self, reason: str, detail: str) -> None:
        self.reason = reason
        self.detail = detail


@lru_cache(maxsize=16)
def _timeout(connect: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=None, sock_connect=connect)


class Client:
    """Fetches pages. Use as an async context manager, or ``await close()``."""

    def __init__(self, settings: ClientSettings, *, lookup: Lookup = system_lookup) -> None:
        self.settings = settings
        self.guard = Guard(allow_private=settings.allow_private)
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
                response_class=Answer,
                cookie_jar=None if self.settings.cookies else aiohttp.DummyCookieJar(),
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

    async def fetch(
        self,
        url: str,
        *,
        take: Take,
        allow: Allow | None = None,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
        wanted: Wanted | None = None,
        etag: str | None = None,
        last_modified: str | None = None,
        headers: Mapping[str, str | Secret] | None = None,
        form: bytes | None = None,
    ) -> Outcome:
        """Fetch a URL, following redirects.

        ``wanted`` is asked with the media type before a body is read. ``etag`` and
        ``last_modified`` are those of an earlier answer and make the request conditional.
        ``headers`` are for the host of the URL alone, also after redirects. With ``form``, fields
        as a browser encodes them, the request is a POST; a redirect is followed as browsers do:
        307 and 308 repeat it, others turn it into a GET.
        """
        tally = Tally(take)
        sent: dict[str, str | Secret] = {}
        if etag:
            sent["If-None-Match"] = etag
        if last_modified:
            sent["If-Modified-Since"] = last_modified
        here = url
        try:
            start = normalise(url)
            if start is None:
                raise _Problem("bad-url", "")
            here = start
            seen = {here}
            for _ in range(limits.redirects + 1):
                if allow is not None and (why := await allow(here)) is not None:
                    raise _Problem("not-allowed", why)
                if (why := self.guard.literal_refusal(host_of(here))) is not None:
                    raise _Problem("blocked-address", why)
                own = {**sent, **(headers or {})} if host_of(here) == host_of(start) else sent
                outcome = await self._hop(here, tally, limits, wanted, own, form)
                if not isinstance(outcome, str):
                    return outcome
                if tally.hops[-1].status not in (307, 308):
                    form = None
                here = outcome
                if here in seen:
                    raise _Problem("redirect-loop", "")
                seen.add(here)
            raise _Problem("too-many-redirects", f"more than {limits.redirects}")
        except _Problem as problem:
            return FetchProblem(
                problem.reason,
                problem.detail,
                here,
                requests=tally.requests,
                received=tally.received,
                seconds=time.monotonic() - tally.began,
                hops=tuple(tally.hops),
                trips=tuple(tally.trips),
            )

    async def _hop(
        self,
        url: str,
        tally: Tally,
        limits: Limits,
        wanted: Wanted | None,
        own: Mapping[str, str | Secret],
        form: bytes | None,
    ) -> Outcome | str:
        """One request and its answer; the next URL where it is a redirect."""
        session = await self._opened()
        headers, hidden = self._headers_for(url, own, posts=form is not None)
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
                tally.trips.append((url, rtt))
                alarm.reschedule(asyncio.get_running_loop().time() + limits.total - rtt)
                return await self._answered(
                    url, answer, tally, limits, wanted, (began, rtt), hidden
                )
        except (OutOfBudget, TooSlow, BadEncoding, aiohttp.ClientError, OSError) as error:
            raise _Problem(*explained(error)) from error
        finally:
            self._alarms.discard(alarm)
            if answer is not None:
                answer.close()  # does nothing to a connection that was read to the end

    async def _answered(
        self,
        url: str,
        answer: ClientResponse,
        tally: Tally,
        limits: Limits,
        wanted: Wanted | None,
        times: tuple[float, float],
        hidden: frozenset[str],
    ) -> Outcome | str:
        began, rtt = times
        size = head_size(answer)
        tally.received += size
        if size > 8 * limits.head:
            raise _Problem("too-large", f"a response head of {size} bytes")
        redirect = answer.status in _REDIRECTS and hdrs.LOCATION in answer.headers
        media = answer.headers.get(hdrs.CONTENT_TYPE, "").partition(";")[0].strip().lower()
        good = 200 <= answer.status < 300
        if good and wanted is not None and not wanted(media):
            raise _Problem("unwanted-type", media)
        room = min(limits.body, _HOP_BODY) if redirect else limits.body
        body, cut = await read_body(answer, room, limits, self._waited)
        tally.received += len(body)
        peer = answer.peer if isinstance(answer, Answer) else ""
        seconds = time.monotonic() - began
        heads = (b"", b"")
        if self.settings.heads:
            heads = (request_head(answer, hidden), response_head(answer))
        tally.hops.append(Exchange(url, answer.status, *heads, body, peer, seconds))
        if redirect:
            target = normalise(answer.headers[hdrs.LOCATION], base=url)
            if target is None:
                raise _Problem("bad-redirect", repr(answer.headers[hdrs.LOCATION][:200]))
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
        )
        if good or answer.status == 304:
            return response
        return FetchProblem(
            f"http-{answer.status}",
            (answer.reason or "")[:100],
            url,
            requests=response.requests,
            received=response.received,
            seconds=response.seconds,
            hops=response.hops,
            trips=response.trips,
            response=response,
        )

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
