"""What peers say is bounded, and shares are exact: properties, without a network."""

from __future__ import annotations

import asyncio
import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sonde import simulate
from sonde.cli import main
from sonde.crawling import Crawl, CrawlResult
from sonde.lab.gossip import simulate_gossip
from sonde.peers import Gossip, Peer, SharedFolder, gossip
from sonde.peers import peer as peer_module
from sonde.peers.query import KNOWN, MOST_SHARE, Share, _parts, handed_query_from, recently_met
from sonde.peers.shared_folder import promise
from sonde.sources.graph import Graph, topical
from sonde.sources.peers.messages import (
    HIGHEST,
    NEIGHBOURS,
    ExchangeError,
    SpreadAnswer,
    address_of,
    answer_from,
    exchange,
    line_of,
    message_of,
    name_of,
    profile_from,
    reach_of,
    spread_from,
)
from sonde.sources.peers.source import DOUBTS, Reputation

_texts = st.text("ab:.[]0127é\0", max_size=12) | st.sampled_from(
    ["127.0.0.1:7001", "[::1]:9", "127.0.0.1:0"]
)
_plain = st.none() | st.booleans() | st.integers() | st.floats() | _texts
_things = st.recursive(
    _plain,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=8,
)
_names = st.sampled_from(
    ["score", "neighbours", "files", "records", "sent", "lost", "answers", "words", "share",
     "query", "topic", "estimator", "width", "known", "patience"]
)  # fmt: skip
_messages = st.dictionaries(_names, _things, max_size=9)


@given(_messages)
def test_no_answer_is_believed_beyond_its_bounds(message: dict[str, Any]) -> None:
    try:
        answer = answer_from(message)
    except ExchangeError:
        pass
    else:
        assert 0 <= answer.score <= HIGHEST
        assert len(answer.neighbours) <= NEIGHBOURS
        assert all(0 <= alpha <= HIGHEST for _, alpha in answer.neighbours)
        assert all(address_of(name) for name, _ in answer.neighbours)
    for share in (0, 3):
        try:
            spread = spread_from(message, share)
        except ExchangeError:
            continue
        assert 0 <= spread.sent + spread.lost <= share
        assert len(spread.answers) <= spread.sent + 1
    with suppress(ExchangeError):
        assert len(profile_from(message, 2)) <= 2
    try:
        handed = handed_query_from(message)
    except ValueError:
        pass
    else:
        assert 0 <= handed.messages <= MOST_SHARE
        assert len(handed.known) <= KNOWN


@given(st.binary(max_size=60) | _things.map(lambda thing: json.dumps(thing).encode()))
def test_any_line_is_a_message_or_an_error(line: bytes) -> None:
    with suppress(ValueError):
        assert message_of(line)["sonde"] == 1
    assert message_of(line_of({"a": 1})) == {"sonde": 1, "a": 1}


@pytest.mark.parametrize("deep", [b"[" * 60_000, b'{"sonde":' * 9_000])
def test_nesting_is_no_way_to_crash(deep: bytes) -> None:
    with pytest.raises(ValueError, match="not-json"):
        message_of(deep)


@pytest.mark.parametrize(
    ("name", "reach"),
    [
        ("127.0.0.1:7001", "loopback"),
        ("127.9.8.7:1", "loopback"),
        ("[::1]:7001", "loopback"),
        ("10.1.2.3:80", "private"),
        ("192.168.1.1:80", "private"),
        ("93.184.216.34:80", "open"),
        ("[2606:2800:220:1::1]:80", "open"),
        ("0.0.0.0:80", "nowhere"),
        ("224.0.0.1:80", "nowhere"),
        ("169.254.0.1:80", "nowhere"),
        ("[::ffff:127.0.0.1]:80", "nowhere"),
        ("127.0.0.1:0", "nowhere"),
        ("127.0.0.1:65536", "nowhere"),
        ("127.0.0.1", "nowhere"),
        ("127.1:80", "nowhere"),
        ("0127.0.0.1:80", "nowhere"),
        ("::1:80", "nowhere"),
        ("[127.0.0.1]:80", "nowhere"),
        ("[0:0::1]:80", "nowhere"),  # another spelling of ::1
        ("localhost:80", "nowhere"),
        ("127.0.0.1:80 ", "nowhere"),
    ],
)
def test_names_are_addresses_in_one_spelling(name: str, reach: str) -> None:
    assert reach_of(name) == reach
    if reach != "nowhere":
        address = address_of(name)
        assert address is not None
        assert name_of(*address) == name


def test_who_invents_neighbours_is_doubted() -> None:
    reputation = Reputation()
    for number in range(100):
        reputation.named(f"invented {number}", "liar")
    reputation.named("real", "liar")
    reputation.named("real", "honest")
    for number in range(DOUBTS):
        assert not reputation.doubtful(f"invented {number}")
        reputation.asked(f"invented {number}", there=False)
    assert reputation.doubtful("invented 50")
    assert not reputation.doubtful("real")  # somebody else vouches
    assert not reputation.doubtful("seed")  # nobody needs to
    again = Reputation()
    again.recall(json.loads(json.dumps(reputation.counts())))
    again.named("invented 50", "liar")
    assert again.doubtful("invented 50")
    reputation.asked("real", there=True)
    assert not reputation.doubtful("invented 50")


def test_what_a_profile_promises() -> None:
    profile = {"tide": 9, "sea": 4, "level": 2}
    assert promise(profile, "Tide") == 1 + math.log(9)
    assert promise(profile, "sea-level") == 1 + math.log(2)
    assert promise(profile, "tide, sea level, moon") == 1 + math.log(11)
    assert promise(profile, "moon") == 0


@given(
    st.integers(0, 10_000),
    st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8),
)
def test_parts_are_whole_and_make_the_whole(total: int, expected: list[float | None]) -> None:
    parts = _parts(total, expected)
    assert sum(parts) == total
    assert all(part >= 0 for part in parts)
    weights = [1.0 if value is None else max(0.0, value) for value in expected]
    for one in range(len(parts)):
        for other in range(len(parts)):
            assert parts[one] >= parts[other] - 1 or weights[one] < weights[other]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_share_never_hands_out_more_than_it_has(data: st.DataObject) -> None:
    """Neighbours that answer, die before or after they got their share, or never account for it."""
    messages = data.draw(st.integers(0, 40))
    degree = data.draw(st.integers(0, 12))
    width = data.draw(st.integers(1, 5))
    estimator = data.draw(st.sampled_from(["e", "bfs", "random", "lnh", "mab:eps=0.5[e,n]"]))
    alphas = data.draw(st.lists(st.floats(0, 32), min_size=degree, max_size=degree))
    neighbours = [(f"n{number}", alpha) for number, alpha in enumerate(alphas)]
    share = Share(messages, "me", 1.0, neighbours, known=["n0"], estimator=estimator, width=width)
    out: dict[str, int] = {}
    real = least = 0  # messages: at most, and for certain
    met: set[str] = set()
    while True:
        for handover in share.handovers():
            assert handover.name not in met
            assert handover.name not in ("me", "n0")
            met.add(handover.name)
            out[handover.name] = handover.messages
        assert len(out) <= width
        assert share.left >= 0
        assert share.sent + share.lost + share.left + sum(out.values()) + len(out) == messages
        if share.over:
            break
        name = data.draw(st.sampled_from(sorted(out)))
        handed = out.pop(name)
        fate = data.draw(st.sampled_from(["answers", "seen", "missing", "dead", "closed"]))
        if fate == "answers":
            sent = data.draw(st.integers(0, handed))
            lost = data.draw(st.integers(0, handed - sent))
            found = [(name, 2.0, ()), *((f"{name}.{number}", 1.0, ()) for number in range(sent))]
            share.answered(name, SpreadAnswer(sent, lost, tuple(found)))
            real, least = real + 1 + sent + lost, least + 1 + sent
        elif fate == "seen":
            share.answered(name, SpreadAnswer(0, 0, ()))
            real, least = real + 1, least + 1
        elif fate == "closed":
            real, least = real + 1 + handed, least + 1
            for other in out.values():
                real, least = real + 1 + other, least + 1
            out.clear()
            share.failed(name, delivered=True)
            share.close()
        else:
            share.failed(name, delivered=fate == "dead")
            real, least = real + 1 + (handed if fate == "dead" else 0), least + 1
        assert (share.sent, share.sent + share.lost) == (least, real)
    assert real <= messages


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_a_simulated_query_accounts_for_every_message(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 12))
    pairs = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1), st.floats(0, 3))
    edges = data.draw(st.lists(pairs, max_size=40))
    graph = Graph.from_edges(edges or [(0, 1)], [(node, float(node % 3)) for node in range(size)])
    budget = data.draw(st.integers(0, 30))
    found = simulate_gossip(
        graph, [0], budget, estimator=data.draw(st.sampled_from(["e", "n", "lnh", "random"])),
        width=data.draw(st.integers(1, 4)),
    )  # fmt: skip
    assert found.sent == len(found.visited) + found.repeated <= budget
    assert len(set(found.visited)) == len(found.visited)
    assert found.total == sum(graph.scores[list(found.visited)])


def test_a_simulated_query_is_repeated_and_no_better_than_all_there_is() -> None:
    graph = topical(500, 3000, seed=5, topics=5)
    seeds = np.flatnonzero(graph.scores > 0)[:2].tolist()
    first = simulate_gossip(graph, seeds, 80)
    assert first == simulate_gossip(graph, seeds, 80)
    assert first.sent == 80
    best = simulate(graph, seeds=seeds, estimator="oracle", budget=78)
    assert first.total <= best.total
    # In parallel it takes less time than one after the other.
    assert (
        first.time < 2 * 80 == simulate_gossip(graph, seeds[:1], 80, estimator="bfs", width=1).time
    )


def test_who_has_met_a_query_is_told_of_the_nearest() -> None:
    assert recently_met([str(number) for number in range(600)]) == [
        str(n) for n in range(600 - KNOWN, 600)
    ]


def test_the_lab_compares_both_forms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    topical(400, 2000, seed=5, topics=3).save(tmp_path / "graph")
    words = ["lab", "gossip", str(tmp_path / "graph"), "--estimators", "bfs,e", "--widths", "1,5"]
    assert main([*words, "--budget", "40", "--repeat", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(form["estimator"], form["width"]) for form in found["forms"]] == [
        (estimator, width) for estimator in ("bfs", "e") for width in (0, 1, 5)
    ]
    for form in found["forms"]:
        assert len(form["totals"]) == 3
        assert all(sent <= 40 for sent in form["messages"])
    assert main([*words, "--budget", "40", "--repeat", "3"]) == 0
    assert "passed on, width 5" in capsys.readouterr().out
    for wrong in (
        ["--budget", "0"],
        ["--budget", "9", "--widths", "x"],
        ["--budget", "9", "--repeat", "0"],
    ):
        assert main([*words, *wrong]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_odd_requests_are_answered_with_a_reason(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the tide")
    spread = {"ask": "spread", "query": "q", "topic": "tide", "share": 3, "patience": 2.0}
    odd = [
        (b"x\n", "not-json"),
        (b"{}\n", "not-sonde"),
        (line_of({"ask": "files"}), "unknown request"),
        (line_of({"ask": "relevance", "topic": "..."}), "topic: '...' has no letter"),
        (line_of({"ask": "relevance"}), "a topic is a text"),
        (line_of({**spread, "estimator": "oracle"}), "the oracle needs"),
        (line_of({**spread, "estimator": "nope"}), "unknown estimator"),
        (line_of({**spread, "estimator": "e", "share": 10**9}), "a share is 0 to"),
        (line_of({**spread, "estimator": "e", "patience": -1}), "patience"),
        (line_of({**spread, "estimator": "e", "width": 0}), "a width is 1 to"),
        (b"y" * 70_000 + b"\n", None),  # hangs up
    ]

    async def scene() -> None:
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        peer = Peer(SharedFolder(tmp_path), gossip=0.01)
        serving = asyncio.create_task(peer.serve(ready.set_result))
        address = address_of(await ready)
        assert address is not None
        for line, why in odd:
            reader, writer = await asyncio.open_connection(*address)
            writer.write(line)
            answer = b""
            with suppress(ConnectionResetError):
                answer = await reader.read()
            if why is None:
                assert answer == b""
            else:
                assert message_of(answer)["error"].startswith(why)
            writer.close()
        # Several requests on one connection, and one that is silent when the peer ends.
        reader, writer = await asyncio.open_connection(*address)
        for _ in range(2):
            writer.write(line_of({"ask": "relevance", "topic": "tide"}))
            assert message_of(await reader.readline())["score"] == 1
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving
        assert await reader.read() == b""
        writer.close()

    asyncio.run(scene())


def test_a_busy_peer_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer_module, "MOST_CONNECTIONS", 1)

    async def scene() -> None:
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving = asyncio.create_task(Peer(SharedFolder(tmp_path)).serve(ready.set_result))
        name = await ready
        address = address_of(name)
        assert address is not None
        reader, first = await asyncio.open_connection(*address)
        first.write(line_of({"ask": "about"}))
        await reader.readline()
        with pytest.raises(ExchangeError, match="refused"):
            await exchange(name, {"ask": "about"}, timeout=5)
        first.close()
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving

    asyncio.run(scene())


def test_a_file_that_two_peers_have_counts_once(tmp_path: Path) -> None:
    for name, text in (("a", "other words"), ("b", "the tide"), ("c", "the tide")):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.txt").write_text(text)

    async def started(name: str, *neighbours: str) -> tuple[str, asyncio.Task[None]]:
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        peer = Peer(SharedFolder(tmp_path / name), neighbours, gossip=0.01)
        serving = asyncio.create_task(peer.serve(ready.set_result))
        return await ready, serving

    async def scene() -> tuple[CrawlResult, Gossip]:
        c, third = await started("c")
        b, second = await started("b", c)
        a, first = await started("a", b)
        crawl = Crawl("peers:", seeds=[a], topic="tide", objective="distinct", budget=9)
        found = await crawl.run(), await gossip([a], "tide", 9)
        for task in (first, second, third):
            task.cancel()
        await asyncio.gather(first, second, third, return_exceptions=True)
        return found

    asked, passed = asyncio.run(scene())
    assert (asked.total, asked.visits, asked.requests) == (1.0, 3, 3)
    assert sorted(asked.frame()["title"].to_pylist()) == ["", "b.txt", "c.txt"]
    assert (passed.records, len(passed.answers), passed.sent) == (1, 3, 3)
