"""The door of an HTTP server on this machine: who may come in.

A server on loopback can be reached by every program on the machine and, through a browser, by
every page that somebody has open. So each request needs a token; the ``Host`` must be this server
by a name that it has (a page cannot point a name of its own at it), and where a browser says the
``Origin``, it must be this server too.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

LARGEST = 65_536
"""Bytes of a request's body at most."""


@dataclass(frozen=True)
class Door:
    """Where a server listens, and for whom."""

    host: str
    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    largest: int = LARGEST

    @property
    def hosts(self) -> list[str]:
        """What ``Host`` may say."""
        names = {"127.0.0.1", "localhost", "[::1]"}
        names.add(f"[{self.host}]" if ":" in self.host else self.host)
        return [f"{name}:{self.port}" for name in sorted(names)]

    @property
    def origins(self) -> list[str]:
        """What ``Origin`` may say, where it says anything."""
        return [f"http://{host}" for host in self.hosts]

    def refusal(self, headers: Mapping[str, str]) -> tuple[int, bytes] | None:
        """Status and body for a request that may not come in; names of headers in small letters."""
        if headers.get("host") not in self.hosts:
            return _refused(421, "this server is not called so")
        origin = headers.get("origin")
        if origin is not None and origin not in self.origins:
            return _refused(403, "pages of other sites may not ask")
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(
            token.encode("utf-8", "replace"), self.token.encode()
        ):
            return _refused(401, "needs the header Authorization: Bearer TOKEN")
        return None


def _refused(status: int, why: str) -> tuple[int, bytes]:
    return status, json.dumps({"error": why}).encode()
