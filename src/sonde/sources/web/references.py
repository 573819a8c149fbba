"""Character references in the values of attributes, read as browsers read them.

A name without its semicolon counts only where nothing that could belong to a query follows, so that
``?a=1&copy=2`` stays what its author meant.
"""

from __future__ import annotations

import re
from html.entities import html5

from sonde.kernels.html.tags import Names

CHARACTERS = Names(
    {name[:-1]: ord(text) for name, text in html5.items() if name[-1] == ";" and len(text) == 1}
)
"""The code points of names that end in a semicolon and stand for one, for the kernels."""

_REFERENCE = re.compile("&(?:#([0-9]+);?|#[xX]([0-9a-fA-F]+);?|([a-zA-Z0-9]+)(;?)(=?))")
_REPLACEMENT = "\ufffd"


def resolved(value: str) -> str:
    """The value of an attribute, its references undone.

    >>> resolved("?a=1&amp;b=2&copy=3&#x41;&eacute;")
    '?a=1&b=2&copy=3Aé'
    """
    return _REFERENCE.sub(_resolved, value) if "&" in value else value


def _resolved(reference: re.Match[str]) -> str:
    decimal, hexadecimal, name, semicolon, equals = reference.groups()
    if name is None:
        digits = (decimal or hexadecimal).lstrip("0") or "0"
        return _numbered(int(digits, 10 if decimal else 16) if len(digits) < 8 else -1)
    text = html5.get(name + semicolon)
    if text is None or (equals and not semicolon):
        return reference[0]
    return text + equals


def _numbered(code: int) -> str:
    if not 0 < code < 0x110000 or 0xD800 <= code < 0xE000:
        return _REPLACEMENT
    if 0x80 <= code < 0xA0:  # what these numbers mean on pages that were once windows-1252
        try:
            return bytes([code]).decode("cp1252")
        except UnicodeDecodeError:
            pass
    return chr(code)
