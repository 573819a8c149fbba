"""``sonde mcp``: offer crawls to an agent as tools, over the Model Context Protocol, under a cap
that it cannot exceed. The cap holds over all calls, runs, restarts and kills in one folder. Without
--http a client starts this command and speaks with it on standard input and output.

examples:
  sonde mcp --budget 2000 --per-call 200 --folder runs/
  sonde mcp --budget 2000 --folder runs/ --http 8765   # prints a token
"""

from __future__ import annotations

import argparse
import sys

from sonde import extras
from sonde.cli._serving import add_serving_options, door_from, toolbox_from


def add_options(parser: argparse.ArgumentParser) -> None:
    add_serving_options(parser)
    parser.add_argument("--http", type=int, metavar="PORT", help="serve over HTTP on this port")


def run(args: argparse.Namespace) -> int:
    """Serve until the client hangs up, or somebody ends it."""
    extras.mcp("sonde mcp")
    from sonde.serve.mcp_server import serve_http, serve_stdio

    toolbox = toolbox_from(args)
    if args.http is None:
        serve_stdio(toolbox)
        return 0
    door = door_from(args, args.http)
    print(f"sonde: http://{door.hosts[0]}/mcp", file=sys.stderr)
    serve_http(toolbox, door)
    return 0
