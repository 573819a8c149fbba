"""``sonde budget``: how many requests k per window d allow in a time T: n = k*T/d.

example: sonde budget --requests 300 --per 15m --for 7d
"""

from __future__ import annotations

import argparse
import json

from sonde.budgets import planned_requests
from sonde.durations import seconds_from


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--requests", type=int, required=True, metavar="K", help="so many requests")
    parser.add_argument("--per", required=True, metavar="D", help="in each window, such as 15m")
    parser.add_argument(
        "--for", required=True, metavar="T", dest="duration", help="for so long, such as 7d"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Print n = k*T/d."""
    per, duration = seconds_from(args.per), seconds_from(args.duration)
    count = planned_requests(args.requests, per, duration)
    if args.json:
        print(json.dumps({"requests": count, "seconds_between_requests": per / args.requests}))
    else:
        print(f"n = k*T/d = {args.requests} * {args.duration} / {args.per} = {count}")
        print(f"one request every {per / args.requests:g} seconds")
    return 0
