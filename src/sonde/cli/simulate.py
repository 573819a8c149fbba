"""``sonde simulate``: crawl a recorded graph, as a live crawl would have gone.

examples:
  sonde simulate graph/ --estimator n:sum --seeds a,b,c --budget 1000 --json
  sonde simulate graph/ --estimator lnh --strategy altered:0.9,0.1 --random-seeds 50 --repeat 10
  sonde simulate graph/ --estimator 'mab:eps=0.1[n,e,ne,lnh]' --seeds @start.txt --budget 100000

estimators:
  random bfs oracle deg n e ne (:sum :max :avg) deg2 n2 e2 ne2 lnh lnh2 (:sum :max :avg)
  opic opic:e opic:n opic:ne nr nr:exact nr:d=0.3 url url+lnh hybrid[first,second,steps]
  mab:eps=0.1[...] mab:eps-first=0.1[...] mab:var[...]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from sonde.errors import GraphError, InputError
from sonde.estimators import DEFAULT, compiled
from sonde.figures import harvest_chart
from sonde.simulation import Simulation, simulate
from sonde.sources.graph import Graph


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("graph", type=Path, help="a folder with nodes and edges")
    start = parser.add_mutually_exclusive_group(required=True)
    start.add_argument("--seeds", help="names with commas between, or @FILE with one a line")
    start.add_argument("--random-seeds", type=int, metavar="K", help="draw K nodes that score")
    parser.add_argument("--estimator", default=DEFAULT, help="what predicts (default: %(default)s)")
    parser.add_argument("--strategy", default="greedy", help="greedy, or altered:q,zeta")
    parser.add_argument("--objective", default="sum", help="sum, count or distinct")
    parser.add_argument("--budget", type=int, help="visits beyond the seeds (default: no limit)")
    parser.add_argument("--refresh", type=int, default=1, help="picks on the same estimates")
    parser.add_argument("--repeat", type=int, metavar="R", help="R runs, with seed, seed + 1, ...")
    parser.add_argument("--seed", type=int, default=0, help="of everything random (default: 0)")
    parser.add_argument(
        "--engine",
        choices=("compiled", "python"),
        default="compiled",
        help="python runs the uncompiled kernels, slowly, with the same result",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Simulate, and print what came of it."""
    if args.repeat is not None and args.repeat < 1:
        raise InputError(f"--repeat must be 1 or more, not {args.repeat}")
    if args.engine == "compiled" and not compiled():
        print("sonde: the kernels are not compiled: slow (see sonde doctor)", file=sys.stderr)
    graph = Graph.load(args.graph)
    seeds = None if args.seeds is None else _seed_names(graph, args.seeds)
    runs = [
        simulate(
            graph,
            seeds=seeds,
            random_seeds=args.random_seeds,
            estimator=args.estimator,
            strategy=args.strategy,
            objective=args.objective,
            budget=args.budget,
            refresh=args.refresh,
            seed=args.seed + number,
            engine=args.engine,
        )
        for number in range(args.repeat or 1)
    ]
    if graph.self_loops:
        plural = "" if graph.self_loops == 1 else "s"
        print(f"sonde: dropped {graph.self_loops:,} self-loop{plural}", file=sys.stderr)
    if args.json:
        found: dict[str, Any] = runs[0].as_json()
        if args.repeat is not None:
            found = {"runs": [each.as_json() for each in runs], "mean": _mean(runs)}
        print(json.dumps(found))
    else:
        _print(runs)
    return 0


def _seed_names(graph: Graph, text: str) -> list[str]:
    """The named seeds, each known to the graph."""
    if text.startswith("@"):
        try:
            lines = Path(text[1:]).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise InputError(f"cannot read the seeds file {text[1:]}: {why}") from None
        named = [(f"{text[1:]}, line {row}", line) for row, line in enumerate(lines, start=1)]
    else:
        named = [("--seeds", name) for name in text.split(",")]
    names = [(place, name.strip()) for place, name in named if name.strip()]
    for place, name in names:
        try:
            graph.index(name)
        except GraphError as error:
            raise InputError(f"{place}: {error}") from None
    return [name for _, name in names]


def _mean(runs: list[Simulation]) -> dict[str, float]:
    return {
        "gain": float(np.mean([each.gain for each in runs])),
        "total": float(np.mean([each.total for each in runs])),
        "budget_spent": float(np.mean([len(each.visited) for each in runs])),
    }


def _print(runs: list[Simulation]) -> None:
    first = runs[0]
    told = " (which knows the true scores)" if "oracle" in first.estimator else ""
    print(f"{first.estimator}{told}, {first.strategy}, seeds: {len(first.seeds):,}")
    print(f"{'run':>4} {'visits':>10} {'gain':>14} {'total':>14} {'frontier':>10}  stopped by")
    for number, each in enumerate(runs):
        print(
            f"{number:>4} {len(each.visited):>10,} {each.gain:>14,.2f} {each.total:>14,.2f} "
            f"{each.frontier_size:>10,}  {each.stop_reason}"
        )
    if len(runs) > 1:
        mean = _mean(runs)
        print(f"mean {mean['budget_spent']:>10,.1f} {mean['gain']:>14,.2f} {mean['total']:>14,.2f}")
    else:
        print(harvest_chart({first.estimator: first.harvest}))
