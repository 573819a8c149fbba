"""Tables and figures about finding and tracking the most cited, on real graphs.

    python benchmarks/authority_results.py DATA -o docs/results/authority

DATA is a folder with ``cnr-2000-edges.tsv.xz`` (LAW), ``mentions-graph-edges.tsv.xz`` and
``mentions-2017.tsv.xz`` (mentions between accounts), ``sx-mathoverflow.txt.gz`` and
``email-Eu-core-temporal.txt.gz`` (SNAP), ``subreddit-links.tsv.xz`` (links between forums).
"""

from __future__ import annotations

import argparse
import gzip
import lzma
import re
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
from machine import describe

from sonde.authority import Curve, TimeGraph, Tracker, compare, compare_tracking, indegrees
from sonde.authority.curves import DYNAMIC, STATIC, draw
from sonde.authority.discovery import NAMES
from sonde.authority.ranking import largest_component, most_cited
from sonde.authority.tracking import DAY, EXPANSIONS, RECRAWLS
from sonde.sources.graph import Graph

METHODS = (*NAMES, "mix:0.1", "mix:0.9")
PUBLISHED = ("u", "or", "yr", "yru", "ldu")
_MENTION = re.compile(r"@(u\d+)\b")


def lines_of(path: Path) -> Iterator[str]:
    opened = lzma.open if path.suffix == ".xz" else gzip.open
    with opened(path, "rt", encoding="utf-8", newline="\n") as file:
        yield from file


def table_of(path: Path, columns: tuple[str, ...]) -> Iterator[list[str]]:
    """Some columns of a TSV file with a header."""
    rows = lines_of(path)
    heads = next(rows).rstrip("\n").split("\t")
    places = [heads.index(column) for column in columns]
    for row in rows:
        cells = row.rstrip("\n").split("\t")
        if len(cells) > max(places):
            yield [cells[place] for place in places]


def mentions(path: Path) -> Iterator[list[str]]:
    """Author, mentioned account, time of each mention."""
    for when, author, text in table_of(path, ("time", "author", "text")):
        moment = f"{datetime.fromisoformat(when).timestamp():.0f}"
        for account in dict.fromkeys(_MENTION.findall(text)):
            yield [author, account, moment]


def write(folder: Path, heads: str, rows: Iterable[list[str]]) -> Path:
    folder.mkdir()
    with (folder / "edges.tsv").open("w", encoding="utf-8", newline="\n") as file:
        file.write(heads + "\n")
        file.writelines("\t".join(row) + "\n" for row in rows)
    return folder


def markdown(heads: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in (heads, *rows)]
    lines.insert(1, "|---" + "|---:" * (len(heads) - 1) + "|")
    return "\n".join(lines)


# -- static --------------------------------------------------------------------------------------


def static_graphs(data: Path, scratch: Path) -> Iterator[tuple[str, Graph]]:
    files = {
        "cnr-2000": ("cnr-2000-edges.tsv.xz", ("source", "target")),
        "mentions": ("mentions-graph-edges.tsv.xz", ("source", "target")),
        "subreddits": ("subreddit-links.tsv.xz", ("source", "target")),
    }
    for name, (file, columns) in files.items():
        folder = write(scratch / name, "source\ttarget", table_of(data / file, columns))
        yield name, Graph.load(folder)


def static(data: Path, scratch: Path, output: Path, repeat: int) -> str:
    parts = [
        "# Finding the most cited: tables and figures",
        "",
        f"{describe()}. `python benchmarks/authority_results.py`; means over {repeat} starts (or",
        "draws). K is the thousandth of the nodes with the highest in-degree, at least 50.",
    ]
    for name, graph in static_graphs(data, scratch):
        top = max(50, graph.node_count // 1000)
        budget = graph.node_count // 10
        before = time.process_time()
        curves = compare(graph, METHODS, top=top, budget=budget, repeat=repeat, points=20, say=say)
        seconds = time.process_time() - before
        degrees = indegrees(graph)
        least = int(degrees[most_cited(degrees, top)[-1]])
        component = len(largest_component(graph.indptr, graph.targets))
        parts += [
            "",
            f"## {name}",
            "",
            (
                f"{graph.node_count:,} nodes, {graph.edge_count:,} links, {component:,} nodes in"
                f" the largest strongly connected component; k = {top:,}; the last of K has"
                f" in-degree {least:,}, as have {np.count_nonzero(degrees == least):,} nodes."
                f" {seconds:.0f} CPU-seconds for all curves."
            ),
        ]
        at = curves[0].at
        shown = [0, *(int(np.argmin(abs(at - budget * part))) for part in (0.03, 0.1, 0.3, 1.0))]
        for measure, title in STATIC.items():
            rows = [
                [
                    f"`{curve.label}`",
                    *(f"{curve.mean[p]:.3f} ± {curve.error[p]:.3f}" for p in shown),
                ]
                for curve in curves
                if curve.measure == measure
            ]
            heads = [f"{title} after", *(f"{at[place]:,.0f}" for place in shown)]
            parts += ["", markdown(heads, rows)]
            parts += ["", f"![{title}, {name}]({name}-{measure}.svg)"]
        draw(
            curves,
            output,
            STATIC,
            "nodes crawled",
            prefix=f"{name}-",
            heading=f"{name}, k = {top:,}",
            logarithmic=True,
        )
    return "\n".join(parts) + "\n"


# -- dynamic -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A time graph, how many are tracked, and two rates of visits a day."""

    name: str
    graph: TimeGraph
    top: int
    rates: tuple[int, int]


def cases(data: Path, scratch: Path) -> Iterator[Case]:
    heads = "source\ttarget\ttime"

    def snap(name: str) -> Iterator[list[str]]:
        return (line.split() for line in lines_of(data / name))

    def folder(name: str, rows: Iterable[list[str]]) -> TimeGraph:
        return TimeGraph.load(write(scratch / f"time-{name}", heads, rows))

    yield Case(
        "mentions-2017", folder("m", mentions(data / "mentions-2017.tsv.xz")), 500, (30, 300)
    )
    yield Case("mathoverflow", folder("o", snap("sx-mathoverflow.txt.gz")), 100, (2, 20))
    yield Case("email-Eu", folder("e", snap("email-Eu-core-temporal.txt.gz")), 50, (1, 10))
    rows = table_of(data / "subreddit-links.tsv.xz", ("source", "target", "time"))
    yield Case("subreddits", folder("s", rows), 100, (1, 10))


def dynamic(data: Path, scratch: Path, output: Path, repeat: int) -> str:
    parts = [
        "# Tracking the most cited: tables and figures",
        "",
        f"{describe()}. `python benchmarks/authority_results.py`; window 7 days, half of the",
        f"visits expand, {repeat} runs each. Means over time, of the first two with the standard",
        "error over runs. The last two columns are the lift of the frontier in the first and in",
        "the last third of the time.",
    ]
    for case in cases(data, scratch):
        graph = case.graph
        first, last = graph.span
        parts += [
            "",
            f"## {case.name}",
            "",
            (
                f"{graph.node_count:,} nodes, {len(graph.targets):,} distinct links, which arrive"
                f" {len(graph.arrivals):,} times in {(last - first) / DAY:,.0f} days;"
                f" k = {case.top}."
            ),
        ]
        for rate in case.rates:
            trackers = [
                Tracker(expand, recrawl, case.top, rate=rate / DAY)
                for expand in EXPANSIONS
                for recrawl in RECRAWLS
                if expand != "sample-u" or recrawl in PUBLISHED
            ]
            before = time.process_time()
            curves = compare_tracking(graph, trackers, repeat=repeat, points=60, say=say)
            seconds = time.process_time() - before
            parts += ["", f"{rate} visits a day ({seconds:.0f} CPU-seconds for all):", ""]
            parts.append(tracking_table(curves))
            if rate != case.rates[0]:
                continue
            shown = [curve for curve in curves if _drawn(curve.label)]
            measures = {name: DYNAMIC[name] for name in ("crawl", "discovery", "discovery-lift")}
            prefix = f"{case.name}-{rate}-"
            heading = f"{case.name}, {rate}/d, k = {case.top}"
            draw(shown, output, measures, "days", prefix=prefix, heading=heading)
            parts += [
                line
                for name, title in measures.items()
                for line in ("", f"![{title}, {heading}]({prefix}{name}.svg)")
            ]
    return "\n".join(parts) + "\n"


def _drawn(label: str) -> bool:
    expand, recrawl = label.split(", ")
    return expand == "crawl-gai" or recrawl in ("u", "or")


def tracking_table(curves: list[Curve]) -> str:
    found = {(curve.label, curve.measure): curve for curve in curves}
    rows = []
    for label in dict.fromkeys(curve.label for curve in curves):
        crawl, discovery = (found[label, name].rows.mean(axis=1) for name in ("crawl", "discovery"))
        frontier = found[label, "frontier-lift"].mean
        third = len(frontier) // 3
        rows.append(
            [
                f"`{label}`",
                *(f"{one.mean():.3f} ± {_error(one):.3f}" for one in (crawl, discovery)),
                *(
                    f"{found[label, name].mean.mean():.1f}"
                    for name in ("crawl-lift", "discovery-lift")
                ),
                f"{frontier[:third].mean():.1f}",
                f"{frontier[-third:].mean():.1f}",
            ]
        )
    heads = ["expand, recrawl", "crawl", "discovery", "crawl lift", "discovery lift"]
    return markdown([*heads, "frontier early", "late"], rows)


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def say(line: str) -> None:
    print(line, file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", choices=("static", "tracking"))
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        if args.only != "tracking":
            text = static(args.data, Path(scratch), args.output, args.repeat)
            (args.output / "static.md").write_text(text, encoding="utf-8")
        if args.only != "static":
            text = dynamic(args.data, Path(scratch), args.output, args.repeat)
            (args.output / "tracking.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
