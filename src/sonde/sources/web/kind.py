"""The kind of source that is the Web: named by URLs alone, heeding every setting."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from sonde.errors import InputError
from sonde.net.browsers import find_browser, unsandboxed
from sonde.net.client_settings import client_settings
from sonde.net.exchange import REASONS
from sonde.net.urls import group_of, meant, normalise
from sonde.sources.context import ArchivedPage, Reading, SourceContext, SourceSettings
from sonde.sources.kind import FETCHING, Kind, NoOptions
from sonde.sources.web.gate import Scope
from sonde.sources.web.known_sites import KnownSites
from sonde.sources.web.login import logins_of
from sonde.sources.web.rules import Rules, preset_named

if TYPE_CHECKING:
    from sonde.sources.web.source import WebSource


def _named(browser: str) -> bool:
    """Whether it is a certain one: a path or an address, not a name to look for."""
    return "/" in browser or os.sep in browser


class Web(Kind[NoOptions]):
    """The Web, from URLs."""

    name = "web"
    summary = "pages, from URLs"
    nouns = ("page", "pages")
    heeds = FETCHING | {
        "topic",
        "exact",
        "question",
        "tokens",
        "scorer",
        "scorer_seconds",
        "allow_pickle",
        "host_budget",
        "domain_budget",
        "scope",
        "hosts",
        "domains",
        "prefixes",
        "include",
        "exclude",
        "skip",
        "sitemaps",
        "languages",
        "types",
        "depth",
        "nofollow",
        "duplicates",
        "traps",
        "allow",
        "login",
        "delay",
        "longest_delay",
        "patience",
        "per_host",
        "render",
        "browser",
        "lookup",
        "pages",
        "text",
        "records",
        "fields",
    }
    grouped = True
    tables: ClassVar[Mapping[str, str]] = {
        "hosts": """(
    host TEXT PRIMARY KEY,
    requests INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    rtt REAL,
    rtt_deviation REAL,
    delay REAL
) WITHOUT ROWID""",
        **KnownSites.TABLES,
        "robots": """(
    origin TEXT PRIMARY KEY,
    verdict TEXT NOT NULL,
    text TEXT NOT NULL,
    fetched REAL NOT NULL,
    expires REAL NOT NULL,
    why TEXT NOT NULL
) WITHOUT ROWID""",
        # Sitemaps and feeds that were offered, and who named them: robots (a robots.txt), page (the
        # head of a page), index, usual sitemap or usual feed (nobody). The robots.txt of an origin
        # that was met has origin.
        "sitemaps": "(url TEXT PRIMARY KEY, found TEXT NOT NULL) WITHOUT ROWID",
        # What sitemaps and feeds say of pages: dates in seconds since 1970, sizes in bytes.
        "listed": """(
    url TEXT PRIMARY KEY,
    modified REAL,
    priority REAL,
    size INTEGER
) WITHOUT ROWID""",
        # What URLs have in common, and how many pages were refused and taken for their language.
        "languages": """(
    urls TEXT PRIMARY KEY,
    refused INTEGER NOT NULL,
    taken INTEGER NOT NULL
) WITHOUT ROWID""",
    }
    reasons: ClassVar[Mapping[str, str]] = REASONS | {
        "scope": "outside the hosts, domains or paths that were asked for",
        "excluded": "a rule of --exclude or --skip fits it",
        "not-included": "no rule of --include fits it",
        "robots": "the site's robots.txt forbids it",
        "robots-unreachable": "the site's robots.txt could not be fetched; sonde show says why",
        "duplicate": "the same page as another URL",
        "trap": "URLs of this shape had stopped bringing anything new; --traps off or --allow",
        "nofollow": "every link to it says nofollow",
        "too-deep": "further from the seeds than was allowed",
        "crawl-delay": "its host asks for longer pauses than --longest-delay",
        "later": "its host asked for a pause after its robots.txt; it stayed on the frontier",
        "host-budget": "its host had used up its own budget",
        "domain-budget": "its domain had used up its own budget",
        "language": "not in the languages that were asked for, or like pages that were not",
        "no-sitemap": "tried for a sitemap or a feed, and a page like any other answered",
        "login": "it asks to log in",
        "logout": "to ask for it would end the session",
        "unreadable": "its body could not be read as what it says it is",
    }

    def seeds(self, options: NoOptions, topic: str | None) -> Sequence[str]:
        raise InputError("a crawl needs at least one URL to start from")

    def spelt(self, options: NoOptions, seed: str) -> str:
        address = normalise(seed)
        if address is None:
            raise InputError(f"not an http or https URL: {seed!r:.200}{meant(seed)}")
        return address

    def group(self, options: NoOptions, node: str) -> str:
        return group_of(node)

    def check(self, options: NoOptions, settings: SourceSettings) -> None:
        Scope(hosts=settings.hosts, domains=settings.domains, prefixes=settings.prefixes)
        Scope.of_seeds((), settings.scope)
        Rules.of(settings)
        logins_of(settings)
        if settings.fields is not None:
            from sonde.sources.web.fields import read_rules

            read_rules(settings.fields)
        if settings.render == "always" or (settings.render == "auto" and _named(settings.browser)):
            find_browser(settings.browser)

    def notice(self, options: NoOptions, settings: SourceSettings) -> str:
        if settings.render == "never":
            return ""
        try:
            found = find_browser(settings.browser)
        except InputError as error:
            return f"{error}; pages that need one are marked needs-script"
        return f"{found} runs without its own sandbox: this is root" if unsandboxed(found) else ""

    def plan(
        self,
        options: NoOptions,
        settings: SourceSettings,
        seeds: Sequence[str],
        requests: int | None,
    ) -> Mapping[str, Any]:
        hosts = len({group_of(seed) for seed in seeds})
        seconds = None
        if requests is not None:
            seconds = requests * settings.delay / max(1, hosts)
            if settings.rate is not None:
                seconds = max(seconds, requests * settings.rate[1] / settings.rate[0] / hosts)
        rules = Rules.of(settings)
        left_out = [f"{seed} ({why})" for seed in seeds if (why := rules.refusal(seed)) is not None]
        return {
            "hosts": hosts,
            "scope": list(settings.hosts + settings.domains + settings.prefixes) or settings.scope,
            "include": list(settings.include),
            "exclude": list(settings.exclude),
            "skip": [f"{name} ({preset_named(name).summary})" for name in settings.skip],
            "seeds_that_rules_would_leave_out_as_links": left_out,
            "sitemaps": settings.sitemaps,
            "user_agent": client_settings(settings).agent,
            "robots_requests": hosts,
            "at_once": min(settings.concurrency, hosts * settings.per_host),
            "seconds_on_these_hosts": seconds,
            "pages": settings.pages,
        }

    def reading(
        self, archived: ArchivedPage, media_type: str, main: bytes | None = None
    ) -> Reading:
        from sonde.sources.web.reading import WebReading  # parsers take their time

        return WebReading(archived, media_type, main)

    def make(self, options: NoOptions, context: SourceContext) -> WebSource:
        from sonde.sources.web.source import WebSource  # the HTTP client takes its time

        return WebSource(context)
