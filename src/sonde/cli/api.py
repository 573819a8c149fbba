"""``sonde api``: offer crawls to other programs over HTTP, under a cap that they cannot exceed. The
same tools as of sonde mcp: POST /v1/crawl and so on, with JSON; GET /openapi.json describes them.

examples:
  sonde api --budget 2000 --per-call 200 --folder runs/     # prints a token
  curl -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
    -d '{"start": "https://example.org/", "topic": "tide gauge"}' http://127.0.0.1:8700/v1/crawl
"""

from __future__ import annotations

import argparse
import sys

from sonde.cli._serving import add_serving_options, door_from, toolbox_from

PORT = 8700


def add_options(parser: argparse.ArgumentParser) -> None:
    add_serving_options(parser)
    parser.add_argument("--port", type=int, default=PORT, help=f"where to listen (default: {PORT})")


def run(args: argparse.Namespace) -> int:
    """Serve until somebody ends it."""
    from sonde.serve.rest import serve_rest

    door = door_from(args, args.port)
    address = f"http://{door.hosts[0]}"
    serve_rest(toolbox_from(args), door, lambda: print(f"sonde: {address}", file=sys.stderr))
    return 0
