"""Fetches from real servers on loopback, most of them ill-behaved."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest
import trustme

from sonde.errors import InputError
from sonde.net.client import Client
from sonde.net.client_settings import ClientSettings, user_agent
from sonde.net.exchange import FetchOutcome, FetchProblem, Limits, Response
from sonde.net.polite_fetch import PoliteFetch
from sonde.net.secret import Secret
from sonde.net.session_cookies import MOST

AGENT = "sonde/test (+http://contact.example)"
OPEN = ClientSettings(AGENT, allow_private=True)
QUICK = Limits(connect=2, first_byte=0.5, total=2, min_rate=1_000, grace=0.3)

Handler = Callable[[str, dict[str, str], asyncio.StreamWriter], Awaitable[None]]
T = TypeVar("T")


def run(body: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(body, 20))


def always() -> bool:
    return True


class Budget:
    def __init__(self, left: int) -> None:
        self.left = left
        self.taken = 0

    def take(self) -> bool:
        if self.left == 0:
            return False
        self.left -= 1
        self.taken += 1
        return True


class Granting:
    """An allowance made of a function."""

    def __init__(self, take: Callable[[], bool]) -> None:
        self.take = take
        self.received = 0

    def receive(self, size: int) -> None:
        self.received += size


async def fetched(
    client: Client,
    url: str,
    take: Callable[[], bool] = always,
    limits: Limits = Limits(),  # noqa: B008 (frozen)
    **options: Any,
) -> FetchOutcome:
    allowance = Granting(take)
    outcome = await PoliteFetch(client, limits=limits).fetch(url, allowance, **options)
    assert allowance.received == outcome.received
    return outcome


class Server:
    """Counts the requests that arrive, and hands each to a handler."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.port = 0

    def url(self, path: str = "/", host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                line, *rest = head.decode("latin-1").split("\r\n")
                headers = dict(part.lower().split(": ", 1) for part in rest if part)
                path = line.split(" ")[1]
                self.requests.append((path, headers))
                await self.handler(path, headers, writer)
                await writer.drain()
                if writer.is_closing():
                    break
        writer.close()
        with suppress(ConnectionError, ssl.SSLError):
            await writer.wait_closed()


@asynccontextmanager
async def serving(handler: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    server = Server(handler)
    talks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        talks.add(task)
        with suppress(asyncio.CancelledError):
            await server.talk(reader, writer)
        writer.close()
        talks.discard(task)

    listener = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls, limit=1 << 20)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        for task in list(talks):
            task.cancel()
        await asyncio.gather(*talks, return_exceptions=True)
        await listener.wait_closed()


def answer(
    body: bytes = b"ok", status: str = "200 OK", *headers: str, length: int | None = None
) -> bytes:
    size = len(body) if length is None else length
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {size}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def fixed(data: bytes, close: bool = False) -> Handler:
    async def handler(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        if close:
            await writer.drain()
            writer.close()

    return handler


def fetch_from(
    handler: Handler, path: str = "/", settings: ClientSettings = OPEN, **options: Any
) -> tuple[FetchOutcome, Server]:
    async def body() -> tuple[FetchOutcome, Server]:
        async with serving(handler) as server, Client(settings) as client:
            options.setdefault("limits", QUICK)
            return await fetched(client, server.url(path), **options), server

    return run(body())


def problem(outcome: FetchOutcome) -> str:
    assert isinstance(outcome, FetchProblem), outcome
    return outcome.reason


def good(outcome: FetchOutcome) -> Response:
    assert isinstance(outcome, Response), outcome
    return outcome


def test_a_plain_page() -> None:
    outcome, server = fetch_from(
        fixed(answer(b"<p>hi", "200 OK", "Content-Type: text/HTML; charset=utf-8", 'ETag: "a"')),
        "/x?y=1",
    )
    response = good(outcome)
    assert response.body == b"<p>hi"
    assert response.media_type == "text/html"
    assert response.headers["etag"] == '"a"'
    assert response.ip == "127.0.0.1"
    assert (response.requests, response.cut) == (1, "")
    (hop,) = response.hops
    assert hop.request_head.startswith(b"GET /x?y=1 HTTP/1.1\r\n")
    assert f"User-Agent: {AGENT}".encode() in hop.request_head
    assert hop.request_head.endswith(b"\r\n\r\n")
    assert hop.response_head.startswith(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n")
    assert response.received == len(hop.response_head) + 5
    assert 0 < response.rtt <= response.seconds
    assert server.requests[0][1]["accept-encoding"] == "gzip, deflate, br, zstd"


def test_user_agent() -> None:
    assert user_agent("mailto:me@a.example").endswith(" (+mailto:me@a.example)")
    with pytest.raises(InputError, match="contact"):
        user_agent("")


@pytest.mark.parametrize("status", ["404 Not Found", "429 Too Many", "503 Busy", "204 No Content"])
def test_statuses(status: str) -> None:
    outcome, _ = fetch_from(fixed(answer(b"", status, "Retry-After: 7")))
    if status.startswith("204"):
        assert good(outcome).status == 204
        return
    assert problem(outcome) == f"http-{status[:3]}"
    assert isinstance(outcome, FetchProblem)
    assert outcome.response is not None
    assert outcome.response.headers["retry-after"] == "7"
    assert outcome.requests == 1


def test_conditional_requests() -> None:
    outcome, server = fetch_from(
        fixed(b"HTTP/1.1 304 Not Modified\r\n\r\n"), etag='"a"', last_modified="yesterday"
    )
    assert good(outcome).status == 304
    sent = server.requests[0][1]
    assert (sent["if-none-match"], sent["if-modified-since"]) == ('"a"', "yesterday")


def redirecting(targets: dict[str, str]) -> Handler:
    async def handler(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        if path in targets:
            writer.write(answer(b"moved", "302 Found", f"Location: {targets[path]}"))
        else:
            writer.write(answer(path.encode()))

    return handler


def test_redirects_are_followed_and_charged() -> None:
    budget = Budget(10)
    outcome, server = fetch_from(redirecting({"/": "a/../b#x", "/b": "/c"}), take=budget.take)
    response = good(outcome)
    assert response.body == b"/c"
    assert response.url.endswith("/c")
    assert [hop.status for hop in response.hops] == [302, 302, 200]
    assert budget.taken == response.requests == len(server.requests) == 3


@pytest.mark.parametrize("left", [0, 1, 2])
def test_nothing_is_sent_without_budget(left: int) -> None:
    budget = Budget(left)
    outcome, server = fetch_from(redirecting({"/": "/b", "/b": "/c"}), take=budget.take)
    assert problem(outcome) == "budget"
    assert len(server.requests) == budget.taken == outcome.requests == left
    assert len(outcome.hops) == left


def test_redirect_chains_end() -> None:
    outcome, server = fetch_from(redirecting({"/": "/b", "/b": "/"}))
    assert problem(outcome) == "redirect-loop"
    assert len(server.requests) == 2
    outcome, server = fetch_from(
        redirecting({f"/{'x' * n}": f"/{'x' * (n + 1)}" for n in range(9)})
    )
    assert problem(outcome) == "too-many-redirects"
    assert len(server.requests) == 6
    outcome, _ = fetch_from(redirecting({"/": "javascript:alert(1)"}))
    assert problem(outcome) == "bad-redirect"
    outcome, _ = fetch_from(fixed(answer(b"", "302 Found")))
    assert problem(outcome) == "http-302"


def test_each_hop_must_be_allowed() -> None:
    asked: list[str] = []

    def gate(url: str, group: str, redirected: bool) -> str | None:
        asked.append(url.rpartition("/")[2])
        assert redirected is (len(asked) > 1)
        assert group == url.split("/")[2]
        return "scope: other" if url.endswith("/c") else None

    outcome, server = fetch_from(redirecting({"/": "/b", "/b": "/c"}), gate=gate)
    assert isinstance(outcome, FetchProblem)
    assert (outcome.reason, outcome.detail) == ("not-allowed", "scope: other")
    assert asked == ["", "b", "c"]
    assert len(server.requests) == 2


def test_only_http() -> None:
    async def body() -> None:
        async with Client(OPEN) as client:
            for url in ("ftp://a.example/", "file:///etc/passwd", "http://[x"):
                assert problem(await fetched(client, url)) == "bad-url"

    run(body())


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "x-gzip", "identity"])
def test_codings(coding: str) -> None:
    outcome, _ = fetch_from(
        fixed(answer(pack(coding, b"text" * 100), "200 OK", f"Content-Encoding: {coding}"))
    )
    response = good(outcome)
    assert response.body == b"text" * 100
    assert response.hops[0].body == pack(coding, b"text" * 100)


def pack(coding: str, data: bytes) -> bytes:
    import zlib

    import brotli
    import zstandard

    if coding in ("gzip", "x-gzip"):
        return gzip.compress(data, mtime=0)
    if coding == "deflate":
        return zlib.compress(data)
    if coding == "br":
        return bytes(brotli.compress(data))
    if coding == "zstd":
        return zstandard.ZstdCompressor().compress(data)
    return data


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "gzip, gzip"])
def test_bombs_are_cut(coding: str) -> None:
    body = b"\0" * 30_000_000
    for layer in coding.split(", "):
        body = pack(layer, body)
    began = time.process_time()
    outcome, _ = fetch_from(
        fixed(answer(body, "200 OK", f"Content-Encoding: {coding}")),
        limits=Limits(unpacked=100_000),
    )
    response = good(outcome)
    assert len(response.body) == 100_000
    assert response.cut == "size"
    assert time.process_time() - began < 3


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "compress", "gzip, gzip, gzip"])
def test_bad_encodings(coding: str) -> None:
    outcome, _ = fetch_from(fixed(answer(b"not packed", "200 OK", f"Content-Encoding: {coding}")))
    assert problem(outcome) == "bad-encoding"


def test_bodies_are_cut_at_the_limit() -> None:
    outcome, _ = fetch_from(fixed(answer(b"x" * 300_000)), limits=Limits(body=100_000))
    response = good(outcome)
    assert response.body == b"x" * 100_000
    assert response.cut == "size"
    exact, _ = fetch_from(fixed(answer(b"x" * 1_000)), limits=Limits(body=1_000))
    assert good(exact).cut == ""


def test_unwanted_types_are_not_read() -> None:
    outcome, _ = fetch_from(
        fixed(answer(b"x" * 10, "200 OK", "Content-Type: video/mp4", length=10**9)),
        wanted=lambda media: media == "text/html",
    )
    assert isinstance(outcome, FetchProblem)
    assert (outcome.reason, outcome.detail) == ("unwanted-type", "video/mp4")


def test_a_connection_that_ends_early_gives_what_came() -> None:
    outcome, _ = fetch_from(fixed(answer(b"half", length=100), close=True))
    response = good(outcome)
    assert (response.body, response.cut) == (b"half", "broken")


async def dripping(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
    writer.write(answer(b"", length=10_000))
    for _ in range(1_000):
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.05)


def test_silence_slowness_and_rubbish() -> None:
    async def silent(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(10)

    async def slow_head(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        for byte in answer(b"x" * 10):
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.2)

    async def stalling(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        writer.write(answer(b"begun", length=100))
        await writer.drain()
        await asyncio.sleep(10)

    quick = Limits(connect=0.4, first_byte=0.4, total=2, min_rate=1_000, grace=0.3)
    assert problem(fetch_from(silent, limits=quick)[0]) == "timeout"
    assert problem(fetch_from(slow_head, limits=quick)[0]) == "timeout"
    assert problem(fetch_from(stalling, limits=quick)[0]) == "timeout"
    patient = Limits(connect=60, first_byte=60, total=60, min_rate=1_000, grace=0.3)
    assert problem(fetch_from(dripping, limits=patient)[0]) == "slow"
    assert problem(fetch_from(fixed(b"SSH-2.0-OpenSSH\r\n\r\n"))[0]) == "bad-response"
    assert problem(fetch_from(fixed(b"", close=True))[0]) == "disconnected"


def test_what_this_process_was_busy_for_does_not_count_against_a_server() -> None:
    async def body() -> None:
        async with serving(dripping) as server, Client(OPEN) as client:
            limits = Limits(total=6.0, min_rate=1_000, grace=3.0)
            fetching = asyncio.create_task(
                fetched(client, server.url(), take=Budget(1).take, limits=limits)
            )
            await asyncio.sleep(0.1)  # a busy machine may make more of it
            client.forgive(1.0)
            outcome = await fetching
        assert problem(outcome) == "slow"
        assert outcome.seconds > 4.0

    asyncio.run(body())


def test_large_heads() -> None:
    one = fixed(answer(b"ok", "200 OK", "X-Long: " + "x" * 100_000))
    assert problem(fetch_from(one)[0]) == "too-large"
    many = fixed(answer(b"ok", "200 OK", *[f"X-{n}: y" for n in range(2_000)]))
    assert problem(fetch_from(many)[0]) == "too-large"
    heavy = fixed(answer(b"ok", "200 OK", *[f"X-{n}: {'y' * 900}" for n in range(50)]))
    assert problem(fetch_from(heavy, limits=Limits(head=1_000))[0]) == "too-large"


def test_nobody_listens() -> None:
    async def body() -> None:
        async with serving(fixed(answer())) as server:
            url = server.url()
        budget = Budget(5)
        async with Client(OPEN) as client:
            outcome = await fetched(client, url, take=budget.take, limits=QUICK)
        assert problem(outcome) == "connect"
        assert outcome.requests == budget.taken == 1

    run(body())


def test_a_retry_on_a_dead_connection_is_charged() -> None:
    """aiohttp sends again when a kept connection turns out closed: that is a second request."""
    served = 0

    async def once_each(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        nonlocal served
        served += 1
        if served == 2:
            writer.close()  # no answer to the second request on the kept connection
        else:
            writer.write(answer(str(served).encode()))

    async def body() -> None:
        budget = Budget(10)
        async with serving(once_each) as server, Client(OPEN) as client:
            first = good(await fetched(client, server.url(), take=budget.take, limits=QUICK))
            second = good(await fetched(client, server.url(), take=budget.take, limits=QUICK))
        assert (first.requests, second.requests) == (1, 2)
        assert second.body == b"3"
        assert budget.taken == len(server.requests) == 3

    run(body())


def test_private_addresses_are_refused_by_default() -> None:
    closed = ClientSettings(AGENT)

    async def body() -> None:
        async with serving(fixed(answer())) as server:

            async def rebound(host: str) -> list[str]:
                return ["127.0.0.1"]

            async with Client(closed, lookup=rebound) as client:
                for host in (
                    "127.0.0.1",
                    "0x7f000001",
                    "2130706433",
                    "127.1",
                    "[::1]",
                    "[::ffff:127.0.0.1]",
                    "rebound.example",
                ):
                    budget = Budget(5)
                    outcome = await fetched(client, server.url("/", host), take=budget.take)
                    assert problem(outcome) == "blocked-address", host
            assert server.requests == []

    run(body())


def test_rebinding_between_the_check_and_the_connection() -> None:
    """A resolver that answers well once and badly later: the socket is checked, not the name."""
    closed = ClientSettings(AGENT)

    async def body() -> None:
        async with serving(fixed(answer())) as server:

            async def fine(host: str) -> list[str]:
                return ["93.184.216.34"]

            async with Client(closed, lookup=fine) as client:
                real = client.resolver.resolve

                async def resolve(host: str, port: int = 0, family: Any = 0) -> Any:
                    return [dict(entry, host="127.0.0.1") for entry in await real(host, port)]

                client.resolver.resolve = resolve  # type: ignore[method-assign]
                assert await client.resolver.addresses("a.example") == ["93.184.216.34"]
                outcome = await fetched(client, server.url("/", "a.example"))
                assert problem(outcome) == "blocked-address"
            assert server.requests == []

    run(body())


def test_a_redirect_to_a_private_address_is_refused() -> None:
    async def body() -> None:
        handler = redirecting({"/": "http://10.0.0.1/"})
        closed = ClientSettings(AGENT)
        async with serving(handler) as server, Client(closed, lookup=local) as client:
            client.guard.exempt.add("127.0.0.1")
            outcome = await fetched(client, server.url("/", "a.example"))
            assert problem(outcome) == "blocked-address"
            assert outcome.requests == 1

    run(body())


def test_names_without_an_address() -> None:
    async def nothing(host: str) -> list[str]:
        raise OSError("no such name")

    async def never(host: str) -> list[str]:
        await asyncio.sleep(30)
        return []

    async def body() -> None:
        async with Client(OPEN, lookup=nothing) as client:
            assert problem(await fetched(client, "http://a.example/")) == "dns"
        async with Client(OPEN, lookup=never) as client:
            client.resolver._timeout = 0.1
            assert problem(await fetched(client, "http://a.example/")) == "dns"

    run(body())


async def local(host: str) -> list[str]:
    return ["127.0.0.1"]


def test_tls(tmp_path: Path) -> None:
    authority = trustme.CA()
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("good.example").configure_cert(server_side)
    pem = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(pem))

    async def body() -> None:
        trusting = ClientSettings(AGENT, allow_private=True, ca_file=pem)
        async with serving(fixed(answer()), server_side) as server:
            async with Client(trusting, lookup=local) as client:
                url = server.url("/", "good.example", "https")
                assert good(await fetched(client, url)).body == b"ok"
                url = server.url("/", "bad.example", "https")
                assert problem(await fetched(client, url)) == "tls"
            async with Client(OPEN, lookup=local) as client:
                url = server.url("/", "good.example", "https")
                assert problem(await fetched(client, url)) == "tls"

    run(body())
    with pytest.raises(InputError, match="certificates"):
        Client(ClientSettings(AGENT, ca_file=tmp_path / "none.pem"))


def test_secrets_go_to_their_host_and_nowhere_else() -> None:
    settings = ClientSettings(
        AGENT,
        allow_private=True,
        headers={"Accept-Language": "fr"},
        host_headers={"one.example": {"X-Key": Secret("k3y"), "X-Plain": "p"}},
        logins={"one.example": ("me", Secret("pw"))},
    )
    assert "k3y" not in repr(settings)
    assert "pw" not in repr(settings)

    async def body() -> None:
        async with serving(fixed(answer())) as there:
            target = there.url("/", "two.example")
            async with (
                serving(redirecting({"/": target})) as here,
                Client(settings, lookup=local) as client,
            ):
                response = good(await fetched(client, here.url("/", "one.example")))
            sent, leaked = here.requests[0][1], there.requests[0][1]
            assert sent["x-key"] == "k3y"
            assert sent["authorization"].startswith("basic ")
            assert sent["accept-language"] == leaked["accept-language"] == "fr"
            assert "x-key" not in leaked
            assert "authorization" not in leaked
            head = response.hops[0].request_head.lower()
            assert b"k3y" not in head
            assert b"authorization" not in head
            assert b"x-plain: p" in head

    run(body())
    with pytest.raises(InputError, match="secret"):
        ClientSettings(AGENT, headers={"X": Secret("x")})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("sessions", "kept"),
    [((), False), (("b.example",), False), (("a.example",), True), (("example",), True)],
)
def test_cookies_are_kept_for_sessions_alone_and_shown_to_nobody(
    sessions: tuple[str, ...], kept: bool
) -> None:
    async def body() -> None:
        settings = ClientSettings(AGENT, allow_private=True, sessions=frozenset(sessions))
        handler = fixed(answer(b"ok", "200 OK", "Set-Cookie: a=s3cret; Path=/"))
        async with serving(handler) as server, Client(settings, lookup=local) as client:
            for _ in range(2):
                response = good(await fetched(client, server.url("/", "a.example")))
            good(await fetched(client, server.url("/", "b.elsewhere")))
            assert ("cookie" in server.requests[1][1]) is kept
            assert "cookie" not in server.requests[2][1]
            (hop,) = response.hops
            assert (b"s3cret" in hop.response_head) is not kept
            assert b"s3cret" not in hop.request_head

    run(body())


def test_a_server_cannot_fill_the_memory_with_cookies() -> None:
    async def body() -> None:
        settings = ClientSettings(AGENT, allow_private=True, sessions=frozenset(["a.example"]))
        count = 0

        async def one_more(
            path: str, headers: dict[str, str], writer: asyncio.StreamWriter
        ) -> None:
            nonlocal count
            count += 1
            writer.write(answer(b"ok", "200 OK", f"Set-Cookie: a{count}=b; Path=/"))

        async with serving(one_more) as server, Client(settings, lookup=local) as client:
            for _ in range(MOST + 20):
                good(await fetched(client, server.url("/", "a.example")))
            assert server.requests[-1][1]["cookie"].count("=") == MOST

    run(body())


def test_a_proxy_is_used_and_exempt_from_the_guard() -> None:
    async def body() -> None:
        async with serving(fixed(answer(b"proxied"))) as server:
            settings = ClientSettings(AGENT, proxy=Secret(server.url()))
            async with Client(settings) as client:
                response = good(await fetched(client, "http://a.example/x"))
                assert response.body == b"proxied"
                assert server.requests[0][0] == "http://a.example/x"
                outcome = await fetched(client, "http://127.0.0.1/")
                assert problem(outcome) == "blocked-address"

    run(body())
    with pytest.raises(InputError, match="proxy"):
        Client(ClientSettings(AGENT, proxy="socks5://x"))


def test_many_at_once_never_exceed_the_budget() -> None:
    async def body() -> None:
        budget = Budget(50)
        handler = redirecting({f"/{n}": f"/to{n}" for n in range(100)})
        async with serving(handler) as server, Client(OPEN) as client:
            outcomes = await asyncio.gather(
                *(fetched(client, server.url(f"/{n}"), take=budget.take) for n in range(64))
            )
        assert budget.taken == len(server.requests) == 50
        assert sum(outcome.requests for outcome in outcomes) == 50

    run(body())


def test_cancelling_a_fetch_leaves_nothing_open() -> None:
    async def silent(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(10)

    async def body() -> None:
        async with serving(silent) as server, Client(OPEN) as client:
            task = asyncio.create_task(fetched(client, server.url()))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    run(body())


def test_an_endless_row_of_interim_responses_is_ended() -> None:
    async def handler(path: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        while not writer.is_closing():
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)
            await writer.drain()

    async def body() -> None:
        async with serving(handler) as server, Client(OPEN) as client:
            got = await fetched(client, server.url())
            assert isinstance(got, FetchProblem)
            assert (got.reason, got.requests) == ("bad-response", 1)
            assert "interim" in got.detail

    run(body())


def test_a_few_interim_responses_are_nothing_special() -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n" * 20

    async def body() -> None:
        async with (
            serving(fixed(hints + answer(b"here"))) as server,
            Client(OPEN) as client,
        ):
            for _ in range(3):
                got = await fetched(client, server.url())
                assert isinstance(got, Response)
                assert got.body == b"here"

    run(body())


@pytest.mark.parametrize(
    ("address", "reason"),
    [("10.1.2.3", "blocked-address"), ("169.254.169.254", "blocked-address"), (None, None)],
)
def test_a_proxy_is_not_sent_to_names_that_are_private_here(
    address: str | None, reason: str | None
) -> None:
    looked: list[str] = []

    async def lookup(host: str) -> list[str]:
        looked.append(host)
        if address is None:  # behind many a proxy nothing has an address but the proxy
            raise OSError("no such name")
        return [address]

    async def body() -> None:
        async with serving(fixed(answer(b"by the proxy"))) as server:
            settings = ClientSettings(AGENT, proxy=Secret(server.url()))
            async with Client(settings, lookup=lookup) as client:
                for _ in range(2):
                    got = await fetched(client, "http://inside.example/")
                    assert (got.reason if isinstance(got, FetchProblem) else None) == reason
            assert len(server.requests) == (2 if reason is None else 0)
            assert looked == ["inside.example"]

    run(body())
