"""Navigational rank kept by local pushes, against iterating anew at every step.

Along one crawl led by `nr:exact`, both ranks of every frontier node are compared after each
visit; then `nr` alone crawls a larger graph.

    python benchmarks/navigation.py -o benchmarks/results/navigation.md
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from machine import describe

from sonde.estimators import EpsilonGreedy, NavigationalRank, build_model
from sonde.simulation import draw_seeds, simulate
from sonde.sources.graph.generate import topical


def errors(nodes: int, steps: int) -> tuple[float, float, float]:
    """The largest and the mean error, as shares of the highest rank, and how often the top
    node is the same."""
    graph = topical(nodes, 10 * nodes, seed=4)
    # Both as arms of a bandit whose first arm leads: one table holds both columns.
    pair = EpsilonGreedy(1e-9, (NavigationalRank(exact=True), NavigationalRank()))
    model: Any = build_model(
        pair, nodes=graph.node_count, links=(graph.targets, graph.link_scores), budget=steps
    )
    frontier = model.frontier
    exact, quick = (leaf.column for leaf in frontier.leaves)
    seeds = draw_seeds(graph, 10, 1).tolist()
    model.begin(seeds)
    for node in seeds:
        model.visit(node, graph.scores[node], graph.indptr[node], graph.indptr[node + 1])
    largest: list[float] = []
    mean: list[float] = []
    same = 0
    for _ in range(steps):
        live = np.flatnonzero(np.asarray(frontier.row_live)[: frontier.rows])
        ranks = np.asarray(frontier.features)[live]
        highest = ranks[:, exact].max()
        if highest > 0:
            gap = np.abs(ranks[:, exact] - ranks[:, quick]) / highest
            largest.append(gap.max())
            mean.append(gap.mean())
        same += int(ranks[:, exact].argmax() == ranks[:, quick].argmax())
        node = int(frontier.row_node[live[ranks[:, exact].argmax()]])
        model.visit(node, graph.scores[node], graph.indptr[node], graph.indptr[node + 1])
    return max(largest), float(np.mean(mean)), same / steps


def main() -> None:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    lines = [
        "# Navigational rank by local push",
        "",
        f"{describe()}.",
        "",
        "| graph | steps | largest error | mean error | same top node |",
        "|---|---:|---:|---:|---:|",
    ]
    for nodes, steps in ((2_500, 400), (5_000, 200)):
        most, mean, same = errors(nodes, steps)
        lines.append(f"| {nodes:,} nodes | {steps} | {most:.1e} | {mean:.1e} | {same:.1%} |")
    graph = topical(100_000, 1_000_000, seed=4)
    before = time.process_time()
    simulate(graph, random_seeds=10, estimator="nr", budget=10_000, seed=1)
    lines += [
        "",
        (
            "Errors are shares of the highest rank on the frontier. `nr` for 10,000 steps on a "
            "graph of 100,000 nodes and 1,000,000 edges took "
            f"{time.process_time() - before:.2f} CPU-seconds."
        ),
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    if args.output:
        args.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
