"""What a crawl says when it has ended: what it found, or why nothing came, and how to go on."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from sonde.cli._print import harmless
from sonde.crawling import STOPS, CrawlResult
from sonde.net.exchange import REASONS
from sonde.store import summary
from sonde.store.reader import RunReader

_SHOWN = 5
_HINTS = {
    "blocked-address": "--allow-private is for servers of your own network",
    "tls": "--ca-file names certificates to trust beside the system's",
}


def print_best(result: CrawlResult) -> None:
    """The best pages that score, a line each."""
    for page in result.best(10):
        if page["score"] > 0:
            title = harmless(page["title"], 60)
            print(f"{page['score']:.3f}\t{harmless(page['node'])}\t{title}")


def say_end(result: CrawlResult, folder: str, nouns: tuple[str, str]) -> int:
    """Say what came, and how to go on; the exit status."""
    words = STOPS.get(result.stop_reason, result.stop_reason)
    _say(
        f"{result.visits:,} {nouns[result.visits != 1]} for {result.requests:,} requests,"
        f" value {result.total:.2f}: {words}"
    )
    if not result.visits:
        _say_why(Path(folder))
    elif not result.total:
        _say(f"none of these {nouns[1]} scores: does the topic say it in their words?")
    if result.stop_reason == "frontier":
        return 0 if result.visits else 1
    more = " --budget +N" if result.stop_reason == "budget" else ""
    _say(f"to go on: sonde crawl {shlex.quote(folder)} --resume{more}")
    return 130 if result.stop_reason in ("interrupted", "cut") else 0


def _say_why(folder: Path) -> None:
    """Why a crawl has nothing to show."""
    with RunReader(folder) as reader:
        reasons = {row.reason: row.leases for row in summary.reasons(reader) if row.reason}
        closed = summary.unreachable(reader)
    if reasons:
        met = ", ".join(f"{reason} {count:,}" for reason, count in reasons.items())
        _say(f"nothing was fetched: {harmless(met)}")
    for origin, why in list(closed.items())[:_SHOWN]:
        meaning = f", {REASONS[why]}" if why in REASONS else ""
        _say(f"robots.txt of {harmless(origin)} could not be fetched: {harmless(why)}{meaning}")
    for reason, hint in _HINTS.items():
        if reason in reasons or reason in closed.values():
            _say(hint)


def _say(line: str) -> None:
    print(line, file=sys.stderr)
