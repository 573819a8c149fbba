"""What ``sonde mcp`` and ``sonde api`` are told alike."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sonde.errors import InputError
from sonde.net.secret import Secret, secret_from

if TYPE_CHECKING:
    from sonde.serve.door import Door
    from sonde.serve.tools import Toolbox


def add_serving_options(parser: argparse.ArgumentParser) -> None:
    """The options of a server."""
    add = parser.add_argument
    add("--budget", type=int, required=True, metavar="N", help="requests in all: the cap")
    add("--per-call", type=int, default=200, metavar="N", help="of one call (default: 200)")
    add("--folder", type=Path, required=True, metavar="DIR", help="where runs and the cap are kept")
    add("--contact", metavar="WHO", help="a URL or an e-mail address for servers")
    add("--delay", type=float, metavar="S", help="between requests to a host (default: 1)")
    add("--scope", choices=("host", "domain", "prefix", "web"), help="what starts span")
    add(
        "--allow-private",
        action="store_true",
        help="also loopback and private addresses: for one's own network",
    )
    add("--host", default="127.0.0.1", metavar="ADDRESS", help="where to listen (HTTP only)")
    add(
        "--token",
        metavar="SECRET",
        help="env:NAME or file:PATH; one is made and printed without it (HTTP only)",
    )


def toolbox_from(args: argparse.Namespace) -> Callable[[], Toolbox]:
    """What makes the tools, within an event loop; what is wrong with the options is said now."""
    from sonde.serve.cap import Cap
    from sonde.serve.tools import Toolbox

    settings = {
        name: value
        for name in ("contact", "delay", "scope", "allow_private")
        if (value := getattr(args, name)) not in (None, False)
    }
    cap = Cap(args.folder, args.budget, args.per_call)
    return lambda: Toolbox(args.folder, cap, settings)


def door_from(args: argparse.Namespace, port: int) -> Door:
    """Where to listen, and the token."""
    from sonde.serve.door import Door

    if not 0 < port < 65_536:
        raise InputError(f"not a port: {port}")
    if args.token is not None:
        secret = secret_from(args.token)
        if not isinstance(secret, Secret):
            raise InputError("--token is env:NAME or file:PATH: others can read a command line")
        return Door(args.host, port, secret.reveal())
    door = Door(args.host, port)
    print(f"sonde: token {door.token}", file=sys.stderr)
    return door
