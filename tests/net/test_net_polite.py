"""The polite fetch: robots.txt first, in turn, every request charged, every turn given back."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from aiohttp import web

from sonde.net.client import Client
from sonde.net.client_settings import ClientSettings
from sonde.net.exchange import FetchOutcome, FetchProblem, Limits, Response
from sonde.net.hosts import Hosts
from sonde.net.polite_fetch import PoliteFetch
from sonde.net.retries import GIVE_UP, TRANSIENT, Retries
from sonde.net.robots import RobotsRecord
from sonde.net.turns import Turns

SETTINGS = ClientSettings("sonde/test (+http://contact.example)", allow_private=True)
LIMITS = Limits(connect=2, first_byte=2, total=4)
ROBOTS = "User-agent: *\nDisallow: /private\n"

T = TypeVar("T")


class Purse:
    """An allowance with so many requests."""

    def __init__(self, left: int = 1_000) -> None:
        self.left = left
        self.taken = 0
        self.received = 0

    def take(self) -> bool:
        if not self.left:
            return False
        self.left -= 1
        self.taken += 1
        return True

    def receive(self, size: int) -> None:
        self.received += size


class Server:
    """Redirects ``/to/PATH`` to ``/PATH``; counts what arrives."""

    def __init__(self) -> None:
        self.paths: list[str] = []

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        self.paths.append(request.path)
        await asyncio.sleep(0.002)
        if request.path == "/robots.txt":
            return web.Response(text=ROBOTS)
        if request.path.startswith("/to/"):
            raise web.HTTPFound(request.path.removeprefix("/to"))
        return web.Response(text=request.path)


def asked(
    body: Callable[[PoliteFetch, str], Awaitable[T]],
    server: Server,
    told: list[RobotsRecord | None] | None = None,
    **rules: Any,
) -> T:
    """What comes of asking a server that is up for the while."""

    async def main() -> T:
        runner = web.ServerRunner(web.Server(server.answer), shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        assert site._server is not None
        port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
        try:
            async with Client(SETTINGS) as client:
                turns = Turns(Hosts(**{"delay": 0.0, **rules}), client.resolver)
                polite = PoliteFetch(
                    client,
                    turns,
                    limits=LIMITS,
                    on_robots=lambda answer, record: (told or []).append(record),
                )
                return await body(polite, f"http://127.0.0.1:{port}")
        finally:
            await runner.cleanup()

    return asyncio.run(asyncio.wait_for(main(), 30))


def refused(outcome: FetchOutcome) -> str:
    assert isinstance(outcome, FetchProblem)
    assert outcome.reason == "not-allowed"
    return outcome.detail


def test_robots_are_asked_once_and_first_and_charged() -> None:
    server, purse = Server(), Purse()

    async def body(polite: PoliteFetch, origin: str) -> list[FetchOutcome]:
        return await asyncio.gather(
            *(polite.fetch(f"{origin}/{n}", purse) for n in range(5)),
            polite.fetch(f"{origin}/private/x", purse),
        )

    *pages, private = asked(body, server, connections=9)
    assert all(isinstance(page, Response) for page in pages)
    assert refused(private) == "robots"
    assert server.paths[0] == "/robots.txt"
    assert server.paths.count("/robots.txt") == 1
    assert purse.taken == len(server.paths) == 6
    assert purse.received > 0
    assert sum(len(page.trips) for page in pages) + len(private.trips) == 6


def test_redirects_are_gated_waited_for_and_forbidden_like_any_url() -> None:
    server, purse, gated, waits = Server(), Purse(), [], []

    def gate(url: str, group: str, redirected: bool) -> str | None:
        gated.append((url.split("/", 3)[3], redirected))
        return "no" if redirected and url.endswith("/shut") else None

    async def wait() -> None:
        waits.append(len(server.paths))

    async def body(polite: PoliteFetch, origin: str) -> list[FetchOutcome]:
        return [
            await polite.fetch(f"{origin}/to/{path}", purse, gate=gate, wait=wait)
            for path in ("open", "shut", "private")
        ]

    good, shut, private = asked(body, server)
    assert isinstance(good, Response)
    assert good.body == b"/open"
    assert (refused(shut), refused(private)) == ("no", "robots")
    assert gated[:2] == [("to/open", False), ("open", True)]
    assert server.paths == ["/robots.txt", "/to/open", "/open", "/to/shut", "/to/private"]
    assert waits == [0, 1, 2, 3, 4]  # before every request, that for robots.txt too
    assert purse.taken == 5


def test_a_host_without_budget_is_closed_and_asked_no_more() -> None:
    server, purse = Server(), Purse()

    async def body(polite: PoliteFetch, origin: str) -> list[FetchOutcome]:
        outcomes = [await polite.fetch(f"{origin}/{n}", purse) for n in range(4)]
        assert polite.turns is not None
        assert list(polite.turns.closed) == [origin.removeprefix("http://")]
        return outcomes

    first, second, *others = asked(body, server, host_budget=3)
    assert isinstance(first, Response)
    assert isinstance(second, Response)
    assert [refused(each) for each in others] == ["host-budget", "host-budget"]
    assert purse.taken == len(server.paths) == 3


@pytest.mark.parametrize("left", [0, 1, 2])
def test_nothing_leaves_without_an_allowance(left: int) -> None:
    server, purse = Server(), Purse(left)

    async def body(polite: PoliteFetch, origin: str) -> FetchOutcome:
        return await polite.fetch(f"{origin}/to/x", purse)

    outcome = asked(body, server)
    assert isinstance(outcome, FetchProblem)
    assert outcome.reason == "budget"
    assert len(server.paths) == purse.taken == left


def test_rules_that_cannot_be_had_forbid_everything() -> None:
    told: list[RobotsRecord | None] = [None]

    async def body(polite: PoliteFetch, origin: str) -> list[FetchOutcome]:
        polite.robots_limits = Limits(first_byte=0.0001, connect=0.0001, total=0.0001)
        return [await polite.fetch(f"{origin}/{n}", Purse()) for n in range(2)]

    server = Server()
    assert [refused(each) for each in asked(body, server, told)] == ["robots-unreachable"] * 2
    assert told[-1] is not None
    assert told[-1].verdict == "disallow"


@pytest.mark.parametrize("connections", [1, 3])
def test_every_turn_is_given_back_whatever_becomes_of_the_fetch(connections: int) -> None:
    """Fetches are cancelled at any point, refused, redirected; then all hosts are free again."""
    dice = random.Random(connections)

    async def body(polite: PoliteFetch, origin: str) -> None:
        assert polite.turns is not None
        turns = polite.turns
        group = origin.removeprefix("http://")
        turns.know(group)
        purse = Purse(150)

        async def one(path: str) -> None:
            if group in turns.hosts.ready(asyncio.get_running_loop().time() + 1e9):
                turns.reserve(group)  # as a driver does
            await polite.fetch(origin + path, purse, wait=in_turn)

        async def in_turn() -> None:
            assert all(0 < host.open <= connections for host in turns.hosts)

        paths = ("/a", "/to/b", "/private", "/to/to/c", "/to/private")
        tasks = []
        for _ in range(120):
            tasks.append(asyncio.create_task(one(dice.choice(paths))))
            await asyncio.sleep(dice.choice((0.0, 0.0, 0.001)))
            if dice.random() < 0.3:
                dice.choice(tasks).cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert not any(isinstance(each, AssertionError) for each in ended)
        for host in turns.hosts:
            assert (host.open, host.reserved, host.queue, host.opening) == (0, 0, None, False)
        assert isinstance(await polite.fetch(f"{origin}/last", Purse()), Response)

    asked(body, Server(), connections=connections)


def test_a_turn_that_was_not_used_says_nothing_about_the_server() -> None:
    hosts = Hosts(delay=1.0)
    host = hosts.add("a.example", 0.0)
    for _ in range(3):
        hosts.started(host, 0.0)
        hosts.finished(host, 0.0, trouble=True)
    hosts.started(host, 0.0)
    hosts.finished(host, 0.0, trouble=None)
    assert host.troubles == 3
    assert host.open == 0


def test_what_is_tried_again() -> None:
    retries = Retries(2)
    assert [retries.again("a", "timeout") for _ in range(4)] == [True, True, False, True]
    assert not any(retries.again("b", reason) for reason in ("http-404", "robots", "tls"))
    assert all(retries.again("c", "http-429", counted=False) for _ in range(9))
    assert not retries.again("d", "timeout", troubles=GIVE_UP)
    retries.recall("e", 1)
    assert [retries.again("e", reason) for reason in ("dns", "dns")] == [True, False]
    retries.again("f", "slow")
    retries.succeeded("f")
    assert [retries.again("f", "slow") for _ in range(3)] == [True, True, False]
    assert {"http-500", "disconnected"} <= TRANSIENT
