"""Small runs for the tests: a written-down web, crawled by a real explorer, row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from sonde.crawling.keeper import RunKeeper
from sonde.crawling.logbook import Logbook
from sonde.crawling.retelling import Entry, Nodes, Parts, explorer_of_run
from sonde.explorer import Explorer
from sonde.net.exchange import Exchange
from sonde.records import Failure, Link, Outcome, Spend
from sonde.sources.facts import PageFacts, PageVisit
from sonde.sources.web.kind import Web as WebKind
from sonde.store.log import pack_text
from sonde.store.reader import PAGES, RunReader
from sonde.store.run import Run
from sonde.store.warc import WarcWriter

Pages: TypeAlias = Mapping[str, tuple[float, Sequence[tuple[str, float]]]]


@dataclass
class Web:
    """Pages by path on a.example and b.example: score, and links with their scores."""

    pages: Pages
    broken: frozenset[str] = frozenset()
    titles: Mapping[str, str] = field(default_factory=dict)


def url(path: str) -> str:
    """``/x`` is on a.example, ``b/x`` on b.example."""
    return f"http://a.example{path}" if path.startswith("/") else f"http://b.example{path[1:]}"


def host(address: str) -> str:
    return address.split("/")[2]


SMALL = Web(
    {
        "/": (1.0, [("/tides", 2.0), ("/news", 0.0), ("b/", 0.5), ("/tides", 1.0)]),
        "/tides": (3.0, [("/tides/gauge", 2.5), ("/", 0.0), ("/gone", 1.0)]),
        "/news": (0.0, [("/news/1", 0.0)]),
        "/news/1": (0.0, []),
        "b/": (0.5, [("/tides", 1.5), ("b/far", 0.2)]),
        "/tides/gauge": (4.0, [("b/far", 0.1)]),
        "b/far": (0.0, []),
    },
    broken=frozenset({"/gone"}),
    titles={"/tides": "Tides \x1b[31m& <levels>\nof the sea\u202e"},
)


def html(path: str) -> bytes:
    """A page's body."""
    words = " ".join(f"level {n}" for n in range(200))
    return (
        f"<html><head><title>{path}</title></head><body><nav>menu</nav>"
        f"<main><h1>Page {path}</h1><p>The tide gauge of {path}. {words}</p></main></body></html>"
    ).encode()


def exchange(address: str, body: bytes, *, coding: str = "") -> Exchange:
    """An exchange as the client would give it."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
    if coding:
        head += f"Content-Encoding: {coding}\r\n".encode()
    return Exchange(
        url=address,
        status=200,
        request_head=f"GET / HTTP/1.1\r\nHost: {host(address)}\r\n\r\n".encode(),
        response_head=head + b"Transfer-Encoding: chunked\r\n\r\n",
        body=body,
        ip="127.0.0.1",
        seconds=0.1,
    )


class Recorder:
    """Crawls a ``Web`` through a real logbook, so that every row is as a crawl writes it."""

    def __init__(
        self, folder: Path, budget: int, web: Web = SMALL, keep: str = "pages", **settings: Any
    ) -> None:
        self.web = web
        self.keep = keep
        self.paths = {url(path): path for path in (*web.pages, *web.broken)}
        chosen: dict[str, Any] = {"estimator": "lnh", "seed": 3, "budget": budget} | settings
        kind = {"grouped": True, "nouns": ["page", "pages"]}
        self.run = Run.create(folder, {"topic": "tides", "source": "web", "kind": kind} | chosen)
        self.keeper = RunKeeper(self.run, WebKind.tables)
        self.explorer = Explorer(grouped=True, **chosen)
        self.logbook = Logbook(self.explorer, self.run, Spend(requests=1))
        self.warc = WarcWriter(folder / PAGES) if keep == "pages" else None
        self.logbook.add_seeds([(url("/"), host(url("/")))])

    def step(self) -> bool:
        """One lease and its outcome, committed."""
        lease = self.logbook.ask(None)
        if lease is None:
            return False
        self.logbook.commit()
        self.logbook.tell(lease, self.outcome(str(lease.node)), 0.5)
        row = (lease.group, lease.number, 0, 2000, 0.1, 0.01, 1.0)
        self.keeper.write("hosts", [row])
        self.logbook.commit()
        return True

    def outcome(self, address: str) -> Outcome:
        path = self.paths[address]
        if path in self.web.broken:
            return Failure("http-404", spent=Spend(requests=1, bytes=100))
        score, links = self.web.pages[path]
        place = None
        if self.warc is not None:
            place = self.warc.write([exchange(address, html(path))])
        facts = PageFacts(
            final_url=address if path != "b/" else url("b/home"),
            status=200,
            media_type="text/html",
            language="en",
            title=self.web.titles.get(path, f"Page {path}"),
            etag='"tag"',
            rtt=0.1,
            flags="needs-script" if path == "/news" else "",
            text=pack_text(f"The text of {path}") if self.keep == "text" else None,
            warc=place,
        )
        return PageVisit(
            score,
            [Link(url(target), alpha, host(url(target))) for target, alpha in links],
            spent=Spend(requests=1, bytes=2000),
            facts=facts,
        )

    def close(self, stop: str | None = "budget") -> None:
        """End the run."""
        self.run.journal.refuse("http://c.example/", "scope", 1)
        self.run.journal.refuse("http://a.example/private", "robots", 2)
        if stop is not None:
            self.run.journal.meta("stop", stop)
        if self.warc is not None:
            self.warc.close()
        self.run.close()

    def abandon(self) -> None:
        """Stop as a kill would: what was committed stays."""
        if self.warc is not None:
            self.warc.close()
        self.run.abandon()


def told_again(run: RunReader, *, from_start: bool = True) -> tuple[Explorer, list[Entry]]:
    """The explorer of a run, told its log, and the entries that it heard."""
    explorer = explorer_of_run(run)
    parts = Parts(explorer)
    nodes = Nodes(run.database, grouped=explorer.driver.grouped)
    since = 0 if from_start else parts.restore(run, nodes)
    return explorer, list(parts.retell(run, nodes, since))


def make_run(
    folder: Path, budget: int = 6, web: Web = SMALL, keep: str = "pages", **settings: Any
) -> Recorder:
    """A finished run."""
    recorder = Recorder(folder, budget, web, keep, **settings)
    while recorder.step():
        pass
    recorder.close()
    return recorder
