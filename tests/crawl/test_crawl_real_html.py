"""A crawl of real HTML: the manual of a database, as a Debian package installs it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import sonde

MANUALS = sorted(Path("/usr/share/doc").glob("postgresql-doc-*/html"))
TOPIC = "vacuum, autovacuum"


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, keeps connections, and counts."""

    protocol_version = "HTTP/1.1"
    served = 0

    def do_GET(self) -> None:
        type(self).served += 1
        super().do_GET()

    def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002


@pytest.fixture
def manual() -> Iterator[str]:
    if not MANUALS:
        pytest.skip("no PostgreSQL manual here (Debian package postgresql-doc-15)")
    Quiet.served = 0
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Quiet, directory=str(MANUALS[0].resolve()))
    )
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/index.html"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_topic_in_a_real_manual(manual: str, tmp_path: Path) -> None:
    totals = {}
    for estimator in ("bfs", "hybrid[ne,lnh,1000]"):
        Quiet.served = 0
        result = sonde.crawl(
            manual,
            topic=TOPIC,
            budget=150,
            estimator=estimator,
            delay=0,
            per_host=4,
            allow_private=True,
            path=tmp_path / estimator,
        )
        assert Quiet.served <= 150
        assert result.stop_reason == "budget"
        visits = result.frame().to_pylist()
        assert len(visits) >= 140
        totals[estimator] = sum(visit["score"] for visit in visits)
        if estimator != "bfs":
            best = [row["url"] for row in result.best(10)]
            assert any("vacuum" in url for url in best)
    assert totals["hybrid[ne,lnh,1000]"] > 1.2 * totals["bfs"]
