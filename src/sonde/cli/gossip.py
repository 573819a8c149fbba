"""``sonde gossip``: let peers pass on a query among themselves, with a budget of messages.

examples:
  sonde gossip 127.0.0.1:7001 --topic "sea level, tide" --budget 40
  sonde gossip 127.0.0.1:7001 127.0.0.1:7005 --topic tide --budget 100 --width 2 --json

The budget counts messages, from peer to peer as well as from here. Each peer gets a share, and
spends it on the neighbours that it expects most of. sonde crawl peers: ... is the other way: one
explorer that asks every peer itself, keeps a run, and can be resumed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from typing import Any

from sonde.cli._print import number, print_table
from sonde.durations import seconds_from
from sonde.errors import SpecError
from sonde.peers import Gossip, gossip
from sonde.peers.query import WIDTH


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("seeds", nargs="+", metavar="PEER", help="whom to ask first")
    parser.add_argument("--topic", required=True, help="phrases separated by commas")
    parser.add_argument("--budget", type=int, required=True, metavar="N", help="messages in all")
    parser.add_argument("--estimator", default="e", metavar="SPEC", help="(default: %(default)s)")
    parser.add_argument(
        "--width",
        type=int,
        default=WIDTH,
        metavar="N",
        help="neighbours that a peer asks at the same time (default: %(default)s)",
    )
    parser.add_argument(
        "--patience", default="10s", metavar="T", help="when to give up (default: %(default)s)"
    )
    parser.add_argument("--top", type=int, default=20, help="peers to print (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Start a query, and print what came of it."""
    try:
        patience = float(args.patience)
    except ValueError:
        patience = seconds_from(args.patience)
    if args.top < 0:
        raise SpecError(f"--top must be 0 or more, not {args.top}")
    found = asyncio.run(
        gossip(
            args.seeds,
            args.topic,
            args.budget,
            estimator=args.estimator,
            width=args.width,
            patience=patience,
        )
    )
    if args.json:
        print(json.dumps(_data(found)))
        return 0
    print_table(
        (">score", ">files", "peer"),
        [
            (number(score), str(len(records)), name)
            for name, score, records in found.answers[: args.top]
        ],
    )
    lost = f", and up to {found.lost:,} more by peers that never answered" if found.lost else ""
    print(
        f"{len(found.answers):,} peers, {number(found.total)} in all, {found.records:,} different"
        f" files, for {found.sent:,} of {args.budget:,} messages{lost}"
    )
    if not found.answers:
        print("sonde: no peer answered", file=sys.stderr)
        return 1
    return 0


def _data(found: Gossip) -> dict[str, Any]:
    return {
        "sent": found.sent,
        "lost": found.lost,
        "total": found.total,
        "records": found.records,
        "answers": [
            {"peer": name, "score": score, "records": list(records)}
            for name, score, records in found.answers
        ],
    }
