"""The command line: one file a command.

A command module offers ``add_options(parser)`` and ``run``, a function from parsed arguments to an
exit status; its docstring is what ``--help`` says, examples included. A module is imported when its
command is given, and what it needs with it. Results go to standard output, progress and notices to
standard error. An ``InputError`` from anywhere below is printed as one line and ends with status 2;
Ctrl-C, where a command has no better answer to it, ends with one line and status 130.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, NoReturn

from sonde import __version__
from sonde.errors import InputError, SondeError
from sonde.whole_text import is_whole

COMMANDS = {
    "crawl": "crawl the Web for a topic under a budget",
    "ask": "say whom to contact next, and why",
    "tell": "record what somebody answered",
    "peer": "share a folder of files with peers",
    "gossip": "let peers pass on a query",
    "sources": "list what can be crawled",
    "demo": "crawl this machine's Python documentation, without a network",
    "show": "say what came of a run",
    "explain": "say why a page was fetched, or why not",
    "export": "write a run for other programs",
    "forget": "remove a node from a run",
    "mcp": "offer crawls to an agent as tools, under a cap",
    "api": "offer crawls to other programs over HTTP, under a cap",
    "audit": "say how well organised sites are for focused crawling",
    "simulate": "crawl a recorded graph",
    "seeds": "choose where to start a crawl of a known graph",
    "authority": "find or track the most cited nodes",
    "track": "keep the most cited pages of a run current",
    "data": "make graphs from raw material, and describe them",
    "lab": "experiments, comparisons and bounds on graphs",
    "budget": "plan a budget from a rate limit",
    "doctor": "say what is installed and what is missing",
}
"""What there is, and what ``sonde --help`` says of it without importing any of it."""

_CHOICE = re.compile(r"invalid choice: '([^']*)' \(choose from (.*)\)")
_BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and what was meant."""

    def error(self, message: str) -> NoReturn:
        if choice := _CHOICE.search(message):
            known = [word.strip(" '") for word in choice[2].split(",")]
            message += _meant(choice[1], known)
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As always, but what nobody knows is an error of the command that it was said to."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            option = unknown[0].partition("=")[0]
            known = [name for name in self._option_string_actions if name.startswith("--")]
            hint = _meant(option, known) if option.startswith("-") else ""
            self.error(f"unknown argument {unknown[0]!r:.200}{hint}")
        return found, unknown


def _meant(word: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), 1)
    return f": did you mean {near[0]}?" if near else ""


def told_by(docstring: str | None) -> dict[str, Any]:
    """What a parser says of itself: a docstring's first paragraph, and below the options the
    rest."""
    from inspect import cleandoc

    about, _, examples = cleandoc(docstring or "").partition("\n\n")
    about = about.rpartition("``: ")[2]
    return {
        "description": about[:1].upper() + about[1:],
        "epilog": examples or None,
        "formatter_class": argparse.RawDescriptionHelpFormatter,
    }


def subcommand(
    parsers: Any, name: str, run: Callable[[argparse.Namespace], int], docstring: str | None = None
) -> argparse.ArgumentParser:
    """The parser of a command below a command, told by a docstring: by that of `run` unless
    another is given."""
    told = told_by(docstring or run.__doc__)
    about = " ".join(told["description"].split()).removesuffix(".")
    parser: argparse.ArgumentParser = parsers.add_parser(
        name, help=about[:1].lower() + about[1:], **told
    )
    parser.set_defaults(run=run)
    return parser


def parser(names: Iterable[str] = COMMANDS, *, whole: bool = True) -> argparse.ArgumentParser:
    """The parser of some commands; without their options if it need not be `whole`, and then none
    of what they need is imported."""
    top = Parser(
        prog="sonde",
        description="Budgeted, adaptive graph exploration: focused crawling done right.",
        epilog="start here: sonde demo",
    )
    top.add_argument("--version", action="version", version=f"sonde {__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    for name in names:
        if whole:
            module = import_module(f"sonde.cli.{name}")
            command = commands.add_parser(name, help=COMMANDS[name], **told_by(module.__doc__))
            command.set_defaults(run=getattr(module, "run", None))
            module.add_options(command)
        else:
            commands.add_parser(name, help=COMMANDS[name])
    return top


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    if words and words[0] in COMMANDS:
        return parser(words[:1]).parse_args(words)
    return parser(whole=False).parse_args(words)  # help, the version, or a mistake


def _calm_blas() -> None:
    """Keep NumPy's BLAS to one thread, unless the user has said how many.

    Its threads would spin when it is loaded, and what sonde does on several cores it does in
    processes. A program that imports sonde is left alone.
    """
    if not any(name in os.environ for name in (*_BLAS_THREADS, "OMP_NUM_THREADS")):
        os.environ.update(dict.fromkeys(_BLAS_THREADS, "1"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    _calm_blas()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # What a terminal has no letters for is written as an escape, as on standard error.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        for word in words:
            if not is_whole(word):
                raise InputError(f"an argument is not text in UTF-8: {os.fsencode(word)!r:.200}")
        args = _parsed(words)
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
