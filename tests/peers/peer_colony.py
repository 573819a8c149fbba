"""A colony of real peers, each a process of its own, some of which misbehave.

Reads one line of JSON, a list of ``{"folder", "host", "neighbours", "log", "manner"}``, forks a
process for each, answers with their process ids once all of them can be asked, and kills them when
its standard input ends. Forking spares each peer the imports.
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import sys
from pathlib import Path
from typing import Any

from sonde.peers import Peer, SharedFolder
from sonde.sources.peers.messages import line_of

PORT = 7070


class Misfit(Peer):
    """A peer with bad manners."""

    manner = ""

    async def _answer(self, message: dict[str, Any]) -> bytes:
        asked = message.get("ask")
        if asked in ("profile", "about"):
            return await super()._answer(message)
        if self.manner == "late":
            await asyncio.sleep(30)
        if self.manner == "sluggish":
            await asyncio.sleep(0.05)
        if self.manner == "garbage":
            return b"\xff\xfe{{{" * 10 + b"\n"
        if self.manner == "endless":
            return b"x" * 3_000_000
        if self.manner == "half":
            return b'{"sonde": 1, "score": 1'
        if self.manner == "boastful":  # neighbours that do not exist, and a score beyond all
            made_up = [[f"{self.host[:-1]}9:{port}", 1e308] for port in range(20_000, 40_000)]
            far = [["8.8.8.8:53", 1e9], ["10.0.0.1:22", 1e9], ["nobody", 1], ["[::]:1", 1]]
            if asked == "relevance":
                return line_of({"score": 1e308, "neighbours": far + made_up})
            return line_of({"sent": -5, "lost": 0, "answers": []})
        if self.manner == "forging" and asked == "spread":
            answers = [[f"127.0.0.1:{port}", 30, []] for port in range(1, 60_000)]
            return line_of({"sent": 0, "lost": 0, "answers": answers})
        return await super()._answer(message)


async def live(order: dict[str, Any], ready: int) -> None:
    def say(name: str) -> None:
        os.write(ready, b"!")

    peer = Misfit(
        SharedFolder(Path(order["folder"])),
        order["neighbours"],
        host=order["host"],
        port=PORT,
        gossip=0.05,
        log=Path(order["log"]) if order.get("log") else None,
    )
    peer.manner = order.get("manner", "")
    await peer.serve(say)


def main() -> None:
    pids, pipes = [], []
    for order in json.loads(sys.stdin.readline()):
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(0)
            try:
                asyncio.run(live(order, writing))
            finally:
                os._exit(1)
        os.close(writing)
        pids.append(pid)
        pipes.append(reading)
    for pipe in pipes:
        assert select.select([pipe], [], [], 30)[0]
        assert os.read(pipe, 1) == b"!", "a peer did not start"
    print(json.dumps(pids), flush=True)
    sys.stdin.read()
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
