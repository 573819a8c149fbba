"""What each URL measure adds to a crawl's harvest, and what it costs: writes docs/results/url.md.

    python benchmarks/url_ablation.py DATA -o docs/results/url.md --work WORK \\
        --site postgresql=/usr/share/doc/postgresql-doc-15/html:index.html \\
        --site cppreference=/usr/share/cppreference/doc/html/en:index.html

DATA is a folder with webkb-html.tar.xz and schools-wikipedia-html.tar.xz; a site is a folder of
HTML that is served on loopback. Graphs and finished parts are kept in WORK: the same command again
uses them. Everything is deterministic but the costs, whose instructions valgrind counts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from sonde.cli import main as sonde
from sonde.crawling import crawl
from sonde.lab.results import Mean, mean
from sonde.metrics import hits_and_backtracks
from sonde.net.urls import domain_of
from sonde.simulation import simulate
from sonde.sources.graph import Graph

DATASETS = {
    "webkb": ("webkb-html.tar.xz", ("course", "student", "research", "project")),
    "schools": (
        "schools-wikipedia-html.tar.xz",
        ("jazz", "physics", "volcano", "opera", "france"),
    ),
}
TOPICS = {
    "postgresql": ("replication", "json", "vacuum", "locale, collation", "partition"),
    "cppreference": ("thread, mutex", "allocator", "random", "chrono", "regex"),
}
FALLBACK = ("example", "file", "error", "version", "memory")
WITHOUT = {
    "RFU": ":-rfu",
    "BFU": ":-bfu",
    "ID": ":-id:-repeats:-hop",
    "ARF": ":-arf",
}
START = 100  # steps that ne leads before a learner takes over
SETS, SEED_NODES, STEPS = 10, 10, 500
PAGES = 300


def learners() -> dict[str, str]:
    """What is compared: labels and estimators. All start with the same 100 steps of ne."""
    found = {"lnh": "lnh", "url": "url", "url+lnh": "url+lnh"}
    for base in ("url", "url+lnh"):
        found |= {f"{base} without {name}": base + text for name, text in WITHOUT.items()}
    return {label: f"hybrid[ne,{text},{START}]" for label, text in found.items()}


# -- recorded graphs -------------------------------------------------------------------------------


def graphs(data: Path, work: Path) -> dict[str, list[Path]]:
    """The graphs, built once."""
    built: dict[str, list[Path]] = {}
    for name, (file, keywords) in DATASETS.items():
        folder = work / name
        if not folder.exists():
            words = [word for keyword in keywords for word in ("--keyword", keyword)]
            status = sonde(["data", "build", "html", str(data / file), *words, "-o", str(folder)])
            if status:
                raise SystemExit(status)
        built[name] = [folder / keyword for keyword in keywords]
    return built


def on_graph(folder: Path) -> list[dict[str, Any]]:
    """One row for each learner and seed graph."""
    graph = Graph.load(folder)
    rows = []
    for number in range(SETS):
        led_by = partial(simulate, graph, random_seeds=SEED_NODES, budget=STEPS, seed=number)
        oracle = led_by(estimator="oracle")
        for label, text in {**learners(), "ne": "ne"}.items():
            run = led_by(estimator=text)
            rate, gpr = hits_and_backtracks(run.scores, run.followed)
            whole, best = run.harvest, oracle.harvest
            rows.append(
                {
                    "set": folder.parent.name,
                    "topic": folder.name,
                    "learner": label,
                    "score": float(whole[-1] / best[-1]),
                    "harvest": float(rate[-1]),
                    "efficiency": float(whole.sum() / best[: len(whole)].sum()),
                    "gpr": float(gpr[-1]),
                }
            )
    return rows


# -- real sites on loopback ------------------------------------------------------------------------


class _Files(asyncio.Protocol):
    """Serves a folder, each answer after a delay."""

    root: Path
    delay = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.buffer = b""

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while b"\r\n\r\n" in self.buffer:
            head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
            answer = self.answer(head.split(b" ", 2)[1].decode("latin-1"))
            if self.delay:
                asyncio.get_running_loop().call_later(self.delay, self.transport.write, answer)
            else:
                self.transport.write(answer)

    def answer(self, path: str) -> bytes:
        file = (self.root / unquote(path.partition("?")[0]).lstrip("/")).resolve()
        body, status = b"", b"404 Not Found"
        inside = file.is_relative_to(self.root.resolve())
        if inside and file.is_file() and file.suffix in (".htm", ".html"):
            body, status = file.read_bytes(), b"200 OK"
        return b"HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (
            status,
            len(body),
            body,
        )


@contextmanager
def served(root: Path, *, slow: Path | None = None, delay: float = 0.1) -> Iterator[int]:
    """A port on 127.0.0.1 that serves a folder, and on 127.0.0.2 another one, slowly."""
    loop = asyncio.new_event_loop()
    quick = type("Quick", (_Files,), {"root": root})
    server = loop.run_until_complete(loop.create_server(quick, "127.0.0.1", 0))
    port: int = server.sockets[0].getsockname()[1]
    if slow is not None:
        late = type("Late", (_Files,), {"root": slow, "delay": delay})
        loop.run_until_complete(loop.create_server(late, "127.0.0.2", port))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield port
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


SETTINGS: dict[str, Any] = {
    "delay": 0,
    "concurrency": 1,
    "allow_private": True,
    "contact": "bench@localhost",
    "pages": False,
    "text": False,
}


def topics_of(site: str) -> Sequence[str]:
    return TOPICS.get(site, FALLBACK)


def on_site(site: str, root: Path, start: str) -> list[dict[str, Any]]:
    """One row for each learner and topic: live crawls, one request at a time."""
    rows = []
    with served(root) as port:
        for topic in topics_of(site):
            for label, text in {**learners(), "ne": "ne"}.items():
                result = crawl(
                    f"http://127.0.0.1:{port}/{start}",
                    topic=topic,
                    budget=PAGES,
                    estimator=text,
                    **SETTINGS,
                )
                last = result.frame().slice(result.visits - 1).to_pylist()[0]
                rows.append(
                    {
                        "set": site,
                        "topic": topic,
                        "learner": label,
                        "score": result.total,
                        "harvest": last["harvest_rate"],
                        "efficiency": last["efficiency"],
                        "gpr": last["gpr"],
                    }
                )
    best: dict[str, float] = {}
    for row in rows:  # there is no oracle here: shares are of the best of all learners
        best[row["topic"]] = max(best.get(row["topic"], 0.0), row["score"])
    for row in rows:
        row["score"] = row["score"] / best[row["topic"]] if best[row["topic"]] else 1.0
    return rows


# -- round-trip times ------------------------------------------------------------------------------


BOTH = ("string", "array", "character", "exception", "function")
"""Topics of which both sites speak."""


def round_trips(sites: Sequence[tuple[Path, str]]) -> list[dict[str, Any]]:
    """Two sites, one of them slow, in either part: what the preference for quick hosts does."""
    rows = []
    for (quick, start), (slow, late_start) in (sites, sites[::-1]):
        with served(quick, slow=slow) as port:
            for topic in BOTH:
                for text in RTT:
                    result = crawl(
                        [
                            f"http://127.0.0.1:{port}/{start}",
                            f"http://127.0.0.2:{port}/{late_start}",
                        ],
                        topic=topic,
                        budget=150,
                        estimator=f"hybrid[ne,{text},50]",
                        **SETTINGS,
                    )
                    visits = result.frame().to_pylist()
                    rows.append(
                        {
                            "crawl": f"{quick} {topic}",
                            "estimator": text,
                            "score": result.total,
                            "slow": sum("127.0.0.2" in visit["url"] for visit in visits)
                            / len(visits),
                        }
                    )
    return rows


RTT = ("url+lnh:-rtt", "url+lnh", "url+lnh:rtt=0.5")


# -- costs -----------------------------------------------------------------------------------------

COSTS = {  # what is compared, with what, by its name in the table
    "`url`": ("url", "lnh"),
    "`url+lnh`": ("url+lnh", "lnh"),
    "RFU and BFU": ("url+lnh", "url+lnh:-rfu:-bfu"),
    "ID": ("url+lnh", "url+lnh:-id:-repeats:-hop"),
    "ARF": ("url+lnh", "url+lnh:-arf"),
    "RTT": ("url+lnh", "url+lnh:-rtt"),
}
COSTED = list(dict.fromkeys(text for pair in COSTS.values() for text in pair))


def spend(estimator: str, start: str, pages: int, times: int, concurrency: int) -> None:
    """Crawl a whole site a few times; print visits and the processor's seconds of the quickest,
    because whatever else the machine does can only add to them."""
    domain_of("docs.example.org")  # reads the list of public suffixes, once a process
    found = []
    for _ in range(times):
        before = time.process_time()
        result = crawl(
            start,
            topic="index, error, value",
            budget=pages,
            estimator=estimator,
            **{**SETTINGS, "concurrency": concurrency, "per_host": 32, "text": True},
        )
        if not result.visits:
            raise SystemExit(f"nothing was visited: {result.stop_reason}")
        found.append((time.process_time() - before, result.visits))
    seconds, visits = min(found)
    print(json.dumps({"visits": visits, "seconds": seconds}))


def costs(root: Path, start: str, rounds: int) -> list[dict[str, Any]]:
    """Interleaved rounds, each estimator in a process of its own; those of a round hash alike."""
    rows = []
    with served(root) as port:
        for number in range(rounds):
            for text in COSTED if number % 2 == 0 else COSTED[::-1]:
                words = ["--spend", text, f"http://127.0.0.1:{port}/{start}", "1300", "3", "32"]
                done = _run([sys.executable, __file__, *words], number)
                rows.append({"round": number, "estimator": text, **json.loads(done.stdout)})
    return rows


def counts(root: Path, start: str) -> list[dict[str, Any]]:
    """Instructions of a crawl of the whole site, one request at a time, less those of a crawl of
    one page: the same to 1 % whenever they are counted."""
    counter = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    rows = []
    with served(root) as port:
        for text in COSTED:
            spent = {}
            for pages in (2, 1300):  # robots.txt is one of them
                words = ["--spend", text, f"http://127.0.0.1:{port}/{start}", str(pages), "1", "1"]
                done = _run([*counter, sys.executable, __file__, *words], 0)
                found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
                assert found is not None, done.stderr
                told = json.loads(done.stdout)
                spent[told["visits"]] = int(found[1].replace(",", ""))
            (few, least), (visits, whole) = sorted(spent.items())
            rows.append({"estimator": text, "instructions": (whole - least) / (visits - few)})
    return rows


def _run(words: Sequence[str], seed: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONHASHSEED": str(seed)},
    )


# -- the page --------------------------------------------------------------------------------------


def kept(work: Path, name: str, make: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The rows of a part, from its file or made now."""
    path = work / f"{name}.json"
    if not path.exists():
        rows = make()
        path.write_text(json.dumps(rows))
        print(f"{name}: {len(rows)} rows", file=sys.stderr)
    found: list[dict[str, Any]] = json.loads(path.read_text())
    return found


def of(rows: list[dict[str, Any]], where: str, label: str, column: str) -> np.ndarray:
    return np.array(
        [row[column] for row in rows if row["set"] == where and row["learner"] == label]
    )


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in (heads, *rows)]
    lines.insert(1, "|---" + "|---:" * (len(heads) - 1) + "|")
    return "\n".join(lines)


def marked(value: Mean) -> str:
    """A difference; in bold where its interval leaves out 0."""
    shown = value.shown(3, "+")
    return f"**{shown}**" if abs(value.value) > value.half else shown


def standings(rows: list[dict[str, Any]], sets: Sequence[str]) -> str:
    lines = []
    for where in sets:
        for label in ("ne", "lnh", "url", "url+lnh"):
            columns = ("score", "harvest", "efficiency", "gpr")
            values = [mean(of(rows, where, label, column)).shown(3) for column in columns]
            lines.append([where, f"`{label}`", *values])
    return table(["set", "learner", "score", "harvest rate", "efficiency", "GPR"], lines)


def ablation(rows: list[dict[str, Any]], sets: Sequence[str], base: str, column: str) -> str:
    heads = ["measure", *sets, "all"]
    lines = []
    for name in WITHOUT:
        parts = [
            of(rows, where, base, column) - of(rows, where, f"{base} without {name}", column)
            for where in sets
        ]
        lines.append([name, *(marked(mean(part)) for part in (*parts, np.concatenate(parts)))])
    if base == "url+lnh":
        parts = [of(rows, where, base, column) - of(rows, where, "lnh", column) for where in sets]
        every = (*parts, np.concatenate(parts))
        lines.append(["all four, against `lnh`", *(marked(mean(part)) for part in every)])
    return table(heads, lines)


def trips_table(rows: list[dict[str, Any]]) -> str:
    base = {row["crawl"]: row for row in rows if row["estimator"] == RTT[0]}
    lines = []
    for text in RTT:
        chosen = [row for row in rows if row["estimator"] == text]
        moved = sum(row["slow"] != base[row["crawl"]]["slow"] for row in chosen)
        scores = np.array([row["score"] / base[row["crawl"]]["score"] for row in chosen])
        lines.append(
            [
                f"`{text}`",
                mean(np.array([row["slow"] for row in chosen])).shown(3),
                f"{moved} of {len(chosen)}",
                mean(scores).shown(3),
            ]
        )
    heads = [
        "estimator",
        "visits to the slow site",
        "crawls that went otherwise",
        "score, relative",
    ]
    return table(heads, lines)


def costs_table(rows: list[dict[str, Any]], counted: list[dict[str, Any]]) -> str:
    work = {row["estimator"]: row["instructions"] for row in counted}

    def each(text: str) -> list[float]:
        return [1000 * row["seconds"] / row["visits"] for row in rows if row["estimator"] == text]

    lines = []
    for name, (text, without) in COSTS.items():
        ours, theirs = each(text), each(without)
        added = work[text] - work[without]
        more = sorted(100 * (our / their - 1) for our, their in zip(ours, theirs, strict=True))
        low = certain(len(more))
        lines.append(
            [
                name,
                f"`{without}`",
                f"{added / 1000:+,.0f}",
                f"{100 * added / work[without]:+.1f} %",
                f"{statistics.median(ours) - statistics.median(theirs):+.3f}",
                f"{statistics.median(more):+.1f} %",
                f"{more[low]:+.1f} to {more[-1 - low]:+.1f} %",
            ]
        )
    heads = [
        "what",
        "against",
        "thousand instructions a page",
        "of a page's",
        "CPU ms a page",
        "of a page's, median of rounds",
        "95 % interval",
    ]
    return table(heads, lines)


def certain(rounds: int) -> int:
    """How many rounds to leave off at either end, so that the rest holds the true median with a
    probability of at least 95 %, whatever the rounds' distribution."""
    left, beyond = 0, 1.0
    while (beyond + math.comb(rounds, left + 1)) / 2**rounds <= 0.025:
        left += 1
        beyond += math.comb(rounds, left)
    return left


def write(page: Path, parts: dict[str, str]) -> None:
    """Put tables between their marks; the words around them are written by hand."""
    text = page.read_text(encoding="utf-8")
    for name, made in parts.items():
        begin, end = f"<!-- {name}: generated -->", "<!-- end -->"
        head, found, rest = text.partition(begin)
        if not found:
            raise SystemExit(f"{page}: has no mark {begin}")
        text = f"{head}{begin}\n\n{made}\n\n{end}{rest.partition(end)[2]}"
    page.write_text(text, encoding="utf-8")


def main() -> None:
    if sys.argv[1:2] == ["--spend"]:
        pages, times, concurrency = map(int, sys.argv[4:7])
        spend(sys.argv[2], sys.argv[3], pages, times, concurrency)
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--site", action="append", default=[], metavar="NAME=FOLDER:START")
    parser.add_argument("--rounds", type=int, default=25, help="of the costs")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    for name, folders in graphs(args.data, args.work).items():
        for folder in folders:
            rows += kept(args.work, f"{name}-{folder.name}", partial(on_graph, folder))
    sites = []
    for site in args.site:
        name, _, place = site.partition("=")
        root, _, start = place.partition(":")
        sites.append((Path(root), start or "index.html"))
        rows += kept(args.work, f"site-{name}", partial(on_site, name, *sites[-1]))
    if len(sites) != 2:
        raise SystemExit("name two sites: one of them is slow in turn")
    trips = kept(args.work, "rtt", partial(round_trips, sites))
    counted = kept(args.work, "counts", partial(counts, *sites[0]))
    spent = kept(args.work, "costs", partial(costs, *sites[0], args.rounds))
    sets = list(dict.fromkeys(row["set"] for row in rows))
    write(
        args.output,
        {
            "standings": standings(rows, sets),
            "url, score": ablation(rows, sets, "url", "score"),
            "url, harvest": ablation(rows, sets, "url", "harvest"),
            "url+lnh, score": ablation(rows, sets, "url+lnh", "score"),
            "url+lnh, harvest": ablation(rows, sets, "url+lnh", "harvest"),
            "url+lnh, gpr": ablation(rows, sets, "url+lnh", "gpr"),
            "rtt": trips_table(trips),
            "costs": costs_table(spent, counted),
        },
    )


if __name__ == "__main__":
    main()
