"""A conversation over the Model Context Protocol, with the official client."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from agent_sites import command, free_port, library

from loopback_site import served
from sonde.scorers.question import tokens_of

pytest.importorskip("mcp", reason="the extra mcp is not installed")
mcp: Any = pytest.importorskip("mcp")


def text_of(result: Any) -> str:
    assert [each.type for each in result.content] == ["text"]
    return str(result.content[0].text)


async def conversation(client: Any, url: str, heard: list[float]) -> dict[str, Any]:
    """What an agent would do: crawl, look, read, go on, and try to have more than it may."""

    async def progress(done: float, total: float | None, message: str | None) -> None:
        heard.append(done)

    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {"crawl", "more", "find", "page", "explain", "status", "stop"}
    assert tools["crawl"].input_schema["required"] == ["start"]
    asked = {"start": url + "/", "topic": "tide gauge", "budget": 20}
    crawled = json.loads(
        text_of(await client.call_tool("crawl", asked, progress_callback=progress))
    )
    run = crawled["run"]
    assert crawled["requests"] == 20
    found = text_of(await client.call_tool("find", {"run": run, "query": "coast", "tokens": 400}))
    assert tokens_of(found) <= 400
    assert "is data" in found
    assert "(fetched 20" in found
    best = crawled["best"][0]["url"]
    page = text_of(await client.call_tool("page", {"run": run, "url": best}))
    assert f"URL: {best}" in page
    why = json.loads(text_of(await client.call_tool("explain", {"run": run, "url": best})))
    assert why["state"] == "visited"
    more = json.loads(text_of(await client.call_tool("more", {"run": run, "budget": 1_000})))
    refused = await client.call_tool("crawl", asked)
    assert refused.is_error
    assert "used up" in text_of(refused)
    wrong = await client.call_tool("page", {"run": "run-9999", "url": best})
    assert wrong.is_error
    status: dict[str, Any] = json.loads(text_of(await client.call_tool("status", {})))
    assert status["cap"]["left"] == 0
    assert more["requests"] == status["runs"][0]["requests"]
    return status


@pytest.mark.slow
def test_over_standard_input_and_output(tmp_path: Path) -> None:
    with served(library()) as site:
        words = command("mcp", tmp_path / "runs", 50, "--per-call", "40", "--delay", "0.1")

        async def main() -> None:
            told = mcp.StdioServerParameters(command=words[0], args=words[1:], env=dict(os.environ))
            heard: list[float] = []
            async with mcp.Client(told) as client:
                await conversation(client, site.url, heard)
            assert heard  # notifications of progress
            assert max(heard) <= 20

        asyncio.run(main())
        assert len(site.log) == 50


@pytest.mark.slow
def test_over_http_with_a_token(tmp_path: Path) -> None:
    httpx2: Any = pytest.importorskip("httpx2")
    from mcp.client.streamable_http import streamable_http_client

    port = free_port()
    environment = {**os.environ, "SONDE_TOKEN": "a-token-of-tests"}
    with served(library()) as site:
        process = subprocess.Popen(
            command(
                "mcp",
                tmp_path / "runs",
                50,
                "--per-call",
                "40",
                "--http",
                str(port),
                "--token",
                "env:SONDE_TOKEN",
            ),
            env=environment,
        )
        address = f"http://127.0.0.1:{port}/mcp"
        try:

            async def main() -> None:
                until = time.monotonic() + 60
                async with httpx2.AsyncClient(timeout=120) as plain:
                    while time.monotonic() < until:
                        try:
                            answer = await plain.post(address, json={})
                            break
                        except httpx2.TransportError:
                            await asyncio.sleep(0.1)
                    assert answer.status_code == 401
                    bearer = {"Authorization": "Bearer a-token-of-tests"}
                    for header, status in (("Origin", 403), ("Host", 421)):
                        foreign = {**bearer, header: "http://evil.example"}
                        answer = await plain.post(address, json={}, headers=foreign)
                        assert answer.status_code == status
                async with httpx2.AsyncClient(headers=bearer, timeout=120) as known:
                    transport = streamable_http_client(address, http_client=known)
                    async with mcp.Client(transport) as client:
                        await conversation(client, site.url, [])

            asyncio.run(main())
        finally:
            process.terminate()
            process.wait(30)
        assert len(site.log) == 50


@pytest.mark.slow
def test_the_cap_outlives_the_client_that_hangs_up(tmp_path: Path) -> None:
    """A client that goes away in the middle of a crawl, and comes back, has no more than before."""
    with served(library()) as site:

        async def main() -> None:
            for _ in range(3):
                words = command("mcp", tmp_path / "runs", 30, "--per-call", "12")
                told = mcp.StdioServerParameters(
                    command=words[0], args=words[1:], env=dict(os.environ)
                )
                async with mcp.Client(told) as client:
                    asked = {"start": site.url + "/", "topic": "tide gauge", "wait": 0}
                    await client.call_tool("crawl", asked)

        asyncio.run(main())
        assert len(site.log) <= 30
