"""``sonde explain``: why a page was fetched, or why not."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from sonde.cli import Commands
from sonde.cli.hindsight import Moment, explorer_of, hindsight
from sonde.cli.printing import amount, harmless, number, print_table
from sonde.crawling.naming import possible_names
from sonde.errors import InputError
from sonde.sources.peers.wire import REASONS as PEER_REASONS
from sonde.sources.web.exchange import REASONS
from sonde.store.reading import RunReader
from sonde.store.summary import RANKED
from sonde.store.tracing import Attempt, Trace, trace

EXAMPLES = """examples:
  sonde explain run/ https://docs.example.org/tides
  sonde explain run/ https://docs.example.org/news --at 250    # before the 250th lease
"""

_REASONS = REASONS | {
    "scope": "outside the hosts, domains or paths that were asked for",
    "robots": "the site's robots.txt forbids it",
    "robots-unreachable": "the site's robots.txt could not be fetched; sonde show says why",
    "duplicate": "the same page as another URL",
    "trap": "URLs of this shape had stopped bringing anything new",
    "nofollow": "every link to it says nofollow",
    "too-deep": "further from the seeds than was allowed",
    "budget": "no budget was left for it",
    "host-budget": "its host had used up its own budget",
    "domain-budget": "its domain had used up its own budget",
    "language": "not in the languages that were asked for",
    "leaves the server": "a redirect leads to another server, which has no business with a token",
    "leaves the site": "a redirect leads to another site than the form's",
    "unknown account": "the server knows no account of this name",
    "over-general": "it stands in too large a share of the records",
    "forgotten": "removed from this run by sonde forget",
    "interrupted": "the crawl was stopped while it was being asked for",
}
_REASONS |= PEER_REASONS


def add_parser(commands: Commands) -> None:
    """Add ``sonde explain``."""
    parser = commands.add_parser(
        "explain",
        description="Say why a page was fetched, or why not: what was predicted, by what, at"
        " which rank, what came and what it cost, and the pages that link to it. What the model"
        " thought earlier is computed by telling the run's log anew.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run_folder", metavar="run", type=Path, help="a run folder")
    parser.add_argument("url", metavar="URL", help="the page")
    parser.add_argument("--at", type=int, metavar="LEASE", help="as seen before this lease")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Explain one URL; status 1 where the run has never seen it."""
    with RunReader(args.run_folder) as reader:
        found = trace(reader, args.url)
        for name in possible_names(reader.meta("config") or {}, args.url):
            if found.state == "unknown":
                found = trace(reader, name)
        if args.at is not None and not reader.count(
            "SELECT count(*) FROM leases WHERE number = ?", args.at
        ):
            raise InputError(f"{args.run_folder}: there is no lease {args.at}")
        moments = [] if found.number is None else _moments(reader, found.url, args.at)
        if args.json:
            print(json.dumps(asdict(found) | {"estimates": [asdict(each) for each in moments]}))
        else:
            _print(reader, found, moments, args.at)
    return 1 if found.state == "unknown" else 0


def _moments(reader: RunReader, url: str, before: int | None) -> list[Moment]:
    try:
        explorer = explorer_of(reader)
    except InputError as error:
        # An estimator or objective that a program brought along is not in the folder.
        print(f"sonde: without estimates, the model cannot be made anew: {error}", file=sys.stderr)
        return []
    return hindsight(reader, explorer, url, before)


def _print(reader: RunReader, found: Trace, moments: list[Moment], at: int | None) -> None:
    print(f"{harmless(found.url)}: {_verdict(reader, found, moments)}")
    if found.first_seen_on is not None:
        print(f"first seen on {harmless(found.first_seen_on)}")
    elif found.number is not None:
        print("a seed")
    for source in found.redirected_from:
        print(f"{harmless(source)} redirects to it")
    if found.page is not None:
        _print_page(found)
    for attempt in found.attempts:
        _print_attempt(attempt)
    if found.parents:
        print("\npages that link to it")
        print_table(
            (">visit", ">score", ">link score", "url"),
            [
                (str(parent.lease), number(parent.score), number(parent.link_score), parent.url)
                for parent in found.parents
            ],
        )
    if at is not None and found.number is not None and not moments:
        print(f"\nnot on the frontier before lease {at}")
    if moments:
        print(f"\nwhat was thought of it{'' if at is None else f', up to lease {at}'}")
        print_table(
            (">visits", "estimator", ">estimate", ">rank", "after"),
            [
                (
                    str(moment.visits),
                    opinion.chooser,
                    number(opinion.estimate),
                    _rank(opinion.rank),
                    "" if moment.because is None else f"lease {moment.because} linked to it",
                )
                for moment in moments
                for opinion in moment.opinions
            ],
        )
        for opinion in moments[-1].opinions:
            if opinion.reasons:
                print(f"\nwhy {opinion.chooser} said {number(opinion.estimate)}")
                for reason in opinion.reasons:
                    print(f"  {reason}")


def _verdict(reader: RunReader, found: Trace, moments: list[Moment]) -> str:
    state, reason = found.state, harmless(found.reason)
    meaning = _REASONS.get(found.reason, "")
    why = f" ({reason}{': ' + meaning if meaning else ''})" if reason else ""
    if state == "frontier":
        opinions = moments[-1].opinions if moments else ()
        ranks = [
            f"{_rank(each.rank)} by {each.chooser}" for each in opinions if each.rank is not None
        ]
        place = f", rank {', '.join(ranks)}" if ranks else ""
        stop = f"; the run ended ({harmless(reader.stop)})" if reader.stop else ""
        last = f"; last attempt: {reason}" if reason else ""
        return f"still on the frontier{place}{stop}{last}"
    return {
        "visited": "visited",
        "failed": f"asked for, and failed{why}",
        "skipped": f"chosen, and not asked for{why}",
        "in flight": "being asked for now",
        "refused": f"seen, and not taken{why}",
        "redirect": "never a link of its own",
        "unknown": "never seen on any visited page",
    }[state]


def _print_page(found: Trace) -> None:
    page = found.page
    assert page is not None
    about = [str(page.status or ""), harmless(page.media_type), harmless(page.language)]
    if any(about):
        print(*filter(None, about))
    if page.title:
        print(f"title: {harmless(page.title, 200)}")
    if page.final_url != found.url:
        print(f"redirected to {harmless(page.final_url)}")
    if page.flags:
        print(f"marked: {harmless(page.flags)}")


def _print_attempt(attempt: Attempt) -> None:
    chosen = "as a seed" if attempt.arm < 0 else f"by {attempt.chooser}"
    if attempt.arm >= 0:
        chosen += f", predicted {number(attempt.predicted)}, rank {_rank(attempt.rank)} of all"
        if attempt.ready is not None:
            chosen += f", first among {attempt.ready:,} ready hosts"
    print(f"\nlease {attempt.lease}: chosen {chosen}")
    if attempt.outcome is None:
        return
    got = f"scored {number(attempt.score)}" if attempt.outcome == "visit" else attempt.outcome
    why = f" ({harmless(attempt.reason)})" if attempt.reason else ""
    again = ", to be asked again" if attempt.retry else ""
    requests = "1 request" if attempt.requests == 1 else f"{attempt.requests} requests"
    print(
        f"  {got}{why}{again}, gain {number(attempt.gain or 0.0)}, for {requests},"
        f" {amount(attempt.bytes)}, {attempt.seconds:.2f} s"
    )


def _rank(rank: int | None) -> str:
    if rank is None:
        return "-"
    return str(rank) if rank else f"beyond {RANKED}"
