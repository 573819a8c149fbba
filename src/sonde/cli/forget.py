"""``sonde forget``: remove a node from a run: its name, its title, its text, the texts of others
that have its name in them, and what its source kept of it. What was decided stays, under a number.
A crawl that goes on leaves it out.

example: sonde forget run/ alice@mastodon.example#1234
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from sonde.sources.kinds import possible_names
from sonde.store.forgetting import forget
from sonde.store.reader import RunReader, trace


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="run", type=Path, help="a run folder")
    parser.add_argument("node", metavar="NODE", help="as the run calls it; or by its own name")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Forget one node."""
    with RunReader(args.run_folder) as reader:
        names = possible_names(reader.meta("config") or {}, args.node)
        known = [name for name in names if trace(reader, name).state != "unknown"]
    texts = forget(args.run_folder, known[0] if known else args.node)
    if args.json:
        print(json.dumps({"forgotten": True, "texts": texts}))
    else:
        also = f", and {texts:,} texts that have its name in them" if texts else ""
        print(f"forgotten{also}")
    return 0
