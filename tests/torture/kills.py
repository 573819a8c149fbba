"""Kills: crawls of several sources at several numbers of places, killed again and again.

Whatever the moment: no request beyond the budget, every request that arrived is in the ledger, what
was reported is there and settled once, no page is visited twice, the run resumes, its log tells the
same story twice, and no robots.txt is fetched again in its lifetime.
"""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawl_sites import FAST, Site, tree
from outcome import Part
from search_server import Engine
from social_server import Network

from sonde.store.reader import DATABASE

VICTIM = Path(__file__).parents[1] / "crawl" / "crawl_victim.py"
BUDGET = 300


@dataclass
class Served:
    """Where a crawl begins, and how many requests have arrived."""

    order: dict[str, Any]
    arrived: Callable[[], int]
    robots: Callable[[], int] = lambda: 0


@contextmanager
def web() -> Iterator[Served]:
    with Site(tree(3000, 6), hosts=3) as site:
        seeds = [site.url("/0", host) for host in (1, 2, 3)]
        order = {"seeds": seeds, "settings": FAST}
        yield Served(order, lambda: site.total, lambda: site.counts["/robots.txt"] - len(seeds))


@contextmanager
def form() -> Iterator[Served]:
    words = [f"word{number}" for number in range(400)]
    dice = random.Random(1)
    records = [(f"r{number}", " ".join(dice.choices(words, k=30))) for number in range(800)]
    with Site(Engine(records)) as site:
        order = {"source": f"form:{site.url('/')}", "seeds": ["word1"], "settings": {"delay": 0}}
        yield Served(order, lambda: site.total, lambda: site.counts["/robots.txt"] - 1)


@contextmanager
def social() -> Iterator[Served]:
    posts = [(f"u{n}", f"tide gauge @u{2 * n + 1} @u{2 * n + 2}") for n in range(2000)]
    with Site(Network(posts)) as site:
        plan = {"topic": "tide", "requests": 100_000, "per": 1.0, "duration": 3600.0}
        order = {"source": f"mastodon:{site.url('')}", "seeds": ["u0"], "settings": plan}
        yield Served(order, lambda: site.total)


SOURCES: dict[str, Callable[[], AbstractContextManager[Served]]] = {
    "web": web,
    "form": form,
    "mastodon": social,
}
PLACES = (1, 4, 32, 128)


class Victim:
    """A process whose children crawl until they are killed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, **order: Any) -> list[list[str]]:
        """What a child had said when it was killed, or ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        said: list[str] = json.loads(self._process.stdout.readline())
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
            process.wait(30)


def broken_in(folder: Path, served: Served, said: list[list[str]], budget: int) -> str:
    """What does not hold of a run, in words; nothing where all does."""
    errors = [line for line in said if line[0] == "error"]
    if errors:
        return f"a resume failed: {errors[0]}"
    with closing(sqlite3.connect(folder / DATABASE)) as database, database:
        settled = dict(database.execute("SELECT number, outcome FROM leases"))
        (spent,) = database.execute("SELECT coalesce(sum(requests), 0) FROM leases").fetchone()
        (twice,) = database.execute(
            "SELECT count(*) FROM (SELECT node FROM leases WHERE outcome = 'visit'"
            " GROUP BY node HAVING count(*) > 1)"
        ).fetchone()
        (open_now,) = database.execute(
            "SELECT count(*) FROM leases WHERE outcome IS NULL"
        ).fetchone()
    database.close()
    reported = Counter(line[0] for line in said if line[0].isdigit())
    if served.arrived() > budget:
        return f"{served.arrived()} requests arrived of a budget of {budget}"
    if served.arrived() > spent + open_now * budget:
        return f"{served.arrived()} requests arrived, {spent} are in the ledger"
    if any(count > 1 for count in reported.values()):
        return "a lease was reported twice"
    if any(settled.get(int(number)) is None for number in reported):
        return "a lease was reported, and is not settled"
    if twice:
        return f"{twice} nodes were visited twice"
    if served.robots() > 0:
        return f"robots.txt was fetched {served.robots()} times more than once a host"
    return ""


def one_crawl(
    part: Part, name: str, places: int, kills: int, folder: Path, seed: int
) -> tuple[int, int]:
    """One crawl, killed so often; how many requests kills have cost, and how many came back."""
    dice = random.Random(seed)
    run = folder / f"{name}-{places}-{seed}"
    said: list[list[str]] = []
    with SOURCES[name]() as served, victim() as process:
        settings = {"budget": BUDGET, "concurrency": places, "allow_private": True}
        order = {**served.order, "folder": str(run)}
        order["settings"] = settings | served.order["settings"]
        for _ in range(kills):
            after = dice.randrange(0, 12)
            heard = process.run(**order, after=after, seconds=dice.choice([0.0, 0.01, 0.05, 20.0]))
            said += heard
            what = broken_in(run, served, said, BUDGET) if (run / DATABASE).exists() else ""
            part.check(not what, f"{name}, {places} places, seed {seed}: {what}")
            if any(line[0] == "stopped" for line in heard):
                break  # the budget is spent
        said += process.run(**order, after=10**9, seconds=120.0)
        what = broken_in(run, served, said, BUDGET)
        what = what or ("" if said[-1][0] == "stopped" else f"it did not end: {said[-1]}")
        part.check(not what, f"{name}, {places} places, at the end: {what}")
    with closing(sqlite3.connect(run / DATABASE)) as database, database:
        (lost,) = database.execute(
            "SELECT coalesce(sum(requests), 0) FROM leases WHERE outcome = 'interrupt'"
        ).fetchone()
        (got,) = database.execute("SELECT count(*) FROM leases WHERE outcome = 'visit'").fetchone()
    database.close()
    return lost, got


def kills(folder: Path, most: int) -> Part:
    """At least so many kills, over all sources and numbers of places."""
    part = Part(
        "kills",
        "budget, ledger and log hold at any moment; what was reported is there; the run resumes",
    )
    lost = got = crawls = 0
    seed = 0
    each = min(40, max(2, -(-most // (len(SOURCES) * len(PLACES)))))
    while part.tried - crawls < most:
        for name in SOURCES:
            for places in PLACES:
                if part.tried - crawls >= most:
                    break
                seed += 1
                crawls += 1
                cost, visits = one_crawl(part, name, places, each, folder, seed)
                lost += cost
                got += visits
    part.figures.append(f"{part.tried - crawls:,} kills")
    part.figures.append(f"{crawls} crawls of {', '.join(SOURCES)} at {PLACES} places")
    part.figures.append(f"in flight at kills: {lost:,} requests; {got:,} visits told")
    return part
