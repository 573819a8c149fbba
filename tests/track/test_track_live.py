"""``sonde track`` against sites on loopback that change under a script."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sqlite3
import time
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from track_sites import (
    BEGIN,
    DAY,
    NOT_FOUND,
    POLITE,
    Answer,
    ChangingSite,
    TurnedClock,
    crawled,
    page,
    tracked,
)

from sonde.cli import main
from sonde.crawling import Crawl
from sonde.errors import InputError
from sonde.store.reader import RunReader
from sonde.track import LiveTracker, RankingUpdated, TrackedVisit, update
from sonde.track.tracked_run import TrackedRun

PAGES = 60
WINDOW = 3 * DAY


def links(number: int, now: float) -> list[int]:
    """What a page links to. Each link is thought over every two days; who is popular drifts."""
    found = {(number + 1) % PAGES}  # a ring keeps all in reach
    for other in range(PAGES):
        epoch = int((now - BEGIN + (number * 37 + other * 11) % 48 * 3600) // (2 * DAY))
        if likes(number, other, epoch):
            found.add(other)
    return sorted(found - {number})


@cache
def likes(number: int, other: int, epoch: int) -> bool:
    distance = abs((other / PAGES - epoch * 0.06) % 1 - 0.15) / 0.15
    popular = 0.02 + 0.6 * max(0.0, 1 - distance)
    return random.Random(number * 1_000_003 + other * 1009 + epoch * 7).random() < popular


def changing(path: str, now: float) -> Answer:
    number = path.strip("/") or "0"
    if not number.isdigit() or int(number) >= PAGES:
        return NOT_FOUND
    return page(f"page {number}", [f"/{other}" for other in links(int(number), now)])


def truth(now: float) -> list[int]:
    """Pages by how many others linked to them at some hour of the window."""
    cited: Counter[int] = Counter()
    for number in range(PAGES):
        hours = range(int(WINDOW // 3600))
        cited.update({other for hour in hours for other in links(number, now - 3600.0 * hour)})
    return sorted(cited, key=lambda one: (-cited[one], one))


def database(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / "run.sqlite")


def rows(folder: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    opened = database(folder)
    try:
        return opened.execute(query, values).fetchall()
    finally:
        opened.close()


def ranking(folder: Path) -> list[str]:
    query = "SELECT url FROM ranked JOIN tracked ON id = node ORDER BY rank"
    return [url.rpartition("/")[2] for (url,) in rows(folder, query)]


# -- the fortnight -------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_fortnight(tmp_path: Path) -> None:
    """The ranking follows the truth; every request is in the ledger; no hour has too many."""
    clock = TurnedClock()
    with ChangingSite(changing, clock) as site:
        run = crawled(tmp_path / "run", [site.url("/0")], 15)
        before = len(site.log)
        shares, unranked = [], 0
        for _ in range(7):
            tracker = tracked(run, clock, 2, top=12, window=WINDOW, per_hour=5)
            shares.append(len(set(truth(clock.now())[:12]) & set(map(int, ranking(run)))) / 12)
            unranked += 12 - len(ranking(run))
        served = site.log[before:]
    assert clock.now() == pytest.approx(BEGIN + 14 * DAY, abs=3600)
    assert tracker.requests == len(served) == rows(run, "SELECT sum(requests) FROM sent")[0][0]
    assert 1500 < len(served) <= 14 * 24 * 5 + 1
    assert shares[-1] >= 10 / 12
    assert sum(shares[2:]) / 5 >= 0.85
    assert unranked == 0
    times = [moment for moment, *_ in served]
    assert all(late - early >= 3600 for early, late in zip(times, times[5:], strict=False))
    conditional = [status for _, _, status, asked in served if asked]
    assert len(conditional) > 0.9 * len(served)
    assert conditional.count(304) > 200
    # Links that came and went have the times at which that was seen.
    first, last = rows(run, "SELECT min(first), max(last) FROM citations")[0]
    assert first >= BEGIN
    assert last <= clock.now()
    gone = rows(run, "SELECT count(*) FROM citations WHERE last < ?", clock.now() - WINDOW)
    assert gone[0][0] > 100
    changes = rows(run, "SELECT change, count(*) FROM ranking_changes GROUP BY change")
    assert dict(changes)["left"] > 12


@pytest.mark.slow
@pytest.mark.parametrize("recrawl", ["u", "yr", "yru", "ldu", "fresh", "bandit"])
def test_policies_live(tmp_path: Path, recrawl: str) -> None:
    clock = TurnedClock()
    with ChangingSite(changing, clock) as site:
        run = crawled(tmp_path / "run", [site.url("/0")], 10)
        tracked(run, clock, 0.6, top=5, per_hour=6, recrawl=recrawl, expand="crawl-ai")
        tracked(run, clock, 0.4)
    assert rows(run, "SELECT count(*) FROM sent WHERE why = 'recrawl'")[0][0] > 20
    assert rows(run, "SELECT count(*) FROM tracked WHERE state = 'visited'")[0][0] > 30
    assert len(ranking(run)) == 5


# -- kills, clocks, budgets ----------------------------------------------------------------------


def test_killed_again_and_again(tmp_path: Path) -> None:
    """What was sent is never more than what the ledger says, nor than the budget."""
    clock = TurnedClock()
    dice = random.Random(3)
    with ChangingSite(changing, clock) as site:
        run = crawled(tmp_path / "run", [site.url("/0")], 10)
        before = len(site.log)
        for _ in range(8):
            kill_after = len(site.log) + dice.randrange(1, 12)
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    tracked(run, TurnedClock(), 30, per_hour=60, budget=90, top=5)
                    code = 0
                finally:
                    os._exit(code)
            deadline = time.monotonic() + 20
            ended = 0
            while len(site.log) < kill_after and time.monotonic() < deadline and not ended:
                ended, status = os.waitpid(child, os.WNOHANG)
                time.sleep(0.001)
            if not ended:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            else:
                assert status == 0
            time.sleep(0.02)  # what was on its way arrives
            sent = rows(run, "SELECT coalesce(sum(requests), 0) FROM sent")[0][0]
            assert len(site.log) - before <= sent <= 90
        later = TurnedClock()
        assert tracked(run, later, 30).stopped == "budget"  # type: ignore[attr-defined]
        assert len(site.log) - before <= 90
        assert rows(run, "SELECT sum(requests) FROM sent") == [(90,)]
        times = [t for (t,) in rows(run, "SELECT charged FROM sent ORDER BY number")]
        assert times == sorted(times)  # the clock went on from where it was
        assert all(late - early >= 3599 for early, late in zip(times, times[60:], strict=False))
        # The crawl goes on as if nothing had happened to its run, and the tracker takes it in.
        Crawl.resume(run, budget="+5").run_to_end()
        assert rows(run, "SELECT count(*) FROM leases WHERE outcome = 'visit'")[0][0] == 14
        tracked(run, later, 0.2, budget=95)
        taken = rows(run, "SELECT value FROM meta WHERE key = 'track_taken'")[0][0]
        assert json.loads(taken)[1] == rows(run, "SELECT max(lease) FROM pages")[0][0]


def test_after_a_power_cut(tmp_path: Path) -> None:
    """A crawl that lost power is resumed first, a tracker that did goes on; the crawl owes nothing
    for the requests of the tracker, which are in its own ledger."""
    clock = TurnedClock()

    def cut_off(folder: Path) -> None:
        opened = database(folder)
        with opened:
            opened.execute("UPDATE meta SET value = 'true' WHERE key = 'open'")
            opened.execute("UPDATE meta SET value = '\"another\"' WHERE key = 'boot'")
        opened.close()

    with ChangingSite(changing, clock) as site:
        run = crawled(tmp_path / "run", [site.url("/0")], 8)
        cut_off(run)
        with pytest.raises(InputError, match="resume it first"):
            tracked(run, clock, 1)
        Crawl.resume(run).run_to_end()
        tracked(run, clock, 0.2, per_hour=60)
        opened = database(run)
        with opened:
            opened.execute("UPDATE meta SET value = 'true' WHERE key = 'track_open'")
        opened.close()
        cut_off(run)
        before = rows(run, "SELECT sum(requests) FROM sent")[0][0]
        tracked(run, clock, 0.1)
        assert rows(run, "SELECT sum(requests) FROM sent")[0][0] > before
        Crawl.resume(run, budget="+2").run_to_end()
    assert rows(run, "SELECT count(*) FROM log WHERE kind = 'lost'") == [(0,)]
    assert rows(run, "SELECT sum(requests) FROM leases") == [(10,)]


def test_stopped_and_cut(tmp_path: Path) -> None:
    clock = TurnedClock()
    with ChangingSite(changing, clock) as site:
        run = crawled(tmp_path / "run", [site.url("/0")], 10)
        tracker = LiveTracker(run, clock=clock, plan={"per_hour": 60})
        heard: list[TrackedVisit | RankingUpdated] = []

        def stop(event: TrackedVisit | RankingUpdated) -> None:
            heard.append(event)
            if len(heard) == 5:
                tracker.stop()

        tracker._on_event = stop
        assert asyncio.run(tracker.run()) == "interrupted"
        assert sum(isinstance(event, TrackedVisit) for event in heard) == 4

        cut = LiveTracker(run, clock=clock)

        async def run_and_cut() -> str:
            task = asyncio.create_task(cut.run())
            while cut._visiting is None:
                await asyncio.sleep(0)
            cut.cut()
            return await task

        assert asyncio.run(run_and_cut()) == "cut"
        status = TrackedRun(RunReader(run)).status()
    assert status.stop == "cut"
    assert status.settings["per_hour"] == 60


def test_hosts_keep_their_delay_and_their_budget(tmp_path: Path) -> None:
    clock = TurnedClock()
    with ChangingSite(changing, clock) as site:
        run = crawled(tmp_path / "run", [site.url("/0")], 8, host_budget=20)
        before = len(site.log)
        plan = {"per_hour": 1000, "budget": 100}
        tracker = LiveTracker(run, clock=clock, duration=DAY, plan=plan, delay=0.03, per_host=1)
        assert asyncio.run(tracker.run()) == "nothing"
        starts = site.starts[before:]
        assert len(site.log) == 20
    assert all(late - early >= 0.029 for early, late in pairwise(starts))
    dropped = rows(run, "SELECT DISTINCT why FROM tracked WHERE state = 'dropped'")
    assert dropped == [("host-budget",)]


def test_nothing_to_visit(tmp_path: Path) -> None:
    clock = TurnedClock()
    with ChangingSite(lambda path, now: (410, "", {}), clock) as site:
        run = crawled(tmp_path / "run", [site.url("/")], 2)
        assert tracked(run, clock, 9).stopped == "nothing"  # type: ignore[attr-defined]
    assert clock.now() == BEGIN


def test_servers_that_date_their_pages(tmp_path: Path) -> None:
    """Without tags, Last-Modified makes a request conditional."""

    def script(path: str, now: float) -> Answer:
        status, body, _ = page(path, ["/", "/a", "/b"])
        if path not in ("/", "/a", "/b"):
            return NOT_FOUND
        return status, body, {"Last-Modified": "Fri, 15 Jan 2027 00:00:00 GMT"}

    clock = TurnedClock()
    with ChangingSite(script, clock) as site:
        run = crawled(tmp_path / "run", [site.url("/")], 4)
        before = len(site.log)
        tracked(run, clock, 0.5, per_hour=4)
        statuses = Counter(status for _, _, status, _ in site.log[before:])
    assert statuses[304] > 40
    assert statuses[200] <= 3  # the first page of the host, and what the crawl had not visited
    assert rows(run, "SELECT count(*) FROM sent WHERE outcome = 'unchanged'")[0][0] > 40


# -- pages that vanish, move, come back ----------------------------------------------------------


@pytest.mark.slow
def test_pages_that_vanish(tmp_path: Path) -> None:
    """/gone is 410 after a day, /lost is 404 after a day; two weeks later /lost is linked anew."""

    def script(path: str, now: float) -> Answer:
        days = (now - BEGIN) / DAY
        if path == "/":
            return page("home", ["/a", "/b", "/c"])
        if path in ("/a", "/b"):
            return page(path, ["/gone", "/lost", "/c"])
        if path == "/c":
            return page(path, ["/lost"] if days >= 14 else ["/a"])
        if path in ("/gone", "/lost"):
            if 1 <= days < 14:
                return (410 if path == "/gone" else 404), "no", {}
            return page(path, ["/"])
        return NOT_FOUND

    clock = TurnedClock()
    with ChangingSite(script, clock) as site:
        run = crawled(tmp_path / "run", [site.url("/")], 7)
        tracked(run, clock, 0.5, top=6, per_hour=6, window=2 * DAY)
        assert {"gone", "lost"} <= set(ranking(run))
        tracked(run, clock, 4)
        states = dict(rows(run, "SELECT url, state FROM tracked"))
        assert states[site.url("/gone")] == states[site.url("/lost")] == "gone"
        assert not {"gone", "lost"} & set(ranking(run))
        left = rows(run, "SELECT url, why FROM ranking_changes WHERE change = 'left'")
        assert (site.url("/gone"), "gone") in left
        last = max(moment for moment, path, _, _ in site.log if path == "/gone")
        assert last < BEGIN + 2.5 * DAY  # it is left alone
        missing = [status for _, path, status, _ in site.log if path == "/lost"]
        assert missing.count(404) == 2
        clock.moment = BEGIN + 14 * DAY
        tracked(run, clock, 2)
        states = dict(rows(run, "SELECT url, state FROM tracked"))
        assert states[site.url("/lost")] == "visited"
        assert states[site.url("/gone")] == "gone"


def test_pages_that_move(tmp_path: Path) -> None:
    """/old answers with 301 to /new after a day: what cites /old cites /new."""

    def script(path: str, now: float) -> Answer:
        moved = now > BEGIN + DAY
        if path == "/":
            return page("home", ["/a", "/b", "/c"])
        if path in ("/a", "/b"):
            return page(path, ["/old", "/"])
        if path == "/c":
            return page(path, ["/new" if moved else "/old", "/"])
        if path == "/old":
            return (301, "", {"Location": "/new"}) if moved else page("old", ["/a"])
        if path == "/new" and moved:
            return page("new", ["/a", "/b"])
        return NOT_FOUND

    clock = TurnedClock()
    with ChangingSite(script, clock) as site:
        run = crawled(tmp_path / "run", [site.url("/")], 6)
        tracked(run, clock, 0.5, top=3, per_hour=6)
        assert set(ranking(run)) == {"", "a", "old"}
        tracked(run, clock, 4)
    states = dict(rows(run, "SELECT url, state FROM tracked"))
    assert states[site.url("/old")] == "moved"
    assert states[site.url("/new")] == "visited"
    assert set(ranking(run)) == {"", "a", "new"}
    cited = rows(
        run, "SELECT count(*) FROM citations JOIN tracked ON id = target WHERE url LIKE '%/new'"
    )
    assert cited == [(3,)]
    assert (site.url("/old"), "moved") in rows(run, "SELECT url, why FROM ranking_changes")


def test_servers_in_trouble(tmp_path: Path) -> None:
    """A page that fails is set aside and tried again, later each time; one that is back, is."""

    def script(path: str, now: float) -> Answer:
        if path == "/":
            return page("home", ["/flaky", "/broken"])
        if path == "/flaky":
            bad = BEGIN + 0.2 * DAY < now < BEGIN + 0.6 * DAY
            return (500, "oops", {}) if bad else page("flaky", ["/"])
        return (500, "oops", {}) if path == "/broken" else NOT_FOUND

    clock = TurnedClock()
    with ChangingSite(script, clock) as site:
        run = crawled(tmp_path / "run", [site.url("/")], 2, retries=0)
        tracked(run, clock, 3, per_hour=10)
        states = dict(rows(run, "SELECT url, state FROM tracked"))
        tries = [moment for moment, path, _, _ in site.log if path == "/broken"]
    assert states[site.url("/flaky")] == "visited"
    assert states[site.url("/broken")] == "dropped"
    assert len(tries) <= 6
    gaps = [late - early for early, late in pairwise(tries[1:])]
    assert gaps == sorted(gaps)


def test_a_page_that_nobody_foresaw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An error in reading one page sets it aside; all else goes on, and nothing is half known."""

    def script(path: str, now: float) -> Answer:
        if path == "/":
            return page("home", ["/a", "/cursed"])
        return page(path, ["/", "/behind"]) if path[1:] in ("a", "cursed", "behind") else NOT_FOUND

    def feeds(body: bytes, url: str, content_type: str = "") -> list[str]:
        if url.endswith("/cursed"):
            raise ZeroDivisionError
        return []

    monkeypatch.setattr(update, "feeds_of", feeds)
    clock = TurnedClock()
    with ChangingSite(script, clock) as site:
        run = crawled(tmp_path / "run", [site.url("/")], 2)
        tracker = tracked(run, clock, 2, per_hour=4)
    states = dict(rows(run, "SELECT url, state FROM tracked"))
    assert states[site.url("/cursed")] == "dropped"
    assert states[site.url("/behind")] == states[site.url("/a")] == "visited"
    assert tracker.policy.known == len(states)
    assert rows(run, "SELECT count(*) FROM sent WHERE outcome = 'error'") == [(5,)]
    assert len(caplog.records) == 5


# -- lists: feeds and sitemaps -------------------------------------------------------------------


def test_feeds_and_sitemaps(tmp_path: Path) -> None:
    """Both are found, fetched at their own pace, and what they announce is visited soon."""

    def stamp(moment: float) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))

    posts = [BEGIN + day * DAY for day in (0.5, 1.5, 2.5)]
    site: ChangingSite

    def script(path: str, now: float) -> Answer:
        if path == "/robots.txt":
            return 200, f"User-agent: *\nSitemap: {site.url('/map.xml')}\n", {}
        if path == "/":
            head = '<link rel="alternate" type="application/atom+xml" href="/feed.xml">'
            return page("home", ["/about"], head)
        if path == "/about":
            return page("about", ["/"])
        if path == "/map.xml":
            body = f"<urlset><url><loc>{site.url('/hidden')}</loc></url></urlset>"
            return 200, body, {"Content-Type": "application/xml"}
        if path == "/feed.xml":
            other = site.url("/elsewhere", "127.0.0.2")
            entries = "".join(
                f"<entry><link href='/post{n}'/><updated>{stamp(moment)}</updated></entry>"
                for n, moment in enumerate(posts)
                if moment <= now
            )
            entries += f"<entry><link href='{other}'/><updated>{stamp(BEGIN)}</updated></entry>"
            return 200, f"<feed>{entries}</feed>", {"Content-Type": "application/atom+xml"}
        if path.startswith("/post"):
            return page(path, ["/about", f"/from{path[1:]}"])
        if path in ("/hidden", "/elsewhere") or path.startswith("/from"):
            return page(path, ["/"])
        return NOT_FOUND

    clock = TurnedClock()
    with ChangingSite(script, clock) as site:
        hosts = ("127.0.0.1", "127.0.0.2")
        run = crawled(tmp_path / "run", [site.url("/")], 3, hosts=hosts)
        tracked(run, clock, 4, per_hour=4, window=7 * DAY, top=10)
        visited = {path: moment for moment, path, status, _ in reversed(site.log) if status == 200}
    states = dict(rows(run, "SELECT url, state FROM tracked"))
    assert states[site.url("/map.xml")] == states[site.url("/feed.xml")] == "list"
    assert states[site.url("/hidden")] == "visited"
    for number, moment in enumerate(posts):
        assert moment <= visited[f"/post{number}"] < moment + 0.75 * DAY
    # Links of a post that a feed dates came at that date.
    query = "SELECT url, first, citations.dated FROM citations JOIN tracked ON id = target"
    came = {url: first for url, first, _ in rows(run, query)}
    assert came[site.url("/frompost1")] == pytest.approx(posts[1], abs=1)
    dates = {url: dated for url, _, dated in rows(run, query)}
    assert dates[site.url("/frompost1")] is None
    # What a feed says of another host is a citation, with its date.
    assert dates[site.url("/elsewhere", "127.0.0.2")] == pytest.approx(BEGIN, abs=1)
    asked = [moment for moment, path, _, _ in site.log if path == "/map.xml"]
    assert len(asked) < 12  # nothing new there: it is asked ever more rarely


def test_dated_links_leave_the_window_by_their_date(tmp_path: Path) -> None:
    """A feed dates what it cites on another host; it counts for a window from that date."""
    site: ChangingSite

    def script(path: str, now: float) -> Answer:
        if path == "/":
            head = '<link rel="alternate" type="application/rss+xml" href="/feed">'
            return page("home", ["/a"], head)
        if path == "/feed":
            date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(BEGIN))
            other = site.url("/cited", "127.0.0.2")
            body = f"<rss><channel><item><link>{other}</link><pubDate>{date}</pubDate></item>"
            return 200, f"{body}</channel></rss>", {"Content-Type": "application/rss+xml"}
        return page(path, []) if path in ("/a", "/cited") else NOT_FOUND

    clock = TurnedClock()
    with ChangingSite(script, clock) as site:
        run = crawled(tmp_path / "run", [site.url("/")], 2, hosts=("127.0.0.1", "127.0.0.2"))
        tracked(run, clock, 1, per_hour=4, window=2 * DAY)
        assert set(ranking(run)) == {"a", "cited"}
        tracked(run, clock, 1.5)
    assert set(ranking(run)) == {"a"}  # the feed still names it, but of old


# -- bounds --------------------------------------------------------------------------------------


def test_no_more_nodes_than_there_is_room_for(tmp_path: Path) -> None:
    """Each page links to pages that nobody has seen; old ones are forgotten, numbers used again."""

    def script(path: str, now: float) -> Answer:
        if path == "/robots.txt":
            return NOT_FOUND
        hour = int((now - BEGIN) // 3600)
        return page(path, ["/", *(f"{path.rstrip('/')[:12]}/{hour}x{n}" for n in range(6))])

    clock = TurnedClock()
    with ChangingSite(script, clock) as site:
        run = crawled(tmp_path / "run", [site.url("/")], 3)
        tracker = tracked(run, clock, 3, per_hour=6, window=0.5 * DAY, most=200, share=0.1)
    known = rows(run, "SELECT count(*), max(id) FROM tracked")[0]
    assert tracker.policy.known == known[0] <= 200
    assert known[1] <= 200
    assert rows(run, "SELECT count(DISTINCT url) FROM sent")[0][0] > 20
    assert len(tracker.policy.expansion.state) <= 4096


def test_robots_are_heeded(tmp_path: Path) -> None:
    def script(path: str, now: float) -> Answer:
        if path == "/robots.txt":
            return 200, "User-agent: *\nDisallow: /private\n", {"Content-Type": "text/plain"}
        if path == "/":
            return page("home", ["/private/x", "/a"])
        return page(path, ["/"])

    clock = TurnedClock()
    with ChangingSite(script, clock) as site:
        run = crawled(tmp_path / "run", [site.url("/")], 3)
        tracked(run, clock, 1, per_hour=6)
        assert not [path for _, path, _, _ in site.log if path.startswith("/private")]
    # They are cited, though nobody may look at them.
    assert "x" in ranking(run)


# -- the command ---------------------------------------------------------------------------------


def called(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    try:
        status = main([str(argument) for argument in arguments])
    except SystemExit as stop:
        status = int(str(stop.code))
    out, err = capsys.readouterr()
    return status, out, err


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ChangingSite(changing, TurnedClock()) as site:
        run = tmp_path / "run"
        Crawl([site.url("/0")], path=run, **POLITE, budget=12, pages=True).run_to_end()
        assert called(capsys, "track", run, "--status")[0] == 2
        options = ("--top", 5, "--per-hour", 100_000, "--budget", 30, "--delay", 0)
        status, out, err = called(capsys, "track", run, *options, "--json")
        assert status == 0
        assert "budget is spent" in err
        events = [json.loads(line) for line in out.splitlines()]
        assert sum(event["event"] == "visit" for event in events) == 30
        assert events[-1]["event"] == "ranking"
    status, out, _ = called(capsys, "track", run, "--list", "--json")
    found = json.loads(out)
    assert [one["rank"] for one in found["ranking"]] == [1, 2, 3, 4, 5]
    assert [one["cited"] for one in found["ranking"]] == sorted(
        (one["cited"] for one in found["ranking"]), reverse=True
    )
    assert found["ranking"][0]["evidence"][0]["source"].startswith("http://127.0.0.1")
    assert len(found["entered"]) >= 5
    status, out, _ = called(capsys, "track", run, "--status")
    assert "30 requests for 30 visits" in out
    assert json.loads(called(capsys, "track", run, "--status", "--json")[1])["requests"] == 30
    status, out, _ = called(capsys, "track", run, "--list")
    assert out.split()[:3] == ["rank", "cited", "url"]
    # Pages that were fetched anew are kept with the run, as the crawl keeps its own.
    kept = rows(run, "SELECT count(*) FROM tracked WHERE warc IS NOT NULL")[0][0]
    assert kept > 12
    assert called(capsys, "show", run)[0] == 0
    assert called(capsys, "track", run, "--recrawl", "never")[0] == 2
    status, _, err = called(capsys, "track", run, "--share", 3)
    assert (status, err.count("\n")) == (2, 1)
    assert called(capsys, "track", tmp_path / "none")[0] == 2


def test_a_run_of_another_source_cannot_be_tracked(tmp_path: Path) -> None:
    from sonde import Visit

    class Source:
        async def visit(self, node: object, allowance: object) -> Visit:
            return Visit(1.0)

    Crawl(Source(), seeds=["a"], path=tmp_path / "run", budget=1).run_to_end()
    with pytest.raises(InputError, match="its source is custom"):
        tracked(tmp_path / "run", TurnedClock(), 1)
