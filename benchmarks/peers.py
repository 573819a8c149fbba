"""Regenerates the measured part of docs/results/peers.md: peers, people, a source of one's own.

    python benchmarks/peers.py DATA --work WORK [-o docs/results/peers.md]

DATA holds ``schools-wikipedia-html.tar.xz``, ``mentions-graph-nodes.tsv.xz`` and
``mentions-graph-edges.tsv.xz``; WORK keeps the text of the articles, as files for peers to share.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pyarrow.csv
from peers_overlay import Article, articles, neighbourhood, overlay_graph, shared_folders

from sonde import Link, Visit, crawl
from sonde.cli.lab_gossip import row
from sonde.crawling import Crawl, Interview, Settled, Stopped
from sonde.lab.gossip import compare_forms
from sonde.peers import Peer, SharedFolder, gossip
from sonde.peers.query import WIDTH
from sonde.scorers import log_count
from sonde.simulation import draw_seeds
from sonde.sources.graph import Graph, topical
from sonde.sources.peers import exchange

MARK = "<!-- measured: all below is written by benchmarks/peers.py -->"
ESTIMATORS = ("random", "bfs", "deg", "n", "e", "ne", "lnh", "hybrid[ne,lnh,20]")
PORT = 7070
SIZE, DEGREE, FILES, BUDGET, STARTS = 60, 4, 8, 20, 6
WIDTHS = (1, 2, 5, 20)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/results/peers.md"))
    args = parser.parse_args()
    found = articles(args.data / "schools-wikipedia-html.tar.xz")
    parts = [
        *_simulated(found, args.work),
        *_real(found, args.work),
        *_people(args.data),
        *_own(),
    ]
    written = args.output.read_text(encoding="utf-8") if args.output.exists() else ""
    reading = written.partition(MARK)[0]
    args.output.write_text(reading + MARK + "\n\n" + "\n\n".join(parts) + "\n", encoding="utf-8")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head.removeprefix(">") for head in heads) + " |"]
    lines.append("|" + "|".join("---:" if head.startswith(">") else "---" for head in heads) + "|")
    lines += ["| " + " | ".join(cells) + " |" for cells in rows]
    return "\n".join(lines)


# -- simulated overlays --------------------------------------------------------------------------


def _simulated(found: dict[str, Article], work: Path) -> Iterator[str]:
    yield "## Simulated overlays"
    alone = shared_folders(work / "all", {name: [article] for name, article in found.items()})
    links = {name: list(article.links) for name, article in found.items()}
    graphs = {
        f"{len(found):,} articles, one a peer, topic *{topic}*": overlay_graph(alone, links, topic)
        for topic in ("jazz", "physics")
    }
    graphs["a generated graph, `topical(20_000, 200_000, seed=7)`"] = topical(
        20_000, 200_000, seed=7
    )
    for title, graph in graphs.items():
        _say(title)
        forms = [
            form
            for estimator in ESTIMATORS
            for form in compare_forms(
                graph,
                [estimator],
                WIDTHS if estimator == "e" else (WIDTH,),
                random_seeds=1,
                budget=300,
                repeat=10,
                seed=1,
            )
        ]
        yield f"### {title[0].upper()}{title[1:]}"
        yield (
            f"{graph.node_count:,} peers, {graph.edge_count:,} links,"
            f" {int((graph.scores > 0).sum()):,} peers with a positive score. 300 messages, 1 seed,"
            " means of 10 seeds."
        )
        heads = ("estimator", "form", ">total", ">messages", ">to peers met before", ">time")
        yield _table(heads, [(f"`{form.estimator}`", *row(form)[1:]) for form in forms])


# -- real processes ------------------------------------------------------------------------------


def _live(folder: Path, host: str, neighbours: list[str], log: Path) -> None:
    peer = Peer(SharedFolder(folder), neighbours, host=host, port=PORT, gossip=0.5, log=log)
    asyncio.run(peer.serve())


class _Colony:
    """Peers as processes. ``messages`` counts what their logs say."""

    def __init__(self, names: list[str], pids: dict[str, int], logs: list[Path]) -> None:
        self.names = names
        self.pids = pids
        self.logs = logs

    def messages(self) -> int:
        return sum(len(log.read_text().splitlines()) for log in self.logs if log.exists())

    def kill(self, count: int, spared: str, seed: int) -> None:
        others = [name for name in self.names if name != spared]
        for name in random.Random(seed).sample(others, count):
            os.kill(self.pids[name], signal.SIGKILL)


@contextmanager
def _colony(folder: Path, neighbours: dict[str, list[str]]) -> Iterator[_Colony]:
    network = f"127.{2 + os.getpid() // 250 % 200}.{1 + os.getpid() % 250}"
    hosts = {name: f"{network}.{number + 1}" for number, name in enumerate(neighbours)}
    names = {name: f"{host}:{PORT}" for name, host in hosts.items()}
    forking = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as kept:
        logs = {name: Path(kept) / name for name in neighbours}
        running = {
            name: forking.Process(
                target=_live,
                args=(folder / name, hosts[name], [names[o] for o in others], logs[name]),
                daemon=True,
            )
            for name, others in neighbours.items()
        }
        for process in running.values():
            process.start()
        try:
            for name in names.values():
                _acquainted(name)
            pids = {names[name]: process.pid or 0 for name, process in running.items()}
            yield _Colony(list(names.values()), pids, list(logs.values()))
        finally:
            for process in running.values():
                process.kill()
                process.join()


def _acquainted(name: str) -> None:
    for _ in range(600):
        try:
            about = asyncio.run(exchange(name, {"ask": "about"}, timeout=10))
            if about["profiles"] == about["neighbours"]:
                return
        except Exception:  # not there yet
            pass
        time.sleep(0.1)
    raise SystemExit(f"{name} did not get to know its neighbours")


def _asked(colony: _Colony, start: str, topic: str, estimator: str) -> tuple[float, int, int]:
    """Centralised: total, messages that were charged, peers that answered."""
    result = crawl(
        "peers:", seeds=[start], topic=topic, budget=BUDGET, estimator=estimator, concurrency=1
    )
    return result.total, result.requests, result.visits


def _passed(
    colony: _Colony, start: str, topic: str, width: int, kill: int = 0
) -> tuple[float, int, int, int, int]:
    """Decentralised: total, sent, lost, messages that the logs have, peers that answered."""
    own: list[str] = []
    before = colony.messages()

    async def scene() -> Any:
        query = asyncio.create_task(
            gossip([start], topic, BUDGET, width=width, patience=5.0, note=own.append)
        )
        if kill:
            while colony.messages() - before < 2 and not query.done():
                await asyncio.sleep(0.001)
            colony.kill(kill, start, seed=1)
        return await query

    found = asyncio.run(scene())
    real = len(own) + colony.messages() - before
    assert found.sent <= real <= found.sent + found.lost <= BUDGET
    return found.total, found.sent, found.lost, real, len(found.answers)


def _real(found: dict[str, Article], work: Path) -> Iterator[str]:
    held, neighbours = neighbourhood(found, "Rain.htm", SIZE, DEGREE, FILES)
    folders = shared_folders(work / "real", held)
    files = sum(map(len, folders.values()))
    yield "## Real processes"
    yield (
        f"{SIZE} peers, a process each on loopback, around the article on rain; {files} files,"
        f" {sum(map(len, neighbours.values())) / SIZE:.1f} neighbours on average;"
        f" {BUDGET} messages, means over {STARTS} peers to start from."
    )
    for topic in ("physics", "tide"):
        graph = overlay_graph(folders, neighbours, topic)
        yield f"### Topic *{topic}*"
        yield (
            f"{int((graph.scores > 0).sum())} of {SIZE} peers have a positive score,"
            f" {graph.scores.sum():.1f} in all."
        )
        rows = []
        with _colony(work / "real", neighbours) as colony:
            starts = colony.names[:: SIZE // STARTS][:STARTS]
            for estimator in ESTIMATORS:
                _say(f"{topic}: {estimator}")
                asked = [_asked(colony, start, topic, estimator) for start in starts]
                rows.append((f"`{estimator}`", "centralised", *_means(asked, 3)))
            for width in (1, 2, 5):
                _say(f"{topic}: width {width}")
                passed = [_passed(colony, start, topic, width) for start in starts]
                assert all(lost == 0 and sent == real for _, sent, lost, real, _ in passed)
                means = _means([(one[0], one[1], one[4]) for one in passed], 3)
                rows.append(("`e`", f"passed on, width {width}", *means))
        yield _table(("estimator", "form", ">total", ">messages", ">answers"), rows)
    yield "### A third of the peers killed in the middle of a query"
    yield (
        "`SIGKILL` to 20 of the 60 after the third answer, or once two messages had gone from peer"
        " to peer; topic *physics*, `e`. Messages are those that the logs of all peers have, also"
        " of the dead."
    )
    rows = []
    for number in range(4):
        with _colony(work / "real", neighbours) as colony:
            total, sent, visits = _asked_of_the_dying(colony, colony.names[number * 7], "physics")
        rows.append(_killed(number, "centralised", sent, 0, sent, visits, total))
        with _colony(work / "real", neighbours) as colony:
            start = colony.names[number * 7]
            total, sent, lost, real, answers = _passed(colony, start, "physics", 2, SIZE // 3)
        rows.append(_killed(number, "passed on, width 2", sent, lost, real, answers, total))
    heads = ("run", "form", ">budget", ">sent", ">lost", ">messages", ">answers", ">total")
    yield _table(heads, rows)


def _asked_of_the_dying(colony: _Colony, start: str, topic: str) -> tuple[float, int, int]:
    """Centralised, with peers killed after the third answer."""
    settled = 0

    def heard(event: Settled | Stopped) -> None:
        nonlocal settled
        settled += 1
        if settled == 3:
            colony.kill(SIZE // 3, start, seed=1)

    result = Crawl(
        "peers:", seeds=[start], topic=topic, budget=BUDGET, estimator="e", concurrency=1,
        on_event=heard,
    ).run_to_end()  # fmt: skip
    return result.total, result.requests, result.visits


def _killed(
    number: int, form: str, sent: int, lost: int, real: int, answers: int, total: float
) -> tuple[str, ...]:
    counts = (f"{BUDGET}", f"{sent}", f"{lost}", f"{real}", f"{answers}")
    return (f"{number + 1}", form, *counts, f"{total:.1f}")


def _means(rows: Sequence[Sequence[float]], count: int) -> list[str]:
    return [f"{mean(each[place] for each in rows):,.1f}" for place in range(count)]


# -- people --------------------------------------------------------------------------------------


def _mentions(data: Path, word: str) -> Graph:
    def rows(name: str) -> Any:
        import lzma

        with lzma.open(data / name) as file:
            return pyarrow.csv.read_csv(
                file, parse_options=pyarrow.csv.ParseOptions(delimiter="\t")
            )

    nodes, edges = rows("mentions-graph-nodes.tsv.xz"), rows("mentions-graph-edges.tsv.xz")
    scores = {
        node: log_count(count)
        for node, count in zip(nodes["node"].to_pylist(), nodes[word].to_pylist(), strict=True)
    }
    sources, targets = edges["source"].to_pylist(), edges["target"].to_pylist()
    alphas = [log_count(count) for count in edges[word].to_pylist()]
    return Graph.from_edges(list(zip(sources, targets, alphas, strict=True)), scores)


_NAMED = 10
_QUESTIONS = 60


def _answer(graph: Graph, name: str) -> Visit:
    """A person names the ten whom the most promising mentions speak of; of equal ones the first."""
    node = graph.index(name)
    part = slice(int(graph.indptr[node]), int(graph.indptr[node + 1]))
    order = np.argsort(-graph.link_scores[part], kind="stable")[:_NAMED]
    targets, alphas = graph.targets[part][order], graph.link_scores[part][order]
    links = [
        Link(str(graph.name(int(target))), float(alpha))
        for target, alpha in zip(targets, alphas, strict=True)
    ]
    return Visit(float(graph.scores[node]), links)


def _interviewed(graph: Graph, seeds: list[str], estimator: str) -> float:
    with Interview.begin(None, seeds, estimator=estimator, budget=_QUESTIONS) as interview:
        while True:
            interview.ask()
            if not interview.waiting:
                break
            for name in list(interview.waiting):
                interview.tell(name, _answer(graph, name))
        assert interview.explorer.driver.account.spent.requests <= _QUESTIONS
        return interview.explorer.total


def _people(data: Path) -> Iterator[str]:
    yield "## People"
    yield (
        "Accounts of a social network as people: each answers with what it has said of the topic,"
        f" and names at most {_NAMED} others. {_QUESTIONS} questions, 3 seeds, means of 10 draws;"
        " asked and told through `sonde.crawling.Interview`."
    )
    words = ("happy", "weird", "jazz")
    totals: dict[str, list[str]] = {estimator: [] for estimator in ESTIMATORS}
    for word in words:
        graph = _mentions(data, word)
        starts = [
            [str(graph.name(int(node))) for node in draw_seeds(graph, 3, number)]
            for number in range(10)
        ]
        for estimator in ESTIMATORS:
            _say(f"people, {word}: {estimator}")
            found = mean(_interviewed(graph, seeds, estimator) for seeds in starts)
            totals[estimator].append(f"{found:,.1f}")
    rows = [(f"`{estimator}`", *cells) for estimator, cells in totals.items()]
    yield _table(("estimator", *(f">{word}" for word in words)), rows)


# -- a source of one's own -----------------------------------------------------------------------


def _own() -> Iterator[str]:
    package = Path(__file__).parents[1] / "tests" / "plugins" / "modules"
    sys.path.insert(0, str(package))
    from sonde_modules import Modules

    words = ("socket", "thread", "decimal")
    starts = ("urllib.request", "xmlrpc.server", "zipfile", "pdb", "statistics")
    yield "## A source of one's own"
    yield (
        "The modules of Python's standard library, as in the guide. 40 requests, means over"
        f" {len(starts)} modules to start from; Python {sys.version.split()[0]}."
    )
    rows = []
    for estimator in ESTIMATORS:
        cells = []
        for word in words:
            totals = []
            for start in starts:
                result = crawl(
                    Modules(word), seeds=[start], budget=40, estimator=estimator, concurrency=1
                )
                assert result.requests <= 40
                totals.append(result.total)
            cells.append(f"{mean(totals):,.1f}")
        rows.append((f"`{estimator}`", *cells))
    yield _table(("estimator", *(f">{word}" for word in words)), rows)


if __name__ == "__main__":
    main()
