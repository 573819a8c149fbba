"""Real crawls over loopback, read back: the archive, the ledger, the replay, the exports."""

from __future__ import annotations

import base64
import gzip
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from store_runs import told_again

from sonde import cli
from sonde.crawling import Crawl, CrawlResult
from sonde.crawling.retelling import moments
from sonde.errors import InputError
from sonde.simulation import simulate
from sonde.sources.graph import Graph
from sonde.store import summary
from sonde.store.reader import RunReader, trace
from sonde.store.warc import WarcWriter
from sonde.store.warcreader import read_archived

PAGES = 30
SECRET = "a-cookie-that-nobody-may-see"


class Site(BaseHTTPRequestHandler):
    """Numbered pages on every host, some about tides; /old redirects, /missing is not there."""

    protocol_version = "HTTP/1.1"
    heard: ClassVar[set[tuple[str, str]]] = set()

    def do_GET(self) -> None:
        self.heard.update(self.headers.items())
        port = self.connection.getsockname()[1]
        body, status, head = b"", 200, {"Content-Type": "text/html; charset=utf-8"}
        name = self.path.strip("/")
        if self.path == "/robots.txt":
            body = b"User-agent: *\nDisallow: /private\n"
            head["Content-Type"] = "text/plain"
        elif self.path == "/old":
            status, head = 301, {"Location": "/7"}
        elif not name.isdigit() and name:
            status, body = 404, b"<p>not here"
        else:
            number = int(name or 0)
            other = f"http://127.0.0.{2 + number % 2}:{port}"
            links = [f"/{(number * step + 1) % PAGES}" for step in (2, 3, 5)]
            links += [f"{other}/{(number + 4) % PAGES}", "/old", "/missing", "/private", "mailto:x"]
            tides = "The tide gauge tells the sea level. " * (number % 4)
            anchors = " and ".join(f"<a href='{link}'>tide {link}</a>" for link in links)
            filler = " ".join(f"word{number}x{place}" for place in range(120))
            title = f"<title>Page {number} \x1b[31m</title>"
            body = f"<html lang=en>{title}<p>{tides}{filler}</p><p>{anchors}</p>".encode()
            if "gzip" in self.headers.get("Accept-Encoding", "") and number % 2:
                body = gzip.compress(body)
                head["Content-Encoding"] = "gzip"
        self.send_response(status)
        for key, value in head.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The same port on three addresses: three hosts."""
    with ExitStack() as stack:
        first = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), Site))
        number = first.server_address[1]
        servers = [first]
        for last in (2, 3):
            servers.append(
                stack.enter_context(ThreadingHTTPServer((f"127.0.0.{last}", number), Site))
            )
        for server in servers:
            server.daemon_threads = True
            thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
            thread.start()
        yield number
        for server in servers:
            server.shutdown()


def crawled(folder: Path, port: int, **settings: Any) -> CrawlResult:
    chosen: dict[str, Any] = {
        "topic": "tide gauge, sea level",
        "budget": 40,
        "delay": 0.0,
        "scope": "web",
        "allow_private": True,
        "estimator": "mab:eps=0.2[n,ne,lnh]",
        "seed": 5,
        "concurrency": 4,
    }
    chosen |= settings
    return Crawl(f"http://127.0.0.1:{port}/", path=folder, **chosen).run_to_end()


@pytest.fixture(scope="module")
def result(port: int, tmp_path_factory: pytest.TempPathFactory) -> CrawlResult:
    return crawled(tmp_path_factory.mktemp("crawls") / "run", port)


@pytest.fixture(scope="module")
def folder(result: CrawlResult) -> Path:
    assert result.path is not None
    return result.path


def command(*arguments: str) -> int:
    args = cli.parser(("show", "explain", "export")).parse_args(arguments)
    status: int = args.run(args)
    return status


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    command(*arguments, "--json")
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_show_agrees_with_the_result(
    result: CrawlResult, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = told(capsys, "show", str(folder))
    assert (found["visits"], found["requests"]) == (result.visits, result.requests)
    assert found["value"] == pytest.approx(result.total)
    assert (found["stop"], found["budget"]) == (result.stop_reason, 40)
    assert sum(row["requests"] for row in found["spend"]) == result.requests
    assert sum(host["requests"] for host in found["hosts"]) == result.requests
    assert found["refused_by_reason"].get("robots", 0) >= 1
    assert command("show", str(folder)) == 0
    assert all(line.isprintable() for line in capsys.readouterr().out.splitlines())


def test_every_page_is_in_the_archive_as_it_was_sent(folder: Path) -> None:
    with RunReader(folder) as run:
        places = list(run.rows("SELECT final_url, warc FROM pages"))
        assert places
        for address, place in places:
            stored = read_archived(run.pages, place)
            body = stored.body
            if stored.header("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            assert stored.url == address
            assert body.startswith(b"<html lang=en><title>Page ")


def test_another_library_reads_the_archive(folder: Path) -> None:
    warcio = pytest.importorskip("warcio.archiveiterator", reason="the independent reader")
    kinds: list[str] = []
    for path in sorted((folder / "pages").iterdir()):
        with path.open("rb") as file:
            for record in warcio.ArchiveIterator(file, check_digests="raise"):
                record.content_stream().read()
                kinds.append(record.rec_type)
    assert kinds[0] == "warcinfo"
    assert kinds.count("request") == kinds.count("response") + kinds.count("revisit")


def test_predictions_are_found_again_by_telling_the_log(result: CrawlResult, folder: Path) -> None:
    with RunReader(folder) as run:
        explorer, entries = told_again(run)
        assert explorer.total == result.total
        assert explorer.driver.account.spent.requests == result.requests
        asked = [(each, each.lease) for each in entries if each.kind == "lease" and each.lease]
        picked = [(entry, lease) for entry, lease in asked if lease.arm >= 0]
        assert picked
        for entry, lease in picked[:: max(1, len(picked) // 5)]:
            assert entry.number is not None
            moment = moments(run, entry.number, before=entry.seq)[0][-1]
            assert moment.opinions[lease.arm].estimate == lease.predicted


def test_explain_every_url_that_was_seen(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with RunReader(folder) as run:
        seen = [row[0] for row in run.rows("SELECT url FROM nodes UNION SELECT url FROM refused")]
        states = {trace(run, url).state for url in seen}
        frontier = summary.totals(run).frontier
        assert sum(trace(run, url).state == "frontier" for url in seen) == frontier
    assert "unknown" not in states
    assert {"visited", "refused"} <= states
    for url in seen[:: max(1, len(seen) // 6)]:
        assert command("explain", str(folder), url) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_the_exports_of_a_crawl(
    result: CrawlResult, folder: Path, tmp_path: Path, port: int
) -> None:
    out = tmp_path / "pages.jsonl"
    assert command(
        "export", str(folder), "--parquet", str(tmp_path / "tables"), "--jsonl", str(out),
        "--graph", str(tmp_path / "graph"), "--graphml", str(tmp_path / "run.graphml"),
    ) == 0  # fmt: skip
    pages = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(pages) == result.visits
    assert all(page["text"] for page in pages)
    graph = Graph.load(tmp_path / "graph")
    assert graph.scores.sum() == pytest.approx(result.total)
    found = simulate(graph, seeds=[f"http://127.0.0.1:{port}/"], estimator="n", budget=10)
    assert len(found.visited) == 10


def test_a_run_without_pages_keeps_texts(tmp_path: Path, port: int) -> None:
    crawled(tmp_path / "run", port, pages=False, budget=12)
    assert not (tmp_path / "run" / "pages").exists()
    out = tmp_path / "pages.jsonl"
    assert command("export", str(tmp_path / "run"), "--jsonl", str(out)) == 0
    assert "word" in json.loads(out.read_text().splitlines()[0])["text"]


def test_secrets_are_nowhere_in_the_run_folder(
    tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SONDE_TEST_COOKIE", SECRET)
    crawled(
        tmp_path / "run", port, budget=8, headers=("127.0.0.1 X-Key: env:SONDE_TEST_COOKIE",),
        auth=("127.0.0.1 me:env:SONDE_TEST_COOKIE",),
        cookies=("127.0.0.1 session=env:SONDE_TEST_COOKIE",),
    )  # fmt: skip
    login = base64.b64encode(f"me:{SECRET}".encode()).decode()
    assert {("X-Key", SECRET), ("Authorization", f"Basic {login}")} <= Site.heard
    assert ("Cookie", f"session={SECRET}") in Site.heard
    for path in (tmp_path / "run").rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            data += gzip.decompress(data) if path.name.endswith(".gz") else b""
            assert SECRET.encode() not in data
            assert login.encode() not in data


def test_a_crawl_goes_on_after_its_archive_was_cut(tmp_path: Path, port: int) -> None:
    crawled(tmp_path / "run", port, budget=15)
    shutil.copytree(tmp_path / "run", tmp_path / "cut")
    archive = tmp_path / "cut" / "pages" / "pages-00001.warc.gz"
    with archive.open("ab") as file:
        file.write(archive.read_bytes()[:50])  # a record of which only the beginning is there
    crawl = Crawl.resume(tmp_path / "cut", budget="+10")
    crawl.run_to_end()
    assert crawl.session is not None
    assert "half-written" in crawl.session.notice
    with RunReader(tmp_path / "cut") as run:
        assert summary.totals(run).requests <= 25
        for (place,) in run.rows("SELECT warc FROM pages"):
            assert read_archived(run.pages, place).body


CHILD = """
import sys
from sonde.crawling import Crawl
Crawl(sys.argv[1], path=sys.argv[2], topic="tide gauge", budget=500, delay=0.02, scope="web",
      allow_private=True, concurrency=4).run_to_end()
"""


@pytest.mark.slow
@pytest.mark.parametrize("visits", [1, 4, 11])
def test_read_while_a_process_writes_then_kill_it(tmp_path: Path, port: int, visits: int) -> None:
    folder = tmp_path / "run"
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, f"http://127.0.0.1:{port}/", str(folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    seen = 0
    try:
        deadline = time.monotonic() + 60
        while seen < visits and time.monotonic() < deadline and child.poll() is None:
            with suppress(InputError), RunReader(folder) as run:  # at first there is no run yet
                found = summary.totals(run)
                assert found.visits >= seen
                assert found.visits == run.count("SELECT count(*) FROM pages")
                seen = found.visits
            time.sleep(0.01)
    finally:
        child.kill()
        child.wait()
    assert seen >= visits
    with WarcWriter(folder / "pages"), RunReader(folder) as run:  # which cuts a half record off
        assert summary.totals(run).visits >= seen
        for (place,) in run.rows("SELECT warc FROM pages"):
            assert read_archived(run.pages, place).body.startswith((b"<html", b"\x1f\x8b"))
