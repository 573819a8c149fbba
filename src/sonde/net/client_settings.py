"""Client settings: how the HTTP client presents itself, and what it may connect to.

What is secret (a cookie, a password, a header whose name says so, a proxy with a login) is never
written out: it is given as ``env:NAME`` or ``file:PATH`` and belongs to one host, as in
``HOST Name: env:TOKEN``. A configuration is kept with the run, so a secret in it is refused.
"""

from __future__ import annotations

import getpass
import os
import re
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Protocol

from sonde.errors import InputError
from sonde.net.secret import Secret, secret_from

CONTACT = "SONDE_CONTACT"
"""The environment variable that gives the contact where no setting does."""

SECRET_NAMES = re.compile(r"auth|cookie|token|secret|passw|api-?key", re.IGNORECASE)


class ClientOptions(Protocol):
    """What a user can say about fetching, as plain data."""

    @property
    def contact(self) -> str | None: ...
    @property
    def user_agent(self) -> str | None: ...
    @property
    def headers(self) -> tuple[str, ...]: ...
    @property
    def cookies(self) -> tuple[str, ...]: ...
    @property
    def auth(self) -> tuple[str, ...]: ...
    @property
    def proxy(self) -> str | None: ...
    @property
    def ca_file(self) -> str | None: ...
    @property
    def allow_private(self) -> bool: ...
    @property
    def pages(self) -> bool: ...
    @property
    def concurrency(self) -> int: ...


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
    literal addresses in URLs are still checked here. ``sessions`` are domains whose cookies are
    kept, for as long as the client lives. ``heads`` keeps the heads of requests and
    responses with each exchange, for an archive.
    """

    agent: str
    headers: Mapping[str, str] = field(default_factory=dict)
    host_headers: Mapping[str, Mapping[str, str | Secret]] = field(default_factory=dict)
    logins: Mapping[str, tuple[str, Secret]] = field(default_factory=dict)
    sessions: frozenset[str] = frozenset()
    proxy: str | Secret | None = None
    ca_file: str | Path | None = None
    allow_private: bool = False
    connections: int = 100
    heads: bool = True

    def __post_init__(self) -> None:
        for name, value in self.headers.items():
            if not isinstance(value, str):
                raise InputError(f"the header {name} is secret: name the host that it is for")


def contact_of(options: ClientOptions) -> str:
    """Whom servers can ask about this crawl."""
    if options.contact:
        return options.contact
    if os.environ.get(CONTACT):
        return os.environ[CONTACT]
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # no such user in this container
        user = "unknown"
    return f"{user}@{socket.gethostname()}"


def client_settings(options: ClientOptions) -> ClientSettings:
    """What the HTTP client is given."""
    everywhere, by_host = _headers(options.headers)
    for cookie in options.cookies:
        host, text = _of_host("cookie", cookie)
        name, _, value = text.partition("=")
        secret = secret_from(value)
        if not isinstance(secret, Secret):
            raise InputError("a cookie is HOST name=env:VARIABLE or HOST name=file:PATH")
        own = by_host.setdefault(host, {})
        before = own.get("Cookie")
        pairs = f"{before.reveal()}; " if isinstance(before, Secret) else ""
        own["Cookie"] = Secret(f"{pairs}{name}={secret.reveal()}")
    proxy = None if options.proxy is None else secret_from(options.proxy)
    if isinstance(proxy, str) and "@" in proxy:
        raise InputError("a proxy with a login is given as env:VARIABLE or file:PATH")
    return ClientSettings(
        agent=options.user_agent or user_agent(contact_of(options)),
        headers=everywhere,
        host_headers=by_host,
        logins=dict(_login(login) for login in options.auth),
        proxy=proxy,
        ca_file=options.ca_file,
        allow_private=options.allow_private,
        heads=options.pages,
        connections=max(options.concurrency, 1),
    )


def _headers(
    texts: Iterable[str],
) -> tuple[dict[str, str], dict[str, dict[str, str | Secret]]]:
    everywhere: dict[str, str] = {}
    by_host: dict[str, dict[str, str | Secret]] = {}
    for text in texts:
        name, colon, value = text.partition(":")
        *host, name = name.split()[-2:] if name.split() else [""]
        if not colon or not name:
            raise InputError("a header is Name: value, or HOST Name: env:VARIABLE")
        secret = secret_from(value.strip())
        if isinstance(secret, str) and SECRET_NAMES.search(name):
            raise InputError(f"the header {name} is secret: HOST {name}: env:VARIABLE")
        if host:
            by_host.setdefault(host[0].lower(), {})[name] = secret
        elif isinstance(secret, Secret):
            raise InputError(f"the header {name} is secret: name the host that it is for")
        else:
            everywhere[name] = secret
    return everywhere, by_host


def _of_host(what: str, text: str) -> tuple[str, str]:
    host, _, rest = text.partition(" ")
    if not rest.strip():
        raise InputError(f"a {what} belongs to a host: HOST {what}")
    return host.lower(), rest.strip()


def _login(text: str) -> tuple[str, tuple[str, Secret]]:
    host, rest = _of_host("login", text)
    user, colon, password = rest.partition(":")
    secret = secret_from(password) if colon else ""
    if not isinstance(secret, Secret):
        raise InputError("a login is HOST user:env:VARIABLE or HOST user:file:PATH")
    return host, (user, secret)
