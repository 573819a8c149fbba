"""A command below a command, with examples in its help."""

from __future__ import annotations

import argparse
from typing import Any


def subcommand(commands: Any, name: str, about: str, examples: str) -> Any:
    """Its parser."""
    return commands.add_parser(
        name,
        help=about,
        description=f"{about[0].upper()}{about[1:]}.",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
