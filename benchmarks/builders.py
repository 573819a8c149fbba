"""How fast graphs are built from raw material, against decompressing it and nothing else.

    python benchmarks/builders.py SOURCE... [--jobs 1 2] [--times 8] [-o FILE]

A source is a MediaWiki dump (``.xml...``), an archive of pages (``.tar...``, WARC, WACZ) or posts
(``.tsv...``). A ``.bz2`` dump is also read as one of many streams and as ``.zst``, and these are
made so many ``--times`` as long, under other titles, so that fixed costs do not weigh. A ``.tar``
of pages is also read as a folder and as a WARC file. Decompression, or reading where nothing is
compressed, is the standard library's (or zstandard's), on one thread, and its output is dropped.
Each figure is the best of some rounds.
"""

from __future__ import annotations

import argparse
import bz2
import io
import os
import re
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path

import zstandard
from machine import describe
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from sonde.data import Recipe, build
from sonde.data.streams import chunks, open_raw

KEYWORDS = ("music", "war", "software")
STEP = 1 << 16
PAGES = 100  # in each stream of a multistream dump
ROUNDS = 3


def decompressed(path: Path) -> int:
    """Bytes in a file or folder, decompressed by one thread and dropped."""
    if path.is_dir():
        return sum(len(file.read_bytes()) for file in path.rglob("*") if file.is_file())
    with open_raw(path) as raw:
        if path.suffix == ".bz2":
            return sum(map(len, _bunzip(iter(lambda: raw.read(STEP), b""))))
        return sum(map(len, chunks(raw, path.suffix, Counter())))


def _bunzip(pieces: Iterator[bytes]) -> Iterator[bytes]:
    reader = bz2.BZ2Decompressor()
    for piece in pieces:
        while piece:
            yield reader.decompress(piece)
            piece = b""
            if reader.eof:
                piece, reader = reader.unused_data, bz2.BZ2Decompressor()


def cpu() -> float:
    """CPU seconds of this process and of the workers that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def measured(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of the wall clock and of the processors, the best of some rounds."""
    found = []
    for _ in range(ROUNDS):
        began, busy = time.perf_counter(), cpu()
        work()
        found.append((time.perf_counter() - began, cpu() - busy))
    return min(wall for wall, _ in found), min(spent for _, spent in found)


def kind_of(path: Path) -> str:
    """What a file's name says that it is."""
    if ".xml" in path.suffixes:
        return "mediawiki"
    return "posts" if {".tsv", ".csv", ".jsonl"} & set(path.suffixes) else "html"


def built(path: Path, jobs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        build(Recipe(kind_of(path), path, KEYWORDS), Path(folder), jobs=jobs)


def multiplied(path: Path, times: int, folder: Path) -> list[Path]:
    """A dump made longer, as one stream, as many, and with zstd."""
    data = bz2.decompress(path.read_bytes())
    first = data.index(b"<page>")
    end = data.rindex(b"</page>") + len(b"</page>")
    head, pages, tail = data[:first], data[first:end], data[end:]
    copies = [
        re.sub(rb"(?=</title>)", b" (%d)" % number, pages) if number else pages
        for number in range(times)
    ]
    whole = b"\n".join([head, *copies, tail])
    name = path.name.removesuffix(".xml.bz2")
    single, several, zst = (
        folder / f"{name}{end}" for end in ("-single.xml.bz2", "-multistream.xml.bz2", ".xml.zst")
    )
    single.write_bytes(bz2.compress(whole))
    ends = [found.end() for found in re.finditer(b"</page>", whole)]
    cuts = [0, *ends[PAGES - 1 :: PAGES], len(whole)]
    several.write_bytes(b"".join(bz2.compress(whole[a:b]) for a, b in pairwise(cuts) if a < b))
    zst.write_bytes(zstandard.compress(whole, 9))
    return [single, several, zst]


def unpacked(path: Path, folder: Path) -> list[Path]:
    """An archive of pages as a folder and as a WARC file."""
    pages = folder / f"{path.name.partition('.')[0]}, a folder"
    warc = folder / f"{path.name.partition('.')[0]}.warc.gz"
    head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
    with tarfile.open(path) as archive, warc.open("wb") as out:
        writer = WARCWriter(out, gzip=True)
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is None or not member.name.endswith((".htm", ".html")):
                continue
            body = file.read()
            target = pages / member.name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(body)
            url = f"http://pages.example/{member.name}"
            writer.write_record(
                writer.create_warc_record(
                    url, "response", payload=io.BytesIO(body), http_headers=head
                )
            )
    return [pages, warc] if pages.exists() else []


def rows_of(path: Path, jobs: list[int]) -> Iterator[str]:
    size = decompressed(path) / 1e6
    wall, spent = measured(lambda: decompressed(path))
    yield (
        f"| {path.name} | {'reading' if path.is_dir() else 'decompression'} | {size:.0f} "
        f"| {wall:.2f} | {spent:.2f} "
        f"| {size / wall:.0f} | 1.00 | 1.00 |"
    )
    for count in jobs:
        whole, busy = measured(partial(built, path, count))
        yield (
            f"| | build, {count} job{'s' if count > 1 else ''} | | {whole:.2f} | {busy:.2f} "
            f"| {size / whole:.0f} | {whole / wall:.2f} | {busy / spent:.2f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sources", type=Path, nargs="+")
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, os.cpu_count() or 1])
    parser.add_argument("--times", type=int, default=8, help="how often a .bz2 dump is repeated")
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    lines = [
        "# Building graphs, against decompression",
        "",
        f"{describe()}. Keywords: {', '.join(KEYWORDS)}. Best of {ROUNDS}.",
        "",
        "| source | step | MB | s | CPU s | MB/s | times the decompression, wall | CPU |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        paths: list[Path] = []
        for path in args.sources:
            paths.append(path)
            if path.name.endswith(".xml.bz2"):
                paths += multiplied(path, args.times, Path(folder))
            elif ".tar" in path.suffixes:
                paths += unpacked(path, Path(folder))
        for path in paths:
            for row in rows_of(path, args.jobs):
                print(row, flush=True)
                lines.append(row)
    if args.output:
        args.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
