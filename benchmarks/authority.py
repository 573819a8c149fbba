"""What it costs to find and to track the most cited, in CPU seconds of one thread.

    python benchmarks/authority.py -o benchmarks/results/authority.md

A static graph of a million nodes and ten million links is crawled to its end; a time graph of a
million arrivals is tracked. Each crawler is set against the obvious way to do the same: a NumPy
``argmax`` over all nodes, or a draw from cumulated weights, at each step.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np
from machine import describe

from sonde.authority import TimeGraph, Tracker, find, track
from sonde.authority.tracking import DAY, EXPANSIONS, RECRAWLS
from sonde.sources.graph.generate import topical


def static(nodes: int, edges: int) -> list[list[str]]:
    """One row a method: CPU seconds of a crawl of everything, and of the obvious way."""
    graph = topical(nodes, edges, seed=1)
    start = int(np.argmax(np.diff(graph.indptr)))
    apparent = np.bincount(graph.targets, minlength=nodes).astype(np.float64)
    obvious = {
        "crawl-gai": _seconds(lambda: apparent.argmax()),
        "crawl-ai": _seconds(lambda: np.searchsorted(apparent.cumsum(), 12_345.6)),
    }
    rows = []
    for method in ("crawl-gai", "crawl-ai", "mix", "walk", "sample-u", "sample-i", "sample-io"):
        # A walk meets the last nodes only after ages: it is given half of them.
        budget = nodes // 2 if method == "walk" else nodes
        crawls = method in ("crawl-gai", "crawl-ai", "mix", "walk")
        before = time.process_time()
        found = find(graph, top=1000, budget=budget, method=method, start=start if crawls else None)
        seconds = time.process_time() - before
        steps = len(found.order)
        ratio = obvious.get(method)
        rows.append(
            [
                f"`{method}`",
                f"{steps:,}",
                f"{seconds:.2f}",
                f"{seconds / steps * 1e6:.2f}",
                "" if ratio is None else f"{ratio * steps / seconds:,.0f}",
            ]
        )
    return rows


def _seconds(work: object, times: int = 20) -> float:
    before = time.process_time()
    for _ in range(times):
        work()  # type: ignore[operator]
    return (time.process_time() - before) / times


def time_graph(arrivals: int, nodes: int) -> TimeGraph:
    """Arrivals over a hundred days among nodes some of which are far more popular than others."""
    dice = np.random.default_rng(1)
    sources = dice.integers(nodes, size=arrivals)
    targets = (nodes * dice.random(arrivals) ** 3).astype(np.int64)
    times = np.sort(dice.random(arrivals)) * 100 * DAY
    return TimeGraph.from_arrivals(
        zip(sources.tolist(), targets.tolist(), times.tolist(), strict=True)
    )


def dynamic(arrivals: int, nodes: int, per_day: int) -> list[list[str]]:
    """One row a policy: CPU seconds of one simulation."""
    graph = time_graph(arrivals, nodes)
    rows = []
    trackers = [("crawl-gai", recrawl) for recrawl in RECRAWLS]
    trackers += [(expand, "or") for expand in EXPANSIONS if expand != "crawl-gai"]
    for expand, recrawl in trackers:
        before = time.process_time()
        course = track(graph, Tracker(expand, recrawl, rate=per_day / DAY))
        seconds = time.process_time() - before
        steps = course.expansions + course.recrawls
        rows.append([f"`{expand}`, `{recrawl}`", f"{steps:,}", f"{seconds:.2f}"])
    return rows


def markdown(heads: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in (heads, *rows)]
    lines.insert(1, "|---" + "|---:" * (len(heads) - 1) + "|")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--arrivals", type=int, default=1_000_000)
    args = parser.parse_args()
    whole = static(args.nodes, args.edges)
    moving = dynamic(args.arrivals, args.arrivals // 20, 10_000)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    text = "\n".join(
        [
            "# The cost of finding and tracking the most cited",
            "",
            f"{describe()}. CPU seconds of one thread; {peak:,.0f} MB at the peak.",
            "",
            f"A generated graph (`topical`) of {args.nodes:,} nodes and {args.edges:,} links,",
            "crawled until nothing is left in reach (a walk: half of it). The last column is how",
            "many times longer the obvious way takes: an `argmax`, or a draw from cumulated",
            "weights, over all nodes at each step.",
            "",
            markdown(["method", "steps", "CPU s", "µs a step", "times faster"], whole),
            "",
            f"A time graph of {args.arrivals:,} arrivals among {args.arrivals // 20:,} nodes",
            "in 100 days; window 7 days, k = 500, 10,000 visits a day, measured 100 times.",
            "",
            markdown(["expand, recrawl", "visits", "CPU s"], moving),
            "",
        ]
    )
    print(text)
    if args.output is not None:
        args.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
