"""``sonde lab gossip``: compare a query that peers pass on with a crawl that sees everything.

example:
  sonde lab gossip overlay/ --estimators bfs,e,ne --widths 1,5 --budget 300 --repeat 10

The graph is read as an overlay: nodes are peers, a link's score is what a peer remembers of that
neighbour. Both forms have the same seeds and the same budget of messages, seeds included. Time is
counted in steps of one message each way; the crawl asks one peer after the other.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from statistics import mean

from sonde.cli._print import print_table
from sonde.errors import InputError
from sonde.estimators import split_list
from sonde.lab.gossip import QueryForm, compare_forms
from sonde.peers.query import WIDTH
from sonde.sources.graph import Graph


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("graph", type=Path, help="a folder with nodes and edges")
    parser.add_argument("--estimators", default="bfs,e,ne,lnh", help="(default: %(default)s)")
    parser.add_argument(
        "--widths", default=str(WIDTH), help="neighbours asked at once (default: %(default)s)"
    )
    parser.add_argument("--random-seeds", type=int, default=1, metavar="K", help="(default: 1)")
    parser.add_argument("--budget", type=int, required=True, help="messages, seeds included")
    parser.add_argument("--repeat", type=int, default=10, metavar="R", help="(default: 10)")
    parser.add_argument("--seed", type=int, default=0, help="of everything random (default: 0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Compare, and print a row for every form."""
    try:
        widths = [int(width) for width in args.widths.split(",")]
    except ValueError:
        raise InputError(f"--widths: {args.widths!r} is not a list of numbers") from None
    forms = compare_forms(
        Graph.load(args.graph),
        split_list(args.estimators),
        widths,
        random_seeds=args.random_seeds,
        budget=args.budget,
        repeat=args.repeat,
        seed=args.seed,
    )
    if args.json:
        print(json.dumps({"budget": args.budget, "forms": [asdict(form) for form in forms]}))
        return 0
    print_table(
        ("estimator", "form", ">total", ">messages", ">repeated", ">time"), list(map(row, forms))
    )
    return 0


def row(form: QueryForm) -> tuple[str, ...]:
    """A form's means, as text."""
    kind = f"passed on, width {form.width}" if form.width else "centralised"
    return (
        form.estimator,
        kind,
        f"{mean(form.totals):,.1f}",
        f"{mean(form.messages):,.1f}",
        f"{mean(form.repeated):,.1f}",
        f"{mean(form.times):,.0f}",
    )
