"""Wikitext without its markup: the text that a reader sees, and where the wikilinks stand in it.

An approximation made for speed, not a parser: a chain of substitutions, each linear in the text.
Those that nearly every character concerns are compiled (``kernels.wikitext``); the tests have the
whole chain as regular expressions, and compare.

What it keeps and leaves out:

- links show their label, with the letters that follow them (``[[tide]]s``); files their caption;
  categories nothing; ``[http://... label]`` its label;
- templates are not known, so their calls show the values of their parameters (an infobox does show
  them), without the template's name, the parameters' names, and URLs given as named parameters;
- footnotes (``<ref>``) stand at the end, as they do on the page, so that they are in no link's
  window but their own links';
- comments, tags, tables' and lists' markup, bold and italics, magic words go; ``nowiki``, ``pre``
  and source code stay as they are written; formulas go.

Links wait as marks (characters that XML does not allow) until everything around them is text.
No page takes time that grows faster than its length: quantifiers that could are possessive.
"""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sonde.kernels import wikitext as kernel

Codes = npt.NDArray[np.uint32]

_LINK = re.compile(r"\[\[([^\[\]|\n\x02\x03]*)((?:\|[^\[\]]*)?)\]\]([a-z]*)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_PAIRED = re.compile(
    r"<(?P<end>/?)(?P<name>nowiki|pre|source|syntaxhighlight|math|timeline|score|ref)\b[^<>]*>",
    re.IGNORECASE,
)
_LEFT_OUT = ("math", "timeline", "score")
_EXTERNAL = re.compile(r"\[(?:https?:|ftp:)?//[^\s\[\]<>]*+([^\[\]\n]*+)\]")
_TABLE = re.compile(r"\n[ \t:]*(?:\{\|.*|\|-.*|\|\}|\|\+)")
_CELL = re.compile(r"""\n[ \t]*+[|!](?:\s*+[\w-]++\s*+=\s*+(?:"[^"\n]*+"|[\w%]++))++\s*+\|""")
_SET_ASIDE = re.compile(r"\x01(\d+)\x05")
_MARKS = "\x01\x02\x03\x04\x05"
_OPTION = re.compile(
    r"(?:thumb|thumbnail|frame|frameless|border|left|right|center|none|upright|baseline|middle|top"
    r"|bottom|sub|super|\d*(?:x\d+)?px|(?:alt|link|class|page|lang|upright|thumb)\s*=.*)",
    re.DOTALL | re.IGNORECASE,
)
_CODING = f"utf-32-{sys.byteorder[0]}e"  # le or be
_DEEPEST = 4  # links within captions within captions


class Plain(NamedTuple):
    """White space is collapsed; ``links`` are (target as written, start, end), by their place."""

    text: str
    links: list[tuple[str, int, int]]


def plain(wikitext: str, kind_of: Callable[[str], str]) -> Plain:
    """The visible text. ``kind_of`` a target is "file", "category" or anything else."""
    if any(mark in wikitext for mark in _MARKS):
        wikitext = wikitext.translate(dict.fromkeys(map(ord, _MARKS)))
    text = f"\n{wikitext}\n"  # so that all lines have an end before them and one after them
    verbatim: list[str] = []
    if "<" in text:
        text = _COMMENT.sub("", text)
        notes: list[str] = []
        text = _set_aside(text, verbatim, notes)
        if notes:
            text = "\n".join([text, *notes, ""])
    targets: list[str] = []
    if "[" in text:
        text = _mark_links(text, targets, kind_of)
        text = _EXTERNAL.sub(_label, text)
    braces = "{" in text
    if braces and "{|" in text:
        text = _CELL.sub(" ", _TABLE.sub("\n", text)).replace("!!", " ")
    codes = _codes(text)
    end = kernel.strip(codes, len(codes), braces, "<" in text)
    if verbatim or "&" in text:
        text = _text(codes[:end])
        text = _SET_ASIDE.sub(lambda found: verbatim[int(found[1])], text)
        codes = _codes(html.unescape(text))
        end = len(codes)
    return _settled(codes, end, targets)


def _codes(text: str) -> Codes:
    return np.frombuffer(bytearray(text, _CODING, "surrogatepass"), np.uint32)


def _text(codes: Codes) -> str:
    return codes.tobytes().decode(_CODING, "surrogatepass")


def _settled(codes: Codes, end: int, targets: list[str]) -> Plain:
    """White space to single spaces, marks to places."""
    numbers, starts, ends = np.empty((3, len(targets)), np.intc)
    end, count = kernel.settle(codes, end, numbers, starts, ends)
    named = [targets[number] for number in numbers[:count].tolist()]
    places = zip(named, starts[:count].tolist(), ends[:count].tolist(), strict=True)
    return Plain(_text(codes[:end]), list(places))


def _label(found: re.Match[str]) -> str:
    return found[1]


def _set_aside(text: str, verbatim: list[str], notes: list[str]) -> str:
    """Without elements whose content is no wikitext, and without footnotes.

    Each tag is looked at once: a page full of tags that nothing closes takes no longer.
    """
    tags = list(_PAIRED.finditer(text))
    if not tags:
        return text
    last_end = {tag["name"].lower(): place for place, tag in enumerate(tags) if tag["end"]}
    pieces: list[str] = []
    at = 0
    opened: re.Match[str] | None = None
    for place, tag in enumerate(tags):
        name = tag["name"].lower()
        if opened is None:
            if tag["end"] or tag[0].endswith("/>") or last_end.get(name, -1) < place:
                continue  # left for the removal of tags
            opened = tag
            pieces.append(text[at : tag.start()])
        elif tag["end"] and name == opened["name"].lower():
            inner = text[opened.end() : tag.start()]
            at = tag.end()
            opened = None
            if name == "ref":
                notes.append(_set_aside(inner, verbatim, notes) if "<" in inner else inner)
            elif name in _LEFT_OUT:
                pieces.append(" ")
            else:
                pieces.append(f"\x01{len(verbatim)}\x05")
                verbatim.append(inner)
    pieces.append(text[at:])
    return "".join(pieces)


def _mark_links(text: str, targets: list[str], kind_of: Callable[[str], str]) -> str:
    """Replace each link by a mark, its label, and an end mark; inner ones first."""

    def mark(found: re.Match[str]) -> str:
        target, label, trail = found.groups()
        targets.append(target)
        opening = f"\x02{len(targets) - 1}\x04"
        kind = kind_of(target) if ":" in target else ""
        if kind == "category":
            return f"{opening}\x03 {trail}"
        if kind == "file":
            return f" {opening}{_caption(label)}\x03 {trail}"
        if len(label) > 1:
            label = label[1:].strip()
        elif label:  # the pipe trick
            label = target.rpartition(":")[2].partition("(")[0].strip()
        else:
            label = target.strip().removeprefix(":")
        return f"{opening}{label}{trail}\x03"

    for _ in range(_DEEPEST):
        text, count = _LINK.subn(mark, text)
        if not count or "[[" not in text:
            break
    return text


def _caption(options: str) -> str:
    """The last option of a file that is not a setting."""
    parts = [part.strip() for part in options.split("|")[1:]]
    parts = [part for part in parts if not _OPTION.fullmatch(part)]
    return parts[-1] if parts else ""
