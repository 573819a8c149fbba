"""Clocks that jump: the time of day goes back and forth by years, the other one forward by hours,
in the middle of a crawl. The budget holds, and the crawl comes to its end and resumes."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crawl_sites import FAST, Site, tree
from outcome import Part

from sonde.crawling import Crawl

YEAR = 365 * 86_400.0


@contextmanager
def jumping(seed: int) -> Iterator[list[float]]:
    """The clocks of this process, replaced: how far each has jumped so far."""
    dice = random.Random(seed)
    wall, steady = time.time, time.monotonic
    away = [0.0, 0.0]

    def now() -> float:
        if dice.random() < 0.02:
            away[0] += dice.choice([-10 * YEAR, -86_400.0, -1.0, 1.0, 86_400.0, 10 * YEAR])
        return wall() + away[0]

    def since() -> float:
        if dice.random() < 0.002:
            away[1] += dice.choice([0.5, 60.0, 7_200.0])
        return steady() + away[1]

    time.time, time.monotonic = now, since
    try:
        yield away
    finally:
        time.time, time.monotonic = wall, steady


def clocks(folder: Path, most: int) -> Part:
    """So many crawls under clocks that jump."""
    part = Part("clocks", "time that jumps costs no request beyond the budget, and no run")
    jumped = 0.0
    for seed in range(most):
        run = folder / f"clock-{seed}"
        with Site(tree(400, 6)) as site, jumping(seed) as away:
            try:
                Crawl(site.url("/0"), path=run, budget=30, **FAST).run_to_end()
                result = Crawl.resume(run, budget="+30").run_to_end()
                # A server whose clock jumps closes connections that are idle, as far as it knows:
                # a request into one that was just closed is charged, and so is its repetition.
                kept = 40 < site.total <= result.requests == 60
                what = "" if kept else f"{site.total} requests of {result.requests} arrived"
            except Exception as error:
                what = repr(error)[:200]
            jumped += abs(away[0]) + away[1]
        part.check(not what, f"clock {seed}: {what}")
    part.figures.append(f"{jumped / YEAR:,.0f} years of jumps")
    return part
