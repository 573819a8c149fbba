"""RFC 9309: what answers mean, for how long, and what survives a restart."""

from __future__ import annotations

import pytest

from sonde.net.exchange import FetchOutcome, FetchProblem, Response
from sonde.net.hosts import Hosts
from sonde.net.robots import (
    MAX_SIZE,
    TTL,
    UNREACHABLE_TTL,
    Directives,
    RobotsRecord,
    RobotsRules,
    directives,
    record_of,
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


def recorded(outcome: FetchOutcome, now: float = 0.0) -> RobotsRecord:
    record = record_of(ORIGIN, outcome, now)
    assert record is not None
    return record


def test_the_group_for_our_name_holds() -> None:
    record = recorded(answered(RULES), 100.0)
    assert record.expires == 100.0 + TTL
    rules = RobotsRules()
    assert rules.allowed(record, ORIGIN + "/private") is True
    assert rules.allowed(record, ORIGIN + "/a/b.cgi") is False
    assert rules.allowed(record, ORIGIN + "/a/b.cgi?x") is True
    assert rules.delay(record) == 5.0
    assert rules.sitemaps(record) == ["http://a.example/sitemap.xml"]


def test_the_star_group_holds_for_others() -> None:
    record = recorded(answered(RULES))
    rules = RobotsRules("another")
    assert rules.allowed(record, ORIGIN + "/private/x") is False
    assert rules.allowed(record, ORIGIN + "/private/open") is True
    assert rules.allowed(record, ORIGIN + "/private/x") is False  # from the answers kept
    assert rules.delay(record) == 3.0


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
def test_what_outcomes_mean(outcome: FetchOutcome, allowed: bool, ttl: float) -> None:
    hosts = Hosts()
    host = hosts.add("a.example", 0.0)
    assert hosts.allowed(ORIGIN + "/x", "a.example", 10.0) is None
    record = hosts.note_robots(host, ORIGIN, outcome, 10.0, 0.0)
    assert record is not None
    assert hosts.robots_of(ORIGIN, "a.example") == record
    assert hosts.allowed(ORIGIN + "/x", "a.example", 11.0) is allowed
    assert hosts.allowed(ORIGIN + "/x", "a.example", 10.0 + ttl) is None
    assert hosts.allowed("https://a.example/x", "a.example", 11.0) is None
    if outcome != answered(b""):
        assert hosts.rules.delay(record) is None
        assert hosts.rules.sitemaps(record) == []


def test_no_budget_is_no_answer() -> None:
    hosts = Hosts()
    host = hosts.add("a.example", 0.0)
    assert hosts.note_robots(host, ORIGIN, failed("budget"), 0.0, 0.0) is None
    assert hosts.robots_of(ORIGIN, "a.example") is None


def test_only_the_first_500_kib_count() -> None:
    record = recorded(answered(b"#" * MAX_SIZE + b"\nUser-agent: *\nDisallow: /"))
    assert RobotsRules().allowed(record, ORIGIN + "/x") is True


def test_records_restore_what_hosts_know() -> None:
    records = [recorded(answered(RULES)), recorded(failed("http-500"), 1.0)]
    again = Hosts()
    host = again.add("a.example", 0.0)
    for record in records:
        again.restore_robots(host, record, 0.0)
    assert again.allowed(ORIGIN + "/a.cgi", "a.example", 2.0) is False
    assert again.allowed(ORIGIN + "/", "a.example", 2.0) is False  # a later record replaces one
    assert host.delay == 5.0
    assert host.pause == 5.0


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
