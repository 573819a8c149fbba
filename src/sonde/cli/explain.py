"""``sonde explain``: say why a page was fetched, or why not: what was predicted, by what, at which
rank, what came and what it cost, and the pages that link to it. What the model thought earlier is
computed by telling the run's log anew.

examples:
  sonde explain run/ https://docs.example.org/tides
  sonde explain run/ https://docs.example.org/news --at 250    # before the 250th lease
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path

from sonde.cli._print import amount, counted, harmless, number, print_table
from sonde.crawling.retelling import Moment, moments
from sonde.errors import InputError, SpecError
from sonde.sources.kinds import kind_named, possible_names
from sonde.store.log import position_of
from sonde.store.reader import Attempt, RunReader, Trace, trace
from sonde.store.summary import RANKED, ListedPage, listed

_REASONS = {
    "budget": "no budget was left for it",
    "crashed": "the crawl came to an unclean end whenever it was being asked for",
    "forgotten": "removed from this run by sonde forget",
    "interrupted": "the crawl was stopped while it was being asked for",
    "scorer": "the scorer took too long for it, or too much memory, and was stopped",
    "unstorable": "what its source said of it is nothing that a run can keep",
}
"""What the reasons of the crawl itself mean; those of its source are the kind's."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="run", type=Path, help="a run folder")
    parser.add_argument("url", metavar="URL", help="the page")
    parser.add_argument("--at", type=int, metavar="LEASE", help="as seen before this lease")
    parser.add_argument(
        "--from-start",
        action="store_true",
        help="every change of opinion, also before the run's checkpoint: tells all of the log",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Explain one URL; status 1 where the run has never seen it."""
    with RunReader(args.run_folder) as reader:
        found = trace(reader, args.url)
        if found.state == "unknown":
            for name in possible_names(reader.meta("config") or {}, args.url):
                found = trace(reader, name) if found.state == "unknown" else found
        before = _decision(reader, found, args.at)
        thought, since = _thought(reader, found, before, args.from_start)
        if args.json:
            print(json.dumps(asdict(found) | {"estimates": [asdict(each) for each in thought]}))
        else:
            _print(reader, found, thought, args.at, since)
    return 1 if found.state == "unknown" else 0


def _decision(reader: RunReader, found: Trace, at: int | None) -> int | None:
    """The position in the log before which the model is looked at; ``None`` for its end."""
    if at is None:
        if not found.attempts or found.state == "frontier":
            return None
        return position_of(reader.database, found.attempts[-1].lease)
    position = position_of(reader.database, at)
    if position is None:
        raise InputError(f"{reader.folder}: there is no lease {at}")
    return position


def _thought(
    reader: RunReader, found: Trace, before: int | None, from_start: bool
) -> tuple[list[Moment], int]:
    """What the model thought of the node, and after how many visits that begins."""
    if found.number is None:
        return [], 0
    try:
        return moments(reader, found.number, before=before, from_start=from_start)
    except SpecError as error:
        # An estimator or objective that a program brought along is not in the folder.
        print(f"sonde: without estimates, the model cannot be made anew: {error}", file=sys.stderr)
        return [], 0


def _print(
    reader: RunReader, found: Trace, moments: list[Moment], at: int | None, since: int
) -> None:
    print(f"{harmless(found.url)}: {_verdict(reader, found, moments)}")
    if found.first_seen_on is not None:
        print(f"first seen on {harmless(found.first_seen_on)}")
    elif found.number is not None:
        named = found.url in (reader.meta("config") or {}).get("seeds", ())
        print("a seed" if named else "linked by no page: tried when nothing else was left")
    hints = listed(reader, found.url)
    if hints is not None:
        print(f"its sitemap or feed says: {_said(hints)}")
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
        print(
            f"\nwhat was thought of it{'' if at is None else f', up to lease {at}'}"
            f"{f', after {since:,} visits (--from-start: all of it)' if since else ''}"
        )
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
    meaning = _meaning(reader, found.reason)
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


def _meaning(reader: RunReader, reason: str) -> str:
    """What a reason means; what stands behind its colon says which of several it was."""
    reason = reason.partition(":")[0]
    if not reason or reason in _REASONS:
        return _REASONS.get(reason, "")
    try:
        return kind_named((reader.meta("config") or {}).get("source", "web")).reasons.get(
            reason, ""
        )
    except InputError:  # an object of a program's own, or a package that is not installed
        return ""


def _said(hints: ListedPage) -> str:
    said = []
    if hints.modified is not None:
        when = datetime(1970, 1, 1) + timedelta(seconds=hints.modified)
        said.append(f"changed {when.date()}")
    if hints.priority is not None:
        said.append(f"priority {hints.priority:g}")
    if hints.size is not None:
        said.append(amount(hints.size))
    return ", ".join(said)


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
    if page.twin is not None and page.jaccard is not None and page.containment is not None:
        print(
            f"nearly the same main text as {harmless(page.twin)}: they share {page.jaccard:.3f} of"
            f" their runs of three words, and the longer has {page.containment:.3f} of the shorter"
        )
    if page.rendered:
        print(f"drawn by a browser: {harmless(page.rendered, 500)}")


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
    if attempt.told_score is not None:
        got += f" ({number(attempt.told_score)} until its site was known)"
    why = f" ({harmless(attempt.reason)})" if attempt.reason else ""
    again = ", to be asked again" if attempt.retry else ""
    requests = counted(attempt.requests, "request")
    print(
        f"  {got}{why}{again}, gain {number(attempt.gain or 0.0)}, for {requests},"
        f" {amount(attempt.bytes)}, {attempt.seconds:.2f} s"
    )


def _rank(rank: int | None) -> str:
    if rank is None:
        return "-"
    return str(rank) if rank else f"beyond {RANKED}"
