"""The turns of hosts, against a model that looks at every host at every step."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sonde.net.hosts import OFFERED, Host, Hosts
from sonde.net.retries import LONGEST_PAUSE, retry_after


def known(hosts: Hosts, name: str) -> Host:
    host = hosts.get(name)
    assert host is not None
    return host


def test_one_request_at_a_time_and_a_second_between() -> None:
    polite = Hosts()
    polite.add("a", 0.0)
    assert set(polite.ready(0.0)) == {"a"}
    polite.started(polite.add("a", 0.0, "1.1.1.1"), 0.0)
    assert not polite.ready(5.0)
    assert polite.next_time() is None
    polite.finished(known(polite, "a"), 5.0)
    assert not polite.ready(5.5)
    assert polite.next_time() == 6.0
    assert set(polite.ready(6.0)) == {"a"}


def test_hosts_behind_one_address_share_its_turn() -> None:
    polite = Hosts()
    polite.add("a", 0.0, "1.1.1.1")
    polite.add("b", 0.0, "1.1.1.1")
    polite.add("c", 0.0, "2.2.2.2")
    polite.started(polite.add("a", 0.0, "1.1.1.1"), 0.0)
    assert set(polite.ready(0.0)) == {"c"}
    polite.finished(known(polite, "a"), 0.2)
    assert set(polite.ready(1.1)) == {"c"}
    assert set(polite.ready(1.2)) == {"a", "b", "c"}
    polite.started(polite.add("b", 1.2, "1.1.1.1"), 1.2)
    polite.add("d", 1.3, "1.1.1.1")
    polite.add("e", 1.3, None)
    assert "d" not in polite.ready(1.3)
    assert "e" in polite.ready(1.3)


def test_a_host_that_moves_takes_its_connections_along() -> None:
    polite = Hosts(delay=0.0)
    polite.started(polite.add("a", 0.0), 0.0)
    polite.add("a", 0.0, "1.1.1.1")
    polite.add("b", 0.0, "1.1.1.1")
    assert not polite.ready(0.0)
    polite.add("a", 0.0, "2.2.2.2")
    polite.finished(known(polite, "a"), 0.0)
    assert set(polite.ready(0.0)) == {"a"}
    assert set(polite.ready(1.0)) <= {"a", "b"}


def test_trouble_doubles_the_pause_and_success_ends_it() -> None:
    polite = Hosts(delay=1.0)
    now, pauses = 0.0, []
    for _ in range(4):
        polite.started(polite.add("a", now), now)
        polite.finished(known(polite, "a"), now, trouble=True)
        later = polite.next_time()
        assert later is not None
        pauses.append(later - now)
        now = later
        assert "a" in polite.ready(now)
    assert pauses == [2.0, 4.0, 8.0, 16.0]
    polite.started(polite.add("a", now), now)
    polite.finished(known(polite, "a"), now)
    assert polite.next_time() == now + 1.0


def test_retry_after_is_kept_up_to_a_day() -> None:
    polite = Hosts()
    polite.started(polite.add("a", 0.0), 0.0)
    polite.finished(known(polite, "a"), 0.0, trouble=True, retry_after=90.0)
    assert polite.next_time() == 90.0
    assert "a" in polite.ready(90.0)
    polite.started(polite.add("a", 90.0), 90.0)
    polite.finished(known(polite, "a"), 90.0, retry_after=1e9)
    assert polite.next_time() == 90.0 + LONGEST_PAUSE


def test_crawl_delay() -> None:
    polite = Hosts()
    polite.started(polite.add("a", 0.0), 0.0)
    polite.slow_down(polite.add("a", 0.0), 10.0, 0.0)
    polite.finished(known(polite, "a"), 0.5)
    assert polite.next_time() == 10.5
    polite.slow_down(polite.add("b", 0.0), 0.1, 0.0)
    assert "b" in polite.ready(0.0)
    polite.started(polite.add("b", 0.0), 0.0)
    polite.finished(known(polite, "b"), 0.0)
    assert "b" not in polite.ready(0.9)


def test_rate() -> None:
    polite = Hosts(delay=0.0, rate=(3, 10.0))
    for second in range(3):
        assert "a" in polite.ready(float(second)) or second == 0
        polite.started(polite.add("a", float(second)), float(second))
        polite.finished(known(polite, "a"), float(second))
    assert not polite.ready(9.9)
    assert set(polite.ready(10.0)) == {"a"}


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["start", "finish", "trouble", "add", "slow"]),
        st.integers(0, 5),
        st.integers(0, 2),
        st.sampled_from([0.0, 0.25, 1.0, 3.0]),
    ),
    max_size=60,
)


@settings(max_examples=60)
@given(EVENTS, st.sampled_from([1, 2]), st.sampled_from([0.0, 1.0]))
def test_the_ready_set_is_what_the_rules_say(
    events: list[tuple[str, int, int, float]], connections: int, delay: float
) -> None:
    """The model keeps times by the same rules, and decides by looking at everything."""
    polite = Hosts(delay=delay, connections=connections)
    host_next: dict[str, float] = {}
    pauses: dict[str, float] = {}
    troubles: dict[str, int] = {}
    shared: dict[str, float] = {}  # by address and by domain
    ips: dict[str, str] = {}
    running: list[str] = []
    now = 0.0
    for kind, number, ip_number, step in events:
        now += step
        host, ip = f"h{number}.d{number % 4}.example", f"10.0.0.{ip_number}"
        if kind in ("finish", "trouble"):
            if not running:
                continue
            host = running.pop(number % len(running))
            pause = pauses[host]
            if kind == "trouble":
                pause = max(pause, 2.0 * 2 ** troubles.get(host, 0))
                troubles[host] = troubles.get(host, 0) + 1
            else:
                troubles[host] = 0
            host_next[host] = max(host_next[host], now + pause)
            for share in (ips[host], host[3:]):
                shared[share] = max(shared.get(share, -1.0), now + delay)
            polite.finished(known(polite, host), now, trouble=kind == "trouble")
        else:
            ip = ips.setdefault(host, ip)
            host_next.setdefault(host, -1e9)
            pauses.setdefault(host, delay)
            polite.add(host, now, ip)
            if kind == "start" and host in polite.ready(now):
                polite.started(polite.add(host, now, ip), now)
                running.append(host)
                host_next[host] = max(host_next[host], now + pauses[host])
                for share in (ip, host[3:]):
                    shared[share] = max(shared.get(share, -1e9), now + delay)
            elif kind == "slow":
                host_next[host] += max(2.0, delay) - pauses[host]
                pauses[host] = max(2.0, delay)
                polite.slow_down(polite.add(host, now), 2.0, now)
        expected = {
            name
            for name in host_next
            if running.count(name) < connections
            and sum(ips[other] == ips[name] for other in running) < connections
            and sum(other[3:] == name[3:] for other in running) < connections
            and host_next[name] <= now
            and all(shared.get(share, -1e9) <= now for share in (ips[name], name[3:]))
        }
        assert set(polite.ready(now)) == expected
        later = polite.next_time()
        assert later is None or later > now


def test_a_thousand_names_of_one_domain_have_the_turns_of_one() -> None:
    polite = Hosts(delay=1.0)
    names = [f"h{number}.a.example" for number in range(1000)]
    for name in [*names, "b.example"]:
        polite.add(name, 0.0)
    polite.started(known(polite, names[0]), 0.0)
    assert set(polite.ready(0.5)) == {"b.example"}
    polite.finished(known(polite, names[0]), 0.5)
    ready = polite.ready(1.5)
    assert len(ready) == 1001
    offered = polite.offered(ready)
    assert len(offered) == OFFERED + 1  # and all of them in their turn
    asked = set()
    now = 1.5
    for _ in range(1000):
        name = next(name for name in polite.offered(polite.ready(now)) if name in names)
        asked.add(name)
        polite.started(known(polite, name), now)
        polite.finished(known(polite, name), now)
        now += 1.0
    assert asked == set(names)


def test_a_hundred_thousand_hosts() -> None:
    polite = Hosts()
    for number in range(100_000):
        polite.add(f"h{number}", 0.0)
    began = time.process_time()
    for number in range(2_000):
        host = f"h{number}"
        now = number * 0.01
        polite.started(polite.add(host, now, f"10.0.{number // 250}.{number % 250}"), now)
        polite.finished(known(polite, host), now + 0.005)
        polite.ready(now + 0.005)
        polite.next_time()
    assert time.process_time() - began < 1.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("", None),
        ("120", 120.0),
        ("9" * 400, LONGEST_PAUSE),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 40.0),
        ("Thu, 01 Jan 1970 00:00:40 GMT", 0.0),
        ("soon", None),
        ("-5", None),
    ],
)
def test_retry_after(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, wall=60.0) == seconds
