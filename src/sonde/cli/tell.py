"""``sonde tell``: record what came of a question that sonde ask has named.

examples:
  sonde tell run/ Chi --score 3 --links "Ana:2,Bo:1" --note "kept the tide tables until 1987"
  sonde tell run/ Ana --score 0
  sonde tell run/ Bo --failed "moved away"       # a question that was asked and brought nothing
  sonde tell run/ Bo --failed "not at home" --retry
  sonde tell run/ Bo --skip "a relative"         # not asked at all: costs no question

A link without a score counts 1. --links @FILE has a link a line, so that a name may have a comma.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from dataclasses import asdict
from pathlib import Path

from sonde.cli._print import harmless, number
from sonde.cli.ask import names_from
from sonde.crawling.interview import Interview, checked_name, links_from
from sonde.errors import InputError
from sonde.records import Failure, Link, Outcome, Skip, Visit


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="run", type=Path, help="a run folder")
    parser.add_argument("name", metavar="NAME", help="who was asked")
    came = parser.add_mutually_exclusive_group(required=True)
    came.add_argument("--score", type=float, metavar="S", help="what the answer is worth")
    came.add_argument("--failed", metavar="WHY", help="asked, and there was no answer")
    came.add_argument("--skip", metavar="WHY", help="not asked after all")
    parser.add_argument("--links", metavar="NAME:SCORE,...", help="whom the answer names")
    parser.add_argument("--records", metavar="A,B,...", help="what it brought, for distinct")
    parser.add_argument("--note", default="", help="a line to remember it by")
    parser.add_argument("--retry", action="store_true", help="may be asked again")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Record one answer."""
    outcome = _outcome(args)
    with Interview.resume(args.run_folder) as interview:
        told = interview.tell(checked_name(args.name), outcome, args.note)
        waiting = len(interview.waiting)
    if args.json:
        print(json.dumps(asdict(told) | {"waiting": waiting}))
        return 0
    new = "1 new name" if told.new == 1 else f"{told.new} new names"
    brought = f"brought {number(told.gain)}, {new}" if told.outcome == "visit" else told.outcome
    print(f"{harmless(told.name)}: {brought}; {number(told.total)} in all")
    if not waiting:
        print(f"next: sonde ask {shlex.quote(str(args.run_folder))}", file=sys.stderr)
    return 0


def _outcome(args: argparse.Namespace) -> Outcome:
    if args.score is not None:
        if args.retry:
            raise InputError("--retry goes with --failed or --skip: an answer is final")
        records = (
            [] if args.records is None else [part.strip() for part in names_from(args.records)]
        )
        return Visit(args.score, _links(args.links), records)
    for option in ("links", "records", "note"):
        if getattr(args, option):
            raise InputError(f"--{option} goes with --score")
    if args.failed is not None:
        return Failure(args.failed, args.retry)
    return Skip(args.skip, args.retry)


def _links(text: str | None) -> list[Link]:
    if text is None:
        return []
    return links_from(names_from(text), text[1:] if text.startswith("@") else "--links")
