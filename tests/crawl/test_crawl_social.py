"""Accounts through APIs: real posts in real shapes, windows that may not be exceeded."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from crawl_sites import Site
from social_server import Network, Windows, real_posts

from sonde.cli import main
from sonde.crawling import Crawl
from sonde.errors import InputError
from sonde.scorers import log_count
from sonde.sources.social.kind import MASTODON

TOPIC = "health care"
FAST: dict[str, Any] = {"topic": TOPIC, "allow_private": True, "contact": "tests@localhost"}

FORUM = """
name = "forum"
[windows.all]
requests = 30
per = "1s"
[posts]
url = "{server}/forum/posts?user={id}"
windows = ["all"]
items = "result.posts[]"
text = "body"
author_id = "by"
mentions = "to[]"
mention_id = "user"
next = { by = "page", parameter = "page" }
"""


@pytest.fixture(scope="module")
def posts() -> list[tuple[str, str]]:
    return real_posts()


def requests_in(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "run.sqlite")) as database, database:
        (count,) = database.execute("SELECT sum(requests) FROM leases").fetchone()
    return int(count)


def bytes_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


def occurrences(texts: list[str]) -> int:
    from sonde.scorers import KeywordMatcher, Topic

    return KeywordMatcher(Topic.of(TOPIC).phrases).count(" | ".join(texts))


def test_mastodon_by_search_within_its_windows_and_budget(
    posts: list[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seeds from the network's own search; two tokens, each with windows of its own for all
    requests and for searches; exactly the budget; what is scored is what the posts say."""
    monkeypatch.setenv("FIRST", "token-number-one")
    monkeypatch.setenv("SECOND", "token-number-two")
    network = Network(
        posts,
        windows={"all": Windows(20, 1.0)},
        tokens=("token-number-one", "token-number-two"),
    )
    with Site(network) as site:
        crawl = Crawl(
            f"mastodon:{site.url('')}",
            options={"tokens": ["env:FIRST", "env:SECOND"], "pages": 3},
            path=tmp_path / "run",
            budget=120,
            requests=40,
            per=1,
            duration="1h",
            **FAST,
        )
        result = crawl.run_to_end()
    assert network.over == []
    assert (result.stop_reason, result.requests, len(network.asked)) == ("budget", 120, 120)
    assert network.seen_tokens == {"token-number-one", "token-number-two"}
    rows = {row["node"]: row for row in result.frame().to_pylist()}
    assert next(iter(rows)) == "?health care"
    assert rows["?health care"]["score"] == 0
    scored = 0
    for node, row in rows.items():
        if "#" in node:
            assert row["title"] == node.partition("#")[0]
            texts = network.posts[row["title"]]
            newest = texts[::-1][: 40 * row["requests"]]  # an account's pages were all it has
            assert row["score"] == log_count(occurrences(newest))
            scored += row["score"] > 0
    assert scored > 10
    for secret in ("token-number-one", "token-number-two"):
        assert secret.encode() not in bytes_in(tmp_path / "run")


def test_alpha_is_that_of_the_posts_that_mention_the_other(tmp_path: Path) -> None:
    said = [
        ("u1", "@u2 on health care"),
        ("u1", "more health care with @u2 and @u3: health care"),
        ("u1", "and @u4 says health"),
        ("u1", "care of @u4"),
        ("u2", "nothing"),
    ]
    with Site(Network(said)) as site:
        Crawl(
            f"mastodon:{site.url('')}", seeds=["@u1"], path=tmp_path / "run", budget=2, **FAST
        ).run_to_end()
        assert main(["export", str(tmp_path / "run"), "--graph", str(tmp_path / "graph")]) == 0
    import pyarrow.parquet as pq

    edges = pq.read_table(tmp_path / "graph" / "edges.parquet").to_pylist()
    alphas = {edge["target"]: edge["score"] for edge in edges}
    assert alphas == {"u2#2": log_count(3), "u3#3": log_count(2), "u4#4": 0.0}


def test_bluesky_pages_by_cursor_and_knows_a_seed_by_both_its_names(
    posts: list[tuple[str, str]], tmp_path: Path
) -> None:
    network = Network(posts, windows={"all": Windows(50, 1.0)}, headers="ietf")
    author = max(network.posts, key=lambda name: len(network.posts[name]))
    with Site(network) as site:
        result = Crawl(
            f"bluesky:{site.url('')}",
            seeds=[f"{author}.example"],
            options={"pages": 2},
            path=tmp_path / "run",
            budget=60,
            requests=50,
            per=1,
            duration="1h",
            **FAST,
        ).run_to_end()
    assert network.over == []
    assert (result.requests, len(network.asked)) == (60, 60)
    rows = result.frame().to_pylist()
    assert rows[0]["node"] == f"{author}.example"
    assert rows[0]["requests"] == 2
    assert f"did:plc:{author}" not in {row["node"] for row in rows}
    assert all(row["node"].startswith("did:plc:") for row in rows[1:])


def test_an_api_that_a_file_describes(
    posts: list[tuple[str, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    network = Network(posts, windows={"all": Windows(30, 1.0)}, headers="none")
    authors = sorted(network.posts, key=lambda name: -len(network.posts[name]))[:9]
    description = tmp_path / "forum.toml"
    description.write_text(FORUM)
    folder = str(tmp_path / "run")
    with Site(network) as site:
        words = ["crawl", f"api:{description}", *authors, "--option", f"server={site.url('')}"]
        words += ["--option", "pages=3", "--topic", TOPIC, "--allow-private", "--budget", "40"]
        assert main([*words, "--dry-run"]) == 0
        assert "30 requests in 1 s" in capsys.readouterr().out
        assert main([*words, "-o", folder]) == 0
        description.unlink()  # the run has what it said
        assert main(["crawl", folder, "--resume", "--budget", "+10"]) == 0
    assert network.over == []
    assert len(network.asked) == 50
    assert requests_in(Path(folder)) == 50


def test_endpoints_have_windows_of_their_own(posts: list[tuple[str, str]], tmp_path: Path) -> None:
    """Posts and searches under one window of their own each, and one of both together."""
    network = Network(
        posts,
        windows={"all": Windows(25, 1.0), "posts": Windows(20, 1.0), "search": Windows(2, 1.0)},
        headers="none",
    )
    description = MASTODON.replace('windows = ["all"]', 'windows = ["all", "posts"]')
    head, search, rest = description.partition("[search]")
    description = head + search + rest.replace('"posts"]', '"search"]')
    for name, most in (("all", 25), ("posts", 20), ("search", 2)):
        description = description.replace("[windows.all]", "[windows.none]", name == "all")
        description += f'\n[windows.{name}]\nrequests = {most}\nper = "1s"\n'
    file = tmp_path / "network.toml"
    file.write_text(description)
    searches = [f"?{word}" for word in ("health", "care", "bill", "vote", "tax", "jobs", "school")]
    with Site(network) as site:
        result = Crawl(
            f"api:{file}", seeds=searches, options={"server": site.url("")}, budget=70, **FAST
        ).run_to_end()
    assert network.over == []
    assert (result.requests, len(network.asked)) == (70, 70)
    assert [endpoint for endpoint, _ in network.asked].count("search") == len(searches)


VICTIM = [sys.executable, "-m", "sonde"]


def test_killed_and_resumed_no_window_is_exceeded_and_nothing_is_lost(
    posts: list[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "a-very-secret-token")
    network = Network(posts, windows={"all": Windows(25, 1.0)}, tokens=("a-very-secret-token",))
    folder = tmp_path / "run"
    budget = 90
    with Site(network) as site:
        begin = [
            *VICTIM, "crawl", f"mastodon:{site.url('')}", "--option", "tokens=env:TOKEN",
            "--requests", "25", "--per", "1s", "--for", "1h", "--topic", TOPIC,
            "--allow-private", "--budget", str(budget), "-o", str(folder),
        ]  # fmt: skip
        again = [*VICTIM, "crawl", str(folder), "--resume"]
        for number, until in enumerate((12, 50)):
            process = subprocess.Popen(
                begin if number == 0 else again, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
            for _ in range(3000):
                if len(network.asked) >= until or process.poll() is not None:
                    break
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        visited = visits_in(folder)
        subprocess.run(again, check=True, capture_output=True, timeout=60)
    assert network.over == []
    assert requests_in(folder) == budget
    assert len(network.asked) <= budget
    assert visits_in(folder)[: len(visited)] == visited
    assert len(set(visits_in(folder))) == len(visits_in(folder))
    assert b"a-very-secret-token" not in bytes_in(folder)


def visits_in(folder: Path) -> list[str]:
    with closing(sqlite3.connect(folder / "run.sqlite")) as database, database:
        rows = database.execute(
            "SELECT url FROM log JOIN leases ON leases.number = log.lease"
            " JOIN nodes ON nodes.number = log.node"
            " WHERE log.kind = 'settle' AND outcome = 'visit' ORDER BY seq"
        ).fetchall()
    return [url for (url,) in rows]


def test_a_limit_that_the_server_alone_knows_is_kept_after_it_was_said(tmp_path: Path) -> None:
    """The description says 300 in 5 minutes, the server 5 a second and says so: it is believed
    from the first answer on, and a 429 in the beginning is waited out and not lost."""
    said = [(f"u{n}", f"health care @u{n + 1} @u{n + 2}") for n in range(40)]
    network = Network(said, windows={"all": Windows(5, 0.5)})
    with Site(network) as site:
        result = Crawl(
            f"mastodon:{site.url('')}", seeds=["u0"], budget=20, concurrency=1, **FAST
        ).run_to_end()
    assert network.over == []
    assert result.requests == 20
    assert len(network.asked) == 20


@pytest.fixture
def calm() -> Iterator[Site]:
    with Site(Network([("u1", "health care")], tokens=("good",))) as site:
        yield site


def test_tokens_come_from_the_environment_or_a_strict_file(
    calm: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = f"mastodon:{calm.url('')}"
    folder = tmp_path / "run"

    def crawl(where: str) -> Any:
        return Crawl(
            server, seeds=["u1"], options={"tokens": [where]}, path=folder, budget=5, **FAST
        ).run_to_end()

    with pytest.raises(InputError, match="env:VARIABLE or file:PATH"):
        crawl("good")
    with pytest.raises(InputError, match="NOT_THERE is not set"):
        crawl("env:NOT_THERE")
    secret = tmp_path / "token"
    secret.write_text("good\n")
    secret.chmod(0o644)
    with pytest.raises(InputError, match="can be read by others"):
        crawl(f"file:{secret}")
    assert not folder.exists()
    secret.chmod(0o600)
    assert crawl(f"file:{secret}").visits == 1
    monkeypatch.setenv("WRONG", "not-the-token")
    folder = tmp_path / "other"
    with pytest.raises(InputError, match="refuses the token in env:WRONG") as refused:
        crawl("env:WRONG")
    assert "not-the-token" not in str(refused.value)
    assert b"not-the-token" not in bytes_in(folder)


def test_what_servers_do_wrong_costs_requests_not_the_crawl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors, rubbish, pages on another host, redirects to another host: each is bounded, is told
    by its name, and no token leaves for where it does not belong."""
    monkeypatch.setenv("TOKEN", "hush")
    seen: list[tuple[str, str | None]] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        seen.append((request.host.partition(":")[0], request.headers.get("Authorization")))
        name = request.query.get("user", "")
        body = json.dumps({"result": {"posts": [{"body": "health care", "by": name}]}})
        if name == "broken":
            return web.Response(status=500)
        if name == "gone":
            return web.Response(status=404)
        if name == "rubbish":
            return web.Response(text="<html>", content_type="text/html")
        if name == "odd":
            return web.json_response([1, {"result": {"posts": 7}}])
        if name == "away":
            raise web.HTTPFound(site.url("/elsewhere", host=2))
        link = f'<{site.url("/next", host=2)}>; rel="next"'
        return web.Response(text=body, content_type="application/json", headers={"Link": link})

    description = tmp_path / "forum.toml"
    description.write_text(FORUM.replace('{ by = "page", parameter = "page" }', '{ by = "link" }'))
    heard: dict[str, Any] = {}

    def hear(event: Any) -> None:
        if hasattr(event, "node"):
            heard.setdefault(event.node, []).append(event)

    with Site(answer, hosts=2) as site:
        result = Crawl(
            f"api:{description}",
            seeds=["fine", "broken", "gone", "rubbish", "odd", "away"],
            options={"server": site.url(""), "tokens": ["env:TOKEN"], "pages": 3},
            budget=40,
            concurrency=1,
            on_event=hear,
            **FAST,
        ).run_to_end()
    assert result.stop_reason == "frontier"
    assert [event.reason for event in heard["broken"]] == ["http-500"] * 3
    assert heard["gone"][-1].reason == "http-404"
    assert heard["rubbish"][-1].reason == "bad-response"
    assert heard["odd"][-1].outcome == "visit"
    assert (heard["fine"][0].score, heard["fine"][0].requests) == (log_count(1), 1)
    assert (heard["away"][-1].requests, heard["away"][-1].reason) == (1, "leaves the server")
    assert set(seen) == {("127.0.0.1", "Bearer hush")}
    assert len(seen) == result.requests


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = 3", "no table [posts]"),
        (FORUM.replace("{id}", "{name}"), "url may have {id}, {server} in it, not {name}"),
        (FORUM.replace('"page",', '"pages",'), "by must be one of link, cursor"),
        (FORUM.replace('["all"]', '["most"]'), "there is no window 'most'"),
        (FORUM.replace('text = "body"', ""), "posts: the key text is needed"),
        (FORUM.replace("requests = 30", "requests = 0"), "at least 1 request"),
        (FORUM.replace('per = "1s"', 'per = "soon"'), "is not a duration"),
        (FORUM.replace('"{server}/forum', '"http://a.example/forum'), "must begin with {server}/"),
        (FORUM.replace("mention_id", "mention-di"), "unknown key 'mention-di'"),
        ("[posts", "not TOML"),
    ],
)
def test_a_wrong_description_is_said_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    file = tmp_path / "api.toml"
    file.write_text(text)
    words = ["crawl", f"api:{file}", "u1", "--option", "server=http://127.0.0.1:9"]
    assert main([*words, "--topic", "x", "--budget", "3", "-o", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_the_plan_is_k_t_over_d(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A", "a")
    monkeypatch.setenv("B", "b")
    words = ["crawl", "mastodon:mastodon.example", "--topic", "jazz", "--dry-run", "--json"]
    assert main([*words, "--for", "7d"]) == 0
    assert json.loads(capsys.readouterr().out)["budget"]["requests"] == 300 * 7 * 24 * 12
    tokens = ["--option", "tokens=env:A", "--option", "tokens=env:B"]
    assert main([*words, *tokens, "--for", "1h"]) == 0
    assert json.loads(capsys.readouterr().out)["budget"]["requests"] == 2 * 300 * 12
    assert os.environ["A"] == "a"
