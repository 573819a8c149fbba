"""RFC 9309: what answers mean, for how long, and what survives a restart."""

from __future__ import annotations

import pytest

from sonde.sources.web.exchange import FetchProblem, Outcome, Response
from sonde.sources.web.robots import (
    MAX_SIZE,
    TTL,
    UNREACHABLE_TTL,
    Directives,
    RobotsCache,
    directives,
    robots_url,
)

ORIGIN = "http://a.example"
RULES = b"""
User-agent: *
Disallow: /private
Allow: /private/open
Crawl-delay: 3
Sitemap: http://a.example/sitemap.xml

User-agent: sonde
Disallow: /*.cgi$
Crawl-delay: 2.5
Request-rate: 1/5
"""


def answered(body: bytes, status: int = 200) -> Response:
    return Response(
        url=ORIGIN + "/robots.txt", status=status, headers={}, body=body, ip="", rtt=0.0,
        seconds=0.0, requests=1, received=0, hops=(),
    )  # fmt: skip


def failed(reason: str) -> FetchProblem:
    return FetchProblem(reason, "", ORIGIN + "/robots.txt")


def test_the_group_for_our_name_holds() -> None:
    robots = RobotsCache()
    assert robots.allowed(ORIGIN + "/x", 0.0) is None
    record = robots.note(ORIGIN, answered(RULES), 100.0)
    assert record is not None
    assert record.expires == 100.0 + TTL
    assert robots.allowed(ORIGIN + "/private", 101.0) is True
    assert robots.allowed(ORIGIN + "/a/b.cgi", 101.0) is False
    assert robots.allowed(ORIGIN + "/a/b.cgi?x", 101.0) is True
    assert robots.delay(ORIGIN) == 5.0
    assert robots.sitemaps(ORIGIN) == ["http://a.example/sitemap.xml"]


def test_the_star_group_holds_for_others() -> None:
    robots = RobotsCache("another")
    robots.note(ORIGIN, answered(RULES), 0.0)
    assert robots.allowed(ORIGIN + "/private/x", 1.0) is False
    assert robots.allowed(ORIGIN + "/private/open", 1.0) is True
    assert robots.allowed(ORIGIN + "/private/x", 1.0) is False  # from the answers kept
    assert robots.delay(ORIGIN) == 3.0


@pytest.mark.parametrize(
    ("outcome", "allowed", "ttl"),
    [
        (failed("http-404"), True, TTL),
        (failed("http-403"), True, TTL),
        (failed("too-many-redirects"), True, TTL),
        (failed("http-429"), False, UNREACHABLE_TTL),
        (failed("http-503"), False, UNREACHABLE_TTL),
        (failed("timeout"), False, UNREACHABLE_TTL),
        (failed("dns"), False, UNREACHABLE_TTL),
        (answered(b""), True, TTL),
        (answered(b"<html>not rules at all</html>"), True, TTL),
        (answered(b"\xef\xbb\xbfUser-agent: *\nDisallow: /"), False, TTL),
    ],
)
def test_what_outcomes_mean(outcome: Outcome, allowed: bool, ttl: float) -> None:
    robots = RobotsCache()
    robots.note(ORIGIN, outcome, 10.0)
    assert robots.allowed(ORIGIN + "/x", 11.0) is allowed
    assert robots.allowed(ORIGIN + "/x", 10.0 + ttl) is None
    assert robots.allowed("https://a.example/x", 11.0) is None
    if outcome != answered(b""):
        assert robots.delay(ORIGIN) is None
        assert robots.sitemaps(ORIGIN) == []


def test_no_budget_is_no_answer() -> None:
    robots = RobotsCache()
    assert robots.note(ORIGIN, failed("budget"), 0.0) is None
    assert robots.record(ORIGIN) is None


def test_only_the_first_500_kib_count() -> None:
    robots = RobotsCache()
    robots.note(ORIGIN, answered(b"#" * MAX_SIZE + b"\nUser-agent: *\nDisallow: /"), 0.0)
    assert robots.allowed(ORIGIN + "/x", 1.0) is True


def test_records_restore_the_cache() -> None:
    robots = RobotsCache()
    robots.note(ORIGIN, answered(RULES), 0.0)
    robots.note("http://b.example", failed("http-500"), 1.0)
    again = RobotsCache()
    again.restore(robots.records())
    assert list(again.records()) == list(robots.records())
    assert again.allowed(ORIGIN + "/a.cgi", 2.0) is False
    assert again.allowed("http://b.example/", 2.0) is False


def test_where_the_file_is() -> None:
    assert robots_url("http://a.example:8080/x/y?z") == "http://a.example:8080/robots.txt"


@pytest.mark.parametrize(
    ("text", "noindex", "nofollow"),
    [
        ("", False, False),
        ("noindex", True, False),
        ("NOINDEX, NoFollow", True, True),
        ("none", True, True),
        ("all", False, False),
        ("otherbot: noindex, nofollow", False, False),
        ("sonde: noindex", True, False),
        ("otherbot: noindex, sonde: nofollow", False, True),
        ("unavailable_after: 1 Jan 2030, noindex", True, False),
    ],
)
def test_directives(text: str, noindex: bool, nofollow: bool) -> None:
    assert directives(text) == Directives(noindex, nofollow)


def test_directives_add_up() -> None:
    assert Directives(True, False) | Directives(False, True) == Directives(True, True)
