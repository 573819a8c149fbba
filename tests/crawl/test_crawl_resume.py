"""Nothing is lost: kills, resumes, and everything that can go wrong with a folder."""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from crawl_sites import FAST, Site, tree

from sonde.crawling import Crawl, logbook
from sonde.crawling.setup import resumed_run
from sonde.errors import InputError, StoreError
from sonde.explorer import Explorer
from sonde.protocols import Allowance
from sonde.records import Failure, Link, LinkColumns, Node, Outcome, Spend, UrlPlace, Visit
from sonde.sources.web import source as web_source
from sonde.sources.web.source import WebAccess
from sonde.store.log import KEPT
from sonde.store.reader import DATABASE, RunReader
from sonde.store.run import Run

VICTIM = Path(__file__).with_name("crawl_victim.py")


class Victim:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def run(self, **order: Any) -> list[list[str]]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        said: list[str] = json.loads(self.process.stdout.readline())
        return [line.split(" ", 2) for line in said]


@contextmanager
def victim() -> Iterator[Victim]:
    with subprocess.Popen(
        [sys.executable, str(VICTIM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Victim(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(10)


def said_by_sites(access: WebAccess) -> dict[str, Any]:
    """What a source has learned of places and of sites."""
    hosts = access.sites._sites._hosts
    return {
        "staleness": access.seen.staleness.state(),
        "sites": {
            name: {part: array.tolist() for part, array in host.site.state().items()}
            for name, host in hosts.items()
        },
        "held": [
            (held.lease, held.node, held.score, held.page.text)
            for host in hosts.values()
            for held in host.held
        ],
    }


def state(explorer: Explorer, picks: int = 40) -> object:
    """All that can be seen of an explorer: its books, its dice, and what it would pick next."""
    account = explorer.driver.account
    seen = (
        explorer.total,
        explorer.visits,
        explorer.driver.known,
        explorer.frontier_size,
        explorer.driver.dice,
    )
    following = [(lease.node, lease.predicted) for lease in explorer.ask(picks)]
    return seen, account.spent, account.budget, following


@pytest.mark.slow
@pytest.mark.parametrize("concurrency", [1, 16])
@pytest.mark.parametrize("estimator", ["auto", "hybrid[ne,lnh,50]", "mab:eps=0.2[n,e,ne,deg]"])
def test_killed_at_many_points(tmp_path: Path, concurrency: int, estimator: str) -> None:
    dice = random.Random(concurrency)
    budget = 260
    settings = FAST | {"budget": budget, "concurrency": concurrency, "estimator": estimator}
    reported: Counter[str] = Counter()
    visited: list[str] = []
    folder = tmp_path / "run"
    with Site(tree(900, 6), hosts=3) as site, victim() as process:
        seeds = [site.url("/0", host) for host in (1, 2, 3)]
        for _ in range(40):
            said = process.run(
                seeds=seeds,
                folder=str(folder),
                settings=settings,
                after=dice.randrange(0, 25),
                seconds=dice.choice([0.02, 0.1, 5.0]),
            )
            assert not [line for line in said if line[0] == "error"]
            reported.update(number for number, _, _ in said if number != "stopped")
            visited += [node for _, outcome, node in said if outcome == "visit"]
            if any(line[0] == "stopped" for line in said):
                break
        else:
            said = process.run(
                seeds=seeds, folder=str(folder), settings=settings, after=10**6, seconds=30
            )
            assert said[-1][:2] == ["stopped", "budget"]
        assert site.total <= budget
        database = sqlite3.connect(folder / DATABASE)
        settled = dict(database.execute("SELECT number, outcome FROM leases"))
        spent = database.execute("SELECT sum(requests) FROM leases").fetchone()[0]
        pages = database.execute(
            "SELECT node, count(*) FROM leases WHERE outcome = 'visit' GROUP BY node"
        ).fetchall()
        database.close()
    assert all(count == 1 for count in reported.values())
    assert all(settled[int(number)] is not None for number in reported)
    assert len(visited) == len(set(visited))
    assert all(count == 1 for _, count in pages)
    assert spent <= budget
    assert site.total <= spent
    assert _told_again(folder) == _told_again(folder)


def _told_again(folder: Path) -> object:
    begun = resumed_run(folder, None, {}, 1000, {"delay": 0})
    try:
        return state(begun.logbook.explorer)
    finally:
        begun.run.abandon()
        begun.run.journal.let_go()


@pytest.mark.slow
@pytest.mark.parametrize("checkpoints", [False, True])
def test_the_log_gives_the_state_that_wrote_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoints: bool
) -> None:
    """Model, dice and books after a live crawl are those of its log, for every estimator, told
    from the start or from the last checkpoint on."""
    if checkpoints:
        monkeypatch.setattr(logbook, "CHECKPOINT_EVERY", 20)
    with Site(tree(700, 6), hosts=4) as site:
        seeds = [site.url("/0", host) for host in (1, 2, 3, 4)]
        for number, estimator in enumerate(
            (
                "auto",
                "hybrid[ne,lnh,40]",
                "mab:eps=0.3[n,e,ne,bfs]",
                "mab:var[ne,deg]",
                "opic:ne",
                "random",
                "url+lnh",
                "mab:eps=0.3[url,url:bfu=1:arf=2:rtt=0.5,n]",
            )
        ):
            folder = tmp_path / str(number)
            crawl = Crawl(
                seeds,
                path=folder,
                budget=120,
                concurrency=8,
                estimator=estimator,
                **{**FAST, "delay": 0.001, "per_host": 2},
            )
            crawl.run_to_end()
            assert crawl.session is not None
            explorer = crawl.session.logbook.explorer
            explorer.driver.account.budget = type(explorer.driver.account.budget)(requests=1000)
            assert state(explorer) == _told_again(folder)
            with RunReader(folder) as run:
                taken = [seq for seq, _ in run.checkpoints(None)]
                last = run.count("SELECT max(seq) FROM log")
            assert len(taken) == (KEPT if checkpoints else 0)
            assert all(0 < seq < last for seq in taken)


def test_round_trips_are_logged_with_what_they_brought(tmp_path: Path) -> None:
    async def moved(request: web.Request) -> web.StreamResponse:
        if request.path == "/old":
            raise web.HTTPFound(f"http://127.0.0.2:{site.port}/0")
        return await tree(300, 6)(request)

    with Site(moved, hosts=2) as site:
        settings = FAST | {"budget": 60, "estimator": "url+lnh:rtt=3"}
        Crawl([site.url("/old"), site.url("/7", 2)], path=tmp_path / "run", **settings).run_to_end()
    with RunReader(tmp_path / "run") as run:
        rows = run.rows("SELECT data FROM log WHERE kind = 'settle' AND data IS NOT NULL")
        trips = [trip for (data,) in rows for trip in json.loads(data)["rtt"]]
    assert len(trips) == 60
    assert [trip[0] for trip in trips if isinstance(trip, list)] == [f"127.0.0.2:{site.port}"]
    assert all(0 < (trip if isinstance(trip, int) else trip[1]) < 5e6 for trip in trips)


def test_round_trips_stand_beside_what_else_is_said_of_a_visit(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", {})
    told = logbook.Logbook(Explorer("url", grouped=True), run, Spend(requests=1))
    told.add_seeds([("http://a.example/", "a.example")])
    lease = told.ask(None)
    assert lease is not None
    told.clock(lease, "a.example", 0.25)
    told.clock(lease, "b.example", 0.5)
    told.tell(lease, Failure("gone", spent=Spend(requests=1, cost=2.0)))
    run.close()
    with RunReader(tmp_path / "run") as reader:
        ((data,),) = reader.rows("SELECT data FROM log WHERE kind = 'settle'")
    assert json.loads(data) == {"cost": 2.0, "rtt": [250_000, ["b.example", 500_000]]}


class Recorded:
    """A source that gives the same visits whenever it is asked; some cost two requests.

    Its links are prepared columns, or with `plain` objects with texts and URLs."""

    def __init__(self, stop_after: int | None = None, *, plain: bool = False) -> None:
        self.asked: list[str] = []
        self.plain = plain
        self.stop_after = stop_after

    async def visit(self, node: Node, allowance: Allowance) -> Outcome:
        if self.stop_after is not None and len(self.asked) >= self.stop_after:
            await asyncio.sleep(3600)
        self.asked.append(str(node))
        number = int(str(node))
        if not allowance.take() or (number % 5 == 0 and not allowance.take()):
            return Failure("no budget", retry=True)
        if number % 17 == 16:
            return Failure("gone")
        targets = range(min(number * 3 + 1, 4000), min(number * 3 + 9, 4000))
        links = self._links(number, targets) if self.plain else self._columns(number, targets)
        return Visit(float(number % 4), links)

    def _links(self, number: int, targets: range) -> list[Link]:
        return [
            Link(
                str(target),
                ((number * target) % 7) / 3,
                text=f"about {target % 5}0 of {number % 11}0" if target % 3 else "",
                url=f"http://s{target % 2}.example/b{target % 5}/{target}" if number % 4 else None,
            )
            for target in targets
        ]

    def _columns(self, number: int, targets: range) -> LinkColumns:
        return LinkColumns(
            [str(target) for target in targets],
            [((number * target) % 7) / 3 for target in targets],
            words=[bytes([number % 11, 0, target % 4, 1]) for target in targets],
            places=[
                UrlPlace(target % 2, f"b{target % 5}", 1 / (1 + target % 3), 0.3, target % 2)
                if number % 4
                else None
                for target in targets
            ],
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "plain"),
    [
        ("auto", False),
        ("auto", True),
        ("lnh", False),
        ("mab:eps=0.2[n,e,ne]", False),
        ("url+lnh", False),
        ("url+lnh", True),
    ],
)
def test_killed_and_resumed_equals_uninterrupted(
    tmp_path: Path, estimator: str, plain: bool
) -> None:
    settings: dict[str, Any] = {"budget": 200, "concurrency": 1, "estimator": estimator, "seed": 5}
    whole = Recorded(plain=plain)
    Crawl(whole, seeds=["0", "1"], path=tmp_path / "whole", **settings).run_to_end()

    async def killed(crawl: Crawl, source: Recorded, after: int) -> None:
        """As far as the disk is concerned, a kill: nothing is written after this moment."""
        task = asyncio.create_task(crawl.run())
        while len(source.asked) < after and not task.done():
            await asyncio.sleep(0.001)
        if not task.done():
            await asyncio.sleep(0.02)  # the next lease, which its source will not answer
            assert crawl.session is not None
            crawl.session.run.abandon()
            crawl.session.run.journal.let_go()
            task.cancel()
            with pytest.raises((sqlite3.ProgrammingError, StoreError, asyncio.CancelledError)):
                await task

    asked: list[str] = []
    folder = tmp_path / "parts"
    dice = random.Random(3)
    lost = 0
    first = True
    crawl = None
    while crawl is None or crawl.stop_reason is None:
        after = dice.randrange(1, 20)
        source = Recorded(stop_after=after, plain=plain)
        crawl = (
            Crawl(source, seeds=["0", "1"], path=folder, **settings)
            if first
            else Crawl.resume(folder, source=source)
        )
        first = False
        asyncio.run(killed(crawl, source, after))
        asked += source.asked
        lost += 1
    # A visit in flight at a kill is asked for again next, and its request was spent.
    assert asked == whole.asked[: len(asked)]
    assert lost > 5
    assert len(asked) > 120


def test_a_second_process_is_turned_away(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", {})
    with pytest.raises(InputError, match="another process is writing"):
        Run.open(tmp_path / "run")
    run.close()
    Run.open(tmp_path / "run").close()
    with pytest.raises(InputError, match="already holds a run"):
        Run.create(tmp_path / "run", {})


def test_a_newer_database_is_left_alone(tmp_path: Path) -> None:
    Run.create(tmp_path / "run", {}).close()
    database = sqlite3.connect(tmp_path / "run" / DATABASE)
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(InputError, match="newer sonde"):
        Run.open(tmp_path / "run")
    (tmp_path / "other").mkdir()
    with pytest.raises(InputError, match="not a run folder"):
        Run.open(tmp_path / "other")
    (tmp_path / "other" / DATABASE).write_bytes(b"no database at all" * 100)
    with pytest.raises(InputError, match="cannot be read"):
        Run.open(tmp_path / "other")


FULL = """
import resource, signal, sys
from sonde.crawling import Crawl
from sonde.errors import StoreError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
said = 0
def heard(event):
    global said
    said += 1
try:
    Crawl(sys.argv[1], path=sys.argv[2], topic="tide gauge", budget=3000, delay=0, per_host=64,
          allow_private=True, contact="tests@localhost", pages=sys.argv[3] == "pages",
          on_event=heard).run_to_end()
except StoreError as error:
    print(said, error)
"""


@pytest.mark.slow
@pytest.mark.parametrize("pages", ["pages", "no-pages"])
def test_a_full_disk_damages_nothing(tmp_path: Path, pages: str) -> None:
    folder = tmp_path / "run"
    with Site(tree(3000, 6)) as site:
        done = subprocess.run(
            [sys.executable, "-c", FULL, site.url("/0"), str(folder), pages],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        said, _, message = done.stdout.partition(" ")
        assert "disk is full" in message, done.stderr
        before = site.total
        database = sqlite3.connect(folder / DATABASE)
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        (settled,) = database.execute(
            "SELECT count(*) FROM leases WHERE outcome IS NOT NULL"
        ).fetchone()
        database.close()
        assert settled >= int(said) > 10
        result = Crawl.resume(folder, budget=before + 50).run_to_end()
        assert site.total <= result.requests <= before + 50
        assert site.total > before


def test_a_torn_warc_tail_is_cut_and_said(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with Site(tree(300)) as site:
        settings = {**FAST, "pages": True}
        Crawl(site.url("/0"), path=folder, budget=20, **settings).run_to_end()
        (warc,) = (folder / "pages").glob("*.warc.gz")
        whole = warc.stat().st_size
        with warc.open("ab") as file:
            file.write(warc.read_bytes()[:100])
        crawl = Crawl.resume(folder, budget="+5")
        crawl.run_to_end()
        assert crawl.session is not None
        assert "half-written" in crawl.session.notice
        assert warc.stat().st_size > whole


def test_after_a_power_cut_reserved_requests_count_as_spent(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with Site(tree(300)) as site:
        crawl = Crawl(site.url("/0"), path=folder, budget=100, concurrency=1, **FAST)

        async def cut() -> None:
            async for _ in crawl:
                assert crawl.driver is not None
                if crawl.driver.explorer.visits == 10:
                    break

        asyncio.run(cut())
        database = sqlite3.connect(folder / DATABASE)
        # As if the machine had lost power: left open, on an earlier boot, with more reserved.
        database.execute("UPDATE meta SET value = 'true' WHERE key = 'open'")
        database.execute("UPDATE meta SET value = '\"earlier\"' WHERE key = 'boot'")
        database.execute("UPDATE meta SET value = '64' WHERE key = 'reserved'")
        database.commit()
        database.close()
        before = site.total
        result = Crawl.resume(folder).run_to_end()
        assert result.requests == 100
        assert site.total - before == 36


def test_a_scorer_that_learns_goes_on_from_what_it_learned(tmp_path: Path) -> None:
    settings = {**FAST, "scorer": "bm25", "concurrency": 1}
    with Site(tree(300)) as site:
        whole = Crawl(site.url("/0"), budget=40, **settings)
        whole.run_to_end()
        Crawl(site.url("/0"), path=tmp_path / "run", budget=17, **settings).run_to_end()
        parts = Crawl.resume(tmp_path / "run", budget=40)
        parts.run_to_end()
        assert whole.session is not None
        assert parts.session is not None
        left, right = whole.session.hooks.source, parts.session.hooks.source
        assert left.scorer.state() == right.scorer.state()  # type: ignore[attr-defined]
        assert whole.result is not None
        assert parts.result is not None
        assert whole.result.total == parts.result.total


@pytest.mark.parametrize("keeps", [{"pages": True}, {"pages": False, "text": True}])
@pytest.mark.parametrize("every", [7, 10**6])
def test_what_sites_have_said_is_known_again_after_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keeps: dict[str, bool], every: int
) -> None:
    folder = tmp_path / "run"
    left: list[Any] = []
    monkeypatch.setattr(web_source, "_KEPT_EVERY", every)

    def kept_nothing(access: WebAccess) -> None:
        if access.seen.pages == 30:  # at the end: a kill keeps nothing
            left.append(said_by_sites(access))
        else:
            leave(access)

    leave = WebAccess.leave
    monkeypatch.setattr(WebAccess, "leave", kept_nothing)
    with Site(tree(60, 4)) as site:
        Crawl(site.url("/0"), path=folder, budget=31, **(FAST | keeps)).run_to_end()
        session = resumed_run(folder, None, {}, None, {})
        try:
            source: Any = session.hooks.source
            assert left[0]["staleness"]["read"]
            assert left[0]["sites"]
            assert said_by_sites(source.access) == left[0]
        finally:
            asyncio.run(session.hooks.close())
            session.run.close()


# -- after an unclean end ------------------------------------------------------------------------


class Waiting:
    """A source that counts what is in flight, and holds every visit until it is let go."""

    def __init__(self) -> None:
        self.inside = 0
        self.most = 0
        self.asked = 0

    async def visit(self, node: Node, allowance: Allowance) -> Outcome:
        assert allowance.take()
        self.asked += 1
        self.inside += 1
        self.most = max(self.most, self.inside)
        await asyncio.sleep(0)
        self.inside -= 1
        links = [Link(f"{node}{child}") for child in range(4)]
        return Visit(1.0, links)


@pytest.mark.parametrize(("killed", "first"), [(True, 2), (False, 32)])
def test_after_a_kill_the_crawl_begins_with_few_places(
    tmp_path: Path, killed: bool, first: int
) -> None:
    folder = tmp_path / "run"
    Crawl(Waiting(), seeds=["a"], path=folder, budget=80, concurrency=32).run_to_end()
    session = resumed_run(folder, Waiting(), {}, None, {})
    if killed:
        session.run.journal.commit()
        session.run.abandon()
    else:
        session.run.close()
    source = Waiting()
    crawl = Crawl.resume(folder, source=source, budget="+120")
    places: list[int] = []

    async def watched() -> None:
        task = asyncio.create_task(crawl.run())
        while not task.done():
            await asyncio.sleep(0)
            if crawl.session is not None:
                places.append(crawl.session.logbook.explorer.in_flight)
        task.result()

    asyncio.run(watched())
    assert next(place for place in places if place) == first
    assert source.most == 32  # it grows with every outcome
    assert source.asked == 120


@pytest.mark.slow
def test_many_kills_at_many_places_leave_something_to_spend(tmp_path: Path) -> None:
    budget, kills = 400, 26
    settings = FAST | {"budget": budget, "concurrency": 128}
    folder = tmp_path / "run"
    with Site(tree(2000, 8), hosts=3) as site, victim() as process:
        seeds = [site.url("/0", host) for host in (1, 2, 3)]
        orders: dict[str, Any] = {"seeds": seeds, "folder": str(folder), "settings": settings}
        process.run(**orders, after=150, seconds=30)
        with RunReader(folder) as reader:
            before = reader.count("SELECT count(*) FROM leases WHERE outcome = 'visit'")
        for _ in range(kills):
            process.run(**orders, after=3, seconds=30)
        with RunReader(folder) as reader:
            lost = reader.count("SELECT sum(requests) FROM leases WHERE outcome = 'interrupt'")
            visits = reader.count("SELECT count(*) FROM leases WHERE outcome = 'visit'")
        assert site.counts["/robots.txt"] == 3  # of each host once, however often it was killed
        # The first kill takes what 128 places held; later ones a few each, and never all there is.
        assert visits - before > kills
        assert lost < 128 + 8 * kills < budget
