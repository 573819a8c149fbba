"""Addresses: every way to spell a private one, as a URL, as a redirect, and by names that lie."""

from __future__ import annotations

import asyncio
import ipaddress
import itertools
from collections.abc import Iterator

from outcome import Part

from sonde.net.client import Client
from sonde.net.client_settings import ClientSettings
from sonde.net.exchange import FetchProblem
from sonde.net.polite_fetch import PoliteFetch

PRIVATE = ("127.0.0.1", "10.0.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1")
REFUSED = frozenset(("blocked-address", "bad-url"))
_CIRCLED = {str(digit): chr(0x2460 + digit - 1) if digit else "\u24ea" for digit in range(10)}
_WIDE = {str(digit): chr(0xFF10 + digit) for digit in range(10)}


def spellings(address: str) -> Iterator[str]:
    """The ways to write an IPv4 address as the host of a URL."""
    number = int(ipaddress.IPv4Address(address))
    parts = address.split(".")
    yield address
    yield f"{address}."
    yield str(number)
    yield hex(number)
    yield f"0{number:o}"
    yield ".".join(hex(int(part)) for part in parts)
    yield ".".join(f"0{int(part):o}" for part in parts)
    yield ".".join(f"000{int(part):o}" for part in parts)
    yield f"{parts[0]}.{number & 0xFFFFFF}"
    yield f"{parts[0]}.{parts[1]}.{number & 0xFFFF}"
    yield f"{hex(int(parts[0]))}.{number & 0xFFFFFF}"
    yield "".join(_WIDE.get(letter, letter) for letter in address)
    yield "".join(_CIRCLED.get(letter, letter) for letter in address)
    yield address.replace(".", "\u3002")
    yield address.replace(".", "\uff0e")
    yield "%" + "%".join(f"{ord(letter):02x}" for letter in address)
    yield f"a.example@{address}"
    yield f"a.example:80@{address}"
    yield f"[::ffff:{address}]"
    yield f"[::{address}]"
    yield f"[::ffff:{number >> 16:x}:{number & 0xFFFF:x}]"
    yield f"[0:0:0:0:0:ffff:{number >> 16:x}:{number & 0xFFFF:x}]"
    yield f"[::ffff:0:{address}]"
    yield f"[64:ff9b::{address}]"
    yield f"[2002:{number >> 16:x}:{number & 0xFFFF:x}::1]"


LITERALS = ("[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[fe80::1]", "[fc00::1]", "[fd00:ec2::254]")


async def _asked(part: Part) -> None:
    arrived: list[str] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        arrived.append((await reader.readline()).decode("latin-1"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret")
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    answers: dict[str, list[str]] = {}

    async def lookup(host: str) -> list[str]:
        return answers[host]

    class Always:
        def take(self) -> bool:
            return True

        def receive(self, size: int) -> None:
            pass

    async with Client(ClientSettings("torture"), lookup=lookup) as client:
        polite = PoliteFetch(client)

        async def refused(url: str) -> None:
            before = len(arrived)
            got = await polite.fetch(url, Always())
            kept = isinstance(got, FetchProblem) and got.reason in REFUSED
            what = got.reason if isinstance(got, FetchProblem) else "it was fetched"
            part.check(kept and len(arrived) == before, f"{url}: {what}")

        for host in itertools.chain(LITERALS, *map(spellings, PRIVATE)):
            await refused(f"http://{host}:{port}/")
        for count, address in enumerate((*PRIVATE, "::1", "fe80::1", "::ffff:127.0.0.1")):
            answers[f"named{count}.example"] = [address]
            await refused(f"http://named{count}.example:{port}/")
            answers[f"mixed{count}.example"] = [address, PRIVATE[count % len(PRIVATE)]]
            await refused(f"http://mixed{count}.example:{port}/")
    server.close()


def addresses() -> Part:
    """All of them."""
    part = Part("addresses", "no spelling of a private address is connected to without leave")
    asyncio.run(_asked(part))
    part.figures.append(f"{len(PRIVATE)} addresses, {len(list(spellings(PRIVATE[0])))} spellings")
    return part
