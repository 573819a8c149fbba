"""What ``sonde explain`` costs on a long run, and against telling its log from the start.

A run is made through the logbook, row by row as a live crawl writes it, from a generated site:
every page links to 20 others, half of them near to it. Then pages are explained that were decided
at some distance from the end, each by a process of its own, start-up included.

    python benchmarks/explain.py --pages 100000 -o benchmarks/results/explain.md
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from machine import describe

from sonde.crawling.logbook import Logbook
from sonde.crawling.retelling import explorer_of
from sonde.crawling.settings import Settings
from sonde.records import LinkColumns, Spend
from sonde.sources.facts import PageFacts, PageVisit
from sonde.store.reader import RunReader, trace
from sonde.store.run import Run

HOSTS = 200
LINKS = 20
FROM_END = (1, 100, 1_000, 2_500, 5_000)
"""How many leases before the end the explained pages were decided."""


def url(number: int) -> str:
    """The URL of a page."""
    return f"https://www.host-{number % HOSTS}.example/section-{number % 97}/page-{number}.html"


def visit(number: int, pages: int) -> PageVisit:
    """What a page brings: whatever it says follows from its number."""
    dice = random.Random(number)
    targets, scores = [], []
    for _ in range(LINKS):
        near = dice.random() < 0.5
        target = (7 * number + dice.randrange(60) if near else dice.randrange(pages)) % pages
        score = float(dice.randrange(4) == 0)
        targets.append(target)
        scores.append(score)
    urls = [url(target) for target in targets]
    words = [bytes([target % 250, 0, target % 7, 1]) for target in targets]
    links = LinkColumns(urls, scores, [each.split("/")[2] for each in urls], words)
    facts = PageFacts(url(number), 200, "text/html", "en", f"Page {number}")
    score = float(dice.randrange(5) == 0)
    return PageVisit(score, links, spent=Spend(requests=1, bytes=8_000), facts=facts)


def make_run(folder: Path, pages: int, estimator: str) -> tuple[int, float]:
    """A finished run over a site five times as large; the nodes it knows, and CPU seconds."""
    settings = Settings(estimator=estimator, seed=3, budget=pages)
    kind = {"grouped": True, "nouns": ["page", "pages"]}
    config = settings.as_data() | {"source": "web", "options": {}, "seeds": [url(0)], "kind": kind}
    began = time.process_time()
    with Run.create(folder, config) as run:
        logbook = Logbook(explorer_of(settings, grouped=True), run, Spend(requests=1))
        logbook.add_seeds([(url(0), url(0).split("/")[2])])
        asked = 0
        while (lease := logbook.ask(None)) is not None:
            number = int(str(lease.node).rpartition("-")[2].removesuffix(".html"))
            logbook.tell(lease, visit(number, 5 * pages), 0.1)
            asked += 1
            if asked % 20 == 0:
                logbook.commit()
        run.journal.meta("stop", "budget")
        logbook.commit()
        return logbook.explorer.driver.known, time.process_time() - began


def explained(folder: Path, page: str, *options: str) -> float:
    """CPU seconds of one explanation."""
    before = os.times()
    subprocess.run(
        [sys.executable, "-m", "sonde", "explain", str(folder), page, *options],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    after = os.times()
    spent = after.children_user - before.children_user
    return spent + after.children_system - before.children_system


def measure(folder: Path, repeat: int) -> list[str]:
    """Rows of the table: CPU seconds by how far from the end a page was decided."""
    rows = []
    with RunReader(folder) as run:
        last = run.count("SELECT max(number) FROM leases")
        chosen = {}
        for distance in FROM_END:
            found = run.one(
                "SELECT url FROM leases JOIN nodes ON nodes.number = leases.node"
                " WHERE leases.number = ?",
                last - distance + 1,
            )
            assert found is not None
            chosen[distance] = str(found[0])
        seen = {distance: trace(run, page).parents for distance, page in chosen.items()}
    for distance, page in chosen.items():
        times = sorted(explained(folder, page) for _ in range(repeat))
        whole = explained(folder, page, "--from-start")
        median = times[len(times) // 2]
        rows.append(
            f"| {distance:,} | {len(seen[distance])} | {median:.2f} | {times[-1]:.2f} |"
            f" {whole:.2f} | {whole / median:.0f} |"
        )
    return rows


def main() -> None:
    """Make a run, explain some of its pages, and write what that took."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--estimator", default="auto")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--run", type=Path, help="keep the run in this folder, or use it if there")
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.run or Path(scratch) / "run"
        made = ""
        if not folder.exists():
            known, seconds = make_run(folder, args.pages, args.estimator)
            made = f" It knows {known:,} URLs, and took {seconds:.0f} s of CPU to make."
        size = sum(path.stat().st_size for path in (folder / "checkpoints").iterdir())
        lines = [
            "# Explaining a page of a long run",
            "",
            f"`python benchmarks/explain.py --pages {args.pages} --estimator {args.estimator}`",
            f"on {describe()}.",
            "",
            f"A run of {args.pages:,} pages.{made} Its checkpoints take {size / 1e6:.0f} MB.",
            "CPU seconds of `sonde explain RUN URL`, start-up included; the same with",
            "`--from-start`, which tells all of the log, once.",
            "",
            "| leases before the end | linked by | median | most | from the start | ratio |",
            "|---:|---:|---:|---:|---:|---:|",
            *measure(folder, args.repeat),
        ]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if args.output is not None:
        args.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
