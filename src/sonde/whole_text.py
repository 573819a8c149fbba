"""Whole text: text without lone surrogates, which are halves of characters.

A Python text can hold them: a header whose bytes are no UTF-8 is decoded so, as is a command line,
and JSON can say ``\\ud800`` for nothing at all. No file, database or terminal takes such a text.
"""

from __future__ import annotations


def whole(text: str) -> str:
    """The text with U+FFFD for each half of a character; two halves that fit are one character."""
    if text.isascii() or is_whole(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def is_whole(text: str) -> bool:
    """Whether a text has no half characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
