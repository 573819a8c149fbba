"""``sonde peer``: share a folder of text files as one peer of a network, until stopped.

examples:
  sonde peer books/ --port 7001 --neighbours 127.0.0.1:7002,127.0.0.1:7003
  sonde peer maps/ --port 7002 --neighbours @neighbours.txt

The peer's name is printed once it can be asked. sonde crawl peers: NAME ... asks peers one by one,
sonde gossip NAME ... lets them pass the question on. There is no password: whoever reaches the
address can ask what the files say of a topic, and read their names, but not the files.
"""

from __future__ import annotations

import argparse
import asyncio
from contextlib import suppress
from pathlib import Path

from sonde.cli.ask import names_from
from sonde.errors import InputError
from sonde.peers import Peer, SharedFolder
from sonde.peers.peer import GOSSIP
from sonde.peers.shared_folder import PROFILE
from sonde.sources.peers.source import peer_named
from sonde.system import on_signals


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="the files")
    parser.add_argument("--host", default="127.0.0.1", help="an IP address (default: %(default)s)")
    parser.add_argument("--port", type=int, default=0, help="0 for one that is free (the default)")
    parser.add_argument(
        "--neighbours", default="", help="peers with commas between, or @FILE with one a line"
    )
    parser.add_argument(
        "--gossip",
        type=float,
        default=GOSSIP,
        metavar="S",
        help="seconds between two looks at a neighbour's words (default: %(default)g)",
    )
    parser.add_argument(
        "--words",
        type=int,
        default=PROFILE,
        metavar="N",
        help="words that neighbours are told (default: %(default)s)",
    )
    parser.add_argument("--log", type=Path, metavar="FILE", help="a line for every message sent on")


def run(args: argparse.Namespace) -> int:
    """Serve until SIGINT or SIGTERM."""
    if not 0 <= args.port <= 65_535:
        raise InputError(f"--port must be 0 to 65535, not {args.port}")
    if args.words < 0:
        raise InputError(f"--words must be 0 or more, not {args.words}")
    peer_named(f"[{args.host}]:1" if ":" in args.host else f"{args.host}:1")
    peer = Peer(
        SharedFolder(args.folder, args.words),
        [name.strip() for name in names_from(args.neighbours)],
        host=args.host,
        port=args.port,
        gossip=args.gossip,
        log=args.log,
    )
    asyncio.run(_served(peer))
    return 0


async def _served(peer: Peer) -> None:
    task = asyncio.create_task(peer.serve(lambda name: print(name, flush=True)))
    with on_signals(task.cancel), suppress(asyncio.CancelledError):
        await task
