"""Wikitext without its markup: the text that a reader sees, and where the wikilinks stand in it.

An approximation made for speed, not a parser: a chain of substitutions, each linear in the text.
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
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import NamedTuple

_LINK = re.compile(r"\[\[([^\[\]|\n\x02\x03]*)((?:\|[^\[\]]*)?)\]\]([a-z]*)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_VERBATIM = re.compile(
    r"<(nowiki|pre|source|syntaxhighlight)\b[^<>]*(?<!/)>(.*?)</\1\s*>", re.DOTALL | re.IGNORECASE
)
_FORMULA = re.compile(r"<(math|timeline|score)\b[^<>]*(?<!/)>.*?</\1\s*>", re.DOTALL | re.I)
_REF = re.compile(r"<ref\b[^<>]*/>|<ref\b[^<>]*>(.*?)</ref\s*>", re.DOTALL | re.IGNORECASE)
_EXTERNAL = re.compile(r"\[(?:https?:|ftp:|mailto:)?//[^\s\[\]<>]*([^\[\]\n]*)\]")
_TEMPLATE = re.compile(r"\{\{[^{}|\n]*|\}\}")
_TABLE = re.compile(r"^[ \t:]*(?:\{\|.*|\|-.*|\|\}|\|\+)", re.MULTILINE)
_CELL = re.compile(r"""^[ \t]*[|!](?:\s*[\w-]+\s*=\s*(?:"[^"\n]*"|[\w%]+))+\s*\|""", re.MULTILINE)
_PARAMETER = re.compile(r"\|\s*\w[\w .-]{0,40}=[ \t]*(?:https?://[^\s|{}]*)?")
_BLOCK_TAG = re.compile(
    r"</?(?:br|p|div|li|ul|ol|dl|dd|dt|td|th|tr|table|hr|h[1-6]|pre|center|blockquote|gallery)"
    r"\b[^<>]*>",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_LINE_START = re.compile(r"^(?:[*#:;]+|=+|-{4,}|!|(?:File|Image):[^|\n]*)|=+[ \t]*$", re.M)
_QUOTES = re.compile(r"''+")
_MAGIC = re.compile(r"__[A-Z]+__|!!")
_MARK = re.compile(r"\x02(\d+)\x1f|\x03")
_OPTION = re.compile(r"(?:thumb|thumbnail|frame|frameless|border|left|right|center|none|upright"
                     r"|baseline|middle|top|bottom|sub|super|\d*(?:x\d+)?px"
                     r"|(?:alt|link|class|page|lang|upright|thumb)\s*=.*)\s*", re.DOTALL | re.I)  # fmt: skip
_HIDE = str.maketrans({c: chr(0xE000 + n) for n, c in enumerate("[]{}|'=<>*#:;!_&-")})
_SHOW = {after: before for before, after in ((k, ord(v)) for k, v in _HIDE.items())}
_DEEPEST = 4  # links within captions within captions


class Plain(NamedTuple):
    """White space is collapsed; ``links`` are (target as written, start, end), by their place."""

    text: str
    links: list[tuple[str, int, int]]


def plain(wikitext: str, kind_of: Callable[[str], str]) -> Plain:
    """The visible text. ``kind_of`` a target is "file", "category" or anything else."""
    text = wikitext
    verbatim = False
    if "<" in text:
        text = _COMMENT.sub("", text)
        if _VERBATIM.search(text):
            verbatim = True
            text = _VERBATIM.sub(lambda found: found[2].translate(_HIDE), text)
        text = _FORMULA.sub(" ", text)
        text = _notes_last(text)
    targets: list[str] = []
    text = _mark_links(text, targets, kind_of)
    if "[" in text:
        text = _EXTERNAL.sub(r"\1", text)
    if "{" in text:
        text = _TABLE.sub("", text)
        text = _CELL.sub(" ", text)
        text = _TEMPLATE.sub(" ", text)
        text = _PARAMETER.sub(" ", text)
    if "<" in text:
        text = _BLOCK_TAG.sub(" ", text)
        text = _TAG.sub("", text)
    text = _LINE_START.sub(" ", text)
    text = _MAGIC.sub(" ", _QUOTES.sub("", text)).replace("|", " ")
    if verbatim:
        text = text.translate(_SHOW)
    if "&" in text:
        text = html.unescape(text)
    return _collapse(text, targets)


def _notes_last(text: str) -> str:
    if "<ref" not in text and "<REF" not in text:
        return text
    notes: list[str] = []

    def take(found: re.Match[str]) -> str:
        if found[1]:
            notes.append(found[1])
        return ""

    return "\n".join([_REF.sub(take, text), *notes])


def _mark_links(text: str, targets: list[str], kind_of: Callable[[str], str]) -> str:
    """Replace each link by a mark, its label, and an end mark; inner ones first."""

    def mark(found: re.Match[str]) -> str:
        target, label, trail = found.groups()
        kind = kind_of(target)
        if kind == "file":
            label = _caption(label)
        elif kind == "category":
            label, trail = "", " " + trail
        elif len(label) > 1:
            label = label[1:]
        elif label:  # the pipe trick
            label = target.rpartition(":")[2].partition("(")[0]
        else:
            label = target.removeprefix(":")
        targets.append(target)
        if kind == "category":
            return f"\x02{len(targets) - 1}\x1f\x03{trail}"
        return f"\x02{len(targets) - 1}\x1f{label}{trail}\x03"

    for _ in range(_DEEPEST):
        if "[[" not in text:
            break
        text, count = _LINK.subn(mark, text)
        if not count:
            break
    return text


def _caption(options: str) -> str:
    """The last option of a file that is not a setting."""
    parts = [part for part in options.split("|")[1:] if not _OPTION.fullmatch(part.strip())]
    return f" {parts[-1]} " if parts else ""


def _collapse(text: str, targets: list[str]) -> Plain:
    """White space to single spaces, marks to places."""
    if not targets:
        return Plain(" ".join(text.split()), [])
    segments: list[str] = []
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    opened: list[int] = []
    length = at = 0
    gap = False
    for found in _MARK.finditer(text):
        raw = text[at : found.start()]
        at = found.end()
        if raw:
            words = raw.split()
            if words:
                segment = " ".join(words)
                if (gap or raw[0].isspace()) and length:
                    segment = " " + segment
                gap = raw[-1].isspace()
                segments.append(segment)
                length += len(segment)
            else:
                gap = True
        if found[1] is not None:
            opened.append(int(found[1]))
            starts[opened[-1]] = length
        elif opened:
            ends[opened.pop()] = length
    rest = " ".join(text[at:].split())
    if rest:
        segments.append(" " + rest if (gap or text[at].isspace()) and length else rest)
    whole = "".join(segments)
    links = []
    for number, start in starts.items():  # in the order of the text
        end = ends.get(number, length)
        if start < end and whole[start] == " ":
            start += 1
        links.append((targets[number], start, end))
    return Plain(whole, links)
