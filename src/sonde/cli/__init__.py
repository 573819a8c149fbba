"""The command line: one file a command.

A command module offers ``add_parser(commands)``, which adds its sub-parser (with an example in
the help) and sets ``run``, a function from parsed arguments to an exit status. Results go to
standard output, progress and notices to standard error. An ``InputError`` from anywhere below is
printed as one line and ends with status 2; Ctrl-C, where a command has no better answer to it, ends
with one line and status 130.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from typing import NoReturn

from sonde.errors import InputError, SondeError

COMMANDS = (
    "crawl",
    "ask",
    "tell",
    "peer",
    "gossip",
    "sources",
    "demo",
    "show",
    "explain",
    "export",
    "forget",
    "audit",
    "simulate",
    "seeds",
    "authority",
    "track",
    "data",
    "lab",
    "budget",
    "doctor",
)


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def parser(command: str | None = None) -> argparse.ArgumentParser:
    """The parser of every command, or of one: what the others need is not imported then."""
    top = Parser(
        prog="sonde",
        description="Budgeted, adaptive graph exploration: focused crawling done right.",
        epilog="start here: sonde demo",
    )
    top.add_argument("--version", action="version", version=f"sonde {version('sonde')}")
    commands = top.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    for name in COMMANDS if command is None else (command,):
        import_module(f"sonde.cli.{name}").add_parser(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # What a terminal has no letters for is written as an escape, as on standard error.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        args = parser(words[0] if words and words[0] in COMMANDS else None).parse_args(words)
        status: int = args.run(args)
        sys.stdout.flush()
    except InputError as error:
        print(f"sonde: {' '.join(str(error).splitlines())}", file=sys.stderr)
        return 2
    except SondeError as error:
        print(f"sonde: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of our output has gone; what it wanted it has.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        # A disk that is full or may not be written to; what names a file is said with it.
        about = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or error
        print(f"sonde: {' '.join(str(about).splitlines())}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("sonde: stopped", file=sys.stderr)
        return 130
    return status
