"""``sonde data``: make graph folders from raw material, and describe them.

examples:
  sonde data build mediawiki dump.xml.bz2 --keyword jazz -o graph/
  sonde data stats graph/

sonde data build --help and sonde data stats --help say more.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sonde.cli import subcommand
from sonde.cli._print import harmless
from sonde.errors import InputError

if TYPE_CHECKING:
    from sonde.data import Recipe

# The readers of pages, dumps and archives are imported where they are used: other commands, whose
# parsers are made along with these, need not wait for them.

_KINDS = ("mediawiki", "html", "posts", "edges")


def add_options(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    _add_build(subcommand(actions, "build", run_build))
    _add_stats(subcommand(actions, "stats", run_stats))


def _add_build(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=_KINDS, help="what the source is")
    parser.add_argument("source", type=Path, help="a file (html: or a folder)")
    parser.add_argument(
        "--keyword",
        action="append",
        default=[],
        metavar="WORD",
        help="a phrase, or several with commas between; repeat for a graph each",
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("graph"), help="(default: graph)")
    parser.add_argument(
        "--text", action="store_true", help="keep the words of links, and the text of nodes"
    )
    parser.add_argument("--jobs", type=int, metavar="N", help="processes (default: all cores)")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    parser.add_argument("--json", action="store_true", help="print what about.json says, as a list")
    parser.add_argument(
        "--namespace",
        action="append",
        metavar="N",
        help="mediawiki: pages of this namespace are nodes; repeat, or all (default: 0)",
    )
    parser.add_argument("--base", metavar="URL", help="html: where the folder lives on the Web")
    parser.add_argument(
        "--columns",
        metavar="LIST",
        help="posts: field=column,... for author, text, time, mentions; edges: names in order",
    )
    parser.add_argument("--nodes", type=Path, metavar="FILE", help="edges: a table of nodes")
    parser.add_argument(
        "--score",
        action="append",
        metavar="SPEC",
        help="edges: column:NAME, in-degree (default) or topical; repeat for a graph each",
    )
    parser.add_argument("--f", action="store_true", help="edges: scores through f(x) = 1 + ln x")
    parser.add_argument("--time", metavar="COLUMN", help="edges: keep these times on every edge")
    parser.add_argument(
        "--keep",
        metavar="LIST",
        help="edges: further columns to keep, as text (default: all; none for none)",
    )
    parser.add_argument("--seed", type=int, help="edges: of --score topical (default: 0)")
    parser.add_argument("--share", type=float, help="edges: of nodes on the topic (default: 0.03)")


def _add_stats(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("graphs", type=Path, nargs="+", metavar="graph", help="graph folders")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--latex", action="store_true", help="LaTeX tables")
    form.add_argument("--json", action="store_true", help="one JSON object")
    form.add_argument("--csv", action="store_true", help="one row a value")


_OF_KIND = {
    "namespace": ("mediawiki",),
    "base": ("html",),
    "columns": ("posts", "edges"),
    "nodes": ("edges",),
    "score": ("edges",),
    "f": ("edges",),
    "time": ("edges",),
    "keep": ("edges",),
    "seed": ("edges",),
    "share": ("edges",),
    "keyword": ("mediawiki", "html", "posts"),
    "text": ("mediawiki", "html", "posts"),
}


def run_build(args: argparse.Namespace) -> int:
    """Make a graph folder out of a dump, pages, posts or an edge list.

    examples:
      sonde data build mediawiki dump.xml.bz2 --keyword jazz --keyword "sea level, tide" -o graphs/
      sonde data build html pages.tar.xz --keyword physics --text -o graph/
      sonde data build posts posts.jsonl.gz --keyword happy --columns author=user.name -o graph/
      sonde data build edges edges.tsv --nodes nodes.tsv --score column:happy --f -o graph/
      sonde data build edges snap.txt.gz --columns source,target,time --time time --score in-degree

    kinds:
      mediawiki  an XML export or dump (.xml, .bz2, .zst, ...): a node a page, an edge a wikilink
      html       a folder, tar archive, WARC or WACZ file of pages, or a run: an edge a hyperlink
      posts      messages (TSV, CSV, JSON lines, SNAP T/U/W): a node an account, an edge a mention
      edges      an edge list: scores from a column, from in-degree, or drawn from a seed

    One keyword makes one graph folder; several make one each, inside the output folder.
    """
    from sonde.data import build

    for option, kinds in _OF_KIND.items():
        if getattr(args, option) and args.kind not in kinds:
            raise InputError(f"--{option} is for {' and '.join(kinds)}, not for {args.kind}")
    if args.jobs is not None and args.jobs < 1:
        raise InputError(f"--jobs must be 1 or more, not {args.jobs}")
    try:
        built = build(_recipe(args), args.output, jobs=args.jobs, quiet=args.quiet)
    except KeyboardInterrupt:
        print("sonde: stopped, nothing was written", file=sys.stderr)
        return 130
    if args.json:
        print(json.dumps(built.about))
        return 0
    for folder, about in zip(built.folders, built.about, strict=True):
        counts = about["counts"]
        print(
            f"{harmless(str(folder))}:"
            f" {counts['nodes']:,} nodes ({counts['nonzero_nodes']:,} score),"
            f" {counts['edges']:,} edges ({counts['nonzero_edges']:,} score)"
        )
    for note in built.notes:
        print(f"sonde: {harmless(note)}", file=sys.stderr)
    for words, count in built.about[0]["problems"].items():
        print(f"sonde: {count:,} {words}", file=sys.stderr)
    return 0


def run_stats(args: argparse.Namespace) -> int:
    """Non-zero nodes and edges, correlations of the features with the scores, and R² of the linear
    models.

    example:
      sonde data stats graph/
      sonde data stats graphs/* --latex
    """
    from sonde.data import describe
    from sonde.data.stats import as_csv, as_latex, as_text

    found = [describe(folder) for folder in args.graphs]
    if args.json:
        print(json.dumps({"graphs": [each.as_json() for each in found]}))
    elif args.csv:
        print(as_csv(found), end="")
    elif args.latex:
        print(as_latex(found), end="")
    else:
        print(as_text(found), end="")
    return 0


def _kept(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    return () if text == "none" else tuple(filter(None, map(str.strip, text.split(","))))


def _recipe(args: argparse.Namespace) -> Recipe:
    from sonde.data import EdgeScores, Recipe

    if args.kind != "edges" and not args.keyword:
        raise InputError("no keyword: give at least one, as in --keyword jazz")
    parts = [part.strip() for part in (args.columns or "").split(",") if part.strip()]
    columns: dict[str, str] = {}
    if args.kind == "posts":
        for part in parts:
            name, equals, column = part.partition("=")
            if not equals or not column:
                raise InputError(f"--columns {part}: not field=column")
            columns[name] = column
    return Recipe(
        kind=args.kind,
        source=args.source,
        keywords=tuple(args.keyword),
        keep_text=args.text,
        namespaces=_namespaces(args.namespace),
        base=args.base,
        columns=columns,
        names=tuple(parts) if args.kind == "edges" and parts else None,
        nodes=args.nodes,
        time=args.time,
        kept=_kept(args.keep),
        scores=EdgeScores(
            tuple(args.score or ["in-degree"]),
            through_f=args.f,
            seed=args.seed or 0,
            share=0.03 if args.share is None else args.share,
        ),
    )


def _namespaces(given: list[str] | None) -> frozenset[int] | None:
    if given == ["all"]:
        return None
    try:
        return frozenset(map(int, given or ["0"]))
    except ValueError:
        raise InputError(f"--namespace {' '.join(given or [])}: numbers, or all alone") from None
