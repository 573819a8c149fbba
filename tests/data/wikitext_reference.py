"""The definition of text without wiki markup: a chain of substitutions, slow and plain."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import NamedTuple

_LINK = re.compile(r"\[\[([^\[\]|\n\x02\x03]*)((?:\|[^\[\]]*)?)\]\]([a-z]*)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_PAIRED = re.compile(
    r"<(?P<end>/?)(?P<name>(?ai:nowiki|pre|source|syntaxhighlight|math|timeline|score|ref))\b[^<>]*>"
)
_LEFT_OUT = ("math", "timeline", "score")
_EXTERNAL = re.compile(r"\[(?:https?:|ftp:)?//[^\s\[\]<>]*+([^\[\]\n]*+)\]")
_TEMPLATE = re.compile(r"\{\{[^{}|\n]*")
_TABLE = re.compile(r"\n[ \t:]*(?:\{\|.*|\|-.*|\|\}|\|\+)")
_CELL = re.compile(r"""\n[ \t]*+[|!](?:\s*+[\w-]++\s*+=\s*+(?:"[^"\n]*+"|[\w%]++))++\s*+\|""")
_PARAMETER = re.compile(r"\|\s*\w[\w .-]{0,40}=[ \t]*(?:https?://[^\s|{}]*)?")
_BLOCK_TAG = re.compile(
    r"</?(?ai:br|p|div|li|ul|ol|dl|dd|dt|td|th|tr|table|hr|h[1-6]|pre|center|blockquote|gallery)"
    r"\b[^<>]*>"
)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_HEADING = re.compile(r"\n=++([^\n]*+)")
_LINE_START = re.compile(r"\n(?:[*#:;]+|----+|!|(?:File|Image):[^|\n]*)")
_QUOTES = re.compile(r"''+")
_MAGIC = re.compile(r"__[A-Z]+__")
_SET_ASIDE = re.compile(r"\x01([0-9]{8})")
_MARK = re.compile(r"\x02([0-9]+)\x04|\x03")
_OPTION = re.compile(
    r"(?:thumb|thumbnail|frame|frameless|border|left|right|center|none|upright|baseline|middle|top"
    r"|bottom|sub|super|\d*(?:x\d+)?px|(?:alt|link|class|page|lang|upright|thumb)\s*=.*)",
    re.DOTALL | re.IGNORECASE,
)
_DEEPEST = 4  # links within captions within captions


class Plain(NamedTuple):
    """White space is collapsed; ``links`` are (target as written, start, end), by their place."""

    text: str
    links: list[tuple[str, int, int]]


def plain(wikitext: str, kind_of: Callable[[str], str]) -> Plain:
    """The visible text. ``kind_of`` a target is "file", "category" or anything else."""
    wikitext = re.sub("[\x01-\x05]", "", wikitext)
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
    if "{" in text:
        if "{|" in text:
            text = _CELL.sub(" ", _TABLE.sub("\n", text)).replace("!!", " ")
        text = _TEMPLATE.sub(" ", text).replace("}}", " ")
        text = _PARAMETER.sub(" ", text)
    if "<" in text:
        text = _TAG.sub("", _BLOCK_TAG.sub(" ", text))
    if "\n=" in text:
        text = _HEADING.sub(_line, text)
    text = _LINE_START.sub("\n", text)
    if "''" in text:
        text = _QUOTES.sub("", text)
    if "__" in text:
        text = _MAGIC.sub("", text)
    text = text.replace("|", " ")
    if verbatim:
        text = _SET_ASIDE.sub(lambda found: verbatim[int(found[1])], text)
    if "&" in text:
        text = html.unescape(text)
    return _collapse(text, targets)


def _line(found: re.Match[str]) -> str:
    return "\n" + found[1].rstrip(" \t").rstrip("=")


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
                pieces.append(f"\x01{len(verbatim):08}")
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


def _collapse(text: str, targets: list[str]) -> Plain:
    """White space to single spaces, marks to places."""
    text = " ".join(text.split())
    if not targets:
        return Plain(text, [])
    # Text, number or nothing, text, ...: a number opens a link, nothing closes the last one.
    pieces = _MARK.split(text)
    segments = [pieces[0]]
    length = len(pieces[0])
    spaced = not pieces[0] or pieces[0][-1] == " "
    starts: list[int] = []
    ends: list[int] = []
    named: list[str] = []
    opened: list[int] = []
    for number, piece in zip(pieces[1::2], pieces[2::2], strict=True):
        if number is not None:
            opened.append(len(starts))
            starts.append(length)
            ends.append(-1)
            named.append(targets[int(number)])
        elif opened:
            ends[opened.pop()] = length
        if piece:
            if spaced and piece[0] == " ":  # the space before the mark is enough
                piece = piece[1:]
                if not piece:
                    continue
            segments.append(piece)
            length += len(piece)
            spaced = piece[-1] == " "
    whole = "".join(segments)
    links = []
    for target, start, end in zip(named, starts, ends, strict=True):
        end = length if end < 0 else end
        if start < end and whole[start] == " ":
            start += 1
        links.append((target, start, end))
    return Plain(whole, links)
