"""``sonde seeds``: choose k pages whose neighbourhoods within some hops cover the most value.

examples:
  sonde seeds graph/ -k 50 --hops 5 --method maxweight:2
  sonde seeds graph/ -k 500 --per-site host --hops 5
  sonde seeds compare graph/ --methods all -k 1..10 --hops 1..5 -o figures/
  sonde seeds refresh old.tsv graph/ -k 50

A line a seed: its name, a tab, the value that it newly covers. "compare" and "refresh" as the
first word are commands with a --help of their own; a folder of such a name is ./compare.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from sonde.cli import told_by
from sonde.errors import InputError
from sonde.seeds import (
    Amounts,
    ComparisonPlan,
    KnownGraph,
    Method,
    compare,
    listing,
    refresh,
    select,
    select_by_site,
    worth,
)
from sonde.seeds.comparison import ComparedSite, draw, report
from sonde.seeds.known_graph import known_of
from sonde.seeds.methods import ALL, NAMES
from sonde.seeds.network import Nodes
from sonde.seeds.sites import split

_FLAGS = ("spam", "clicked", "crawled", "duplicate")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("graph", type=Path, help="a graph folder, or the run folder of a crawl")
    _add_choice(parser)
    parser.add_argument(
        "--per-site",
        metavar="COLUMN",
        help="share the seeds out among sites: a node column, or host for the URL's host",
    )
    _add_workers(parser)
    branches = {
        "compare": _add_compare(_branch(parser, "compare", run_compare)),
        "refresh": _add_refresh(_branch(parser, "refresh", run_refresh)),
    }
    plain = parser.parse_known_args

    def dispatch(args: Sequence[str] | None = None, namespace: Any = None) -> Any:
        if args and args[0] in branches:
            return branches[args[0]].parse_known_args(args[1:], namespace)
        return plain(args, namespace)

    # Sub-parsers cannot share their place with the folder that a plain selection starts with.
    parser.parse_known_args = dispatch  # type: ignore[assignment, method-assign]


def run(args: argparse.Namespace) -> int:
    """Chooses seeds on one graph."""
    known, nodes, amounts = _load(args.graph, args)
    network = known.network.within(nodes)
    options: dict[str, Any] = {
        "hops": args.hops,
        "method": Method.parse(args.method),
        "seed": args.seed,
    }
    names = [known.names[node] for node in nodes.tolist()]
    places: list[str | None] = [None]
    if args.per_site is None:
        found = [select(network, args.k, values=amounts, **options)]
    else:
        sites = known.sites(args.per_site).among(nodes)
        found = select_by_site(
            network, sites, args.k, amounts=amounts, workers=args.workers, **options
        )
        places = list(sites.names)
    seeds = [
        row
        for place, one in zip(places, found, strict=True)
        for row in listing.rows(one, names, place)
    ]
    for remark in listing.remarks(found, amounts):
        print(remark, file=sys.stderr)
    _write(args, seeds, listing.summary(found, args.k, args.hops))
    return 0


def run_refresh(args: argparse.Namespace) -> int:
    """Choose seeds again on a graph that has grown.

    example:
      sonde seeds graph/ -k 50 > old.tsv
      sonde seeds refresh old.tsv grown/ -k 50

    The good pages that the old seeds cover are kept first, then as much new value is covered as
    can be.
    """
    old = listing.read(_text(args.old), args.old)
    known, nodes, amounts = _load(args.graph, args)
    names = [known.names[node] for node in nodes.tolist()]
    places = {name: place for place, name in enumerate(names)}
    gone = [name for name in old if name not in places]
    if gone:
        print(f"not in the graph any more: {', '.join(gone)}", file=sys.stderr)
    found = refresh(
        known.network.within(nodes),
        amounts,
        [places[name] for name in old if name in places],
        args.k,
        hops=args.hops,
        method=Method.parse(args.method),
        seed=args.seed,
    )
    kept, whole = listing.number(found.kept_value), listing.number(found.old_value)
    print(
        f"kept {kept} of {whole} good value that the old seeds cover, added"
        f" {listing.number(found.new_value)}, dropped {len(found.dropped)} seeds",
        file=sys.stderr,
    )
    summary = listing.summary([found.selection], args.k, args.hops)
    summary |= {
        "old_value": found.old_value,
        "kept_value": found.kept_value,
        "new_value": found.new_value,
        "dropped": [names[node] for node in found.dropped],
    }
    _write(args, listing.rows(found.selection, names), summary)
    return 0


def run_compare(args: argparse.Namespace) -> int:
    """Compare methods over sites.

    example:
      sonde seeds compare graph/ --per-site host --methods all -k 1..10 --hops 1..5 -o figures/
    """
    methods = ALL if args.methods == "all" else tuple(args.methods.split(","))
    at_seeds = min(5, max(args.k)) if args.at_seeds is None else args.at_seeds
    at_hops = min(5, max(args.hops)) if args.at_hops is None else args.at_hops
    plan = ComparisonPlan(
        tuple(Method.parse(method) for method in methods),
        args.k,
        args.hops,
        at_seeds,
        at_hops,
        args.seed,
    )
    sites = [site for folder in args.graphs for site in _sites(folder, args)]
    if not sites:
        raise InputError(f"no site has {args.min_pages} pages or more")
    print(f"comparing {len(methods)} methods on {len(sites)} sites", file=sys.stderr)
    found = compare(sites, plan, args.workers)
    if args.output is not None:
        for path in draw(found, args.output):
            print(path, file=sys.stderr)
    if args.json:
        points = [listing.finite(asdict(point)) for point in found.points]
        print(json.dumps({"points": points, "sites": [asdict(site) for site in found.sites]}))
        return 0
    print(report(found))
    return 0


def _branch(
    parser: argparse.ArgumentParser, name: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    branch = type(parser)(prog=f"{parser.prog} {name}", **told_by(run.__doc__))
    branch.set_defaults(run=run)
    return branch


def _add_refresh(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("old", help="what sonde seeds printed before, lines or JSON; - for stdin")
    parser.add_argument("graph", type=Path, help="the graph as it is known now")
    _add_choice(parser)
    return parser


def _add_compare(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    add = parser.add_argument
    add("graphs", type=Path, nargs="+", metavar="graph", help="graph folders, a site each")
    add("--methods", default="all", help=f"all, or some of {', '.join(NAMES)}, with commas")
    add("-k", type=_range, default=_range("1..10"), help="numbers of seeds (default 1..10)")
    add("--hops", type=_range, default=_range("1..5"), help="numbers of hops (default 1..5)")
    add("--at-seeds", type=_count, help="seeds while hops vary (default 5)")
    add("--at-hops", type=_count, help="hops while seeds vary (default 5)")
    add("--per-site", metavar="COLUMN", help="split each graph by a node column, or by host")
    add("--min-pages", type=_count, default=1, help="leave out smaller sites (default 1)")
    add("-o", "--output", type=Path, help="a folder for the figures, SVG and PNG")
    _add_values(parser)
    _add_workers(parser)
    return parser


def _add_choice(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("-k", type=_count, default=10, help="how many seeds (default 10)")
    add("--hops", type=_count, default=5, help="how far a seed covers (default 5)")
    add("--method", default="maxweight:2", help=f"one of {', '.join(NAMES)} (default maxweight:2)")
    _add_values(parser)


def _add_values(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--value",
        default="rules",
        metavar="rules|pages|COLUMN",
        help="rules (default): 1 a page, spam -10, clicked 10, and the uncrawled pages that it"
        " links to times the probability that one is unique; pages: all ones; or a node column",
    )
    for flag in _FLAGS:
        add(f"--{flag}", metavar="COLUMN", help=f"for rules (default: {flag}, if there is one)")
    add("--unique", type=float, metavar="P", help="for rules, instead of learning it")
    add("--seed", type=int, default=0, help="of all that is random (default 0)")
    add("--json", action="store_true", help="one JSON object on standard output")


def _add_workers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--workers", type=_count, help="processes for sites (default: the cores)")


def _load(folder: Path, args: argparse.Namespace) -> tuple[KnownGraph, Nodes, Amounts]:
    """A graph, the nodes that can be seeds, and what those are worth."""
    known = known_of(folder)
    columns = {flag: getattr(args, flag) for flag in _FLAGS}
    return known, *worth(known, args.value, unique=args.unique, **columns)


def _sites(folder: Path, args: argparse.Namespace) -> list[ComparedSite]:
    known, nodes, amounts = _load(folder, args)
    network = known.network.within(nodes)
    values = np.asarray(amounts.units * amounts.unit, dtype=np.float64)
    if args.per_site is None:
        parts = [ComparedSite(folder.name or str(folder), network, values)]
    else:
        own = known.sites(args.per_site).among(nodes)
        parts = [
            ComparedSite(name, part.network, values[part.nodes])
            for name, part in zip(own.names, split(network, own), strict=True)
        ]
    return [part for part in parts if part.network.nodes >= args.min_pages]


def _text(path: str) -> str:
    try:
        return sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {getattr(error, 'strerror', None) or 'not text'}") from error


def _write(args: argparse.Namespace, seeds: list[dict[str, Any]], summary: dict[str, Any]) -> None:
    if args.json:
        print(json.dumps({**summary, "seeds": seeds}))
        return
    for line in listing.lines(seeds):
        print(line)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def _range(text: str) -> tuple[int, ...]:
    """``5`` or ``1..10``."""
    first, _, last = text.partition("..")
    low, high = _count(first), _count(last or first)
    if low > high:
        raise argparse.ArgumentTypeError(f"{text!r} goes down")
    return tuple(range(low, high + 1))
