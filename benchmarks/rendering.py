"""What a browser brings and costs: three sites that need one, with --render auto, always, never.

    python benchmarks/rendering.py -o benchmarks/results/rendering.md

Each crawl is a process of its own with the same budget; requests are counted by the server, memory
is the most that the browser's processes held (Linux), looked at every half second.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "crawl"))

from crawl_sites import Handler, Site
from machine import describe
from script_sites import application, catalogue, mixed

from sonde.net.browser_watch import memory_of

SITES: dict[str, tuple[str, Handler]] = {
    "application": ("every page is drawn from an API", application(60)),
    "catalogue": ("a list that grows when it is scrolled, of plain pages", catalogue()),
    "mixed": ("a third plain, a third drawn, a third shells that stay empty", mixed()),
}


def browsers(folder: str) -> set[int]:
    """The process groups of browsers whose profile is in a folder."""
    groups = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if f"--user-data-dir={folder}".encode() in path.read_bytes():
                fields = (path.parent / "stat").read_text("latin-1").rpartition(")")[2].split()
                groups.add(int(fields[2]))
        except OSError:
            continue
    return groups


def crawled(site: Site, mode: str, budget: int) -> dict[str, float]:
    """One crawl: what it brought and cost."""
    before = site.total
    with tempfile.TemporaryDirectory() as folder:
        options = ["--topic", "tide gauge", "--budget", str(budget), "--allow-private"]
        options += ["--delay", "0.02", "--render", mode, "-o", f"{folder}/run", "--json"]
        said = Path(folder, "events")
        began = time.monotonic()
        with said.open("wb") as events:
            process = subprocess.Popen(
                [sys.executable, "-m", "sonde", "crawl", site.url("/"), *options],
                env={"PATH": "/usr/bin:/bin", "TMPDIR": folder, "PYTHONPATH": ":".join(sys.path)},
                stdout=events,
                stderr=subprocess.DEVNULL,
            )
        most = 0
        while process.poll() is None:
            most = max(most, sum(memory_of(group) for group in browsers(folder)))
            time.sleep(0.5)
        seconds = time.monotonic() - began
        last = json.loads(said.read_bytes().splitlines()[-1])
    return {
        "requests": site.total - before,
        "pages": last["visits"],
        "value": last["total"],
        "seconds": seconds,
        "memory": most / 1e6,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--budget", type=int, default=120)
    args = parser.parse_args()
    lines = [
        f"A budget of {args.budget} requests on loopback, 20 ms between requests.",
        "",
        "| site | --render | requests | pages | value | value a request | seconds | browser, MB |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, (_, handler) in SITES.items():
        for mode in ("never", "auto", "always"):
            with Site(handler) as site:
                got = crawled(site, mode, args.budget)
            assert got["requests"] <= args.budget
            lines.append(
                f"| {name} | {mode} | {got['requests']:.0f} | {got['pages']:.0f}"
                f" | {got['value']:.1f} | {got['value'] / max(1, got['requests']):.2f}"
                f" | {got['seconds']:.0f} | {got['memory']:.0f} |"
            )
            print(lines[-1], file=sys.stderr)
    lines += ["", *(f"- {name}: {what}" for name, (what, _) in SITES.items())]
    text = "\n".join(["# Rendering", "", describe(), "", *lines, ""])
    if args.output is None:
        print(text)
    else:
        args.output.write_text(text)
        guide = Path("docs/guides/rendering.md")
        table = "\n".join(lines)
        begin, end = "<!-- rendering.py -->", "<!-- end -->"
        old = guide.read_text()
        guide.write_text(
            re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n{table}\n{end}", old, flags=re.DOTALL)
        )


if __name__ == "__main__":
    main()
