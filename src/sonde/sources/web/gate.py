"""The gate (URL filter): which URLs are let into a crawl, and which are worth their request.

A URL is let in when it is in *scope*, no *rule* of the user's leaves it out (see ``rules``), it is
not too deep, no trap, allowed by robots.txt as far as that
is known, and its host has budget left. It is in scope when its host, its registrable domain or a
path prefix is named. Where the user names none, the seeds say it, as widely as ``reach`` asks:
their hosts, their domains, the folders that they stand in, or the whole Web.
"""

from __future__ import annotations

from collections.abc import Iterable

from sonde.errors import InputError
from sonde.net.hosts import Hosts
from sonde.net.urls import domain_of, group_of, host_of, normalise
from sonde.protocols import LEASED, VISITED, CrawlView
from sonde.sources.context import REACHES, SourceSettings
from sonde.sources.web.content_seen import ContentSeen
from sonde.sources.web.language import Languages
from sonde.sources.web.rules import NOT_INCLUDED, Rules


class Scope:
    """Decides on URLs, by host where it can: the answer for a host is kept."""

    def __init__(
        self,
        *,
        hosts: Iterable[str] = (),
        domains: Iterable[str] = (),
        prefixes: Iterable[str] = (),
        everything: bool = False,
    ) -> None:
        self.hosts = frozenset(group_of(_named(host)) for host in hosts)
        self.domains = frozenset(host_of(_named(domain, port=False)) for domain in domains)
        self.prefixes = tuple(_prefix(prefix) for prefix in prefixes)
        self.everything = everything
        self._answers: dict[str, bool] = {}

    @classmethod
    def of(cls, settings: SourceSettings, seeds: Iterable[str]) -> Scope:
        """The scope that a user names, or that the seeds span."""
        if settings.hosts or settings.domains or settings.prefixes:
            return cls(hosts=settings.hosts, domains=settings.domains, prefixes=settings.prefixes)
        return cls.of_seeds(seeds, settings.scope)

    @classmethod
    def of_seeds(cls, seeds: Iterable[str], reach: str) -> Scope:
        """The scope that seeds span."""
        if reach not in REACHES:
            raise InputError(f"unknown scope {reach!r} (one of: {', '.join(REACHES)})")
        if reach == "web":
            return cls(everything=True)
        if reach == "host":
            return cls(hosts=[group_of(seed) for seed in seeds])
        if reach == "domain":
            return cls(domains=[domain_of(host_of(seed)) for seed in seeds])
        return cls(prefixes=[seed.partition("?")[0].rpartition("/")[0] + "/" for seed in seeds])

    def __contains__(self, url: str) -> bool:
        """Whether a normalised URL belongs to the crawl."""
        return self.has(url, group_of(url))

    def has(self, url: str, group: str) -> bool:
        """The same for a URL whose group is known."""
        if self.everything:
            return True
        answer = self._answers.get(group)
        if answer is None:
            if len(self._answers) > 100_000:
                self._answers.clear()
            answer = self._answers[group] = self._has(group, url)
        return answer or (bool(self.prefixes) and url.startswith(self.prefixes))

    def _has(self, group: str, url: str) -> bool:
        host = host_of(url)
        if group in self.hosts or host in self.hosts:
            return True
        return host in self.domains or any(host.endswith("." + domain) for domain in self.domains)


class UrlGate:
    """Decides on URLs that links, leases and redirects bring."""

    def __init__(
        self,
        scope: Scope,
        rules: Rules,
        hosts: Hosts,
        seen: ContentSeen,
        languages: Languages,
        crawl: CrawlView,
        deepest: int | None,
    ) -> None:
        self.scope = scope
        self.rules = rules
        self._hosts = hosts
        self._seen = seen
        self._languages = languages
        self._crawl = crawl
        self._deepest = deepest

    def useless(self, url: str, group: str, redirected: bool) -> str | None:
        """Why a URL is not worth its request after all (a ``polite_fetch.Gate``)."""
        if redirected:
            if not self.scope.has(url, group):
                return "scope"
            if (left_out := self.rules.refusal(url)) is not None:
                return left_out
        elif (unlikely := self._languages.unlikely(url)) is not None:
            return unlikely
        name = self._seen.names.stands_for(url)
        if (redirected or name != url) and self._crawl.became(name) in (LEASED, VISITED):
            return "duplicate"
        return self._trap(url, group)

    def _trap(self, url: str, group: str) -> str | None:
        return None if self._seen.verdict(url, group) is None else "trap"

    def refusal(self, url: str, depth: int, now: float, *, sitemap: bool = False) -> str | None:
        """Why a URL never seen before is not put on the frontier. A sitemap need not stand among
        the pages that it lists."""
        group = group_of(url)
        if not sitemap and not self.scope.has(url, group):
            return "scope"
        if self._deepest is not None and depth > self._deepest:
            return "too-deep"
        left_out = self.rules.refusal(url)
        if left_out is not None and not (sitemap and left_out == NOT_INCLUDED):
            return left_out
        if (unlikely := self._languages.unlikely(url)) is not None:
            return unlikely
        if (trap := self._trap(url, group)) is not None:
            return trap
        if self._hosts.forbidden(url, group, now):
            return "robots"
        return self._hosts.exhausted(group)


def _named(text: str, *, port: bool = True) -> str:
    """The URL of a host that a user names, so that names are spelt as in URLs."""
    url = normalise(f"http://{text.strip('.')}/")
    bare = url is not None and url.count("/") == 3 and url.endswith("/") and "@" not in text
    if url is None or not bare or (not port and group_of(url) != host_of(url)):
        what = "host" if port else "domain"
        raise InputError(f"not the name of a {what}, such as docs.example.org: {text!r:.200}")
    return url


def _prefix(text: str) -> str:
    prefix = normalise(text)
    if prefix is None:
        raise InputError(f"not a URL to crawl under: {text!r}")
    return prefix
