"""Regenerates the measured part of docs/results/seeds.md, and its figures.

    python benchmarks/seeds_results.py DATA [--packages FOLDER] [-o docs/results]

DATA holds ``webkb-html.tar.xz`` and ``cnr-2000-edges.tsv.xz``; FOLDER a sub-folder for each
documentation package, unpacked (``apt-get download`` and ``dpkg-deb -x`` will do).
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import seeds_sites

from sonde.seeds import Comparison, ComparisonPlan, Method, compare
from sonde.seeds.comparison import (
    OBJECTIVES,
    TITLES,
    anatomy_table,
    draw,
    improvement_table,
    markdown,
)
from sonde.seeds.methods import ALL

MARK = "<!-- measured: all below is written by benchmarks/seeds_results.py -->"
PUBLISHED = ("random", "pagerank", "outdegree", "maxout", "maxweight:2", "maxscc:2", "rootscc:2")
POINTS = (("seeds", 1), ("seeds", 5), ("seeds", 10), ("hops", 1), ("hops", 3), ("hops", 5))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--packages", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/results"))
    args = parser.parse_args()
    numbers = tuple(range(1, 11)), tuple(range(1, 6))
    plan = ComparisonPlan(tuple(Method.parse(method) for method in ALL), *numbers)
    parts = []
    for title, prefix, wholes in (
        ("Real sites", "real", list(_real(args))),
        ("Generated sites", "generated", list(seeds_sites.generated())),
    ):
        sites = [seeds_sites.hidden(whole, seed) for seed, whole in enumerate(wholes)]
        print(f"{title}: {len(sites)}", file=sys.stderr)
        found = compare(sites, plan)
        draw(found, args.output / "seeds", f"{prefix}-")
        parts += _section(title, prefix, found, per_site=prefix == "real")
    page = args.output / "seeds.md"
    reading = page.read_text(encoding="utf-8").partition(MARK)[0] if page.exists() else ""
    page.write_text(reading + MARK + "\n\n" + "\n\n".join(parts) + "\n", encoding="utf-8")


def _real(args: argparse.Namespace) -> Iterator[seeds_sites.Whole]:
    yield from seeds_sites.webkb(args.data / "webkb-html.tar.xz")
    if args.packages is not None:
        yield from seeds_sites.packages(args.packages)
    yield from seeds_sites.ranges(args.data / "cnr-2000-edges.tsv.xz")


def _section(title: str, prefix: str, found: Comparison, per_site: bool) -> list[str]:
    parts = [f"## {title}: {len(found.sites)}", "### The published claims", _claims(found)]
    for objective in OBJECTIVES:
        for axis, fixed in (("seeds", "5 hops"), ("hops", "5 seeds")):
            parts += [
                f"### {TITLES[objective]}: improvement over random, %, {fixed}",
                f"![{TITLES[objective]} by {axis}](seeds/{prefix}-{objective}-{axis}.svg)",
                improvement_table(found, objective, axis),
            ]
    parts += ["### Shares covered and seeds chosen, 5 hops, up to 10 seeds", _shares(found)]
    parts.append("### Strongly connected components of the known part, by number of pages")
    if per_site:
        parts.append(anatomy_table(found.sites))
    else:
        parts.append(_quartiles(found))
    return parts


def _claims(found: Comparison) -> str:
    """Each claim as a lead in percentage points of improvement over random."""
    claims = [
        ("MaxOut best on pages", "pages", "maxout", _others("maxout")),
        ("MaxWeight best on value", "value", "maxweight:2", _others("maxweight:2")),
        ("d = 2 as good as d = 3 on value", "value", "maxweight:2", ("maxweight:3",)),
        ("RootSCC below OutDegree on value", "value", "outdegree", ("rootscc:2",)),
        ("PageRank below OutDegree on pages", "pages", "outdegree", ("pagerank",)),
        ("PageRank below OutDegree on value", "value", "outdegree", ("pagerank",)),
        ("greedy adds to MaxOut on pages", "pages", "greedy", ("maxout",)),
        ("greedy adds to MaxWeight on value", "value", "greedy", ("maxweight:2",)),
        ("sketch equals greedy on pages", "pages", "sketch", ("greedy",)),
        ("sketch equals greedy on value", "value", "sketch", ("greedy",)),
    ]
    head = ["lead, in points of improvement", *(f"{at} {axis}" for axis, at in POINTS)]
    rows = []
    for text, objective, method, others in claims:
        row = [text]
        for axis, at in POINTS:
            leads = {other: found.lead(objective, axis, at, method, other) for other in others}
            closest = min(leads, key=lambda other: leads[other][0])
            lead, error = leads[closest]
            against = f" ({closest})" if len(others) > 1 else ""
            row.append(f"{lead:+.1f} ± {0 if math.isnan(error) else error:.1f}{against}")
        rows.append(row)
    return markdown(head, rows)


def _others(method: str) -> tuple[str, ...]:
    return tuple(other for other in PUBLISHED if other != method)


def _shares(found: Comparison) -> str:
    rows = []
    for method in found.methods:
        row = [method]
        for objective in OBJECTIVES:
            last = found.curve(objective, "seeds", method)[-1]
            row += [f"{100 * last.share:.1f}", f"{last.chosen:.1f}"]
        rows.append(row)
    return markdown(["method", "pages, %", "seeds", "value, %", "seeds"], rows)


def _quartiles(found: Comparison) -> str:
    rows = []
    for title, field in (
        ("pages", "pages"),
        ("links", "links"),
        ("components", "components"),
        ("largest component", "largest"),
        ("root components", "roots"),
        ("components of 1 page", "single"),
        ("of 2-9", "below_10"),
        ("of 10-99", "below_100"),
        ("of 100 or more", "larger"),
    ):
        counts = [getattr(site, field) for site in found.sites]
        rows.append([title, *(f"{q:.0f}" for q in np.percentile(counts, [0, 25, 50, 75, 100]))])
    return markdown(["over the sites", "least", "25 %", "median", "75 %", "most"], rows)


if __name__ == "__main__":
    main()
