"""``sonde lab``: experiments, comparisons and bounds on graphs.

examples:
  sonde lab run lead graph/ -o results/
  sonde lab compare graph/ --estimators 'n,e,ne,auto' -o figures/
  sonde lab bound graph/ --random-seeds 50 --budget 1000
  sonde lab gossip overlay/ --estimators e,n --budget 300
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sonde.cli import lab_gossip, subcommand
from sonde.cli._print import print_table
from sonde.errors import InputError
from sonde.estimators import split_list
from sonde.lab.bounds import bound
from sonde.lab.experiments import lead, precision, steering
from sonde.lab.experiments.compare import COMPARE, compared, comparing
from sonde.lab.experiments.experiment import Experiment, conduct
from sonde.lab.protocol import Protocol
from sonde.lab.units import OBJECTIVES
from sonde.protocols import Numbers
from sonde.simulation import draw_seeds
from sonde.sources.graph import Graph

_EXPERIMENTS: dict[str, tuple[str, Protocol]] = {
    "steering": ("greedy against altered greedy, oracle scores", steering.STEERING),
    "refresh": ("the price of stale estimates, oracle scores", steering.REFRESH),
    "precision": ("how well estimators pick on the oracle's crawl", precision.PRECISION),
    "time": ("microseconds a step on the oracle's crawl", precision.PRECISION),
    "lead": ("every estimator leads its own crawl", lead.LEAD),
    "bandits": ("bandits over their parameters", lead.LEAD),
    "global": ("the league table over all graphs", lead.LEAD),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_run(subcommand(kinds, "run", run_experiment))
    _add_compare(subcommand(kinds, "compare", run_compare))
    _add_bound(subcommand(kinds, "bound", run_bound))
    lab_gossip.add_options(subcommand(kinds, "gossip", lab_gossip.run, lab_gossip.__doc__))


def _add_run(parser: argparse.ArgumentParser) -> None:
    names = parser.add_subparsers(metavar="EXPERIMENT", required=True, dest="experiment")
    for name, (about, protocol) in _EXPERIMENTS.items():
        example = f"example:\n  sonde lab run {name} graph/ -o results/"
        one = subcommand(names, name, run_experiment, f"{about}.\n\n{example}")
        _add_graphs(one, protocol)
        one.add_argument("-o", "--output", type=Path, required=True, help="the folder of results")
        one.add_argument("--no-figures", action="store_true", help="tables only")
        if name == "steering":
            _add_list(one, "--q", steering.CERTAIN, "probabilities of the best node")
            _add_list(one, "--zeta", steering.SLACK, "how far below the best a pick may be")
        elif name == "refresh":
            _add_list(one, "--intervals", steering.INTERVALS, "steps between refreshes")
        elif name == "bandits":
            _add_list(one, "--arms", lead.ARMS, "estimators shown beside the bandits")
            _add_list(one, "--estimators", lead.BANDITS, "bandits")
        else:
            _add_list(one, "--estimators", lead.ESTIMATORS, "what is compared")
        if name == "precision":
            one.add_argument("--window", type=int, default=1_000, help="steps of the rolling mean")
        if name == "lead":
            _add_list(one, "--objectives", OBJECTIVES, "sum, count or both")
        if name == "global":
            one.add_argument("--objective", choices=OBJECTIVES, default="sum")
            one.add_argument("--baseline", default="bfs", help="what scores 1 (default: bfs)")


def _add_compare(parser: argparse.ArgumentParser) -> None:
    _add_graphs(parser, COMPARE)
    parser.add_argument("--estimators", required=True, help="with commas between")
    parser.add_argument("--objective", choices=OBJECTIVES, default="sum")
    parser.add_argument("-o", "--output", type=Path, help="a folder for the table and the figure")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_bound(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("graph", type=Path, help="a folder with nodes and edges")
    start = parser.add_mutually_exclusive_group(required=True)
    start.add_argument("--seeds", help="names with commas between")
    start.add_argument("--random-seeds", type=int, metavar="K", help="draw K nodes that score")
    parser.add_argument("--budget", type=int, required=True, help="visits beyond the seeds")
    parser.add_argument("--objective", choices=OBJECTIVES, default="sum")
    parser.add_argument("--longest", type=int, default=3, help="nodes of a path added at once")
    parser.add_argument("--rounds", type=int, default=200, help="subgradients (default: 200)")
    parser.add_argument(
        "--exact-seconds", type=float, default=60.0, help="for the exact optimum; 0 leaves it out"
    )
    parser.add_argument(
        "--exact-links",
        type=int,
        default=2_000,
        metavar="N",
        help="look for it up to N links in reach",
    )
    parser.add_argument("--seed", type=int, default=0, help="of random seeds (default: 0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_graphs(parser: argparse.ArgumentParser, protocol: Protocol) -> None:
    parser.add_argument("graphs", type=Path, nargs="+", metavar="graph", help="graph folders")
    for option, default, about in (
        ("--sets", protocol.sets, "seed graphs on each graph"),
        ("--seed-nodes", protocol.seed_nodes, "nodes of each seed graph"),
        ("--above", protocol.above, "the score that seed nodes exceed"),
        ("--steps", protocol.steps, "visits of each crawl"),
        ("--seed", protocol.seed, "of everything random"),
        ("--threshold", protocol.threshold, "scores above it count as finds"),
    ):
        parser.add_argument(
            option, type=type(default), default=default, help=f"{about} (default: %(default)s)"
        )
    parser.add_argument("--workers", type=int, help="processes (default: all cores)")


def _add_list(
    parser: argparse.ArgumentParser, option: str, default: Sequence[object], about: str
) -> None:
    parser.add_argument(
        option,
        default=",".join(map(str, default)),
        metavar="LIST",
        help=f"{about} (default: %(default)s)",
    )


def run_experiment(args: argparse.Namespace) -> int:
    """Run a published experiment.

    example:
      sonde lab run refresh wiki/ mentions/ -o results/

    Finished work is kept in the folder: the same command again goes on where it stopped.
    """
    made = _experiment(args, args.experiment)
    results = _conducted(args, made, args.output)
    if results is None:
        return 130
    results.save(args.output / f"{made.name}.parquet")
    for path in made.report(results).save(args.output, figures=not args.no_figures):
        print(path)
    return 0


def _experiment(args: argparse.Namespace, name: str) -> Experiment:
    protocol = _protocol(args, _EXPERIMENTS[name][1])
    if name == "steering":
        return steering.steering(
            protocol, _numbers("--q", args.q, float), _numbers("--zeta", args.zeta, float)
        )
    if name == "refresh":
        return steering.refresh(protocol, _numbers("--intervals", args.intervals, int))
    listed = split_list(args.estimators)
    if name == "precision":
        return precision.precision(protocol, listed, args.window)
    if name == "time":
        return precision.timing(protocol, listed)
    if name == "lead":
        return lead.lead(protocol, listed, split_list(args.objectives))
    if name == "bandits":
        return lead.bandits(protocol, listed, split_list(args.arms))
    return lead.league(protocol, listed, args.baseline, args.objective)


def _protocol(args: argparse.Namespace, defaults: Protocol) -> Protocol:
    return replace(
        defaults,
        sets=args.sets,
        seed_nodes=args.seed_nodes,
        above=args.above,
        steps=args.steps,
        seed=args.seed,
        threshold=args.threshold,
    )


def _numbers(option: str, text: str, kind: Callable[[str], Any]) -> list[Any]:
    try:
        return [kind(part) for part in split_list(text)]
    except ValueError:
        raise InputError(f"{option}: {text!r} is not a list of numbers") from None


def _conducted(args: argparse.Namespace, experiment: Experiment, folder: Path | None) -> Any:
    """The results, or nothing when the user stopped it."""
    if args.workers is not None and args.workers < 1:
        raise InputError(f"--workers must be 1 or more, not {args.workers}")
    graphs: dict[str, Callable[[], Graph]] = {
        path.resolve().name: partial(Graph.load, path) for path in args.graphs
    }
    if len(graphs) < len(args.graphs):
        raise InputError("two graph folders have the same name")
    try:
        return conduct(
            experiment,
            graphs,
            folder=folder,
            workers=args.workers,
            say=lambda line: print(line, file=sys.stderr),
        )
    except KeyboardInterrupt:
        kept = "; the same command goes on from here" if folder is not None else ""
        print(f"sonde: stopped{kept}", file=sys.stderr)
        return None


def run_compare(args: argparse.Namespace) -> int:
    """Compare estimators, paired over seed graphs.

    example:
      sonde lab compare graph/ --estimators 'n,e,ne,auto' -o figures/

    An estimator of your own is @module.Class, found on the Python path.
    """
    experiment = comparing(_protocol(args, COMPARE), split_list(args.estimators), args.objective)
    results = _conducted(args, experiment, args.output)
    if results is None:
        return 130
    comparison = compared(results, args.objective)
    if args.output is not None:
        results.save(args.output / "compare.parquet")
        for path in comparison.report.save(args.output):
            print(path, file=sys.stderr)
    if args.json:
        print(json.dumps(comparison.as_json()))
        return 0
    table = comparison.report.tables[0]
    print_table([table.heads[0], *(f">{head}" for head in table.heads[1:])], table.rows)
    print(comparison.verdict)
    return 0


def run_bound(args: argparse.Namespace) -> int:
    """Bound the best crawl that is possible.

    example:
      sonde lab bound graph/ --seeds a,b --budget 1000 --json
    """
    graph = Graph.load(args.graph)
    if args.seeds is not None:
        names = [name.strip() for name in args.seeds.split(",") if name.strip()]
        seeds: Numbers = graph.indices(list(dict.fromkeys(names)))
    else:
        seeds = draw_seeds(graph, args.random_seeds, args.seed)
    if not len(seeds):
        raise InputError("a bound needs at least one seed")
    found = bound(
        graph,
        seeds,
        args.budget,
        objective=args.objective,
        longest=args.longest,
        rounds=args.rounds,
        exact_seconds=args.exact_seconds,
        exact_links=args.exact_links,
    )
    if args.json:
        print(json.dumps(found.as_json()))
        return 0
    rows = [
        [f"{kind} ({side})", f"{value:,.3f}", f"{found.seconds[kind]:,.2f}"]
        for side, values in (("upper", found.uppers), ("lower", found.lowers))
        for kind, value in values.items()
    ]
    print(f"{found.reachable:,} nodes and {found.links:,} links in reach, {found.budget:,} visits")
    print_table(["bound", ">score", ">seconds"], rows)
    if found.optimum is not None:
        print(f"the best crawl scores {found.optimum:,.3f}")
    else:
        print(
            f"the best crawl scores {found.lower:,.3f} to {found.upper:,.3f}: "
            f"the best known is at most {found.gap(found.lower):.2f} % from optimal"
        )
    return 0
