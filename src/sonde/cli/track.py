"""``sonde track``: keep the most cited pages of a run current: visit new pages and old ones, at a
rate that both share, and rank what is cited most within a window.

examples:
  sonde track run/ --top 500 --window 7d --per-hour 200
  sonde track run/ --status
  sonde track run/ --list --json

The run is one that sonde crawl has made. What was told before need not be told again. Ctrl-C once
finishes the visit in flight; the same command goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

from sonde.authority.tracking import RECRAWLS
from sonde.cli._print import counted, harmless, print_table
from sonde.cli._progress import duration
from sonde.cli._signals import heeding_signals
from sonde.crawling.crawler import new_loop
from sonde.durations import seconds_from
from sonde.store.reader import RunReader
from sonde.track import STOPS, LiveTracker, RankingUpdated, TrackedVisit
from sonde.track.policy import EXPANSIONS
from sonde.track.tracked_run import RankedPage, TrackedRun

_LINE_EVERY = 60.0
_SHOWN = 20


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run_folder", metavar="run", type=Path, help="a run folder")
    show = parser.add_mutually_exclusive_group()
    show.add_argument("--status", action="store_true", help="say how the tracker stands")
    show.add_argument("--list", action="store_true", help="print the ranking now")
    add("--json", action="store_true", help="JSON: one object, or one event a line while tracking")

    what = parser.add_argument_group("what to track")
    what.add_argument("--top", type=_count, metavar="K", help="pages in the ranking (500)")
    what.add_argument("--window", metavar="T", help="how long a link counts (7d)")
    what.add_argument("--expand", choices=EXPANSIONS, help="how new pages are chosen (crawl-gai)")
    what.add_argument("--recrawl", choices=RECRAWLS, help="how old pages are chosen (bandit)")
    what.add_argument("--share", type=float, metavar="P", help="of visits to new pages (0.5)")
    what.add_argument("--seed", type=int, metavar="N", help="of the dice")
    what.add_argument("--most", type=_count, metavar="N", help="pages kept in memory (1000000)")

    cost = parser.add_argument_group("what it may cost")
    cost.add_argument("--per-hour", type=_count, metavar="N", help="requests (200)")
    cost.add_argument("--budget", type=_count, metavar="N", help="requests in all")
    cost.add_argument("--for", dest="duration", metavar="T", help="how long, such as 14d")

    how = parser.add_argument_group("how to ask, as for the crawl")
    how.add_argument("--delay", type=float, metavar="S", help="between requests to a host")
    how.add_argument("--timeout", type=float, metavar="S")
    how.add_argument("--contact", metavar="WHO", help="a URL or an e-mail address for servers")
    how.add_argument("--header", dest="headers", action="append", metavar="[HOST ]NAME: VALUE")
    how.add_argument("--cookie", dest="cookies", action="append", metavar="HOST NAME=SECRET")
    how.add_argument("--auth", action="append", metavar="HOST USER:SECRET")
    how.add_argument("--allow-private", action="store_true", default=None)


_PLAN = ("top", "expand", "recrawl", "share", "seed", "most", "per_hour", "budget")
_SETTINGS = ("delay", "timeout", "contact", "headers", "cookies", "auth", "allow_private")


def run(args: argparse.Namespace) -> int:
    """Track, or say how it stands."""
    if args.status or args.list:
        with RunReader(args.run_folder) as reader:
            tracked = TrackedRun(reader)
            if args.list:
                _print_list(tracked, as_json=args.json)
            else:
                _print_status(tracked, as_json=args.json)
        return 0
    given = {name: value for name in _PLAN if (value := getattr(args, name)) is not None}
    if args.window is not None:
        given["window"] = seconds_from(args.window)
    settings = {name: value for name in _SETTINGS if (value := getattr(args, name)) is not None}
    display = _Json() if args.json else _Lines()
    tracker = LiveTracker(
        args.run_folder,
        duration=None if args.duration is None else seconds_from(args.duration),
        on_event=display.heard,
        plan=given,
        **settings,
    )
    with asyncio.Runner(loop_factory=new_loop) as runner:
        reason = runner.run(_watched(tracker))
    words = STOPS.get(reason, reason)
    print(f"{counted(tracker.requests, 'request')} so far: {words}", file=sys.stderr)
    return 130 if reason in ("interrupted", "cut") else 0


async def _watched(tracker: LiveTracker) -> str:
    with heeding_signals(tracker, "the visit"):
        return await tracker.run()


class _Json:
    """One JSON object a line on standard output."""

    def heard(self, event: TrackedVisit | RankingUpdated) -> None:
        kind = "visit" if isinstance(event, TrackedVisit) else "ranking"
        print(json.dumps({"event": kind, **asdict(event)}), flush=True)


class _Lines:
    """A line a minute, and one for each change of the ranking, on standard error."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self._visits = 0
        self._unchanged = 0

    def heard(self, event: TrackedVisit | RankingUpdated) -> None:
        if isinstance(event, RankingUpdated):
            if event.entered or event.left:
                print(
                    f"ranking: {len(event.entered):,} entered, {len(event.left):,} left",
                    file=sys.stderr,
                    flush=True,
                )
            return
        self._visits += 1
        self._unchanged += event.outcome == "unchanged"
        now = time.monotonic()
        if now - self._last >= _LINE_EVERY:
            self._last = now
            print(
                f"{counted(self._visits, 'visit')}, {self._unchanged:,} unchanged; last:"
                f" {harmless(event.url, 80)} ({event.why}, {event.outcome})",
                file=sys.stderr,
                flush=True,
            )


def _print_status(tracked: TrackedRun, *, as_json: bool) -> None:
    status = tracked.status()
    if as_json:
        print(json.dumps(asdict(status)))
        return
    plan = status.settings
    stop = "running, or cut off" if status.stop is None else STOPS.get(status.stop, status.stop)
    print(
        f"the {plan['top']:,} most cited within {duration(plan['window'])}, {plan['expand']} and"
        f" {plan['recrawl']}, {plan['per_hour']:,} requests an hour: {stop}"
    )
    print(
        f"{counted(status.requests, 'request')} for {counted(status.visits, 'visit')},"
        f" {status.unchanged:,} of them unchanged;"
        f" {counted(status.requests_last_hour, 'request')} in the last hour"
    )
    states = ", ".join(f"{count:,} {state}" for state, count in sorted(status.states.items()))
    print(f"{counted(status.known, 'page')} known: {states}")
    print(f"{status.links:,} links seen, {status.links_in_window:,} of them within the window")
    outcomes = ", ".join(f"{harmless(name)} {count:,}" for name, count in status.outcomes.items())
    print(f"outcomes: {outcomes}")
    print(
        f"ranking at {_moment(status.ranked_at)}: {status.entered:,} entered and"
        f" {status.left:,} left within the window"
    )


def _print_list(tracked: TrackedRun, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(tracked.as_json()))
        return
    heads = (">rank", ">cited", "url", "title", "last citation")
    print_table(heads, [_row(page) for page in tracked.ranking(1)])
    for change in tracked.changes()[:_SHOWN]:
        why = f" ({change.why})" if change.why else ""
        print(f"{_moment(change.time)} {change.change}: {harmless(change.url)}{why}")


def _row(page: RankedPage) -> tuple[str, ...]:
    latest = page.evidence[0] if page.evidence else None
    when = "" if latest is None else _moment(latest.dated or latest.last_seen)
    return (
        f"{page.rank:,}",
        f"{page.cited:,}",
        page.url,
        harmless(page.title, 40),
        when,
    )


def _moment(moment: float | None) -> str:
    if moment is None:
        return "-"
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)
