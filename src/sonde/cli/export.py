"""``sonde export``: write a run for other programs. Also while the crawl is going on: what is
exported then is the run as it stood when the export began.

examples:
  sonde export run/ --parquet tables/
  sonde export run/ --jsonl pages.jsonl --markdown
  sonde export run/ --wacz pages.wacz
  sonde export run/ --graph graph/ && sonde simulate graph/ --random-seeds 1 --budget 100

--parquet   visits, links, ledger (one row a request's lease) and not_taken (every URL that was
            seen and not visited, with the reason)
--jsonl     one object a page, with its main text; - for standard output
--graph     nodes with scores and edges with link scores, for sonde simulate
--wacz      the WARC files with an index and the list of pages, for replay tools
"""

from __future__ import annotations

import argparse
import io
import sys
from functools import partial
from pathlib import Path

from sonde.errors import InputError
from sonde.sources.web.markdown import text_of
from sonde.store.export import (
    export_graph,
    export_graphml,
    export_lines,
    export_parquet,
    kept_pages,
    write_lines,
)
from sonde.store.reader import RunReader
from sonde.store.wacz import export_wacz


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="run", type=Path, help="a run folder")
    parser.add_argument("--parquet", type=Path, metavar="DIR", help="tables in a new folder")
    parser.add_argument(
        "--threshold",
        type=float,
        metavar="X",
        help="with --parquet: scores above it count as finds in the ledger (default: 0)",
    )
    parser.add_argument("--jsonl", metavar="FILE", help="pages with their main text")
    parser.add_argument(
        "--markdown", action="store_true", help="with --jsonl: the text as Markdown"
    )
    parser.add_argument("--graph", type=Path, metavar="DIR", help="a new graph folder")
    parser.add_argument("--graphml", type=Path, metavar="FILE", help="the graph as GraphML")
    parser.add_argument("--wacz", type=Path, metavar="FILE", help="the pages as WACZ, for replay")


def run(args: argparse.Namespace) -> int:
    """Write what was asked for."""
    if not (args.parquet or args.jsonl or args.graph or args.graphml or args.wacz):
        raise InputError("nothing to export: give --parquet, --jsonl, --graph, --graphml or --wacz")
    if args.markdown and not args.jsonl:
        raise InputError("--markdown goes with --jsonl")
    if args.threshold is not None and not args.parquet:
        raise InputError("--threshold goes with --parquet")
    with RunReader(args.run_folder) as reader:
        if args.parquet:
            export_parquet(reader, args.parquet, args.threshold or 0.0)
        if args.graph:
            export_graph(reader, args.graph)
        if args.graphml:
            export_graphml(reader, args.graphml)
        if args.wacz:
            export_wacz(reader, args.wacz)
        if args.jsonl:
            _export_lines(reader, args.jsonl, args.markdown)
    return 0


def _export_lines(reader: RunReader, target: str, markdown: bool) -> None:
    archived, pages = kept_pages(reader)
    if markdown and pages and not archived:
        raise InputError(f"{reader.folder}: kept no pages, and Markdown is made of them")
    prose = partial(text_of, markdown=markdown)
    if target == "-":
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")  # JSON is, whatever the terminal
        missing = write_lines(reader, sys.stdout, prose, stored_text=not markdown)
    else:
        missing = export_lines(reader, Path(target), prose, stored_text=not markdown)
    if missing:
        print(f"sonde: {missing:,} pages have no text that could be read", file=sys.stderr)
