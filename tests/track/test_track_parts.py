"""The parts of the live tracker: its clock, its rate, its store."""

from __future__ import annotations

import time
import weakref
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sonde.errors import InputError, SpecError, StoreError
from sonde.store.run import Run
from sonde.track import Clock, TrackPlan
from sonde.track.citations import RANKING, Citations
from sonde.track.tracker import HOUR, Rate
from sonde.track.update import feeds_of


def store() -> Citations:
    run = Run.create(None, {})
    citations = Citations(run)
    weakref.finalize(citations, run.abandon)
    return citations


# -- clock and rate ------------------------------------------------------------------------------


def test_a_step_of_the_wall_clock_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    before = clock.now()
    assert before == pytest.approx(time.time(), abs=5)
    wall = time.time()
    for step in (-365 * 86_400.0, 86_400.0):
        monkeypatch.setattr(time, "time", lambda step=step: wall + step)
        assert 0 <= clock.now() - before < 5


def test_a_clock_that_was_set_back_goes_on_from_where_it_was() -> None:
    clock = Clock()
    later = clock.now() + 1000
    clock.not_before(later)
    assert clock.now() >= later
    clock.not_before(0.0)
    assert later <= clock.now() < later + 5


@given(
    per_hour=st.integers(1, 7),
    naps=st.lists(st.floats(0, 5000), max_size=40),
    restarts=st.sets(st.integers(0, 40)),
)
@settings(deadline=None)
def test_no_hour_has_more_requests_than_the_rate_allows(
    per_hour: int, naps: list[float], restarts: set[int]
) -> None:
    """Requests that leave as early as they may, now and then later, across restarts."""
    rate = Rate(per_hour)
    now = 1e9
    times: list[float] = []
    for number, nap in enumerate(naps):
        if number in restarts:
            rate = Rate(per_hour, times[-per_hour:])
        now += rate.wait(now) + (nap if number % 3 == 0 else 0.0)
        assert rate.wait(now) <= 1e-6
        rate.charge(now)
        times.append(now)
    for first, last in zip(times, times[per_hour:], strict=False):
        assert last - first >= HOUR - 1e-5


def test_a_full_disk_is_an_error_of_the_store() -> None:
    with Run.create(None, {}) as run:
        (pages,) = run.database.execute("PRAGMA page_count").fetchone()
        run.database.execute(f"PRAGMA max_page_count = {pages + 1}")
        with pytest.raises(StoreError, match="the disk is full"):
            Citations(run)
        assert not run.database.in_transaction
        run.abandon()


def test_what_a_plan_cannot_say() -> None:
    for wrong in ({"top": 0}, {"expand": "sample-u"}, {"recrawl": "x"}, {"share": -1}):
        with pytest.raises(SpecError):
            TrackPlan.of(None, wrong)
    with pytest.raises(SpecError):
        TrackPlan(budget=-1)
    with pytest.raises(InputError, match="unknown setting"):
        TrackPlan.of(None, {"tops": 1})
    assert TrackPlan.of({"top": 3, "of another version": 1}, {"per_hour": 9}) == TrackPlan(
        3, per_hour=9
    )


# -- links ---------------------------------------------------------------------------------------

Look = tuple[int, frozenset[int] | None]
"""A visit of a source: what it links to, or ``None`` for a page that is as it was."""


@given(
    st.lists(
        st.tuples(
            st.integers(1, 3), st.one_of(st.none(), st.frozensets(st.integers(4, 8), max_size=4))
        ),
        max_size=25,
    ),
    st.integers(1, 6),
)
@settings(max_examples=80, deadline=None)
def test_links_come_and_go(looks: list[Look], window: int) -> None:
    """First and last times, fresh links and the ranking, against the whole history."""
    kept = store()
    for number in range(1, 9):
        kept.add(f"http://a/{number}", "visited", 0.0)
    history: dict[int, list[tuple[float, frozenset[int]]]] = {1: [], 2: [], 3: []}
    for place, (source, links) in enumerate(looks):
        now = float(place + 1)
        past = history[source]
        prior = past[-1][0] if past else None
        if links is None:
            if prior is not None:
                kept.unchanged(source, prior, now)
                past.append((now, past[-1][1]))
            continue
        never, fresh = kept.see(source, sorted(links), prior, now)
        assert set(fresh) == (links - past[-1][1] if past else links)
        assert set(never) == links.difference(*(there for _, there in past))
        past.append((now, links))
    now = float(len(looks))
    wanted: dict[tuple[int, int], tuple[float, float]] = {}
    for source, past in history.items():
        for when, links in past:
            for target in links:
                first, _ = wanted.get((source, target), (when, when))
                wanted[source, target] = (first, when)
    found = {
        (source, target): (first, last)
        for source, target, first, last in kept.run(
            "SELECT source, target, first, last FROM citations"
        )
    }
    assert found == wanted
    cited: dict[int, int] = {}
    for (_, target), (_, last) in wanted.items():
        if last > now - window:
            cited[target] = cited.get(target, 0) + 1
    order = sorted(cited.items(), key=lambda one: (-one[1], one[0]))
    assert kept.run(RANKING, now - window, 3).fetchall() == order[:3]


@given(
    links=st.sets(st.tuples(st.integers(1, 5), st.integers(1, 5)), max_size=15),
    pair=st.permutations(range(1, 6)),
)
@settings(max_examples=60, deadline=None)
def test_moving(links: set[tuple[int, int]], pair: list[int]) -> None:
    old, new = pair[:2]
    kept = store()
    for number in range(1, 6):
        kept.add(f"http://a/{number}", "visited", 0.0)
    links = {(source, target) for source, target in links if source != target}
    for place, (source, target) in enumerate(sorted(links)):
        kept.cite(source, target, float(place), None)
    count = kept.move(old, new)

    def there(node: int) -> int:
        return new if node == old else node

    wanted = {(there(source), there(target)) for source, target in links}
    wanted = {(source, target) for source, target in wanted if source != target}
    found = set(kept.run("SELECT source, target FROM citations"))
    assert found == wanted
    assert count == sum(target == new for _, target in wanted)
    assert kept.find(f"http://a/{old}") == (new, "visited")


def test_forgetting_spares_what_matters() -> None:
    kept = store()
    states = ("visited", "frontier", "frontier", "frontier", "list")
    for number, state in enumerate(states, start=1):
        kept.add(f"http://a/{number}", state, 0.0)
    kept.update(1, visits=1)
    kept.cite(1, 2, 10.0, None)  # in the window
    kept.cite(1, 3, 1.0, None)  # not any more
    kept.update(4, announced=1)
    assert kept.forget(5.0) == [3]
    assert [node.id for node, _, _ in kept.nodes()] == [1, 2, 4, 5]
    assert kept.value("SELECT count(*) FROM citations") == 1


def test_a_change_is_whole_or_not_at_all() -> None:
    kept = store()

    def fail() -> None:
        with kept.change():
            kept.add("http://a/1", "frontier", 0.0)
            kept.run("INSERT INTO nowhere VALUES (1)")

    with pytest.raises(StoreError):
        fail()
    assert kept.value("SELECT count(*) FROM tracked") == 0


def test_what_the_web_learned_goes_with_the_change() -> None:
    """Rows that the journal has gathered are in the same transaction, or wait for the next."""
    with Run.create(None, {}) as run:
        kept = Citations(run)
        run.declare("hosts", "(host TEXT PRIMARY KEY)")
        run.journal.add("hosts", ("a.example",))

        def fail() -> None:
            with kept.change(durable=True):
                kept.add("http://a.example/", "frontier", 0.0)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        count = "SELECT (SELECT count(*) FROM tracked), (SELECT count(*) FROM hosts)"
        assert kept.run(count).fetchone() == (0, 0)
        with kept.change():
            kept.add("http://a.example/", "frontier", 0.0)
            assert kept.run(count).fetchone() == (1, 0)
        assert kept.run(count).fetchone() == (1, 1)
        assert not run.journal.dirty


def test_a_durable_change_is_on_the_disk_after_the_pages_that_it_names(tmp_path: Path) -> None:
    with Run.create(tmp_path / "run", {}) as run:
        kept = Citations(run)
        seen: list[tuple[int, bool]] = []

        def sync() -> None:
            count = int(kept.value("SELECT count(*) FROM sent"))
            seen.append((count, run.database.in_transaction))

        run.journal.on_sync = sync
        with kept.change(durable=True):
            kept.begin("http://a.example/", "expand", 1.0)
            assert kept.value("PRAGMA synchronous") == 2
        with kept.change():
            assert kept.value("PRAGMA synchronous") == 1
        assert seen == [(0, False)]
        run.journal.on_sync = lambda: None


def test_charges_are_counted_request_by_request() -> None:
    kept = store()
    with kept.change():
        one = kept.begin("http://a/1", "expand", 1.0)
        kept.charge(one, 2.0)
        kept.begin("http://a/2", "recrawl", 3.0)
    assert kept.spent == 3
    assert kept.charges(2) == [2.0, 3.0]
    assert kept.charges(9) == [2.0, 2.0, 3.0]


def test_feeds_that_a_page_names() -> None:
    html = b"""<head><link rel="alternate stylesheet" href=/x type=text/css>
    <link rel=ALTERNATE type="application/rss+xml" href="rss"><link type="application/atom+xml"
    rel="alternate" href="/atom"><link rel=alternate type="application/atom+xml" href="/atom">"""
    assert feeds_of(html, "http://a.example/b/") == [
        "http://a.example/b/rss",
        "http://a.example/atom",
    ]
    assert feeds_of(b"<p>rss+xml", "http://a.example/") == []
