"""``sonde authority``: find or track the most cited nodes.

examples:
  sonde authority find graph/ --top 2000 --method crawl-gai --budget 20000 --json
  sonde authority compare graph/ -o figures/
  sonde authority simulate timegraph/ --top 500 --window 7d --expand crawl-gai --recrawl or \\
      --rate 1000/d -o figures/
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sonde.authority import (
    Curve,
    Discovery,
    TimeGraph,
    Tracker,
    compare,
    compare_tracking,
    find,
    rate_from,
)
from sonde.authority.curves import DYNAMIC, STATIC, draw
from sonde.authority.discovery import NAMES, DiscoveryMethod
from sonde.authority.tracking import EXPANSIONS, RECRAWLS
from sonde.cli import subcommand
from sonde.cli._print import print_table
from sonde.durations import seconds_from
from sonde.errors import InputError
from sonde.sources.graph import Graph


def add_options(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_find(subcommand(kinds, "find", run_find))
    _add_compare(subcommand(kinds, "compare", run_compare))
    _add_simulate(subcommand(kinds, "simulate", run_simulate))


def _add_find(parser: argparse.ArgumentParser) -> None:
    _add_static(parser)
    parser.add_argument(
        "--method", default="crawl-gai", help=f"{', '.join(NAMES)} (default: %(default)s)"
    )
    parser.add_argument("--start", metavar="NODE", help="where a crawl starts")


def _add_compare(parser: argparse.ArgumentParser) -> None:
    _add_static(parser)
    parser.add_argument(
        "--methods", default=",".join(NAMES), metavar="LIST", help="(default: %(default)s)"
    )
    _add_repeat(parser, 5)


def _add_static(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("graph", type=Path, help="a folder with nodes and edges")
    parser.add_argument(
        "--top", type=_count, metavar="K", help="nodes to find (default: a thousandth of all)"
    )
    parser.add_argument(
        "--budget", type=_count, metavar="N", help="visits (default: ten times as many)"
    )
    _add_common(parser)


def _add_simulate(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("graph", type=Path, help="a folder whose edges have times")
    add("--top", type=_count, default=500, metavar="K", help="nodes to track (default: 500)")
    add("--window", default="7d", help="how long a link lasts (default: 7d)")
    add(
        "--expand",
        default="crawl-gai",
        metavar="LIST",
        help=f"{', '.join(EXPANSIONS)} (default: %(default)s)",
    )
    add(
        "--recrawl",
        default="or",
        metavar="LIST",
        help=f"{', '.join(RECRAWLS)} (default: %(default)s)",
    )
    add("--rate", default="1000/d", help="visits (default: 1000/d)")
    add("--share", type=float, default=0.5, metavar="P", help="of expansions (default: 0.5)")
    add("--start", metavar="NODE", help="the first node (default: drawn)")
    add("--time", metavar="COLUMN", help="of times (default: time, or else times)")
    add("--unit", default="1s", help="what numbers in it count, such as 1d (default: 1s)")
    add("--points", type=_count, default=100, metavar="N", help="measurements (default: 100)")
    _add_repeat(parser, 1)
    _add_common(parser)


def _add_repeat(parser: argparse.ArgumentParser, default: int) -> None:
    parser.add_argument(
        "--repeat", type=_count, default=default, metavar="N", help="times (default: %(default)s)"
    )
    parser.add_argument("-o", "--output", type=Path, help="a folder for figures, SVG and PNG")


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=0, help="of everything random (default: 0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _sizes(graph: Graph, args: argparse.Namespace) -> tuple[int, int]:
    top = args.top or max(1, graph.node_count // 1000)
    return top, args.budget or min(graph.node_count, 10 * top)


def run_find(args: argparse.Namespace) -> int:
    """Find the most cited nodes of a graph by crawling it.

    example:
      sonde authority find graph/ --top 2000 --method crawl-gai --budget 20000 --json

    A line a node: its name and its apparent in-degree, the highest first.
    """
    method = DiscoveryMethod.parse(args.method)
    graph = Graph.load(args.graph)
    top, budget = _sizes(graph, args)
    start = None if args.start is None else graph.index(args.start)
    if start is not None and not method.crawls:
        raise InputError(f"--start is for crawlers, and {method} is none")
    found = find(graph, top=top, budget=budget, method=method, start=start, seed=args.seed)
    named = found.named()
    apparent, weighted = found.apparent(), found.apparent(weighted=True)
    crawl, rank = found.crawl_performance(), found.rank_performance()
    if args.json:
        nodes = [
            {
                "node": graph.name(node),
                "apparent_in_degree": int(apparent[node]),
                "in_degree": int(found.indegree[node]),
            }
            | ({"estimated_in_degree": float(weighted[node])} if method.name == "mix" else {})
            for node in named.tolist()
        ]
        print(json.dumps(_summary(found, graph, budget) | {"nodes": nodes}))
        return 0
    for node in named.tolist():
        print(f"{graph.name(node)}\t{apparent[node]:.0f}")
    print(
        f"{len(found.order):,} nodes crawled: crawl performance {crawl:.4f}, rank performance"
        f" {rank:.4f}",
        file=sys.stderr,
    )
    return 0


def _summary(found: Discovery, graph: Graph, budget: int) -> dict[str, Any]:
    return {
        "method": str(found.method),
        "top": found.top,
        "budget": budget,
        "start": None if found.start is None else graph.name(found.start),
        "crawled": len(found.order),
        "crawl_performance": found.crawl_performance(),
        "rank_performance": found.rank_performance(),
    }


def run_compare(args: argparse.Namespace) -> int:
    """Compare ways to find the most cited nodes.

    example:
      sonde authority compare graph/ --methods crawl-gai,crawl-ai,sample-i -o figures/
    """
    methods = [DiscoveryMethod.parse(text) for text in args.methods.split(",")]
    graph = Graph.load(args.graph)
    top, budget = _sizes(graph, args)
    curves = compare(
        graph, methods, top=top, budget=budget, repeat=args.repeat, seed=args.seed, say=_say
    )
    heading = f"the {top:,} most cited of {graph.node_count:,} nodes"
    if args.output is not None:
        files = draw(
            curves, args.output, STATIC, "nodes crawled", heading=heading, logarithmic=True
        )
        for path in files:
            _say(str(path))
    if args.json:
        print(json.dumps({"top": top, "curves": [curve.as_json() for curve in curves]}))
        return 0
    print(heading)
    at = curves[0].at
    shown = np.unique(np.linspace(0, len(at) - 1, 6).astype(int))
    print_table(
        ["method", "measure", *(f">{at[place]:,.0f}" for place in shown)],
        [
            [curve.label, curve.measure, *(f"{curve.mean[place]:.4f}" for place in shown)]
            for curve in curves
        ],
    )
    return 0


def run_simulate(args: argparse.Namespace) -> int:
    """Track the most cited nodes of a time graph.

    examples:
      sonde authority simulate timegraph/ --top 500 --window 7d --expand crawl-gai --recrawl or \\
          --rate 1000/d -o figures/
      sonde authority simulate timegraph/ --recrawl u,or,yr,yru,ldu,fresh,bandit

    A time graph is a graph folder whose edges have a column of times.
    """
    trackers = [
        Tracker(
            expand.strip(),
            recrawl.strip(),
            args.top,
            seconds_from(args.window),
            rate_from(args.rate),
            args.share,
        )
        for expand in args.expand.split(",")
        for recrawl in args.recrawl.split(",")
    ]
    graph = TimeGraph.load(args.graph, args.time, seconds_from(args.unit))
    start = None if args.start is None else graph.index(args.start)
    curves = compare_tracking(
        graph,
        trackers,
        repeat=args.repeat,
        seed=args.seed,
        points=args.points,
        start=start,
        say=_say,
    )
    if args.output is not None:
        for path in draw(curves, args.output, DYNAMIC, "days", heading=f"K_t of {args.top:,}"):
            _say(str(path))
    if args.json:
        print(json.dumps({"top": args.top, "curves": [curve.as_json() for curve in curves]}))
        return 0
    print_table(["expand, recrawl", *(f">{name}" for name in DYNAMIC)], table(curves))
    return 0


def table(curves: Sequence[Curve]) -> list[list[str]]:
    """One row a tracker: the mean of each measure over time."""
    labels = list(dict.fromkeys(curve.label for curve in curves))
    means = {(curve.label, curve.measure): float(curve.mean.mean()) for curve in curves}
    return [[label, *(f"{means[label, measure]:,.4f}" for measure in DYNAMIC)] for label in labels]


def _say(line: str) -> None:
    print(line, file=sys.stderr)
