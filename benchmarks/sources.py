"""Which estimator brings most for the same budget on social APIs and search forms, and whether
windows are used to the full and sizes are estimated well.

    python benchmarks/sources.py [PART ...] [--posts FILE] [--pages FOLDER] [-o PAGE]

The network is a server on loopback that answers with real posts (`time, author, text`) in the
shapes of Mastodon's API; the databases are SQLite's full-text index over the pages of FOLDER, and
over the docstrings of Python's standard library, behind search forms. Everything goes through the
same crawl as in use: client, windows, run folder in memory. The tables of a part (accounts,
windows, databases; all without a name) take the place of those between its marks in the file.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import machine

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "crawl"))

from crawl_sites import Site
from search_server import Engine, docstrings
from social_server import POSTS, Network, Windows, read_posts

from sonde.crawling import Crawl, Settled
from sonde.estimators import DEFAULT
from sonde.sources.page import read_page

ESTIMATORS = (
    "random", "bfs", "deg", "n", "e", "ne", "opic", "lnh", "mab:eps=0.1[n,e,ne,lnh]", DEFAULT,
)  # fmt: skip
TOPICS = ("health care", "climate", "veterans")
WORDS = {"manual": ("index", "password", "trigger"), "docstrings": ("file", "thread", "parser")}
QUIET: dict[str, Any] = {"allow_private": True, "contact": "benchmarks@localhost"}
PARTS = ("accounts", "windows", "databases")


def totals(crawl: Crawl, marks: Iterable[int], gains: list[tuple[int, float]]) -> list[float]:
    """Run a crawl; what it had brought when so many requests were spent."""
    crawl.run_to_end()
    found = []
    for mark in marks:
        spent, value = 0, 0.0
        for requests, gain in gains:
            spent += requests
            if spent > mark:
                break
            value += gain
        found.append(value)
    return found


def measured(make: Callable[[Callable[[Any], None]], Crawl], marks: Iterable[int]) -> list[float]:
    """The totals of a crawl that `make` makes, given somebody who listens to it."""
    gains: list[tuple[int, float]] = []

    def hear(event: Any) -> None:
        if isinstance(event, Settled):
            gains.append((event.requests, event.gain))

    return totals(make(hear), marks, gains)


def table(heads: list[str], rows: list[list[str]]) -> list[str]:
    """A table in Markdown; the first column is text."""
    return [
        f"| {' | '.join(heads)} |",
        f"|---|{'---:|' * (len(heads) - 1)}",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
    ]


def bold_best(columns: list[list[float]]) -> list[list[str]]:
    """Numbers as text by column, the largest of each in bold."""
    return [
        [f"**{value:,.0f}**" if value == max(column) else f"{value:,.0f}" for value in column]
        for column in columns
    ]


def social(posts: list[tuple[str, str]], budget: int) -> list[str]:
    """The estimators on the network, by topic."""
    columns: list[list[float]] = []
    for topic in TOPICS:
        column = []
        with Site(Network(posts, headers="none")) as site:
            for estimator in ESTIMATORS:
                found = [
                    measured(
                        lambda hear, t=topic, e=estimator, s=seed: Crawl(  # type: ignore[misc]
                            f"mastodon:{site.url('')}",
                            options={"pages": 1},
                            topic=t,
                            budget=budget,
                            estimator=e,
                            seed=s,
                            concurrency=1,
                            requests=1_000_000,
                            per=1,
                            duration="1h",
                            on_event=hear,
                            **QUIET,
                        ),
                        [budget],
                    )[0]
                    for seed in (range(3) if estimator[:3] in ("ran", "mab") else range(1))
                ]
                column.append(statistics.mean(found))
                print(f"social {topic} {estimator}: {column[-1]:.1f}", file=sys.stderr)
        columns.append(column)
    cells = bold_best(columns)
    rows = [
        [f"`{estimator}`", *(column[place] for column in cells)]
        for place, estimator in enumerate(ESTIMATORS)
    ]
    return table(["estimator", *TOPICS], rows)


def forms(name: str, records: list[tuple[str, str]], marks: tuple[int, ...]) -> list[str]:
    """The estimators on a database, by the distinct records that so many requests brought."""
    engine = Engine(records)
    found: dict[str, list[float]] = {}
    with Site(engine) as site:
        for estimator in ESTIMATORS:
            runs = [
                measured(
                    lambda hear, e=estimator, w=word, s=number: Crawl(  # type: ignore[misc]
                        f"form:{site.url('/')}",
                        seeds=[w],
                        budget=max(marks),
                        estimator=e,
                        seed=s,
                        delay=0,
                        on_event=hear,
                        **QUIET,
                    ),
                    marks,
                )
                for number, word in enumerate(WORDS[name])
            ]
            found[estimator] = [statistics.mean(values) for values in zip(*runs, strict=True)]
            print(f"form {name} {estimator}: {found[estimator]}", file=sys.stderr)
    cells = bold_best([[found[e][place] for e in ESTIMATORS] for place in range(len(marks))])
    rows = [
        [f"`{estimator}`", *(column[place] for column in cells)]
        for place, estimator in enumerate(ESTIMATORS)
    ]
    heads = ["estimator", *(f"{mark:,} requests" for mark in marks)]
    return [f"{engine.size:,} records.", "", *table(heads, rows)]


def sizes(name: str, records: list[tuple[str, str]], marks: tuple[int, ...]) -> list[str]:
    """How well the size of a database is estimated as a crawl goes."""
    engine = Engine(records)
    rows = []
    with Site(engine) as site:
        for mark in marks:
            crawl = Crawl(
                f"form:{site.url('/')}", seeds=[WORDS[name][0]], budget=mark, delay=0, **QUIET
            )
            crawl.run_to_end()
            assert crawl.session is not None
            facts = crawl.session.hooks.facts()
            rows.append(
                [
                    f"{mark:,}",
                    f"{facts['records']:,}",
                    f"{facts['database']:,}",
                    f"{facts['database_low']:,} to {facts['database_high']:,}",
                    f"{facts['siphoned']:.0%}",
                    f"{facts['records'] / engine.size:.0%}",
                ]
            )
    heads = ["requests", "records", "estimate", "interval", "share by estimate", "true share"]
    return [f"{engine.size:,} records.", "", *table(heads, rows)]


def windows(posts: list[tuple[str, str]]) -> list[str]:
    """How many requests leave under windows, beside n = kT/d, and how many were too many."""
    rows = []
    for most, seconds, tokens in ((20, 1.0, 1), (20, 1.0, 3), (100, 2.0, 1)):
        names = tuple(f"token-{number}" for number in range(tokens))
        os.environ.update({name.replace("-", "_"): name for name in names})
        network = Network(posts, windows={"all": Windows(most, seconds)}, tokens=names)
        with Site(network) as site:
            began = time.monotonic()
            crawl = Crawl(
                f"mastodon:{site.url('')}",
                topic=TOPICS[0],
                options={"tokens": [f"env:{name.replace('-', '_')}" for name in names]},
                requests=most * tokens,
                per=seconds,
                duration=8.0,
                **QUIET,
            )
            crawl.run_to_end()
            took = time.monotonic() - began
        planned = round(most * tokens * 8.0 / seconds)
        rows.append(
            [
                f"{most} in {seconds:g} s, {tokens} token{'s' if tokens > 1 else ''}",
                f"{planned:,}",
                f"{len(network.asked):,}",
                f"{took:.1f} s",
                str(len(network.over)),
            ]
        )
    heads = ["window", "n = kT/d for T = 8 s", "requests", "in", "over a limit"]
    return table(heads, rows)


def manual(folder: Path) -> list[tuple[str, str]]:
    """The pages of a folder, as records."""
    found = []
    for path in sorted(folder.glob("*.html")):
        page = read_page(path.read_bytes(), f"http://127.0.0.1/{path.name}")
        found.append((page.title or path.stem, page.content))
    return found


def databases(folder: Path) -> list[str]:
    """Estimators and sizes on both databases."""
    lines = []
    for name, title, records in (
        ("manual", "The manual", manual(folder) if folder.is_dir() else []),
        ("docstrings", "Docstrings", docstrings(1_500)),
    ):
        if records:
            lines += [f"### {title}: distinct records", ""]
            lines += forms(name, records, (100, 200, 400))
            lines += [f"### {title}: the estimated size", ""]
            lines += sizes(name, records, (50, 100, 200, 400))
    return lines


def main() -> None:
    """Measure, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help=f"of {', '.join(PARTS)}")
    parser.add_argument("--posts", type=Path, default=POSTS)
    parser.add_argument("--pages", type=Path, default=Path("/usr/share/doc/postgresql-doc-15/html"))
    parser.add_argument("--budget", type=int, default=300)
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    made = {
        "accounts": lambda: social(read_posts(args.posts, 10**9), args.budget),
        "windows": lambda: windows(read_posts(args.posts, 30_000)),
        "databases": lambda: databases(args.pages),
    }
    for part in args.parts or PARTS:
        text = "\n".join([machine.describe() + ".", "", *made[part]()]).rstrip()
        if args.output is None:
            print(text)
            continue
        page = args.output.read_text(encoding="utf-8")
        before, start, rest = page.partition(f"<!-- {part}:start -->")
        _, end, after = rest.partition(f"<!-- {part}:end -->")
        if not start or not end:
            raise SystemExit(f"{args.output}: there are no marks for {part}")
        args.output.write_text(f"{before}{start}\n{text}\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
