"""Trap sites beside good ones: what share of the budget each trap gets."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from crawl_sites import Site
from outcome import Part

from sonde.crawling import Crawl

MOST = 0.05
"""The share of requests that a trap may have."""


def traps(folder: Path, budget: int, only: int | None = None) -> Part:
    """Every trap site, with the settings that one gets by default, politeness apart."""
    part = Part("traps", f"no trap gets {MOST:.0%} of the budget")
    sites: Any = importlib.import_module("trap_sites")
    shares = []
    for name, trap in list(sites.TRAPS.items())[:only]:
        found: list[Site] = []
        world = sites.World(trap, lambda found=found: found[0].port)
        with Site(world.answer, hosts=world.hosts) as site:
            found.append(site)
            seeds = [site.url("/", host + 1) for host in range(sites.GOOD)]
            Crawl(
                seeds,
                path=folder / name.replace(" ", "-"),
                topic=sites.TOPIC,
                budget=budget,
                delay=0.0,
                per_host=4,
                scope="web",
                allow_private=True,
                sitemaps="no",
                pages=False,
                contact="torture@localhost",
            ).run_to_end()
        share = world.spent / budget
        shares.append(f"{name} {share:.1%}")
        part.check(share < MOST, f"{name}: {share:.1%} of {budget} requests")
    part.figures.extend(shares)
    return part
