"""Windows: never exceeded by any server's way of counting, and used to the full."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sonde.sources.social.windows import Statement, Window, WindowPlace, Windows, statement_of

times = st.floats(0.0, 2.0, allow_nan=False)


@given(
    st.integers(1, 5),
    st.integers(1, 3),
    st.lists(st.tuples(times, times, st.booleans(), st.floats(0, 1)), max_size=80),
    st.booleans(),
)
def test_no_window_is_exceeded_wherever_the_server_counts(
    most: int, tokens: int, steps: list[tuple[float, float, bool, float]], kept: bool
) -> None:
    """A request is counted at some moment between its start and its end: there are never more
    than k such moments within d seconds, for any token, also after a restore."""
    windows = Windows({"w": Window(most, 1.0)}, {"posts": ["w"]}, tokens)
    now = 1000.0
    flying: list[tuple[WindowPlace, float, float]] = []
    counted: dict[int, list[float]] = {}
    for wait, lasts, restores, where in steps:
        now += wait
        place = windows.take("posts", now)
        if place is not None:
            flying.append((place, now, now + lasts))
            counted.setdefault(place.token, []).append(now + where * lasts)
        for each in [one for one in flying if one[2] <= now]:
            flying.remove(each)
            windows.answered(each[0], now)
        if restores and kept:
            # Killed: what was flying is gone, but may have been counted until now.
            state = json.loads(json.dumps(windows.state()))
            for place, _, _ in flying:
                counted[place.token] = [min(moment, now) for moment in counted[place.token]]
            flying = []
            windows = Windows({"w": Window(most, 1.0)}, {"posts": ["w"]}, tokens)
            windows.restore(state, now)
    for moments in counted.values():
        for moment in moments:
            within = [other for other in moments if moment <= other < moment + 1.0 - 1e-9]
            assert len(within) <= most


def test_a_window_is_used_to_the_full() -> None:
    """n = kT/d: with answers that take no time, so many requests go in T, for each token."""
    windows = Windows({"w": Window(7, 3.0)}, {"posts": ["w"]}, 2)
    now, sent = 0.0, 0
    while now < 30.0:
        place = windows.take("posts", now)
        if place is None:
            soonest = windows.next_time("posts", now)
            assert soonest is not None
            assert soonest > now
            now = soonest
        else:
            windows.answered(place, now)
            sent += 1
    assert sent == 2 * 7 * 30 / 3


def test_an_endpoint_with_two_windows_keeps_both() -> None:
    windows = Windows(
        {"all": Window(10, 10.0), "search": Window(2, 1.0)},
        {"search": ["all", "search"], "posts": ["all"]},
        1,
    )
    assert [windows.take("search", 0.0) is not None for _ in range(3)] == [True, True, False]
    assert sum(windows.take("posts", 0.0) is not None for _ in range(20)) == 8


def test_what_a_server_says_is_believed_where_it_is_tighter() -> None:
    windows = Windows({"w": Window(100, 60.0)}, {"posts": ["w"]}, 1)
    place = windows.take("posts", 0.0)
    assert place is not None
    windows.answered(place, 0.0, Statement(limit=100, remaining=2, reset=30.0))
    assert windows.free("posts", 1.0) == 2
    assert windows.free("posts", 30.0) == 99
    place = windows.take("posts", 30.0)
    assert place is not None
    windows.answered(place, 30.0, Statement(wait_until=45.0))
    assert windows.free("posts", 44.9) == 0
    assert windows.next_time("posts", 31.0) == 45.0
    place = windows.take("posts", 46.0)
    assert place is not None
    windows.answered(place, 46.0, Statement(limit=4, seconds=10.0))
    assert windows.windows["w"] == Window(4, 10.0)


@pytest.mark.parametrize(
    ("headers", "status", "expected"),
    [
        (
            {
                "X-RateLimit-Limit": "300",
                "X-RateLimit-Remaining": "299",
                "X-RateLimit-Reset": "1970-01-01T00:21:40.5Z",
            },
            200,
            Statement(300, None, 299, 1300.5),
        ),
        (
            {"x-rate-limit-limit": "15", "x-rate-limit-remaining": "0", "x-rate-limit-reset": "60"},
            200,
            Statement(15, None, 0, 1060.0),
        ),
        (
            {
                "RateLimit-Limit": "100, 100;w=60",
                "RateLimit-Remaining": "9",
                "RateLimit-Reset": "4",
            },
            200,
            Statement(100, None, 9, 1004.0),
        ),
        ({"RateLimit": "limit=100, remaining=50, reset=5"}, 200, Statement(100, None, 50, 1005.0)),
        (
            {"RateLimit": '"default";r=50;t=30', "RateLimit-Policy": '"default";q=100;w=60'},
            200,
            Statement(100, 60.0, 50, 1030.0),
        ),
        ({"Retry-After": "120"}, 429, Statement(wait_until=1120.0)),
        ({"Retry-After": "120"}, 200, Statement()),
        ({}, 429, Statement(wait_until=1060.0)),
        ({"X-RateLimit-Limit": "many", "X-RateLimit-Reset": "soon"}, 200, Statement()),
        ({"X-RateLimit-Reset": "99999999999999999999"}, 200, Statement(reset=1000.0 + 86400)),
    ],
)
def test_headers_in_use_are_understood(
    headers: dict[str, str], status: int, expected: Statement
) -> None:
    from multidict import CIMultiDict

    assert statement_of(CIMultiDict(headers), status, 1000.0) == expected
