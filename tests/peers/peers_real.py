"""Real peers for tests: a colony on loopback addresses that nobody else uses."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peer_colony import PORT

from sonde.sources.peers import exchange

COLONY = Path(__file__).with_name("peer_colony.py")
TOPIC = "tide, sea level"

_networks = itertools.count()


@dataclass
class Colony:
    """Peers that run. ``names`` and ``pids`` go together."""

    names: list[str]
    pids: list[int]
    logs: list[Path]

    def kill(self, place: int) -> None:
        os.kill(self.pids[place], signal.SIGKILL)

    def about(self, place: int) -> dict[str, Any]:
        return asyncio.run(exchange(self.names[place], {"ask": "about"}, timeout=10))

    def messages(self) -> int:
        """How many messages the peers have sent for queries, also those that are dead now."""
        return sum(len(log.read_text().splitlines()) for log in self.logs if log.exists())

    def acquainted(self) -> None:
        """Wait until everybody remembers all neighbours."""
        for place in range(len(self.names)):
            for _ in range(600):
                about = self.about(place)
                if about["profiles"] == about["neighbours"]:
                    break
                time.sleep(0.05)
            else:
                raise AssertionError(f"{self.names[place]} did not get to know its neighbours")


def overlay(size: int, degree: int, seed: int = 3) -> list[list[int]]:
    """Neighbours by place: a ring, so that it hangs together, and others at random."""
    dice = random.Random(seed)
    chosen: list[set[int]] = [{(place + 1) % size, (place - 1) % size} for place in range(size)]
    while sum(map(len, chosen)) < size * degree:
        one, other = dice.sample(range(size), 2)
        chosen[one].add(other)
        chosen[other].add(one)
    return [sorted(others) for others in chosen]


def write_files(folder: Path, words: int, seed: int) -> None:
    """Some text in which the topic occurs so many times."""
    folder.mkdir(parents=True)
    dice = random.Random(seed)
    filler = ["harbour", "lamp", "ledger", "rope", "winter", "pilot", "chart", "bell"]
    text = [dice.choice(filler) for _ in range(60)] + ["tide"] * words
    dice.shuffle(text)
    half = len(text) // 2
    (folder / "a.txt").write_text(" ".join(text[:half]), encoding="utf-8")
    (folder / "b.md").write_text(" ".join(text[half:]), encoding="utf-8")
    (folder / "c.bin").write_bytes(b"\0tide" * 50)


@contextmanager
def colony(
    folder: Path,
    neighbours: Sequence[Sequence[int]],
    *,
    words: Sequence[int],
    manners: dict[int, str] | None = None,
) -> Iterator[Colony]:
    """Start a process for each peer; kill what is left of them at the end."""
    process = os.getpid()
    network = f"127.{1 + process // 250 % 250}.{1 + process % 250}"
    first = next(_networks) * 40 % 200 + 1
    hosts = [f"{network}.{first + place}" for place in range(len(neighbours))]
    names = [f"{host}:{PORT}" for host in hosts]
    orders = []
    for place, others in enumerate(neighbours):
        write_files(folder / str(place), words[place], place)
        orders.append(
            {
                "folder": str(folder / str(place)),
                "host": hosts[place],
                "neighbours": [names[other] for other in others],
                "log": str(folder / f"{place}.log"),
                "manner": (manners or {}).get(place, ""),
            }
        )
    with subprocess.Popen(
        [sys.executable, str(COLONY)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        try:
            running.stdin.write(json.dumps(orders) + "\n")
            running.stdin.flush()
            pids = json.loads(running.stdout.readline())
            yield Colony(names, pids, [Path(str(order["log"])) for order in orders])
        finally:
            running.stdin.close()
            running.wait(30)
