"""How fast the explorer's model steps on a large recorded graph, and how much memory it takes.

Each crawl runs in a process of its own, so that its peak memory is its own, loading included. In
the same run, the baseline ``(X @ w).argmax()`` is timed on the frontier of that size: X holds the
neighbourhood features (deg, and n, e, ne x sum, max, avg) as contiguous float32. Its narrow form,
with the four columns that `lnh` uses, is shown beside it. Times are CPU seconds of one thread.

    python benchmarks/explorer.py -o benchmarks/results/explorer.md
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from machine import describe

from sonde.simulation import simulate
from sonde.sources.graph import Graph
from sonde.sources.graph.generate import topical

SLOW = {"lnh:avg": 10}
"""What is run for so many times fewer steps, because its weights keep changing sign."""

ESTIMATORS = (
    "n:sum",
    "e:max",
    "ne:avg",
    "lnh:sum",
    "lnh:max",
    "lnh:avg",
    "mab:eps=0.1[n,e,ne,lnh]",
    "opic",
    "hybrid[ne,lnh,1000]",
    "auto",
    "nr",
)


def crawl(folder: str, estimator: str, steps: int) -> dict[str, Any]:
    """One crawl: CPU time a step, peak memory, the frontier, and the baseline at its size."""
    graph = Graph.load(folder)
    simulate(graph, random_seeds=50, estimator=estimator, budget=10, seed=3)
    before = time.process_time()
    run = simulate(graph, random_seeds=50, estimator=estimator, budget=steps, seed=3)
    step = (time.process_time() - before) / max(1, len(run.visited))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        "estimator": estimator,
        "step": step,
        "peak": peak,
        "frontier": run.frontier_size,
        "links": float(np.diff(graph.indptr)[run.visited].mean()),
        "gain": run.gain,
        "wide": baseline(run.frontier_size, 10),
        "narrow": baseline(run.frontier_size, 4),
    }


def baseline(rows: int, columns: int) -> float:
    """CPU seconds of one (X @ w).argmax()."""
    rng = np.random.default_rng(0)
    features = rng.random((rows, columns), dtype=np.float32)
    weights = rng.random(columns, dtype=np.float32)
    (features @ weights).argmax()
    before = time.process_time()
    for _ in range(20):
        (features @ weights).argmax()
    return (time.process_time() - before) / 20


def table(rows: list[dict[str, Any]], nodes: int, edges: int, steps: int) -> str:
    """The results as Markdown."""
    lines = [
        "# The explorer's speed and memory",
        "",
        f"{describe()}.",
        "",
        (
            f"A generated graph (`topical`) of {nodes:,} nodes and {edges:,} edges; {steps:,} "
            "steps from 50 seeds, refreshed at every step. Baseline: `(X @ w).argmax()` over the "
            "frontier at its final size, one thread, X contiguous float32 with the 10 "
            "neighbourhood features (in brackets: with the 4 columns of `lnh`). "
            + "".join(f"`{name}` ran for {steps // less:,} steps." for name, less in SLOW.items())
        ),
        "",
        (
            "| estimator | µs a step | times faster than the baseline | frontier | links a step "
            "| peak memory | bytes an edge, less 150 a node |"
        ),
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| `{row['estimator']}` | {row['step'] * 1e6:.2f} "
        f"| {row['wide'] / row['step']:,.0f} ({row['narrow'] / row['step']:,.0f}) "
        f"| {row['frontier']:,} | {row['links']:.1f} | {row['peak'] / 1e6:,.0f} MB "
        f"| {(row['peak'] - 150 * nodes) / edges:.1f} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the benchmark, or with --crawl one crawl of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=2_000_000)
    parser.add_argument("--edges", type=int, default=40_000_000)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--crawl", nargs=2, metavar=("FOLDER", "ESTIMATOR"))
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    if args.crawl:
        print(json.dumps(crawl(args.crawl[0], args.crawl[1], args.steps)))
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        topical(args.nodes, args.edges, seed=1).save(folder)
        for estimator in ESTIMATORS:
            steps = args.steps // SLOW.get(estimator, 1)
            command = [sys.executable, __file__, "--steps", str(steps), "--crawl"]
            done = subprocess.run(
                [*command, folder, estimator], check=True, capture_output=True, text=True
            )
            rows.append(json.loads(done.stdout))
            print(f"{estimator}: {rows[-1]['step'] * 1e6:.2f} µs a step", file=sys.stderr)
    result = table(rows, args.nodes, args.edges, args.steps)
    print(result)
    if args.output:
        args.output.parent.mkdir(parents=True, exist_ok=True)
        args.output.write_text(result, encoding="utf-8")


if __name__ == "__main__":
    main()
