"""Seed selection at size, and side by side with NetworkX and igraph.

    python benchmarks/seeds.py [-o benchmarks/results/seeds.md] [--nodes 1000000 --edges 10000000]

Every measurement is a process of its own: CPU seconds of the selection (graph in memory), and the
process's peak memory with the graph in it. The other libraries run the same ``maxweight:2``: the
weights of all nodes from their depth-2 neighbourhoods, then, for every node covered, its value
taken back from those that reach it. All must choose the same seeds.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sonde.kernels.graphs import coverage as kernel
from sonde.seeds import LinkNetwork, select
from sonde.seeds.comparison import markdown

K, HOPS, DEPTH = 50, 5, 2
# Side by side the median counts, of at least three runs and as many as fill a second: single runs
# of a few milliseconds were seen to differ threefold on a busy machine.
TIMES, LEAST_SECONDS = 3, 1.0
SIDE_BY_SIDE = (2_000, 20_000, 50_000)
DEGREE = 10
Ball = Callable[[int, int, bool], Any]


def generate(kind: str, nodes: int, edges: int, seed: int = 5) -> LinkNetwork:
    """Exactly so many distinct links: ends uniform, or both skewed and unrelated."""
    dice = np.random.default_rng(seed)
    number = dice.permutation(nodes)
    keys = np.empty(0, dtype=np.int64)
    while len(keys) < edges:
        more = edges - len(keys) + edges // 20
        powers = (1, 1) if kind == "uniform" else (2, 3)
        sources, targets = ((nodes * dice.random(more) ** p).astype(np.int64) for p in powers)
        fresh = sources * nodes + (targets if kind == "uniform" else number[targets])
        keys = np.unique(np.concatenate([keys, fresh[sources != fresh % nodes]]))
    keys = np.sort(dice.permutation(keys)[:edges])
    indptr = np.concatenate(([0], np.cumsum(np.bincount(keys // nodes, minlength=nodes))))
    return LinkNetwork.tidy(indptr, (keys % nodes).astype(np.int32))


def elsewhere(nodes: int, ball: Ball) -> list[int]:
    """``maxweight:2`` for pages on another library's neighbourhoods."""
    weights = [len(ball(node, DEPTH, False)) for node in range(nodes)]
    covered = [False] * nodes
    chosen: list[int] = []
    while len(chosen) < K:
        best = max(range(nodes), key=weights.__getitem__)
        if weights[best] <= 0:
            break
        chosen.append(best)
        for node in ball(best, HOPS, False):
            if not covered[node]:
                covered[node] = True
                for other in ball(node, DEPTH, True):
                    weights[other] -= 1
    return chosen


def with_networkx(network: LinkNetwork) -> Callable[[], list[int]]:
    networkx: Any = importlib.import_module("networkx")
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(network.nodes))
    graph.add_edges_from(_pairs(network))
    back = graph.reverse(copy=True)

    def ball(node: int, hops: int, reverse: bool) -> Any:
        found = networkx.single_source_shortest_path_length
        return found(back if reverse else graph, node, cutoff=hops)

    return lambda: elsewhere(network.nodes, ball)


def with_igraph(network: LinkNetwork) -> Callable[[], list[int]]:
    igraph: Any = importlib.import_module("igraph")
    graph = igraph.Graph(n=network.nodes, edges=_pairs(network), directed=True)

    def ball(node: int, hops: int, reverse: bool) -> Any:
        return graph.neighborhood(node, order=hops, mode="in" if reverse else "out")

    return lambda: elsewhere(network.nodes, ball)


def _pairs(network: LinkNetwork) -> list[tuple[int, int]]:
    sources = np.repeat(np.arange(network.nodes), network.degrees)
    return list(zip(sources.tolist(), network.targets.tolist(), strict=True))


def measure(file: Path, what: str, times: int) -> dict[str, Any]:
    """Runs in the child: one selection on one graph, the median of the times it took."""
    arrays = np.load(file)
    network = LinkNetwork.tidy(arrays["indptr"], arrays["targets"])
    if what in ("networkx", "igraph"):
        run: Callable[[], Any] = (with_networkx if what == "networkx" else with_igraph)(network)
    else:
        if times > 1:
            _ = network.reversed  # the others have theirs beforehand too

        def run() -> Any:
            return select(network, K, hops=HOPS, method=what)

    spent: list[float] = []
    while len(spent) < times or (times > 1 and sum(spent) < LEAST_SECONDS):
        start = time.process_time()
        found = run()
        spent.append(time.process_time() - start)
    return {
        "nodes": found if isinstance(found, list) else found.nodes,
        "value": None if isinstance(found, list) else found.value,
        "seconds": float(np.median(spent)),
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


def child(file: Path, what: str, times: int = 1) -> dict[str, Any]:
    command = [sys.executable, __file__, "--one", str(file), what, str(times)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    print(f"{file.stem} {what}: {found['seconds']:.3f} s", file=sys.stderr)
    return found


def at_size(folder: Path, nodes: int, edges: int) -> str:
    rows = []
    for kind in ("skewed", "uniform"):
        file = _saved(folder, kind, nodes, edges)
        for what in ("outdegree", "pagerank", "maxout", "maxweight:2", "rootscc:2", "sketch"):
            found = child(file, what)
            cost = [f"{found['seconds']:.1f}", f"{found['gigabytes']:.2f}"]
            rows.append([f"{kind}, {what}", *cost, f"{found['value']:,.0f}"])
    return markdown(["graph and method", "CPU seconds", "peak GB", "pages covered"], rows)


def side_by_side(folder: Path) -> str:
    there = [name for name in ("networkx", "igraph") if importlib.util.find_spec(name)]
    rows = []
    for nodes in SIDE_BY_SIDE:
        file = _saved(folder, "skewed", nodes, nodes * DEGREE)
        ours = child(file, f"maxweight:{DEPTH}", TIMES)
        row = [f"{nodes:,} nodes, {nodes * DEGREE:,} edges", f"{ours['seconds']:.3f}"]
        for name in there:
            theirs = child(file, name, TIMES)
            if theirs["nodes"] != ours["nodes"]:
                raise SystemExit(f"{name} chose other seeds at {nodes} nodes")
            seconds = theirs["seconds"]
            row += [f"{seconds:.2f}", f"{seconds / ours['seconds']:.0f}"]
        rows.append(row)
    head = ["graph", "sonde, s", *(cell for name in there for cell in (f"{name}, s", "ratio"))]
    return markdown(head, rows)


def _saved(folder: Path, kind: str, nodes: int, edges: int) -> Path:
    file = folder / f"{kind}-{nodes}.npz"
    network = generate(kind, nodes, edges)
    np.savez(file, indptr=network.indptr, targets=network.targets)
    return file


def machine() -> str:
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    libraries = []
    for name in ("numpy", "scipy", "networkx", "igraph"):
        if importlib.util.find_spec(name):
            libraries.append(f"{name} {importlib.metadata.version(name)}")
    python = f"Python {platform.python_version()}"
    compiled = "compiled" if kernel.__file__.endswith(".so") else "NOT compiled"
    cores = f"{os.cpu_count()} cores, {memory:.0f} GB of memory"
    return f"{model}, {cores}; {python}, kernels {compiled}; {', '.join(libraries)}."


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(Path(args.one[0]), args.one[1], int(args.one[2]))))
        return
    with tempfile.TemporaryDirectory() as folder:
        parts = [
            "# Seed selection: speed",
            "Written by `benchmarks/seeds.py`. " + machine(),
            f"## {args.nodes:,} nodes, {args.edges:,} edges, k = {K}, {HOPS} hops",
            "CPU seconds of the selection; peak memory of the whole process, graph and all.",
            at_size(Path(folder), args.nodes, args.edges),
            f"## The same maxweight:{DEPTH} on other libraries, k = {K}, {HOPS} hops",
            "CPU seconds, median of three runs or of a second's worth; all chose the same seeds.",
            side_by_side(Path(folder)),
        ]
    text = "\n\n".join(parts) + "\n"
    if args.output is None:
        print(text, end="")
    else:
        args.output.parent.mkdir(parents=True, exist_ok=True)
        args.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
