"""The same tools over HTTP: behind a token, a name and an origin, described by OpenAPI."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from agent_sites import command, free_port, library
from aiohttp import ClientSession, web

from loopback_site import served
from sonde.serve.cap import Cap
from sonde.serve.door import Door
from sonde.serve.rest import application, openapi
from sonde.serve.tools import TOOLS, Toolbox

BEARER = {"Authorization": "Bearer secret"}


async def asked(
    folder: Path, calls: list[tuple[str, str, dict[str, str], Any]]
) -> list[tuple[int, Any]]:
    """What a server answers to requests: method, path, headers and body."""
    door = Door("127.0.0.1", free_port(), "secret")
    cap = Cap(folder, 40, 30)
    settings = {"allow_private": True, "delay": 0, "contact": "tests@example.org"}
    toolbox = Toolbox(folder, cap, settings)
    runner = web.AppRunner(application(toolbox, door))
    await runner.setup()
    await web.TCPSite(runner, door.host, door.port).start()
    answers = []
    try:
        async with ClientSession(f"http://127.0.0.1:{door.port}") as session:
            for method, path, headers, body in calls:
                async with session.request(method, path, headers=headers, json=body) as answer:
                    answers.append((answer.status, await answer.json()))
    finally:
        await toolbox.close()
        await runner.cleanup()
        cap.close()
    return answers


def test_a_conversation_within_the_cap(tmp_path: Path) -> None:
    with served(library()) as site:
        start = {"start": site.url + "/", "topic": "tide gauge"}
        answers = asyncio.run(
            asked(
                tmp_path,
                [
                    ("POST", "/v1/crawl", BEARER, start),
                    ("POST", "/v1/more", BEARER, {"run": "run-0001"}),
                    ("POST", "/v1/crawl", BEARER, start),
                    ("POST", "/v1/find", BEARER, {"run": "run-0001", "query": "coast"}),
                    ("POST", "/v1/status", BEARER, {}),
                ],
            )
        )
        assert [status for status, _ in answers] == [200, 200, 400, 200, 200]
        assert len(site.log) == 40
        assert "used up" in answers[2][1]["error"]
        assert answers[3][1]["sources"][0]["fetched"]
        assert answers[4][1]["cap"]["left"] == 0


def test_who_may_not_come_in(tmp_path: Path) -> None:
    status = {"run": "run-0001"}
    calls: list[tuple[str, str, dict[str, str], Any]] = [
        ("POST", "/v1/status", {}, status),
        ("POST", "/v1/status", {"Authorization": "Bearer other"}, status),
        ("POST", "/v1/status", {"Authorization": "Basic secret"}, status),
        ("GET", "/openapi.json", {}, None),
        ("POST", "/v1/status", {**BEARER, "Origin": "http://evil.example"}, status),
        ("POST", "/v1/status", {**BEARER, "Origin": "null"}, status),
        ("POST", "/v1/status", {**BEARER, "Host": "evil.example"}, status),
        ("POST", "/v1/nothing", BEARER, status),
        ("POST", "/v1/status", {**BEARER, "Content-Type": "text/plain"}, status),
        ("POST", "/v1/status", BEARER, [1]),
        ("POST", "/v1/status", BEARER, status),
    ]
    answers = asyncio.run(asked(tmp_path, calls))
    expected = [401, 401, 401, 401, 403, 403, 421, 404, 415, 400, 400]
    assert [status for status, _ in answers] == expected
    assert all(body["error"] for _, body in answers)


def test_openapi_describes_every_tool(tmp_path: Path) -> None:
    ((status, told),) = asyncio.run(asked(tmp_path, [("GET", "/openapi.json", BEARER, None)]))
    assert status == 200
    assert set(told["paths"]) == {f"/v1/{name}" for name in TOOLS}
    assert told["paths"] == openapi(Door("127.0.0.1", 1, "x"))["paths"]
    assert told["security"] == [{"token": []}]


@pytest.mark.slow
def test_the_command(tmp_path: Path) -> None:
    """It says where it listens and the token, serves, and ends on Ctrl-C."""
    port = free_port()
    process = subprocess.Popen(
        command("api", tmp_path / "runs", 20, "--port", str(port)),
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )
    assert process.stderr is not None
    try:
        token = process.stderr.readline().split()[-1]
        assert f"http://127.0.0.1:{port}" in process.stderr.readline()
        with served(library()) as site:
            body = json.dumps({"start": site.url + "/", "topic": "tide gauge"}).encode()
            request = urllib.request.Request(
                f"http://127.0.0.1:{port}/v1/crawl",
                body,
                {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
            )
            with urllib.request.urlopen(request) as answer:
                told = json.load(answer)
            assert told["requests"] == 20
            assert len(site.log) == 20
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/openapi.json")
    finally:
        process.send_signal(signal.SIGINT)
        until = time.monotonic() + 30
        while process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        process.kill()
        process.stderr.close()
    assert process.wait() == 130
