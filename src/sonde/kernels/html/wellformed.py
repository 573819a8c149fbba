"""HTML that is in order as it stands: a parser's tree would say nothing else.

Most of what a parser does to a page is to repair it: it closes what was left open, moves what may
not stand in a table, opens a body where there is none. A page that needs none of this can be read
as it is, and that is most pages which a program has written. `wellformed` goes through a page once
and says whether it is such a page. It may say no to one that is (then the parser takes a look), and
must never say yes to one that is not. So it knows few rules, and refuses what they do not cover:

- every element is closed by its own end tag, before the one around it is; elements that have no
  content are never closed; only foreign elements (of an SVG drawing) end in ``/>``;
- nothing opens that would close an open element: no block in a paragraph, no list item in another,
  no link in a link, no heading right in a heading;
- tables, selections and the head hold what they may hold and no text;
- characters are written out or as references that end in a semicolon; values have quotes, or need
  none;
- scripts, comments and the like end where a naive reader thinks that they end.
"""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.sonde.kernels import byte
from cython.cimports.sonde.kernels.html.tags import Names

if not cython.compiled:
    # What a name stands for: its kind, and flags above it.
    PARAGRAPH = 1
    ITEM = 2
    TERM = 3
    HEADING = 4
    LINK = 5
    BUTTON = 6
    FORM = 7
    SELECT = 8
    OPTIONS = 9
    OPTION = 10
    TABLE = 11
    ROWS = 12
    ROW = 13
    CELL = 14
    CAPTION = 15
    COLUMNS = 16
    COLUMN = 17
    HTML = 18
    HEAD = 19
    BODY = 20
    DRAWING = 21
    PLAIN = 22  # holds text alone
    CODE = 23  # a script or a style, which may stand in a table too
    COMMON = 24  # nothing special, but not an element of a drawing
    ODD = 31  # the parser knows more about it
    KIND = 31
    ENDS = 32  # closes a paragraph
    BARE = 64  # has no content
    RAW = 128  # what it holds is not markup
    EARLY = 256  # may stand in the head
    WALL = 512  # items inside it have nothing to do with those outside

RULES = {
    "p": PARAGRAPH | ENDS,
    "li": ITEM | ENDS,
    **dict.fromkeys(("dd", "dt"), TERM | ENDS | WALL),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), HEADING | ENDS),
    "a": LINK,
    "button": BUTTON,
    "form": FORM | ENDS | WALL,
    "select": SELECT,
    "optgroup": OPTIONS,
    "option": OPTION,
    "table": TABLE | ENDS | WALL,
    **dict.fromkeys(("tbody", "thead", "tfoot"), ROWS),
    "tr": ROW,
    **dict.fromkeys(("td", "th"), CELL | WALL),
    "caption": CAPTION | WALL,
    "colgroup": COLUMNS,
    "col": COLUMN | BARE,
    "html": HTML,
    "head": HEAD,
    "body": BODY | WALL,
    "svg": DRAWING,
    "title": PLAIN | EARLY,
    "textarea": PLAIN,
    **dict.fromkeys(("script", "style"), CODE | RAW | EARLY),
    **dict.fromkeys(("noscript", "noframes"), COMMON | RAW | EARLY),
    **dict.fromkeys(("iframe", "noembed"), COMMON | RAW),
    **dict.fromkeys(("meta", "link", "base"), COMMON | BARE | EARLY),
    **dict.fromkeys(
        ("br", "img", "input", "area", "embed", "wbr", "param", "source"), COMMON | BARE
    ),
    "track": COMMON | BARE,
    "hr": COMMON | ENDS | BARE,
    **dict.fromkeys(
        ("ul", "ol", "menu", "dir", "dl", "blockquote", "fieldset"), COMMON | ENDS | WALL
    ),
    **dict.fromkeys(("article", "aside", "details", "figure", "footer"), COMMON | ENDS | WALL),
    **dict.fromkeys(("header", "main", "nav", "section", "figcaption"), COMMON | ENDS | WALL),
    **dict.fromkeys(
        ("address", "center", "dialog", "div", "hgroup", "pre", "summary"), COMMON | ENDS
    ),
    **dict.fromkeys(
        "b big code em font i s small span strike strong sub sup tt u var".split(), COMMON
    ),
    **dict.fromkeys("audio canvas datalist object video label legend ruby".split(), COMMON),
    **dict.fromkeys("applet basefont bgsound desc foreignobject frame frameset image".split(), ODD),
    **dict.fromkeys("isindex keygen listing marquee math nobr plaintext rb rp rt".split(), ODD),
    **dict.fromkeys("rtc search selectedcontent template xmp".split(), ODD),
}
"""By name. A name that is not here is of an inline element, of HTML or of a drawing."""


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def reference(
    codes: cython.const[cython.uchar][::1], at: cython.longlong, characters: Names
) -> cython.longlong:
    """Where the reference at an ampersand ends; the next place for a bare ampersand; -1 where it
    is not plain what it stands for."""
    size: cython.longlong = codes.shape[0]
    code: cython.uint
    value: cython.uint = 0
    key: cython.ulonglong = byte.FNV_START
    base: cython.uint = 10
    place: cython.longlong = at + 1
    start: cython.longlong
    if place >= size:
        return place
    code = codes[place]
    if code == byte.NUMBER_SIGN:
        place += 1
        if place < size and (codes[place] | byte.SMALL) == byte.SMALL_X:
            base = 16
            place += 1
        start = place
        while place < size and place - start < 7:
            code = codes[place]
            if not byte.is_digit(code) and not (
                base == 16 and byte.SMALL_A <= (code | byte.SMALL) <= byte.SMALL_F
            ):
                break
            value = value * base + byte.digit(code)
            place += 1
        if place == start or place >= size or codes[place] != byte.SEMICOLON:
            return -1
        # Controls, surrogates and what is no character are replaced or reported.
        if (
            value < byte.SPACE
            or byte.DELETE <= value < 160
            or 0xD800 <= value < 0xE000
            or value > 0x10FFFF
        ):
            return -1
        if 0xFDD0 <= value < 0xFDF0 or value & 0xFFFE == 0xFFFE:
            return -1
        return place + 1
    if not byte.is_alphanumeric(code):
        return place
    while place < size and byte.is_alphanumeric(codes[place]):
        key = byte.hashed(key, codes[place])
        place += 1
    if place < size and codes[place] == byte.SEMICOLON and characters.number(key):
        return place + 1
    return -1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def raw_end(
    codes: cython.const[cython.uchar][::1],
    at: cython.longlong,
    start: cython.longlong,
    stop: cython.longlong,
    foreign: cython.bint,
) -> cython.longlong:
    """Where the end tag of an element stands whose name is at `start`, and whose content is no
    markup; -1 where something in there makes that a question."""
    size: cython.longlong = codes.shape[0]
    width: cython.longlong = stop - start
    commented: cython.bint = False
    while True:
        at = byte.found(codes, at, byte.LESS)
        if at + 2 + width >= size:
            return -1
        if foreign and codes[at + 1] != byte.SLASH:
            return -1
        if codes[at + 1] == byte.EXCLAMATION:
            commented = True
        elif commented and byte.is_letter(codes[at + 1]):
            return -1  # a script within a comment within a script hides its end tag
        elif codes[at + 1] == byte.SLASH:
            if byte.same_name(codes, at + 2, start, width):
                return at if codes[at + 2 + width] == byte.GREATER else -1
            if foreign:
                return -1
        at += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def attributes_end(
    codes: cython.const[cython.uchar][::1], at: cython.longlong, most: cython.int
) -> cython.longlong:
    """Where the tag ends whose attributes begin here: the place of its ``>``, or -1."""
    size: cython.longlong = codes.shape[0]
    code: cython.uint
    quote: cython.uint
    count: cython.int = 0
    while at < size:
        code = codes[at]
        if code == byte.GREATER:
            return at
        if byte.is_blank(code):
            at += 1
            continue
        if code == byte.SLASH:
            return at + 1 if at + 1 < size and codes[at + 1] == byte.GREATER else -1
        if code == byte.EQUALS:
            return -1
        count += 1
        if count > most:
            return -1
        while at < size:
            code = codes[at]
            if code <= byte.GREATER:  # letters lie beyond
                if code == byte.EQUALS or byte.ends_name(code):
                    break
                if code == byte.QUOTE or code == byte.APOSTROPHE or code == byte.LESS:
                    return -1
            at += 1
        while at < size and byte.is_blank(codes[at]):
            at += 1
        if at >= size or codes[at] != byte.EQUALS:
            continue
        at += 1
        while at < size and byte.is_blank(codes[at]):
            at += 1
        if at >= size:
            return -1
        quote = codes[at]
        if quote == byte.QUOTE or quote == byte.APOSTROPHE:
            at = byte.found(codes, at + 1, quote) + 1
            if at >= size or not byte.ends_name(codes[at]):
                return -1
        else:
            if quote == byte.GREATER:
                return -1
            while at < size and not byte.is_blank(codes[at]) and codes[at] != byte.GREATER:
                code = codes[at]
                if (
                    code == byte.QUOTE
                    or code == byte.APOSTROPHE
                    or code == byte.LESS
                    or code == byte.EQUALS
                    or code == byte.BACKTICK
                ):
                    return -1
                at += 1
            if codes[at - 1] == byte.SLASH:
                return -1  # does it close the element or end the value?
    return -1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def may_hold(outer: cython.int, rule: cython.int) -> cython.bint:
    """Whether an element that is particular about what it holds may hold this."""
    kind: cython.int = rule & KIND
    if outer == TABLE:
        return (
            kind == ROWS
            or kind == ROW
            or kind == CAPTION
            or kind == COLUMNS
            or kind == COLUMN
            or kind == CODE
        )
    if outer == ROWS:
        return kind == ROW or kind == CODE
    if outer == ROW:
        return kind == CELL or kind == CODE
    if outer == COLUMNS:
        return kind == COLUMN
    if outer == SELECT:
        return kind == OPTION or kind == OPTIONS
    if outer == OPTIONS:
        return kind == OPTION
    if outer == HEAD:
        return rule & EARLY != 0
    return False


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def particular(kind: cython.int) -> cython.bint:
    """Whether an element holds only certain others."""
    return SELECT <= kind <= ROW or kind == COLUMNS or kind == HEAD or kind == PLAIN


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def is_wellformed(
    codes: cython.const[cython.uchar][::1],
    rules: Names,
    characters: Names,
    keys: cython.ulonglong[::1],
    kinds: cython.int[::1],
    most_attributes: cython.int,
) -> cython.bint:
    """The same, with room for the open elements."""
    size: cython.longlong = codes.shape[0]
    most: cython.longlong = keys.shape[0]
    at: cython.longlong = 0
    start: cython.longlong
    stop: cython.longlong
    depth: cython.longlong = 0
    up: cython.longlong
    code: cython.uint
    key: cython.ulonglong
    rule: cython.int
    kind: cython.int
    top: cython.int = 0  # the kind of the innermost open element
    paragraphs: cython.int = 0
    links: cython.int = 0
    buttons: cython.int = 0
    forms: cython.int = 0
    drawing: cython.longlong = 0  # how deep the outermost drawing is, from 1
    begun: cython.bint = False  # there was something that belongs to a body
    rooted: cython.bint = False
    headed: cython.bint = False
    embodied: cython.bint = False
    over: cython.bint = False
    silent: cython.bint  # no text may stand here
    ends: cython.bint
    if byte.found(codes, 0, 0) < size:
        return False
    while at < size:
        code = codes[at]
        if code != byte.LESS:
            silent = over or (TABLE <= top <= ROW) or top == COLUMNS or top == HEAD
            stop = byte.found(codes, at, byte.LESS)
            if not silent and depth > 0 and top != HTML:  # any text will do
                while at < stop:
                    if codes[at] == byte.AMPERSAND:
                        at = reference(codes, at, characters)
                        if at < 0:
                            return False
                    else:
                        at += 1
                continue
            while at < stop:
                code = codes[at]
                if code == byte.AMPERSAND:
                    at = reference(codes, at, characters)
                    if at < 0:
                        return False
                else:
                    at += 1
                    if byte.is_blank(code):
                        continue
                if silent:
                    return False
                begun = begun or top == HTML or depth == 0
            continue

        start = at + 1
        if start >= size:
            return False
        code = codes[start]
        if code == byte.EXCLAMATION or code == byte.QUESTION:
            if top == PLAIN or drawing:
                return False
            if code == byte.EXCLAMATION and start + 2 < size and codes[start + 1] == byte.HYPHEN:
                if codes[start + 2] != byte.HYPHEN:
                    return False
                at = start + 3
                while at < size and not byte.ends_comment(codes, at):
                    if (
                        codes[at] == byte.EXCLAMATION
                        and codes[at - 1] == byte.HYPHEN
                        and codes[at - 2] == byte.HYPHEN
                    ):
                        return False
                    at += 1
            else:
                at = start
                while at < size and codes[at] != byte.GREATER:
                    at += 1
            if at >= size:
                return False
            at += 1
            continue

        ends = code == byte.SLASH
        if ends:
            start += 1
        stop = start
        key = byte.FNV_START
        if start < size and not byte.is_letter(codes[start]):
            return False
        while stop < size:
            code = codes[stop]
            if code <= byte.CAPITAL_Z:
                if byte.ends_name(code):
                    break
                if code == byte.LESS:
                    return False
                if code >= byte.CAPITAL_A:
                    code |= byte.SMALL
            key = byte.hashed(key, code)
            stop += 1
        if stop == start or stop >= size:
            return False

        if ends:
            if depth == 0 or keys[depth - 1] != key:
                return False
            while stop < size and byte.is_blank(codes[stop]):
                stop += 1
            if stop >= size or codes[stop] != byte.GREATER:
                return False
            at = stop + 1
            if top == PARAGRAPH:
                paragraphs -= 1
            elif top == LINK:
                links -= 1
            elif top == BUTTON:
                buttons -= 1
            elif top == FORM:
                forms -= 1
            elif top == BODY or top == HTML:
                over = True
            if drawing == depth:
                drawing = 0
            depth -= 1
            top = kinds[depth - 1] & KIND if depth > 0 else 0
            continue

        rule = rules.number(key)
        kind = rule & KIND
        at = attributes_end(codes, stop, most_attributes)
        if at < 0 or kind == ODD or over:
            return False
        at += 1
        if drawing:
            if top == PLAIN or (rule != 0 and kind != PLAIN and kind != CODE):
                return False
            if codes[at - 2] == byte.SLASH:
                continue
        else:
            if codes[at - 2] == byte.SLASH and not rule & BARE:
                return False
            if particular(top):
                if not may_hold(top, rule):
                    return False
            elif OPTIONS <= kind <= COLUMN and kind != TABLE:
                return False
            if kind == HTML:
                if depth > 0 or rooted or headed or embodied or begun:
                    return False
                rooted = True
            elif kind == HEAD:
                if depth > 1 or (depth == 1 and top != HTML) or headed or embodied or begun:
                    return False
                headed = True
            elif kind == BODY:
                if depth > 1 or (depth == 1 and top != HTML) or embodied or begun:
                    return False
                embodied = True
            elif not rule & EARLY:
                begun = True
            if rule & ENDS and paragraphs:
                return False
            if kind == PARAGRAPH:
                paragraphs += 1
            elif kind == LINK:
                if links:
                    return False
                links += 1
            elif kind == BUTTON:
                if buttons:
                    return False
                buttons += 1
            elif kind == FORM:
                if forms:
                    return False
                forms += 1
            elif kind == HEADING:
                if top == HEADING:
                    return False
            elif kind == ITEM or kind == TERM:
                up = depth
                while up > 0:
                    if kinds[up - 1] & KIND == kind:
                        return False
                    if kinds[up - 1] & WALL:
                        break
                    up -= 1
            if rule & BARE:
                continue
        if depth == most:
            return False
        if rule & RAW:
            at = raw_end(codes, at, start, stop, drawing != 0)
            if at < 0:
                return False
        keys[depth] = key
        kinds[depth] = rule
        depth += 1
        top = kind
        if kind == DRAWING and not drawing:
            drawing = depth
    while depth > 0 and (top == HTML or top == BODY):
        depth -= 1
        top = kinds[depth - 1] & KIND if depth > 0 else 0
    return depth == 0


def wellformed(
    codes: cython.const[cython.uchar][::1],
    rules: Names,
    characters: Names,
    most_depth: cython.int,
    most_attributes: cython.int,
):
    """Whether HTML in UTF-8 is in order, and nests and has attributes in bounds. `rules` are what
    `RULES` says of names, `characters` those that references name."""
    if not cython.compiled:
        codes = memoryview(codes)
    return is_wellformed(
        codes,
        rules,
        characters,
        np.empty(most_depth, dtype=np.uint64),
        np.empty(most_depth, dtype=np.intc),
        most_attributes,
    )
