"""``sonde ask``: say whom to contact next, and why: a crawl over people, or over anything that a
program cannot fetch, one question at a time.

examples:
  sonde ask run/ --seeds "Ana,Bo" --budget 20    # begins a run, and names whom to contact first
  sonde ask run/                                 # whom to contact next, or whose answer is missing
  sonde ask run/ -n 3                            # three people at a time
  sonde ask run/ --budget +10                    # ten more questions

The answer is recorded by sonde tell. Until it is, asking again names the same person.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from pathlib import Path
from typing import Any

from sonde.cli._print import harmless, number
from sonde.crawling.interview import Interview
from sonde.crawling.progress import STOPS
from sonde.crawling.retelling import request_limit
from sonde.errors import InputError
from sonde.store.reader import DATABASE, Attempt, RunReader, title_of, trace
from sonde.store.summary import RANKED, totals

_BEGINNING = ("seeds", "estimator", "strategy", "objective", "seed")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="run", type=Path, help="a run folder, or a new one")
    parser.add_argument("-n", "--count", type=int, default=1, help="ask so many at the same time")
    parser.add_argument("--budget", metavar="N", help="questions; +N later for so many more")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    begin = parser.add_argument_group("to begin a run")
    begin.add_argument("--seeds", help="names with commas between, or @FILE with one a line")
    begin.add_argument("--estimator", metavar="SPEC", help="what predicts")
    begin.add_argument("--strategy", metavar="SPEC", help="greedy, or altered:q,zeta")
    begin.add_argument("--objective", metavar="NAME", help="sum, count or distinct")
    begin.add_argument("--seed", type=int, metavar="N", help="of the dice")


def run(args: argparse.Namespace) -> int:
    """Ask, and print what is open once it is safe."""
    if args.count < 1:
        raise InputError(f"--count must be 1 or more, not {args.count}")
    with _opened(args) as interview:
        interview.ask(args.count)
        names = list(interview.waiting)
        stop = None if names else interview.explorer.stop_reason
    with RunReader(args.run_folder) as reader:
        found = [_question(reader, name) for name in names]
        spent = {"questions": totals(reader).requests, "budget": request_limit(reader)}
    if args.json:
        print(json.dumps({"ask": found, "stop": stop, **spent}))
        return 0
    for question in found:
        _print(question)
    if stop is not None:
        print(f"nobody: {STOPS.get(stop, stop)}")
    limit = "" if spent["budget"] is None else f" of {spent['budget']:,}"
    print(f"{spent['questions']:,}{limit} questions answered", file=sys.stderr)
    if found:
        name = shlex.quote(harmless(found[0]["name"]))
        where = shlex.quote(str(args.run_folder))
        print(
            f"then: sonde tell {where} {name} --score S --links 'NAME:SCORE,...'", file=sys.stderr
        )
    return 0


def _opened(args: argparse.Namespace) -> Interview:
    given = {name: value for name in _BEGINNING if (value := getattr(args, name)) is not None}
    if (args.run_folder / DATABASE).exists():
        if given:
            raise InputError(f"{args.run_folder} is a run already: --{next(iter(given))} began it")
        return Interview.resume(args.run_folder, args.budget)
    if args.seeds is None:
        raise InputError(f"{args.run_folder}: not a run yet: --seeds says whom to begin with")
    seeds = names_from(given.pop("seeds"))
    if args.budget is not None:
        if not (args.budget.isascii() and args.budget.isdigit()):
            raise InputError(f"--budget is a number of questions, not {args.budget!r}")
        given["budget"] = int(args.budget)
    return Interview.begin(args.run_folder, seeds, **given)


def names_from(text: str) -> list[str]:
    """Names with commas between, or the lines of ``@FILE``."""
    if not text.startswith("@"):
        return [name for name in text.split(",") if name.strip()]
    try:
        lines = Path(text[1:]).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot read {text[1:]}: {why}") from None
    return [line for line in lines if line.strip()]


def _question(reader: RunReader, name: str) -> dict[str, Any]:
    """One who was asked, and what spoke for it."""
    found = trace(reader, name)
    attempt = found.attempts[-1]
    return {
        "name": name,
        "lease": attempt.lease,
        "seed": attempt.arm < 0,
        "predicted": attempt.predicted,
        "chooser": attempt.chooser,
        "rank": attempt.rank,
        "asked": attempt.asked,
        "depth": found.depth,
        "parents": [
            {
                "name": parent.url,
                "score": parent.score,
                "link_score": parent.link_score,
                "note": title_of(reader, parent.lease),
            }
            for parent in found.parents
        ],
        "earlier": [_earlier(each) for each in found.attempts[:-1]],
    }


def _earlier(attempt: Attempt) -> str:
    return attempt.reason or attempt.outcome or ""


def _print(question: dict[str, Any]) -> None:
    ago = time.time() - question["asked"]
    since = f" (asked {_age(ago)} ago)" if ago >= 60 else ""
    print(f"contact {harmless(question['name'])}{since}")
    if question["seed"]:
        print("  a seed")
    else:
        rank = question["rank"]
        place = f"rank {rank}" if rank else f"beyond rank {RANKED}"
        predicted = question["predicted"]
        score = "" if predicted is None else f"predicted {number(predicted)} "
        print(f"  {score}by {question['chooser']}, {place} of all who are known")
    for parent in question["parents"]:
        words = f": {harmless(parent['note'], 200)}" if parent["note"] else ""
        print(
            f"  named by {harmless(parent['name'])} (score {number(parent['score'])},"
            f" link {number(parent['link_score'])}){words}"
        )
    for reason in question["earlier"]:
        print(f"  asked before: {harmless(reason)}")


def _age(seconds: float) -> str:
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} seconds"
