"""How the client presents itself, and what it may connect to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from sonde.errors import InputError
from sonde.net.secret import Secret


def user_agent(contact: str) -> str:
    """``sonde/<version> (+contact)``: who is asking, and whom to ask about it."""
    try:
        number = version("sonde")
    except PackageNotFoundError:  # run from a source tree
        number = "0"
    if not contact or not contact.isprintable():
        raise InputError("the user agent needs a contact: a URL or an e-mail address")
    return f"sonde/{number} (+{contact})"


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """How the client presents itself and what it may connect to.

    ``headers`` go to every host, so they may not hold secrets. ``host_headers`` and ``logins``
    (user and password for basic authentication) go to the named host alone, also after redirects.
    With a ``proxy``, names are resolved by the proxy, which must refuse private addresses itself;
    literal addresses in URLs are still checked here. ``heads`` keeps the heads of requests and
    responses with each exchange, for an archive.
    """

    agent: str
    headers: Mapping[str, str] = field(default_factory=dict)
    host_headers: Mapping[str, Mapping[str, str | Secret]] = field(default_factory=dict)
    logins: Mapping[str, tuple[str, Secret]] = field(default_factory=dict)
    cookies: bool = False
    proxy: str | Secret | None = None
    ca_file: str | Path | None = None
    allow_private: bool = False
    connections: int = 100
    heads: bool = True

    def __post_init__(self) -> None:
        for name, value in self.headers.items():
            if not isinstance(value, str):
                raise InputError(f"the header {name} is secret: name the host that it is for")
