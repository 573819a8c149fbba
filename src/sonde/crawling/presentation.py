"""How a crawl presents itself to servers: user agent, headers, logins, proxy.

What is secret (a cookie, a password, a header whose name says so, a proxy with a login) is never
written out: it is given as ``env:NAME`` or ``file:PATH`` and belongs to one host, as in
``HOST Name: env:TOKEN``. A configuration is kept with the run, so a secret in it is refused.
"""

from __future__ import annotations

import getpass
import os
import re
import socket
from collections.abc import Iterable

from sonde.crawling.settings import Settings
from sonde.errors import InputError
from sonde.net.client_settings import ClientSettings, user_agent
from sonde.net.secret import Secret, secret_from

CONTACT = "SONDE_CONTACT"
"""The environment variable that gives the contact where no setting does."""

_SECRET_NAMES = re.compile(r"auth|cookie|token|secret|passw|api-?key", re.IGNORECASE)


def contact_of(settings: Settings) -> str:
    """Whom servers can ask about this crawl."""
    if settings.contact:
        return settings.contact
    if os.environ.get(CONTACT):
        return os.environ[CONTACT]
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # no such user in this container
        user = "unknown"
    return f"{user}@{socket.gethostname()}"


def client_settings(settings: Settings) -> ClientSettings:
    """What the HTTP client is given."""
    everywhere, by_host = _headers(settings.headers)
    for cookie in settings.cookies:
        host, text = _of_host("cookie", cookie)
        name, _, value = text.partition("=")
        secret = secret_from(value)
        if not isinstance(secret, Secret):
            raise InputError("a cookie is HOST name=env:VARIABLE or HOST name=file:PATH")
        own = by_host.setdefault(host, {})
        before = own.get("Cookie")
        pairs = f"{before.reveal()}; " if isinstance(before, Secret) else ""
        own["Cookie"] = Secret(f"{pairs}{name}={secret.reveal()}")
    proxy = None if settings.proxy is None else secret_from(settings.proxy)
    if isinstance(proxy, str) and "@" in proxy:
        raise InputError("a proxy with a login is given as env:VARIABLE or file:PATH")
    return ClientSettings(
        agent=settings.user_agent or user_agent(contact_of(settings)),
        headers=everywhere,
        host_headers=by_host,
        logins=dict(_login(login) for login in settings.auth),
        proxy=proxy,
        ca_file=settings.ca_file,
        allow_private=settings.allow_private,
        heads=settings.pages,
        connections=max(settings.concurrency, 1),
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
        if isinstance(secret, str) and _SECRET_NAMES.search(name):
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
