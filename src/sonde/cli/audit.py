"""``sonde audit``: how well organised sites are for focused crawling."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sonde.audit import SiteAudit, audit, poll
from sonde.audit.sheet import LEADER_HEADS, comparison, leader_rows, save
from sonde.cli.printing import harmless, print_table
from sonde.crawl import Crawl
from sonde.crawl.web import Web
from sonde.errors import InputError

_EPILOG = """examples:
  sonde audit https://docs.example.org --budget 100
  sonde audit https://a.example https://b.example -o audit/     # side by side, with charts
  sonde audit https://a.example --json

Sites are polled one after the other, breadth first, each with the whole budget of requests.
RFU, BFU: the share of a page's links with its own domain (folder), over the number of distinct
domains (folders). Order of folders: 0 where links go to folders by chance, 1 where they all stay
in their page's own.
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``sonde audit``."""
    parser = commands.add_parser(
        "audit",
        help="say how well organised sites are for focused crawling",
        description="Poll some pages of sites, politely, and say how well organised they are for"
        " focused crawling.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("urls", nargs="+", metavar="URL", help="where each site starts")
    add("--budget", type=int, default=50, metavar="N", help="requests a site (default: 50)")
    add("--top", type=int, default=10, metavar="N", help="most linked URLs shown (default: 10)")
    add("-o", "--output", type=Path, metavar="DIR", help="a new folder for the page and its charts")
    add("--json", action="store_true", help="print one JSON object")
    add("--scope", choices=("host", "domain", "prefix"), default="domain")
    add("--delay", type=float, default=1.0, metavar="S", help="between requests (default: 1)")
    add("--timeout", type=float, default=60.0, metavar="S")
    add("--contact", metavar="WHO", help="a URL or an e-mail address for servers")
    add(
        "--allow-private",
        action="store_true",
        help="also loopback and private addresses: for one's own network",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Poll, measure, and print."""
    if args.budget < 1 or args.top < 0:
        raise InputError("--budget must be 1 or more, and --top 0 or more")
    sites = list(dict.fromkeys(Web().spelt(None, url) for url in args.urls))
    if args.output is not None and args.output.exists():
        raise InputError(f"{args.output}: already there; name a new folder")
    settings: dict[str, Any] = {
        name: getattr(args, name)
        for name in ("scope", "delay", "timeout", "contact", "allow_private")
    }
    audits: list[SiteAudit] = []
    with _interruptible() as (begun, stopped):
        for url in sites:
            if stopped():
                break
            print(f"polling {harmless(url)}", file=sys.stderr)
            audits.append(audit(poll(url, args.budget, begun=begun, **settings)))
    if args.output is not None:
        save(audits, args.output, max(args.top, 20))
    if args.json:
        print(json.dumps({"sites": [site.as_json() for site in audits]}))
    else:
        _print(audits, args.top)
    if args.output is not None:
        print(args.output / "audit.html", file=sys.stderr)
    return 130 if stopped() else 0


@contextmanager
def _interruptible() -> Iterator[tuple[Callable[[Crawl], None], Callable[[], bool]]]:
    """Ctrl-C ends the poll that runs, once politely and twice at once; no other is begun."""
    running: list[Crawl] = []
    pressed = 0

    def interrupt(*_: object) -> None:
        nonlocal pressed
        pressed += 1
        for crawl in running:
            if pressed == 1:
                print("finishing what is in flight (Ctrl-C again to stop)", file=sys.stderr)
                crawl.stop()
            else:
                crawl.cut()

    def begun(crawl: Crawl) -> None:
        running[:] = [crawl]

    before = {number: signal.signal(number, interrupt) for number in _SIGNALS}
    try:
        yield begun, lambda: pressed > 0
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def _print(audits: list[SiteAudit], top: int) -> None:
    print_table(["", *(f">{harmless(site.url, 50)}" for site in audits)], comparison(audits))
    for site in audits:
        if top and site.leaders:
            print(f"\nmost linked of {harmless(site.url)}")
            print_table(LEADER_HEADS, leader_rows(site, top))
    print()
    for site in audits:
        print(f"{harmless(site.url)}: {site.verdict}")
