"""Writes docs/reference/cli.md from the parsers of the command line.

python docs/cli_reference.py            # writes the page
python docs/cli_reference.py --check    # status 1 if the page is not what would be written
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

from sonde import cli

PAGE = Path(__file__).parent / "reference" / "cli.md"

OPENING = """# The command line

This page is written by `python docs/cli_reference.py` from the parsers themselves, and a test
compares the two; change the parsers, not the page.

Results go to standard output, progress and notices to standard error. Wherever a program may read
the result, `--json` prints one JSON object. Every command has `--help`.

| status | means |
|---|---|
| 0 | it went well |
| 1 | it did not, for a reason that lies in the run or the machine; one line says which |
| 2 | what was given cannot be used (an option, a file, a node); one line says what and where |
| 130 | it was stopped by the user; a crawl can be resumed |
"""

# Commands that hand over to further ones on their first word, without sub-parsers of argparse.
BRANCHES: dict[tuple[str, ...], tuple[str, ...]] = {("seeds",): ("compare", "refresh")}


def commands() -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """Every command by its words, with its parser."""
    waiting: list[tuple[str, ...]] = [(name,) for name in cli.COMMANDS]
    while waiting:
        words = waiting.pop(0)
        parser = parser_of(words)
        yield words, parser
        further = [*BRANCHES.get(words, ())]
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                further += action.choices
        waiting = [(*words, name) for name in further] + waiting


def parser_of(words: tuple[str, ...]) -> argparse.ArgumentParser:
    """The parser that prints the help of a command."""
    found: list[argparse.ArgumentParser] = []

    def note(self: argparse.ArgumentParser, file: object = None) -> None:
        found.append(self)

    with patch.object(argparse.ArgumentParser, "print_help", note), suppress(SystemExit):
        cli.parser().parse_args([*words, "--help"])
    return found[0]


def arguments(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """What a command takes, help aside."""
    for action in parser._actions:
        hidden = action.help == argparse.SUPPRESS
        if not hidden and not isinstance(action, argparse._HelpAction | argparse._SubParsersAction):
            yield action


def spelling(action: argparse.Action) -> str:
    """An argument as a person writes it."""
    if action.choices is not None:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    else:
        shown = action.metavar or action.dest.upper()
        value = shown if isinstance(shown, str) else " ".join(shown)
    if not action.option_strings:
        value = str(action.metavar or action.dest)
        return f"{value} ..." if action.nargs in ("*", "+") else value
    names = ", ".join(action.option_strings)
    return names if action.nargs == 0 else f"{names} {value}"


def meaning(action: argparse.Action) -> str:
    """The help of an argument, its default filled in."""
    text = (action.help or "") % (vars(action) | {"prog": "sonde"})
    return text.replace("|", "\\|")


def section(words: tuple[str, ...], parser: argparse.ArgumentParser) -> str:
    """One command."""
    parts = [f"## sonde {' '.join(words)}"]
    if parser.description:
        parts.append(parser.description)
    rows = [
        f"| `{spelling(action).replace('|', chr(92) + '|')}` | {meaning(action)} |"
        for action in arguments(parser)
    ]
    if rows:
        parts.append("\n".join(["| argument | meaning |", "|---|---|", *rows]))
    if parser.epilog:
        parts.append(f"```text\n{parser.epilog.strip()}\n```")
    return "\n\n".join(parts) + "\n"


def text() -> str:
    """The whole page."""
    return "\n".join([OPENING, *(section(words, parser) for words, parser in commands())])


def main() -> int:
    """Write the page, or check it."""
    if sys.argv[1:] == ["--check"]:
        return 0 if PAGE.read_text(encoding="utf-8") == text() else 1
    PAGE.write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
