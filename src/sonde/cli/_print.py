"""What goes to a terminal: text that pages wrote, made harmless, and tables.

Pages choose their titles and URLs, so these may hold escape sequences, line breaks or characters
that turn the direction of writing. Nothing of them is printed as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def harmless(text: str, width: int | None = None) -> str:
    """The text in one line, what cannot be seen written as an escape, at most so wide. Joiners stay
    where they join: words of Persian or Hindi are spelt with them, and so are emoji."""
    if not text.isprintable():
        around = f" {text} "
        text = "".join(
            letter
            if letter in _JOINERS and _joins(around[place], around[place + 2])
            else _seen(letter)
            for place, letter in enumerate(text)
        )
    if width is not None and len(text) > width:
        text = text[: width - 1] + "…"
    return text


_JOINERS = "\u200c\u200d"
_SOFT = "\u00ad"  # a place for a hyphen


def _joins(before: str, after: str) -> bool:
    """Whether a joiner between the two is part of how something is written: never in ASCII, where
    it could only hide."""
    return before > "\u02ff" and after > "\u02ff" and before.isprintable() and after.isprintable()


def _seen(character: str) -> str:
    if character.isprintable():
        return character
    if character == _SOFT:
        return ""
    if character.isspace() and character not in "\x1c\x1d\x1e\x1f\x85\u2028\u2029\r\n\t\v\f":
        return " "  # a space of another width
    return character.encode("unicode_escape").decode("ascii")


def number(value: float | None) -> str:
    """A score as a person reads it."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.3f}"


def counted(count: int, one: str, several: str = "") -> str:
    """So many of something: 1 request, 2,000 requests."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def amount(size: float) -> str:
    """Bytes as a person reads them."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "B" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table; a head that begins with ``>`` is a column aligned to the right."""
    cells = [[harmless(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        # As slow to import as NumPy, and a program that reads the output needs none of it.
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, header_style="bold", pad_edge=False)
        for head in heads:
            table.add_column(
                head.removeprefix(">"),
                justify="right" if head.startswith(">") else "left",
                overflow="fold",
            )
        for row in cells:
            table.add_row(*(Text(cell) for cell in row))
        Console().print(table)
        return
    widths = [
        max(len(head.removeprefix(">")), *(len(row[place]) for row in cells), 0)
        for place, head in enumerate(heads)
    ]
    for row in ([head.removeprefix(">") for head in heads], *cells):
        line = "  ".join(
            cell.rjust(width) if head.startswith(">") else cell.ljust(width)
            for cell, width, head in zip(row, widths, heads, strict=True)
        )
        print(line.rstrip())
