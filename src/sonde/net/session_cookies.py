"""Session cookies: what servers that one logged in to want to be told again, for the run alone.

They live in memory and nowhere else, are kept for the domains that were named and sent to no other,
each to the hosts and paths that it was set for.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from http.cookies import BaseCookie, SimpleCookie

from aiohttp import CookieJar
from aiohttp.typedefs import LooseCookies
from yarl import URL

_NOWHERE = URL()

MOST = 100
"""Cookies that are kept; later ones are not."""


def within(host: str, domains: Collection[str]) -> bool:
    """Whether a host belongs to one of some domains."""
    return host in domains or any(host.endswith(f".{domain}") for domain in domains)


class SessionCookies(CookieJar):
    """The cookies of some domains, also of hosts that are addresses."""

    def __init__(self, domains: Collection[str]) -> None:
        super().__init__(unsafe=True)
        self._domains = domains

    def update_cookies(self, cookies: LooseCookies, response_url: URL = _NOWHERE) -> None:
        if self._takes_from(response_url):
            super().update_cookies(cookies, response_url)

    def update_cookies_from_headers(self, headers: Sequence[str], response_url: URL) -> None:
        if self._takes_from(response_url):
            super().update_cookies_from_headers(headers, response_url)

    def _takes_from(self, url: URL) -> bool:
        return within(_host(url), self._domains) and len(self) < MOST

    def filter_cookies(self, request_url: URL = _NOWHERE) -> BaseCookie[str]:
        if within(_host(request_url), self._domains):
            return super().filter_cookies(request_url)
        return SimpleCookie()


def _host(url: URL) -> str:
    """As ``net.urls.host_of`` has it."""
    host = url.raw_host or ""
    return f"[{host}]" if ":" in host else host
