"""Peers as separate processes: asked one by one, passing a query on, killed, late and lying."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from peers_real import TOPIC, colony, overlay

from sonde import simulate
from sonde.cli import main
from sonde.crawling import Crawl, Settled, Stopped
from sonde.peers import gossip
from sonde.sources.graph import Graph
from sonde.sources.peers import exchange
from sonde.store.reader import RunReader
from sonde.store.summary import reasons, totals

SIZE = 14
WORDS = [0, 0, 0, 9, 30, 12, 0, 0, 0, 0, 2, 0, 0, 40]
VICTIM = Path(__file__).parents[1] / "crawl" / "crawl_victim.py"


def crawled(folder: Path, seeds: list[str], **settings: Any) -> Crawl:
    usual: dict[str, Any] = {"topic": TOPIC, "concurrency": 1, "estimator": "e", "timeout": 5.0}
    settings = usual | settings
    crawl = Crawl("peers:", seeds=seeds, path=folder, **settings)
    crawl.run_to_end()
    return crawl


@pytest.mark.slow
def test_a_crawl_of_real_peers_is_the_crawl_of_their_graph(tmp_path: Path) -> None:
    """All peers, then the same from a recorded graph of what was found; and the messages."""
    with colony(tmp_path / "peers", overlay(SIZE, 4), words=WORDS) as peers:
        peers.acquainted()
        crawled(tmp_path / "all", [peers.names[0]])
        assert main(["export", str(tmp_path / "all"), "--graph", str(tmp_path / "graph")]) == 0
        graph = Graph.load(tmp_path / "graph")
        assert graph.node_count == SIZE
        assert [graph.scores[graph.index(name)] > 0 for name in peers.names] == [
            words > 0 for words in WORDS
        ]
        for estimator in ("n", "e", "hybrid[ne,lnh,4]"):
            found = crawled(
                tmp_path / estimator[0], [peers.names[0]], estimator=estimator, budget=7
            )
            assert found.result is not None
            assert found.result.requests == 7
            assert sum(found.result.frame()["bytes"].to_pylist()) > 7 * 50
            wanted = simulate(graph, seeds=[peers.names[0]], estimator=estimator, budget=6)
            assert found.result.frame()["node"].to_pylist()[1:] == wanted.sequence
        # Every message that peers answered was charged, and none else.
        answered = [peers.about(place)["answered"]["relevance"] for place in range(SIZE)]
        assert sum(answered) == SIZE + 3 * 7


@pytest.mark.slow
def test_what_a_peer_remembers_is_the_score_of_the_link(tmp_path: Path) -> None:
    with colony(tmp_path / "peers", [[1, 2], [0], [0]], words=[0, 9, 0]) as peers:
        peers.acquainted()
        answer = asyncio.run(
            exchange(peers.names[0], {"ask": "relevance", "topic": "Tide"}, timeout=5)
        )
        assert dict(answer["neighbours"])[peers.names[2]] == 0
        assert dict(answer["neighbours"])[peers.names[1]] == pytest.approx(1 + 2.1972245773)
        assert answer["score"] == 0
        own = asyncio.run(
            exchange(peers.names[1], {"ask": "relevance", "topic": "Tide"}, timeout=5)
        )
        assert own["score"] == pytest.approx(1 + 2.1972245773)
        assert own["files"] == ["b.md", "a.txt"]  # the best first
        # A new file is seen, and told to the neighbours.
        (tmp_path / "peers" / "2" / "new.txt").write_text("the tide")
        for _ in range(400):
            answer = asyncio.run(
                exchange(peers.names[0], {"ask": "relevance", "topic": "tide"}, timeout=5)
            )
            if dict(answer["neighbours"])[peers.names[2]] > 0:
                break
        else:
            raise AssertionError("the new file was never heard of")


@pytest.mark.slow
def test_peers_killed_in_the_middle_of_a_crawl(tmp_path: Path) -> None:
    """Processes die while they are being asked; the budget stays exact and the crawl goes on."""
    manners = dict.fromkeys(range(SIZE), "sluggish")
    with colony(tmp_path / "peers", overlay(SIZE, 4), words=WORDS, manners=manners) as peers:
        settled = 0

        def heard(event: Settled | Stopped) -> None:
            nonlocal settled
            settled += 1
            if settled == 3:
                for place in (3, 4, 5, 9, 12):
                    peers.kill(place)

        crawl = Crawl(
            "peers:", seeds=[peers.names[0]], topic=TOPIC, budget=SIZE, estimator="bfs",
            concurrency=4, path=tmp_path / "run", on_event=heard,
        )  # fmt: skip
        result = crawl.run_to_end()
    assert result.requests <= SIZE
    with RunReader(tmp_path / "run") as reader:
        found = totals(reader)
        assert found.requests == result.requests == found.visits + found.failures
        assert found.visits >= 3
        assert found.failures >= 1
        words = {row.reason for row in reasons(reader) if row.outcome == "failure"}
        assert words <= {"connect", "disconnected"}


@pytest.mark.slow
def test_misfits_cost_a_message_each_and_no_more(tmp_path: Path) -> None:
    manners = {1: "late", 2: "garbage", 3: "endless", 4: "half", 5: "boastful"}
    ring = [[1, 2, 3, 4, 5, 6], [0], [0], [0], [0], [0], [0, 7], [6]]
    words = [1, 5, 5, 5, 5, 5, 1, 40]
    with colony(tmp_path / "peers", ring, words=words, manners=manners) as peers:
        peers.acquainted()
        result = crawled(tmp_path / "run", [peers.names[0]], timeout=2.0, estimator="e").result
        assert result is not None
        with RunReader(tmp_path / "run") as reader:
            spend = {(row.outcome, row.reason): row.requests for row in reasons(reader)}
            assert spend.pop(("failure", "timeout")) == 2  # one is late, one stops in mid-word
            assert spend.pop(("failure", "not-json")) == 1
            assert spend.pop(("failure", "too-long")) == 1
            # Of 20,000 invented neighbours 256 are taken, five are asked, the rest is doubted.
            assert spend.pop(("failure", "connect")) == 5
            assert spend.pop(("skip", "doubtful")) == 0
            assert spend == {("visit", ""): 4}
            assert reader.count("SELECT count(*) FROM nodes") == 8 + 252
            assert reader.count("SELECT max(score) FROM leases") == 32
            assert not reader.count("SELECT count(*) FROM nodes WHERE url LIKE '8.8.%'")


@pytest.mark.slow
def test_killed_and_resumed(tmp_path: Path) -> None:
    """A crawler killed by SIGKILL goes on; the lies that it had found out stay found out."""
    folder = tmp_path / "run"
    ring = [[1, 2], [0, 2], [0, 1, 3], [2, 4], [3]]
    with (
        colony(tmp_path / "peers", ring, words=[0, 3, 0, 9, 4], manners={1: "boastful"}) as peers,
        subprocess.Popen(
            [sys.executable, str(VICTIM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as victim,
    ):
        peers.acquainted()
        assert victim.stdin is not None
        assert victim.stdout is not None
        settings = {"topic": TOPIC, "estimator": "e", "concurrency": 1, "budget": 12}
        said: list[str] = []
        for after in (2, 2, 1, 300):
            order = {
                "seeds": ["peers:", peers.names[0]], "folder": str(folder), "settings": settings,
                "after": after, "seconds": 20,
            }  # fmt: skip
            victim.stdin.write(json.dumps(order) + "\n")
            victim.stdin.flush()
            said += json.loads(victim.stdout.readline())
        victim.stdin.close()
        victim.wait(10)
    assert not [line for line in said if line.startswith("error")]
    assert "stopped frontier -" in said or "stopped budget -" in said
    with RunReader(folder) as reader:
        found = totals(reader)
        assert found.requests <= 12
        visited = {line.split()[2] for line in said if " visit " in line}
        assert found.visits >= len(visited)
        connects = {row.reason: row.requests for row in reasons(reader)}.get("connect", 0)
        assert connects <= 5


# -- the decentralised form ----------------------------------------------------------------------


def test_a_query_spreads_and_every_message_is_counted(tmp_path: Path) -> None:
    with colony(tmp_path / "peers", overlay(SIZE, 4), words=WORDS) as peers:
        peers.acquainted()
        for budget, width in [(1, 5), (7, 2), (12, 1), (60, 4)]:
            before = peers.messages()
            asked: list[str] = []
            found = asyncio.run(
                gossip([peers.names[0]], TOPIC, budget, width=width, note=asked.append)
            )
            assert found.lost == 0
            assert found.sent == len(asked) + peers.messages() - before <= budget
            assert found.sent == budget or len(found.answers) == SIZE
            names = [name for name, _, _ in found.answers]
            assert peers.names[0] in names
            assert len(names) == len(set(names)) <= found.sent
            scores = {name: score for name, score, _ in found.answers}
            for name, words in zip(peers.names, WORDS, strict=True):
                assert (scores.get(name, words) > 0) == (words > 0)


@pytest.mark.slow
def test_peers_killed_while_they_hold_shares(tmp_path: Path) -> None:
    """Half of the colony dies in the middle of a query: what they held is lost, and not more."""
    manners = dict.fromkeys(range(SIZE), "sluggish")
    with colony(tmp_path / "peers", overlay(SIZE, 4), words=WORDS, manners=manners) as peers:
        peers.acquainted()
        asked: list[str] = []

        async def scene() -> Any:
            query = asyncio.create_task(
                gossip([peers.names[0]], TOPIC, 40, width=2, patience=6.0, note=asked.append)
            )
            while peers.messages() < 4:
                await asyncio.sleep(0.01)
            for place in range(1, SIZE, 2):
                peers.kill(place)
            return await query

        found = asyncio.run(scene())
        messages = len(asked) + peers.messages()
    assert found.sent <= messages <= found.sent + found.lost <= 40
    assert peers.names[0] in [name for name, _, _ in found.answers]


@pytest.mark.slow
def test_a_query_survives_misfits(tmp_path: Path) -> None:
    manners = {1: "late", 2: "garbage", 3: "boastful", 4: "forging", 5: "half"}
    ring = [[1, 2, 3, 4, 5, 6], [0], [0], [0], [0], [0], [0, 7], [6]]
    words = [1, 5, 5, 5, 5, 5, 1, 40]
    with colony(tmp_path / "peers", ring, words=words, manners=manners) as peers:
        peers.acquainted()
        asked: list[str] = []
        found = asyncio.run(
            gossip([peers.names[0]], TOPIC, 30, width=6, patience=4.0, note=asked.append)
        )
        messages = len(asked) + peers.messages()
    assert {name for name, _, _ in found.answers} == {
        peers.names[place] for place in (0, 6, 7)
    }  # nobody who forges is heard
    assert found.sent <= messages <= found.sent + found.lost <= 30


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A peer as a person starts it, asked in both ways."""
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "x.txt").write_text("low tide, high tide")
    process = subprocess.Popen(
        [sys.executable, "-m", "sonde", "peer", str(tmp_path / "files")],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    with process:
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        run = str(tmp_path / "run")
        crawl = ["crawl", "peers:", name, "--topic", "tide", "--budget", "3", "-o", run]
        assert main([*crawl, "--timeout", "5"]) == 0
        assert capsys.readouterr().out.startswith(f"1.693\t{name}")
        assert main(["gossip", name, "--topic", "tide", "--budget", "3", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["sent"], found["lost"], found["records"]) == (1, 0, 1)
        assert main(["gossip", name, "--topic", "tide", "--budget", "3"]) == 0
        assert "1 peers, 1.693 in all, 1 different files, for 1 of 3" in capsys.readouterr().out
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["crawl", "peers:", "127.0.0.1:7001", "-o", "run"], "needs a topic"),
        (["crawl", "peers:", "--topic", "x", "-o", "run"], "at least one address"),
        (["crawl", "peers:", "localhost:1", "--topic", "x", "-o", "run"], "not a peer"),
        (["crawl", "peers:127.0.0.1:1", "--topic", "x", "-o", "run"], "nothing stands after"),
        (["gossip", "nobody", "--topic", "x", "--budget", "3"], "not a peer"),
        (["gossip", "127.0.0.1:1", "--topic", "x", "--budget", "0"], "1 to 10,000"),
        (["gossip", "127.0.0.1:1", "--topic", " ", "--budget", "3"], "topic"),
        (["gossip", "127.0.0.1:1", "--topic", "x", "--budget", "3", "--width", "0"], "width"),
        (["gossip", "127.0.0.1:1", "--topic", "x", "--budget", "3", "--patience", "x"], "duration"),
        (["gossip", "127.0.0.1:1", "--topic", "x", "--budget", "3", "--estimator", "?"], "?"),
        (["peer", "missing"], "not a folder"),
        (["peer", ".", "--host", "localhost"], "not a peer"),
        (["peer", ".", "--neighbours", "127.0.0.1"], "not a peer"),
        (["peer", ".", "--gossip", "0"], "more than 0"),
        (["peer", ".", "--port", "70000"], "--port"),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    why: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    error = capsys.readouterr().err
    assert why in error
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()
