"""The address guard, against request forgery (SSRF): which addresses may be connected to.

A crawler follows links that strangers write, from inside somebody's network. So by default it
connects to public addresses only. The check is made on the address that the socket is about to
connect to: it does not matter how a URL spelt it, which redirect led there, or what the name
resolved to a moment before (DNS rebinding). Addresses that carry an IPv4 address inside
(mapped, compatible, 6to4, NAT64, Teredo, ISATAP) are judged by that one too.

The resolver drops refused addresses from an answer, and says so when nothing is left; the socket
factory is the last word, and also covers literal addresses, which are never resolved.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import lru_cache

from aiohttp.abc import AbstractResolver, ResolveResult

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_METADATA = "a cloud's metadata service"

_REFUSED = {
    ipaddress.ip_network(network): why
    for why, networks in {
        _METADATA: "169.254.169.254/32 169.254.170.2/32 168.63.129.16/32 100.100.100.200/32"
        " fd00:ec2::254/128",
        "this network": "0.0.0.0/8",
        "private": "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7",
        "carrier-grade NAT": "100.64.0.0/10",
        "loopback": "127.0.0.0/8 ::1/128",
        "link-local": "169.254.0.0/16 fe80::/10",
        "reserved": "192.0.0.0/24 192.88.99.0/24 240.0.0.0/4 100::/64 2001:10::/28 2001:2::/48"
        " 5f00::/16",
        "documentation": "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20",
        "benchmarking": "198.18.0.0/15",
        "multicast": "224.0.0.0/4 ff00::/8",
        "unspecified": "::/128",
        "site-local": "fec0::/10",
    }.items()
    for network in networks.split()
}
_PREFIXED = tuple(  # IPv6 networks with an IPv4 address inside, and how far from the right it ends
    (ipaddress.IPv6Network(network), shift)
    for network, shift in (
        ("::/96", 0),
        ("::ffff:0:0/96", 0),
        ("::ffff:0:0:0/96", 0),
        ("64:ff9b::/96", 0),
        ("64:ff9b:1::/48", 0),
        ("2002::/16", 80),
    )
)
_TEREDO = ipaddress.IPv6Network("2001::/32")
_ISATAP = (0x00005EFE, 0x02005EFE)


class BlockedAddress(OSError):
    """The address may not be connected to."""


@lru_cache(maxsize=65_536)
def refusal(address: str) -> str | None:
    """Why an address is refused by default, or ``None`` for a public one."""
    try:
        parsed: _Address = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "not an IP address"
    for candidate in (parsed, *_inside(parsed)):
        for network, why in _REFUSED.items():
            if candidate.version == network.version and candidate in network:
                return why
    return None


def _inside(address: _Address) -> list[_Address]:
    """The IPv4 addresses that an IPv6 address carries."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    number = int(address)
    found = [number >> shift for network, shift in _PREFIXED if address in network]
    if address in _TEREDO:
        found += [number >> 64, ~number]
    if (number >> 32) & 0xFFFFFFFF in _ISATAP:
        found.append(number)
    return [ipaddress.IPv4Address(part & 0xFFFFFFFF) for part in found]


class Guard:
    """Decides on addresses. ``exempt`` holds those that the user named himself (a proxy).

    ``allow_private`` lets through what was asked for, and not the metadata services of clouds,
    which hand out keys: those must be in ``named``, as addresses.
    """

    def __init__(self, *, allow_private: bool = False, named: Iterable[str] = ()) -> None:
        self.allow_private = allow_private
        self.exempt: set[str] = set()
        self._named = frozenset(named)
        self.literal_refusal = lru_cache(4_096)(self._literal_refusal)
        """Why the host of a normalised URL, with or without its port, may not be connected to where
        it is an address, not a name; or ``None``."""

    def refusal(self, address: str) -> str | None:
        """Why the address may not be connected to, or ``None``."""
        return None if address in self.exempt else self._refusal(address)

    def _refusal(self, address: str) -> str | None:
        why = refusal(address)
        if self.allow_private and (why != _METADATA or address in self._named):
            return None
        return why

    def _literal_refusal(self, host: str) -> str | None:
        # No exemption: that the proxy may be connected to does not make it a page to fetch.
        bare = host[1 : host.index("]")] if host[:1] == "[" else host.partition(":")[0]
        if ":" in bare or bare.replace(".", "").isdigit():
            return self._refusal(bare)
        return None

    def socket(
        self,
        info: tuple[
            int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[object, ...]
        ],
    ) -> socket.socket:
        """Make the socket for one address that is about to be connected to, or refuse."""
        family, kind, protocol, _, address = info
        why = self.refusal(str(address[0]))
        if why is not None:
            raise BlockedAddress(f"{address[0]}: {why}")
        return socket.socket(family=family, type=kind, proto=protocol)


Lookup = Callable[[str], Awaitable[list[str]]]
"""Gives the addresses of a name, or raises ``OSError``."""


async def system_lookup(host: str) -> list[str]:
    """Ask the system, in a thread."""
    infos = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(info[4][0]) for info in infos))


class GuardedResolver(AbstractResolver):
    """Resolves names to addresses that the guard lets through.

    Answers are kept for ``ttl`` seconds, at most ``size`` of them, so that the address used for the
    delay per IP is the one that the connection goes to.
    """

    def __init__(
        self,
        guard: Guard,
        *,
        lookup: Lookup = system_lookup,
        timeout: float = 10.0,
        ttl: float = 300.0,
        size: int = 65_536,
    ) -> None:
        self._guard = guard
        self._lookup = lookup
        self._timeout = timeout
        self.ttl = ttl
        self._size = size
        self._known: dict[str, tuple[float, list[str]]] = {}

    async def addresses(self, host: str) -> list[str]:
        """The addresses of a host that may be connected to; never empty.

        Raises ``BlockedAddress`` where all are refused, another ``OSError`` where there are none.
        """
        bare = host.strip("[]")
        if ":" in bare or bare.replace(".", "").isdigit():
            found = [bare]
        else:
            found = await self._resolved(host)
        allowed = [address for address in found if self._guard.refusal(address) is None]
        if not allowed:
            raise BlockedAddress(f"{host} is {found[0]}: {self._guard.refusal(found[0])}")
        return allowed

    async def _resolved(self, host: str) -> list[str]:
        now = time.monotonic()
        known = self._known.get(host)
        if known is not None and known[0] > now:
            return known[1]
        try:
            async with asyncio.timeout(self._timeout):
                found = await self._lookup(host)
        except TimeoutError:
            raise OSError(f"no answer for {host} within {self._timeout:g} s") from None
        except UnicodeError as error:  # a label that the system's encoder refuses
            raise OSError(f"{host}: {error}") from None
        if not found:
            raise OSError(f"{host} has no address")
        if len(self._known) >= self._size:
            self._known.pop(next(iter(self._known)))
        self._known.pop(host, None)
        self._known[host] = (now + self.ttl, found)
        return found

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """What aiohttp asks for."""
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in await self.addresses(host)
        ]

    async def close(self) -> None:
        """Nothing is held open."""
