"""``sonde audit``: poll some pages of sites, politely, and say how well organised they are for
focused crawling.

examples:
  sonde audit https://docs.example.org --budget 100
  sonde audit https://a.example https://b.example -o audit/     # side by side, with charts
  sonde audit https://a.example --json

Sites are polled one after the other, breadth first, each with the whole budget of requests.
RFU, BFU: the share of a page's links with its own domain (folder), over the number of distinct
domains (folders). Order of folders: 0 where links go to folders by chance, 1 where they all stay
in their page's own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from sonde.audit import Poll, SiteAudit, audit, polled
from sonde.audit.audit_report import LEADER_HEADS, comparison, leader_rows, unread, write
from sonde.audit.charts import short_names
from sonde.audit.polling import checked
from sonde.cli._print import harmless, print_table
from sonde.cli._progress import duration
from sonde.cli._signals import heeding_signals
from sonde.crawling import Crawl
from sonde.crawling.crawler import new_loop
from sonde.errors import InputError
from sonde.net.urls import group_of
from sonde.store.atomic import new_folder

_TICK = 0.25
_SETTINGS = ("budget", "scope", "delay", "timeout", "contact", "allow_private")


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("urls", nargs="+", metavar="URL", help="where each site starts")
    add("--budget", type=int, default=50, metavar="N", help="requests a site (default: 50)")
    add("--top", type=int, default=10, metavar="N", help="most linked URLs shown (default: 10)")
    add("-o", "--output", type=Path, metavar="DIR", help="a new folder for the page and its charts")
    add("--json", action="store_true", help="print one JSON object")
    add(
        "--scope",
        choices=("host", "domain", "prefix"),
        default="domain",
        help="what belongs to a site: its host, its domain (default), or the folder of its URL",
    )
    add("--delay", type=float, default=1.0, metavar="S", help="between requests (default: 1)")
    add(
        "--timeout",
        type=float,
        default=60.0,
        metavar="S",
        help="for one request (default: 60)",
    )
    add("--contact", metavar="WHO", help="a URL or an e-mail address for servers")
    add(
        "--allow-private",
        action="store_true",
        help="also loopback and private addresses: for one's own network",
    )


def run(args: argparse.Namespace) -> int:
    """Poll, measure, and print."""
    if args.budget < 1 or args.top < 0:
        raise InputError("--budget must be 1 or more, and --top 0 or more")
    settings = {name: getattr(args, name) for name in _SETTINGS}
    sites = list(dict.fromkeys(checked(url, **settings) for url in args.urls))
    with ExitStack() as stack:
        # Whether there is a place to write to is found out before anybody is asked.
        folder = None if args.output is None else stack.enter_context(new_folder(args.output))
        rounds = _Rounds(settings)
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(rounds.poll(sites))
        if folder is not None:
            write(rounds.audits, folder, max(args.top, 20))
    if args.json:
        print(json.dumps({"sites": [site.as_json() for site in rounds.audits]}))
    else:
        _print(rounds.audits, args.top)
    if args.output is not None:
        print(args.output / "audit.html", file=sys.stderr)
    return 130 if rounds.stopping.is_set() else 0


class _Rounds:
    """The sites one after the other. Ctrl-C ends the poll that runs, once politely and twice at
    once; no other is begun."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.audits: list[SiteAudit] = []
        self.stopping = asyncio.Event()
        self._settings = settings
        self._crawl: Crawl | None = None
        self._delays: dict[str, float] = {}  # of hosts that were asked

    def stop(self) -> None:
        self.stopping.set()
        if self._crawl is not None:
            self._crawl.stop()

    def cut(self) -> None:
        if self._crawl is not None:
            self._crawl.cut()

    async def poll(self, sites: list[str]) -> None:
        with heeding_signals(self, "what is"), Console(stderr=True).status("") as status:
            for url in sites:
                if group_of(url) in self._delays:  # polite to a host also between two sites of it
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self.stopping.wait(), self._delays[group_of(url)])
                if self.stopping.is_set():
                    break
                print(f"polling {harmless(url)}", file=sys.stderr)
                polling = asyncio.create_task(polled(url, begun=self._begun, **self._settings))
                while not polling.done():
                    status.update(Text(self._progress()))
                    await asyncio.wait([polling], timeout=_TICK)
                self._heard(polling.result())

    def _begun(self, crawl: Crawl) -> None:
        self._crawl = crawl

    def _heard(self, poll: Poll) -> None:
        self.audits.append(audit(poll))
        for host in poll.hosts:
            self._delays[host.host] = max(self._settings["delay"], host.delay or 0.0)

    def _progress(self) -> str:
        progress = None if self._crawl is None else self._crawl.progress()
        if progress is None:
            return ""
        left = "" if progress.eta is None else f", {duration(progress.eta)} to go"
        return f"{progress.requests:,} of {progress.budget:,} requests{left}"


def _print(audits: list[SiteAudit], top: int) -> None:
    heads = [f">{harmless(name, 50)}" for name in short_names(audits)]
    print_table(["", *heads], comparison(audits))
    for site in audits:
        if top and site.leaders:
            print(f"\nmost linked of {harmless(site.url)}")
            print_table(LEADER_HEADS, leader_rows(site, top))
    for site in audits:
        print(f"\n{harmless(site.url)}: {harmless(site.verdict)}")
        if site.unread:
            print(f"not read: {harmless(unread(site))}")
