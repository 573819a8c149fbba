"""Wikitext without its markup: the text that a reader sees, and where the wikilinks stand in it.

An approximation made for speed, not a parser: a chain of substitutions, each linear in the text.
Most are compiled and work on UTF-8 (``kernels.wikimarks``, ``kernels.wikitext``); the tests have
the whole chain as regular expressions, and compare.

What it keeps and leaves out:

- links show their label, with the letters that follow them (``[[tide]]s``); files their caption;
  categories nothing; ``[http://... label]`` its label;
- templates are not known, so their calls show the values of their parameters (an infobox does show
  them), without the template's name, the parameters' names, and URLs given as named parameters;
- footnotes (``<ref>``) stand at the end, as they do on the page, so that they are in no link's
  window but their own links';
- comments, tags, tables' and lists' markup, bold and italics, magic words go; ``nowiki``, ``pre``
  and source code stay as they are written; formulas go.

Links wait as marks (characters that XML does not allow) until everything around them is text,
and so does what stays as it is written.
No page takes time that grows faster than its length: quantifiers that could are possessive.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import NamedTuple

from sonde.kernels.text import wikimarks
from sonde.kernels.text import wikitext as kernel

_TABLE = re.compile(r"\n[ \t:]*(?:\{\|.*|\|-.*|\|\}|\|\+)")
_CELL = re.compile(r"""\n[ \t]*+[|!](?:\s*+[\w-]++\s*+=\s*+(?:"[^"\n]*+"|[\w%]++))++\s*+\|""")
_SET_ASIDE = re.compile(rb"\x01([0-9]{8})")
_REFERENCE = re.compile(rb"&[#A-Za-z]")
_OPTION = re.compile(
    r"(?:thumb|thumbnail|frame|frameless|border|left|right|center|none|upright|baseline|middle|top"
    r"|bottom|sub|super|\d*(?:x\d+)?px|(?:alt|link|class|page|lang|upright|thumb)\s*=.*)",
    re.DOTALL | re.IGNORECASE,
)


class Plain(NamedTuple):
    """UTF-8 with its white space collapsed; links are (target as written, start, end in characters)
    by their place."""

    text: bytes
    links: list[tuple[bytes, int, int]]


def plain(wikitext: bytearray, size: int, kind_of: Callable[[bytes], str]) -> Plain:
    """The visible text of wikitext between two line ends, ``size`` bytes of UTF-8.

    It must not have characters that XML does not allow. ``kind_of`` a target is "file", "category"
    or anything else. The buffer is not to be used again.
    """
    return _settled(*wikimarks.marked(wikitext, size, kind_of, _caption))


def _settled(text: bytearray, size: int, targets: list[bytes], verbatim: list[bytes]) -> Plain:
    """Without the rest of the markup."""
    braces = text.find(b"{", 0, size) >= 0
    if braces and text.find(b"{|", 0, size) >= 0:
        shown = text[:size].decode("utf-8", "surrogatepass")
        shown = _CELL.sub(" ", _TABLE.sub("\n", shown)).replace("!!", " ")
        text = bytearray(shown, "utf-8", "surrogatepass")
        size = len(text)
    size = kernel.strip(text, size, braces)
    if verbatim:
        text = bytearray(_SET_ASIDE.sub(lambda found: verbatim[int(found[1])], text[:size]))
        size = len(text)
    if text.find(b"&", 0, size) >= 0 and _REFERENCE.search(text, 0, size):
        shown = html.unescape(text[:size].decode("utf-8", "surrogatepass"))
        text = bytearray(shown, "utf-8", "surrogatepass")
        size = len(text)
    size, links = kernel.settle(text, size, targets)
    return Plain(bytes(text[:size]), links)


def _caption(options: bytes) -> bytes:
    """The last option of a file that is not a setting."""
    parts = [part.strip() for part in options.decode("utf-8", "surrogatepass").split("|")[1:]]
    parts = [part for part in parts if not _OPTION.fullmatch(part)]
    return parts[-1].encode("utf-8", "surrogatepass") if parts else b""
