"""``sonde export``: write a run for other programs. Also while the crawl is going on: what is
exported then is the run as it stood when the export began.

examples:
  sonde export run/ --parquet tables/
  sonde export run/ --jsonl pages.jsonl --markdown
  sonde export run/ --records records.csv
  sonde export run/ --records prices.jsonl --fields fields.toml
  sonde export run/ --dataset out/
  sonde export run/ --passages answer.md --question "how is sea level measured?" --tokens 8000
  sonde export run/ --wacz pages.wacz
  sonde export run/ --graph graph/ && sonde simulate graph/ --random-seeds 1 --budget 100

--parquet   visits (with text, language and hashes), links (with anchor text), ledger (one row a
            request's lease), not_taken (every URL that was seen and not visited, with the reason)
            and records
--csv       the same tables; a text that begins like a formula has an apostrophe before it
--jsonl     one object a page, with its text; - for standard output
--records   what a form, an API or pages hold (.jsonl, .csv or .parquet): id, source, url, title,
            text, fields. Where the crawl collected none: the structured data of its pages
--dataset   texts for language models in shards, each once, with languages, what is said of
            licences, and a datasheet
--passages  what answers a question, word for word, with where it stands
--graph     nodes with scores and edges with link scores, for sonde simulate
--wacz      the WARC files with an index and the list of pages, for replay tools
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sonde.cli._print import harmless
from sonde.errors import InputError
from sonde.meter import UNITS, Shown
from sonde.store.dataset import FORMATS
from sonde.store.export import Written, export

_TARGETS = ("parquet", "csv", "jsonl", "records", "dataset", "passages", "graph", "graphml", "wacz")


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run_folder", metavar="run", type=Path, help="a run folder")
    add("--parquet", type=Path, metavar="DIR", help="tables in a new folder")
    add("--csv", type=Path, metavar="DIR", help="the same tables as CSV, in a new folder")
    add(
        "--threshold",
        type=float,
        metavar="X",
        help="with --parquet or --csv: scores above it count as finds in the ledger (default: 0)",
    )
    add("--jsonl", metavar="FILE", help="pages with their text")
    add("--markdown", action="store_true", help="with --jsonl: the text as Markdown")
    add("--records", type=Path, metavar="FILE", help="records that were found")
    add("--fields", metavar="TOML", help="with --records: read these fields from archived pages")
    add("--dataset", type=Path, metavar="DIR", help="a data set for language models")
    add("--shards", choices=FORMATS, help=f"with --dataset: their format (default: {FORMATS[0]})")
    add(
        "--near",
        type=float,
        metavar="X",
        help="with --dataset: leave out texts that are so much alike (default: 0.9; 1: none but"
        " equal ones)",
    )
    add(
        "--passages", type=Path, metavar="FILE", help="what answers a question, cited (.md, .jsonl)"
    )
    add("--question", metavar="TEXT", help="with --passages: the question (default: the crawl's)")
    add("--tokens", type=int, metavar="N", help="with --passages: of all of them (default: 20,000)")
    add("--graph", type=Path, metavar="DIR", help="a new graph folder")
    add("--graphml", type=Path, metavar="FILE", help="the graph as GraphML")
    add("--wacz", type=Path, metavar="FILE", help="the pages as WACZ, for replay")


def run(args: argparse.Namespace) -> int:
    """Write what was asked for."""
    targets = {name: value for name in _TARGETS if (value := getattr(args, name)) is not None}
    if not targets:
        names = ", ".join(f"--{name}" for name in _TARGETS)
        raise InputError(f"nothing to export: give one of {names}")
    for name, wanted in (
        ("markdown", ("jsonl",)),
        ("threshold", ("parquet", "csv")),
        ("fields", ("records",)),
        ("shards", ("dataset",)),
        ("near", ("dataset",)),
        ("question", ("passages",)),
        ("tokens", ("passages",)),
    ):
        if getattr(args, name) not in (None, False) and not targets.keys() & set(wanted):
            raise InputError(f"--{name} goes with {' or '.join(f'--{each}' for each in wanted)}")
    options = {
        name: value
        for name in ("threshold", "fields", "shards", "near", "question", "tokens")
        if (value := getattr(args, name)) is not None
    }
    if options.get("near") == 1.0:
        options["near"] = None
    with _Display() as display:
        written = export(
            args.run_folder, markdown=args.markdown, progress=display.at, **targets, **options
        )
    for file in written:
        _say(file)
    return 0


def _say(file: Written) -> None:
    path = "standard output" if file.path == "-" else harmless(file.path)
    print(f"wrote {file.rows:,} row{'s' * (file.rows != 1)} to {path}", file=sys.stderr)
    for why, count in file.missing.items():
        have = "page has" if count == 1 else "pages have"
        print(f"sonde: {count:,} {have} no text: {harmless(why, 200)}", file=sys.stderr)
    for why, count in file.left_out.items():
        print(f"sonde: {count:,} left out: {harmless(why, 200)}", file=sys.stderr)


class _Display:
    """How far the file is that is being written."""

    def __init__(self) -> None:
        self._path = ""
        self._shown: Shown | None = None

    def at(self, path: str, done: int, total: int) -> None:
        """So many rows of a file are written."""
        if path != self._path:
            self.__exit__()
            self._path = path
            self._shown = Shown(harmless(path, 60), total, UNITS).__enter__()
        if self._shown is not None:
            self._shown.at(done)

    def __enter__(self) -> _Display:
        return self

    def __exit__(self, *problem: object) -> None:
        if self._shown is not None:
            self._shown.__exit__(None, None, None)
            self._shown = None
