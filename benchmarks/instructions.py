"""How many instructions the hot loops of the kernels execute, kernel by kernel.

The same small work is done under valgrind, and for each kernel the instructions are added up that
are executed in its own code and in what it calls of Python and of C: a variable that has lost its C
type shows at once, however busy the machine is. ``tests/guard/instructions.json`` keeps what
is expected, and a test compares.

    python benchmarks/instructions.py              # print them
    python benchmarks/instructions.py --write      # and expect them from now on
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DAY = 86_400.0
HOT = 100_000
"""So many instructions are a hot loop; a kernel with fewer was only asked for in passing."""
EXPECTED = ROOT / "tests" / "guard" / "instructions.json"
ESTIMATORS = (
    "n:sum", "e:max", "ne:avg", "lnh", "lnh2", "deg", "opic", "nr", "url+lnh", "yield", "auto",
    "hybrid[ne,lnh,50]", "mab:eps=0.1[n,e,ne]", "hedge[n,e,ne]", "ridge", "ucb", "posterior",
    "hurdle",
)  # fmt: skip


def toolchain() -> str:
    """What the counts depend on besides the kernels."""
    compiler = subprocess.run(["cc", "-dumpfullversion"], capture_output=True, text=True).stdout
    return (
        f"{platform.machine()}, cc {compiler.strip()}, Cython {version('cython')}, "
        f"Python {'.'.join(platform.python_version_tuple()[:2])}"
    )


def missing() -> str | None:
    """Why nothing can be counted here, or ``None``."""
    needed = [name for name in ("valgrind", "vgdb") if shutil.which(name) is None]
    return f"needs {' and '.join(needed)}" if needed else None


# -- the work ------------------------------------------------------------------------------------


def work() -> list[Callable[[], object]]:
    """Small work for every hot loop, prepared but not done."""
    import numpy as np

    from sonde import Explorer, Graph, Link, Visit, simulate
    from sonde.authority.discovery import find
    from sonde.authority.timegraph import TimeGraph
    from sonde.authority.tracking import Tracker, track
    from sonde.data.wiki.wikipages import plain
    from sonde.lab.bounds import bound
    from sonde.link_words import link_words
    from sonde.scorers import KeywordMatcher, Topic
    from sonde.seeds.selection import select
    from sonde.sources.graph import topical
    from sonde.sources.main_text import SiteTemplates
    from sonde.sources.page import plain_page, read_html
    from sonde.sources.web.staleness import Staleness
    from sonde.sources.web.twins import printed

    graph = topical(3_000, 30_000, seed=7)
    dice = np.random.default_rng(7)
    arriving = TimeGraph.from_arrivals(
        (*dice.integers(0, 500, 2).tolist(), time)
        for time in np.linspace(0, 5 * DAY, 4_000).tolist()
    )
    vocabulary = ["".join(dice.choice(list("abcdeiotrnsl"), 7)) for _ in range(400)]

    edges = [
        (f"https://example.org/{one}", f"https://example.org/{other}", 0.5)
        for one, other in zip(*dice.integers(0, 300, (2, 2_000)).tolist(), strict=True)
    ]

    def explored(edges: list[tuple[str, str, float]]) -> None:
        links: dict[str, list[Link]] = {}
        for source, target, score in edges:
            links.setdefault(source, []).append(Link(target, score=score))
        explorer = Explorer(estimator="auto", budget=200, seed=1)
        explorer.add_seeds([edges[0][0]])
        while leases := explorer.ask():
            for lease in leases:
                explorer.tell(lease, Visit(score=1.0, links=links.get(str(lease.node), [])))

    def prose(count: int) -> str:
        return " ".join(dice.choice(vocabulary, count))

    head = "<!DOCTYPE html><html lang=en><head><title>A page</title></head><body>"
    body = "".join(
        f'<h2>{prose(4)}</h2><p class="x">{prose(40)} &amp; <a href="/{prose(1)}/{n}?q=1">'
        f"{prose(3)}</a></p><ul><li>{prose(5)}</li><li>{prose(5)}</li></ul>"
        for n in range(60)
    )
    pages = [f"{head}{body}</body></html>".encode(), f"{head}<b><i></b>{body}".encode()]
    wiki = "".join(
        f"== {prose(3)} ==\n'''{prose(8)}''' [[{prose(2)}|{prose(1)}]] {{{{box|a={prose(3)}}}}} "
        f"<ref>{prose(4)}</ref> <!-- {prose(3)} -->\n* {prose(9)} [[File:x.png|thumb|{prose(4)}]]\n"
        for _ in range(60)
    ).encode()

    def compared(text: str) -> bool:
        sites, staleness = SiteTemplates(), Staleness()
        for number in range(12):
            page = plain_page(f"{text} {number}", f"https://example.org/{number}")
            _, main = sites.judge(page)
            printed(main)
            staleness.observe(page.url, main, None)
        return True

    matcher = KeywordMatcher(Topic.of(", ".join(vocabulary[:8])).phrases)
    text = prose(4_000)
    return [
        *(
            lambda estimator=estimator: simulate(
                graph, random_seeds=5, estimator=estimator, budget=1_500, seed=1
            )
            for estimator in ESTIMATORS
        ),
        lambda: [read_html(page, "https://example.org/a/b.html", 1_000) for page in pages],
        lambda: [plain(bytearray(wiki), len(wiki), lambda _: "") for _ in range(4)],
        # Many times: what the system's allocator tidies up would otherwise be seen.
        lambda: [[matcher.spans(text) for _ in range(12)], compared(text)],
        lambda: [link_words(prose(4), f"https://example.org/{word}") for word in vocabulary],
        lambda: [select(graph, 5, hops=3, method=name) for name in ("greedy", "maxweight:2")],
        lambda: [
            find(graph, top=20, method=name, budget=500)
            for name in ("crawl-gai", "crawl-ai", "sample-i")
        ],
        lambda: bound(graph, np.arange(5), 50, rounds=5),
        lambda: Graph.from_edges(edges),
        lambda: explored(edges),
        lambda: track(arriving, Tracker(window=DAY, rate=200 / DAY), seed=1),
    ]


def run() -> None:
    """Do the work; only what is done is counted."""
    prepared = work()
    for each in prepared:
        each()  # what is only done once, such as imports, is done
    gc.collect()
    gc.disable()  # it would be counted for whichever kernel happens to call it
    switch = subprocess.Popen(["vgdb", f"--pid={os.getpid()}", "instrumentation", "on"])
    while switch.poll() is None:  # not blocked: valgrind hears only a process that runs
        pass
    for each in prepared:
        each()


# -- counting ------------------------------------------------------------------------------------


def count(package: Path | None = None) -> dict[str, int]:
    """Instructions by kernel, of the kernels of a package."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder, "callgrind.out")
        subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                "--instr-atstart=no",
                f"--callgrind-out-file={found}",
                sys.executable,
                __file__,
                "--run",
            ],
            env=os.environ
            | {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "PYTHONMALLOC": "malloc"}
            | {"PYTHONPATH": str(package or ROOT / "src")},
            check=True,
            capture_output=True,
        )
        return by_kernel(found.read_text(encoding="utf-8"))


_KERNEL = re.compile(r"sonde/kernels/(.+?)\.[^/]*$")
_NAMED = re.compile(r"(ob|cob|fl|fi|fe|fn|cfi|cfl|cfn)=(\(\d+\))?(?: ?(.+))?$")


def by_kernel(profile: str) -> dict[str, int]:
    """Add up a profile: what a kernel executes itself, and what it calls that is no kernel."""
    names: dict[str, str] = {}  # objects are named once, and then by their number
    counts: Counter[str] = Counter()
    here = called = ""
    calling = False
    for line in profile.splitlines():
        if found := _NAMED.match(line):
            kind, number, name = found.groups()
            if kind in ("ob", "cob"):
                if name and number:
                    names[number] = name
                place = names.get(number or "", name or "")
                if kind == "ob":
                    here = place
                else:
                    called = place
            elif kind == "cfn" and not called:
                called = here
        elif line.startswith("calls="):
            calling = True
        elif line[:1].isdigit() or line[:1] in {"+", "-", "*"}:
            kernel = _KERNEL.search(here)
            if kernel and not (calling and _KERNEL.search(called)):
                _, *cost = line.split()  # nothing is written for none
                counts[kernel[1].replace("/", ".")] += int(cost[0]) if cost else 0
            if calling:
                called = ""
            calling = False
    return dict(sorted(counts.items()))


def main() -> None:
    """Count, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--write", action="store_true", help="expect these from now on")
    args = parser.parse_args()
    if args.run:
        run()
        return
    if (why := missing()) is not None:
        sys.exit(why)
    counts = count()
    for kernel, instructions in counts.items():
        print(f"{kernel:<28} {instructions:>14,}")
    if args.write:
        EXPECTED.parent.mkdir(exist_ok=True)
        hot = {kernel: found for kernel, found in counts.items() if found >= HOT}
        kept = {"toolchain": toolchain(), "instructions": hot}
        EXPECTED.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
