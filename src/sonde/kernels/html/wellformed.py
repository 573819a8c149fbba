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

if cython.compiled:
    from cython.cimports.libc.string import memchr
    from cython.cimports.sonde.kernels.html.tags import Names
else:
    from sonde.kernels.html.tags import Names

# What a name stands for: its kind, and flags above it.
PARAGRAPH = cython.declare(cython.int, 1)
ITEM = cython.declare(cython.int, 2)
TERM = cython.declare(cython.int, 3)
HEADING = cython.declare(cython.int, 4)
LINK = cython.declare(cython.int, 5)
BUTTON = cython.declare(cython.int, 6)
FORM = cython.declare(cython.int, 7)
SELECT = cython.declare(cython.int, 8)
OPTIONS = cython.declare(cython.int, 9)
OPTION = cython.declare(cython.int, 10)
TABLE = cython.declare(cython.int, 11)
ROWS = cython.declare(cython.int, 12)
ROW = cython.declare(cython.int, 13)
CELL = cython.declare(cython.int, 14)
CAPTION = cython.declare(cython.int, 15)
COLUMNS = cython.declare(cython.int, 16)
COLUMN = cython.declare(cython.int, 17)
HTML = cython.declare(cython.int, 18)
HEAD = cython.declare(cython.int, 19)
BODY = cython.declare(cython.int, 20)
DRAWING = cython.declare(cython.int, 21)
PLAIN = cython.declare(cython.int, 22)  # holds text alone
CODE = cython.declare(cython.int, 23)  # a script or a style, which may stand in a table too
COMMON = cython.declare(cython.int, 24)  # nothing special, but not an element of a drawing
ODD = cython.declare(cython.int, 31)  # the parser knows more about it
KIND = cython.declare(cython.int, 31)
ENDS = cython.declare(cython.int, 32)  # closes a paragraph
BARE = cython.declare(cython.int, 64)  # has no content
RAW = cython.declare(cython.int, 128)  # what it holds is not markup
EARLY = cython.declare(cython.int, 256)  # may stand in the head
WALL = cython.declare(cython.int, 512)  # items inside it have nothing to do with those outside

RULES = {
    "p": 1 | 32,
    "li": 2 | 32,
    **dict.fromkeys(("dd", "dt"), 3 | 32 | 512),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), 4 | 32),
    "a": 5,
    "button": 6,
    "form": 7 | 32 | 512,
    "select": 8,
    "optgroup": 9,
    "option": 10,
    "table": 11 | 32 | 512,
    **dict.fromkeys(("tbody", "thead", "tfoot"), 12),
    "tr": 13,
    **dict.fromkeys(("td", "th"), 14 | 512),
    "caption": 15 | 512,
    "colgroup": 16,
    "col": 17 | 64,
    "html": 18,
    "head": 19,
    "body": 20 | 512,
    "svg": 21,
    "title": 22 | 256,
    "textarea": 22,
    **dict.fromkeys(("script", "style"), 23 | 128 | 256),
    **dict.fromkeys(("noscript", "noframes"), 24 | 128 | 256),
    **dict.fromkeys(("iframe", "noembed"), 24 | 128),
    **dict.fromkeys(("meta", "link", "base"), 24 | 64 | 256),
    **dict.fromkeys(("br", "img", "input", "area", "embed", "wbr", "param", "source"), 24 | 64),
    "track": 24 | 64,
    "hr": 24 | 32 | 64,
    **dict.fromkeys(("ul", "ol", "menu", "dir", "dl", "blockquote", "fieldset"), 24 | 32 | 512),
    **dict.fromkeys(("article", "aside", "details", "figure", "footer"), 24 | 32 | 512),
    **dict.fromkeys(("header", "main", "nav", "section", "figcaption"), 24 | 32 | 512),
    **dict.fromkeys(("address", "center", "dialog", "div", "hgroup", "pre", "summary"), 24 | 32),
    **dict.fromkeys("b big code em font i s small span strike strong sub sup tt u var".split(), 24),
    **dict.fromkeys("audio canvas datalist object video label legend ruby".split(), 24),
    **dict.fromkeys("applet basefont bgsound desc foreignobject frame frameset image".split(), 31),
    **dict.fromkeys("isindex keygen listing marquee math nobr plaintext rb rp rt".split(), 31),
    **dict.fromkeys("rtc search selectedcontent template xmp".split(), 31),
}
"""By name. A name that is not here is of an inline element, of HTML or of a drawing."""

FIRST = cython.declare(cython.ulonglong, 0xCBF29CE484222325)
PRIME = cython.declare(cython.ulonglong, 0x100000001B3)
MASK = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def is_letter(code: cython.uint) -> cython.bint:
    return 97 <= code <= 122 or 65 <= code <= 90


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def is_blank(code: cython.uint) -> cython.bint:
    """White space as HTML has it."""
    return code <= 32 and (code == 32 or 9 <= code <= 10 or 12 <= code <= 13)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def found(
    codes: cython.const[cython.uchar][::1], at: cython.longlong, code: cython.uint
) -> cython.longlong:
    """Where a code stands next; the end where it does not."""
    size: cython.longlong = codes.shape[0]
    if cython.compiled:
        if at >= size:
            return size
        begin: cython.p_const_char = cython.cast(cython.p_const_char, cython.address(codes[0]))
        place: cython.p_const_char = cython.cast(
            cython.p_const_char, memchr(begin + at, code, size - at)
        )
        return size if place == cython.NULL else place - begin
    while at < size and codes[at] != code:
        at += 1
    return at


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
    key: cython.ulonglong = FIRST
    base: cython.uint = 10
    place: cython.longlong = at + 1
    start: cython.longlong
    if place >= size:
        return place
    code = codes[place]
    if code == 35:
        place += 1
        if place < size and (codes[place] | 32) == 120:
            base = 16
            place += 1
        start = place
        while place < size and place - start < 7:
            code = codes[place]
            if 48 <= code <= 57:
                code -= 48
            elif base == 16 and 97 <= (code | 32) <= 102:
                code = (code | 32) - 87
            else:
                break
            value = value * base + code
            place += 1
        if place == start or place >= size or codes[place] != 59:
            return -1
        # Controls, surrogates and what is no character are replaced or reported.
        if value < 32 or 127 <= value < 160 or 0xD800 <= value < 0xE000 or value > 0x10FFFF:
            return -1
        if 0xFDD0 <= value < 0xFDF0 or value & 0xFFFE == 0xFFFE:
            return -1
        return place + 1
    if not (is_letter(code) or 48 <= code <= 57):
        return place
    while place < size and (is_letter(codes[place]) or 48 <= codes[place] <= 57):
        key = ((key ^ codes[place]) * PRIME) & MASK
        place += 1
    if place < size and codes[place] == 59 and characters.number(key):
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
    letter: cython.longlong
    commented: cython.bint = False
    while True:
        at = found(codes, at, 60)
        if at + 2 + width >= size:
            return -1
        if foreign and codes[at + 1] != 47:
            return -1
        if codes[at + 1] == 33:
            commented = True
        elif commented and is_letter(codes[at + 1]):
            return -1  # a script within a comment within a script hides its end tag
        elif codes[at + 1] == 47:
            letter = 0
            while letter < width and (codes[at + 2 + letter] | 32) == (codes[start + letter] | 32):
                letter += 1
            if letter == width:
                return at if codes[at + 2 + width] == 62 else -1
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
        if code == 62:
            return at
        if is_blank(code):
            at += 1
            continue
        if code == 47:
            return at + 1 if at + 1 < size and codes[at + 1] == 62 else -1
        if code == 61:
            return -1
        count += 1
        if count > most:
            return -1
        while at < size:
            code = codes[at]
            if code <= 62:  # letters lie beyond
                if code == 61 or code == 62 or code == 47 or is_blank(code):
                    break
                if code == 34 or code == 39 or code == 60:
                    return -1
            at += 1
        while at < size and is_blank(codes[at]):
            at += 1
        if at >= size or codes[at] != 61:
            continue
        at += 1
        while at < size and is_blank(codes[at]):
            at += 1
        if at >= size:
            return -1
        quote = codes[at]
        if quote == 34 or quote == 39:
            at = found(codes, at + 1, quote) + 1
            if at >= size or not (is_blank(codes[at]) or codes[at] == 62 or codes[at] == 47):
                return -1
        else:
            if quote == 62:
                return -1
            while at < size and not is_blank(codes[at]) and codes[at] != 62:
                code = codes[at]
                if code == 34 or code == 39 or code == 60 or code == 61 or code == 96:
                    return -1
                at += 1
            if codes[at - 1] == 47:
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
    if found(codes, 0, 0) < size:
        return False
    while at < size:
        code = codes[at]
        if code != 60:
            silent = over or (TABLE <= top <= ROW) or top == COLUMNS or top == HEAD
            stop = found(codes, at, 60)
            if not silent and depth > 0 and top != HTML:  # any text will do
                while at < stop:
                    if codes[at] == 38:
                        at = reference(codes, at, characters)
                        if at < 0:
                            return False
                    else:
                        at += 1
                continue
            while at < stop:
                code = codes[at]
                if code == 38:
                    at = reference(codes, at, characters)
                    if at < 0:
                        return False
                else:
                    at += 1
                    if is_blank(code):
                        continue
                if silent:
                    return False
                begun = begun or top == HTML or depth == 0
            continue

        start = at + 1
        if start >= size:
            return False
        code = codes[start]
        if code == 33 or code == 63:
            if top == PLAIN or drawing:
                return False
            if code == 33 and start + 2 < size and codes[start + 1] == 45:
                if codes[start + 2] != 45:
                    return False
                at = start + 3
                while at < size and not (
                    codes[at] == 62 and codes[at - 1] == 45 and codes[at - 2] == 45
                ):
                    if codes[at] == 33 and codes[at - 1] == 45 and codes[at - 2] == 45:
                        return False
                    at += 1
            else:
                at = start
                while at < size and codes[at] != 62:
                    at += 1
            if at >= size:
                return False
            at += 1
            continue

        ends = code == 47
        if ends:
            start += 1
        stop = start
        key = FIRST
        if start < size and not is_letter(codes[start]):
            return False
        while stop < size:
            code = codes[stop]
            if code <= 90:
                if code == 62 or code == 47 or is_blank(code):
                    break
                if code == 60:
                    return False
                if code >= 65:
                    code |= 32
            key = ((key ^ code) * PRIME) & MASK
            stop += 1
        if stop == start or stop >= size:
            return False

        if ends:
            if depth == 0 or keys[depth - 1] != key:
                return False
            while stop < size and is_blank(codes[stop]):
                stop += 1
            if stop >= size or codes[stop] != 62:
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
            if codes[at - 2] == 47:
                continue
        else:
            if codes[at - 2] == 47 and not rule & BARE:
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
