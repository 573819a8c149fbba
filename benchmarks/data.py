"""How fast graphs are built from raw material, against decompressing it and nothing else.

    python benchmarks/data.py SOURCE... [--jobs 1 2 4]

A source is a MediaWiki dump (``.xml...``), an archive of pages (``.tar...``, WARC, WACZ) or posts
(``.tsv...``). Megabytes are of what comes out of the decompressor; seconds are of the wall clock,
those of workers' start included. CPU seconds, with those of the workers, tell what a machine with
other guests would have said without them.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter
from pathlib import Path

from sonde.lab.data import Recipe, build
from sonde.lab.data.streams import chunks, open_raw

KEYWORDS = ("music", "war", "software")


def decompressed(path: Path) -> int:
    """Bytes in a file, decompressed and dropped."""
    with open_raw(path) as raw:
        return sum(map(len, chunks(raw, path.suffix, Counter())))


def cpu() -> float:
    """CPU seconds of this process and of the workers that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def kind_of(path: Path) -> str:
    """What a file's name says that it is."""
    if ".xml" in path.suffixes:
        return "mediawiki"
    return "posts" if {".tsv", ".csv", ".jsonl"} & set(path.suffixes) else "html"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sources", type=Path, nargs="+")
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, os.cpu_count() or 1])
    args = parser.parse_args()
    print(f"{'source':36} {'step':>14} {'MB':>7} {'s':>7} {'MB/s':>7} {'CPU s':>7}")
    for path in args.sources:
        steps = [("decompression", 0), *((f"build, {jobs} jobs", jobs) for jobs in args.jobs)]
        size = 0.0
        for step, jobs in steps:
            began, busy = time.perf_counter(), cpu()
            if not jobs:
                size = decompressed(path) / 1e6
            else:
                with tempfile.TemporaryDirectory() as folder:
                    build(Recipe(kind_of(path), path, KEYWORDS), Path(folder), jobs=jobs)
            wall, spent = time.perf_counter() - began, cpu() - busy
            print(
                f"{path.name[:36]:36} {step:>14} {size:7.1f} {wall:7.2f} {size / wall:7.1f}"
                f" {spent:7.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
