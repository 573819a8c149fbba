"""What the tests read out of Markdown pages, and how they run it.

A page is run from top to bottom in one namespace and one folder of its own:

* ```` ```python ```` blocks are executed; an ```` ```output ```` block after one is what it prints;
* in ```` ```console ```` blocks the lines ``$ sonde ...`` are run and must end with status 0, or
  with the one that ``<!-- status: 2 -->`` right before the block states; lines below a command are
  its output, where ``...`` stands for anything, on a line of its own for any number of lines;
* ``<!-- not run: reason -->`` right before a block leaves it alone;
* ``<!-- setup`` ... ``-->`` holds Python that the reader need not see.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from sonde.cli import main

ROOT = Path(__file__).parents[2]

_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[\w-]*)\s*$")
_NOTE = re.compile(r"<!-- (not run|status): (.+) -->$")


@dataclass(frozen=True)
class Block:
    """A fenced block, or a hidden set-up."""

    page: Path
    line: int
    language: str
    text: str
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}, line {self.line}"


@dataclass(frozen=True)
class Command:
    """A line ``$ ...`` with what is shown below it."""

    line: str
    output: list[str]

    @property
    def pipeline(self) -> list[list[str]]:
        """The words of each program of the line; comments are left out."""
        words = shlex.split(self.line, comments=True)
        parts: list[list[str]] = [[]]
        for word in words:
            if word in ("|", "&&"):
                parts.append([])
            else:
                parts[-1].append(word)
        return parts

    @property
    def sonde(self) -> list[list[str]]:
        """The arguments of every call of sonde in the line, without redirections."""
        return [_without_redirections(part[1:]) for part in self.pipeline if part[:1] == ["sonde"]]


def pages() -> list[Path]:
    """README and everything under docs/, in a fixed order."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks and hidden set-ups of a page."""
    lines = iter(enumerate(page.read_text(encoding="utf-8").splitlines(), start=1))
    notes: dict[str, str] = {}
    for number, line in lines:
        fence = _FENCE.match(line)
        if line.strip() == "<!-- setup":
            text = [each for _, each in _until(lines, "-->")]
            yield Block(page, number, "python", "\n".join(text))
        elif fence:
            indent = len(fence["indent"])
            text = [each[indent:] for _, each in _until(lines, "```")]
            yield Block(page, number, fence["language"], "\n".join(text), notes)
            notes = {}
        elif note := _NOTE.match(line.strip()):
            notes = notes | {note[1]: note[2]}
        elif line.strip():
            notes = {}


def _until(lines: Iterator[tuple[int, str]], end: str) -> Iterator[tuple[int, str]]:
    for number, line in lines:
        if line.strip() == end:
            return
        yield number, line
    raise AssertionError(f"a block is opened and never closed by {end}")


def commands(block: Block) -> list[Command]:
    """The commands of a console block."""
    found: list[Command] = []
    going_on = False
    for line in block.text.splitlines():
        if going_on:
            found[-1] = Command(found[-1].line[:-1] + line.strip(), [])
        elif line.startswith("$ "):
            found.append(Command(line[2:], []))
        elif found:
            found[-1].output.append(line)
        going_on = bool(found) and found[-1].line.endswith("\\") and not found[-1].output
    return found


def run_page(page: Path, module: ModuleType) -> None:
    """Run the blocks of a page in the current folder, as the text of a module."""
    namespace = vars(module)
    printed = ""
    for block in blocks(page):
        if "not run" in block.notes:
            continue
        if block.language == "python":
            printed = _run_python(block, namespace)
        elif block.language == "output":
            assert matches(block.text.splitlines(), printed.splitlines()), (
                f"{block.place}: the block before printed\n{printed}"
            )
        elif block.language == "console":
            for command in commands(block):
                _run_command(block, command)


def _run_python(block: Block, namespace: dict[str, Any]) -> str:
    code = compile("\n" * block.line + block.text, str(block.page), "exec", dont_inherit=True)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(code, namespace)
    return output.getvalue()


def _run_command(block: Block, command: Command) -> None:
    (words, *further) = command.pipeline
    if words[:1] == ["cat"]:
        printed = "".join(Path(name).read_text(encoding="utf-8") for name in words[1:])
    elif words[:1] == ["sonde"]:
        assert not further, f"{block.place}: pipelines are not run: {command.line}"
        printed = _run_sonde(block, command, words)
    else:
        return
    shown = "\n".join(command.output).strip("\n").splitlines()
    assert not shown or matches(shown, printed.strip("\n").splitlines()), (
        f"{block.place}: {command.line} printed\n{printed}"
    )


def _run_sonde(block: Block, command: Command, words: list[str]) -> str:
    (arguments,) = command.sonde
    output, results = io.StringIO(), io.StringIO()
    target = words[words.index(">") + 1] if ">" in words else None
    with (
        contextlib.redirect_stderr(output),
        contextlib.redirect_stdout(results if target else output),
    ):
        try:
            status: Any = main(arguments)
        except SystemExit as end:
            status = end.code
    if target:
        Path(target).write_text(results.getvalue(), encoding="utf-8")
    wanted = int(block.notes.get("status", "0"))
    assert status == wanted, (
        f"{block.place}: {command.line} ended with status {status}\n{output.getvalue()}"
    )
    return output.getvalue()


def _without_redirections(words: list[str]) -> list[str]:
    kept: list[str] = []
    words = list(words)
    while words:
        word = words.pop(0)
        if word in (">", "<", "2>"):
            words.pop(0)
        else:
            kept.append(word)
    return kept


def matches(shown: list[str], printed: list[str]) -> bool:
    """Whether printed lines are those shown, ``...`` standing for anything."""
    pattern = ""
    for line in shown:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*?".join(map(re.escape, line.rstrip().split("..."))) + r" *\n"
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)) is not None
