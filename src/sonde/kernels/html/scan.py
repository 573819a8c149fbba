"""What a page says, in one pass over its HTML in UTF-8.

`scan` reads HTML that is in order: a page that is so by itself (see ``wellformed``), or what a
parser has written out after putting it in order. Every element is closed in its turn, a ``>``
outside of quotes ends a tag, and all that is left to do is to keep a stack. What an element does is
looked up by its name, in any case.
"""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.libc.string import memchr
    from cython.cimports.sonde.kernels.html.tags import Names
else:
    from sonde.kernels.html.tags import Names

from sonde.kernels.html.tags import hash_of

# What happens when the scan enters an element, and, above that, what kind of element it is.
SKIP = cython.declare(cython.int, 1)
BLOCK = cython.declare(cython.int, 2)
ANCHOR = cython.declare(cython.int, 3)
CHROME = cython.declare(cython.int, 4)
NOTE = cython.declare(cython.int, 5)
TITLE = cython.declare(cython.int, 6)
SCRIPT = cython.declare(cython.int, 7)
FRAME = cython.declare(cython.int, 8)
ROOT = cython.declare(cython.int, 9)
ACTION = cython.declare(cython.int, 15)
VOID = cython.declare(cython.int, 16)  # has no end tag
RAW = cython.declare(cython.int, 32)  # holds text without entities
LAST = cython.declare(cython.int, 64)  # holds all the rest of the document
FLAT = cython.declare(cython.int, 128)  # does not nest: empty, or closed by the next of its kind
OPENED = cython.declare(cython.int, 256)  # on the stack: this and the number of the anchor

FIRST = cython.declare(cython.ulonglong, 0xCBF29CE484222325)
PRIME = cython.declare(cython.ulonglong, 0x100000001B3)
MASK = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)

ELEMENTS = {
    name: action
    for action, names in (
        (1, "template svg object audio video canvas datalist"),
        (1 | 16 | 128, "embed"),
        (1 | 32, "style noscript iframe noframes noembed"),
        (2, "address article blockquote body button center details dialog dir div dl fieldset"),
        (2, "figcaption figure form h1 h2 h3 h4 h5 h6 hgroup legend main menu ol pre section"),
        (2, "select summary table textarea ul caption"),
        (2 | 128, "dd dt li optgroup option p tbody td tfoot th thead tr"),
        (2 | 16 | 128, "br hr img input"),
        (3 | 128, "a"),
        (3 | 16 | 128, "area"),
        (4, "nav header footer aside"),
        (5 | 16 | 128, "meta link base"),
        (6, "title"),
        (7 | 32, "script"),
        (8 | 16 | 128, "frame"),
        (9 | 128, "html"),
        (16 | 128, "col param source track wbr basefont bgsound keygen"),
        (32, "xmp"),
        (32 | 64, "plaintext"),
        (128, "head colgroup"),
    )
    for name in names.split()
}
"""What each does; all others do nothing."""

HREF = cython.declare(cython.ulonglong, hash_of(b"href"))
SRC = cython.declare(cython.ulonglong, hash_of(b"src"))
REL = cython.declare(cython.ulonglong, hash_of(b"rel"))
HIDDEN = cython.declare(cython.ulonglong, hash_of(b"hidden"))
ARIA_HIDDEN = cython.declare(cython.ulonglong, hash_of(b"aria-hidden"))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def width_of(code: cython.uint) -> cython.longlong:
    """How many bytes a character has, by its first one."""
    if code < 0xC2:
        return 1
    return 2 if code < 0xE0 else 3 if code < 0xF0 else 4


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def is_space(codes: cython.const[cython.uchar][::1], at: cython.longlong) -> cython.bint:
    """White space as Python's `str.split` has it."""
    code: cython.uint = codes[at]
    if code < 128:
        return code == 32 or 9 <= code <= 13 or 28 <= code <= 31
    if code != 0xC2 and code != 0xE1 and code != 0xE2 and code != 0xE3:
        return False
    if at + width_of(code) > codes.shape[0]:
        return False
    second: cython.uint = codes[at + 1]
    if code == 0xC2:
        return second == 0x85 or second == 0xA0
    third: cython.uint = codes[at + 2]
    if code == 0xE2:
        return (second == 0x80 and (third <= 0x8A or 0xA8 <= third <= 0xA9 or third == 0xAF)) or (
            second == 0x81 and third == 0x9F
        )
    return third == 0x80 and second == (0x9A if code == 0xE1 else 0x80)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def is_space_point(point: cython.uint) -> cython.bint:
    """The same of a code point."""
    return (
        point == 32
        or 9 <= point <= 13
        or 28 <= point <= 31
        or point == 0x85
        or point == 0xA0
        or point == 0x1680
        or 0x2000 <= point <= 0x200A
        or 0x2028 <= point <= 0x2029
        or point == 0x202F
        or point == 0x205F
        or point == 0x3000
    )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def put(point: cython.uint, text: cython.uchar[::1], at: cython.longlong) -> cython.longlong:
    """Write a code point in UTF-8; how many bytes it took."""
    if point < 0x80:
        text[at] = cython.cast(cython.uchar, point)
        return 1
    if point < 0x800:
        text[at] = cython.cast(cython.uchar, 0xC0 | point >> 6)
        text[at + 1] = cython.cast(cython.uchar, 0x80 | point & 63)
        return 2
    if point < 0x10000:
        text[at] = cython.cast(cython.uchar, 0xE0 | point >> 12)
        text[at + 1] = cython.cast(cython.uchar, 0x80 | point >> 6 & 63)
        text[at + 2] = cython.cast(cython.uchar, 0x80 | point & 63)
        return 3
    text[at] = cython.cast(cython.uchar, 0xF0 | point >> 18)
    text[at + 1] = cython.cast(cython.uchar, 0x80 | point >> 12 & 63)
    text[at + 2] = cython.cast(cython.uchar, 0x80 | point >> 6 & 63)
    text[at + 3] = cython.cast(cython.uchar, 0x80 | point & 63)
    return 4


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def is_alphanumeric(code: cython.uint) -> cython.bint:
    return 97 <= code <= 122 or 65 <= code <= 90 or 48 <= code <= 57


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def reference_end(codes: cython.const[cython.uchar][::1], at: cython.longlong) -> cython.longlong:
    """The place of the semicolon that ends the reference at an ampersand; -1 for none."""
    place: cython.longlong = at + 1
    if place < codes.shape[0] and codes[place] == 35:
        place += 1
    while place < codes.shape[0] and place < at + 40 and is_alphanumeric(codes[place]):
        place += 1
    return place if place < codes.shape[0] and codes[place] == 59 and place > at + 2 else -1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def point_of(
    codes: cython.const[cython.uchar][::1],
    at: cython.longlong,
    stop: cython.longlong,
    characters: Names,
) -> cython.uint:
    """The code point that a reference stands for, which begins at an ampersand and ends before a
    semicolon; 0 for none."""
    key: cython.ulonglong = FIRST
    point: cython.uint = 0
    code: cython.uint
    place: cython.longlong = at + 1
    if codes[place] != 35:
        while place < stop:
            key = ((key ^ codes[place]) * PRIME) & MASK
            place += 1
        return cython.cast(cython.uint, characters.number(key))
    place += 1
    if (codes[place] | 32) == 120:
        place += 1
        while place < stop and point < 0x110000:
            code = codes[place]
            point = point * 16 + (code - 48 if code < 58 else (code | 32) - 87)
            place += 1
    else:
        while place < stop and point < 0x110000:
            point = point * 10 + codes[place] - 48
            place += 1
    return point if point < 0x110000 else 0


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
def names(
    codes: cython.const[cython.uchar][::1],
    at: cython.longlong,
    start: cython.longlong,
    width: cython.longlong,
) -> cython.bint:
    """Whether the name at one place, in any case, stands at another, whole."""
    letter: cython.longlong = 0
    code: cython.uint
    if at + width >= codes.shape[0]:
        return False
    while letter < width and (codes[at + letter] | 32) == (codes[start + letter] | 32):
        letter += 1
    code = codes[at + width]
    return letter == width and (code == 62 or code == 47 or is_blank(code))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def end_tag(
    codes: cython.const[cython.uchar][::1],
    at: cython.longlong,
    start: cython.longlong,
    stop: cython.longlong,
    last: cython.bint,
    script: cython.bint,
) -> cython.longlong:
    """Where the next (or the last) end tag of the name at `start` stands; the end for none.

    In a script, a comment may hold scripts, end tags and all.
    """
    size: cython.longlong = codes.shape[0]
    width: cython.longlong = stop - start
    place: cython.longlong = size
    hidden: cython.int = 0  # 1 in a comment, 2 in a script in there
    while at + 1 < size:
        if codes[at] == 60:
            if codes[at + 1] == 47 and names(codes, at + 2, start, width):
                if hidden < 2:
                    place = at
                    if not last:
                        return place
                else:
                    hidden = 1
            elif script and hidden == 1 and names(codes, at + 1, start, width):
                hidden = 2
            elif script and hidden == 0 and at + 3 < size and codes[at + 1] == 33:
                hidden = codes[at + 2] == 45 and codes[at + 3] == 45
        elif codes[at] == 62 and codes[at - 1] == 45 and codes[at - 2] == 45:
            hidden = 0
        at += 1
    return place


def scan(
    codes: cython.const[cython.uchar][::1],
    elements: Names,
    characters: Names,
    text: cython.uchar[::1],
    content: cython.uchar[::1],
    stack: cython.int[::1],
    anchors: cython.int[:, ::1],
    notes: cython.int[:, ::1],
):
    """Read a page. `elements` are what `ELEMENTS` says of names, `characters` the code points that
    references name.

    `text` gets all visible text, white space collapsed; `content` the same without navigation.
    A row of `anchors` gets the place of an href in `codes` (from, to), that of its anchor in
    characters of the text, that of its rel in `codes`, and where in `text` the anchor begins.
    `notes` gets the places (from, to) of the tags that say something of the page itself. `text`,
    `content` and `stack` must have room for as many as `codes` has.

    Gives the length of `text`, that of `content` or -1 where it is the same, the number of
    anchors, that of notes, that of scripts, and whether there were more anchors than room.
    """
    if not cython.compiled:
        codes = memoryview(codes)
        text, content, stack = memoryview(text), memoryview(content), memoryview(stack)
        anchors, notes = memoryview(anchors), memoryview(notes)
    size: cython.longlong = codes.shape[0]
    at: cython.longlong = 0
    start: cython.longlong
    stop: cython.longlong
    name: cython.longlong
    value: cython.longlong
    end: cython.longlong
    after: cython.longlong
    literal: cython.longlong = 0  # before this place nothing is markup
    length: cython.longlong = 0
    characters_so_far: cython.longlong = 0
    width: cython.longlong
    byte: cython.longlong
    apart: cython.longlong = -1
    gap: cython.bint = False  # white space is owed before the next character
    content_gap: cython.bint = False
    chrome: cython.int = 0
    skipping: cython.bint = False
    depth: cython.longlong = 0
    anchor: cython.int = 0
    note: cython.int = 0
    scripts: cython.int = 0
    cut: cython.bint = False
    hidden: cython.bint
    ends: cython.bint
    closed: cython.bint
    code: cython.uint
    point: cython.uint
    key: cython.ulonglong
    action: cython.int
    what: cython.int
    top: cython.int
    href: cython.longlong
    href_end: cython.longlong
    rel: cython.longlong
    rel_end: cython.longlong
    with cython.nogil:
        while at < size:
            code = codes[at]
            if code != 60 or at < literal:
                if skipping:
                    at = found(codes, at, 60)
                    continue
                start = at
                point = 0
                if code == 38 and at >= literal:
                    stop = reference_end(codes, at)
                    if stop > 0:
                        point = point_of(codes, at, stop, characters)
                if point:
                    at = stop + 1
                    if is_space_point(point):
                        gap = True
                        content_gap = True
                        continue
                else:
                    width = width_of(code)
                    at += width
                    if is_space(codes, start):
                        gap = True
                        content_gap = True
                        continue
                    if at > size:
                        break
                if gap:
                    gap = False
                    if length > 0:
                        text[length] = 32
                        length += 1
                        characters_so_far += 1
                if point:
                    width = put(point, text, length)
                    characters_so_far += 1
                else:
                    for byte in range(width):
                        text[length + byte] = codes[start + byte]
                    characters_so_far += 1
                    while at < size and 33 <= codes[at] < 127 and codes[at] != 60:
                        if codes[at] == 38:
                            break
                        text[length + width] = codes[at]  # the rest of a word, mostly
                        width += 1
                        at += 1
                        characters_so_far += 1
                length += width
                if apart >= 0 and chrome == 0:
                    if content_gap and apart > 0:
                        content[apart] = 32
                        apart += 1
                    content_gap = False
                    for byte in range(width):
                        content[apart + byte] = text[length - width + byte]
                    apart += width
                continue

            start = at + 1
            code = codes[start] if start < size else 0
            if code == 33 or code == 63:  # a comment, a document type, an instruction
                if start + 2 < size and codes[start + 1] == 45 and codes[start + 2] == 45:
                    at = start + 3
                    while at < size and not (
                        codes[at] == 62 and codes[at - 1] == 45 and codes[at - 2] == 45
                    ):
                        at += 1
                    at += 1
                else:
                    at = found(codes, start, 62) + 1
                continue

            ends = code == 47
            if ends:
                start += 1
            stop = start
            key = FIRST
            while stop < size:
                code = codes[stop]
                if code <= 90:  # no small letter
                    if code == 62 or code == 47 or is_blank(code):
                        break
                    if code >= 65:
                        code |= 32
                key = ((key ^ code) * PRIME) & MASK
                stop += 1
            action = elements.number(key)
            if ends:
                at = found(codes, stop, 62) + 1
                if action & VOID or depth == 0:
                    continue
                depth -= 1
                top = stack[depth]
                if top >= OPENED:
                    anchors[top - OPENED, 3] = cython.cast(cython.int, characters_so_far)
                elif top == SKIP:
                    skipping = False
                elif top == BLOCK or top == CHROME:
                    gap = True
                    content_gap = True
                    if top == CHROME:
                        chrome -= 1
                continue

            what = action & ACTION
            hidden = False
            href = rel = -1
            href_end = rel_end = 0
            closed = False
            end = stop
            while end < size and codes[end] != 62:
                if is_blank(codes[end]):
                    end += 1
                    continue
                if codes[end] == 47:
                    closed = end + 1 < size and codes[end + 1] == 62
                    end += 1
                    continue
                name = end
                key = FIRST
                while end < size:
                    code = codes[end]
                    if code <= 90:
                        if code == 62 or code == 47 or is_blank(code):
                            break
                        if code == 61 and end > name:
                            break
                        if code >= 65:
                            code |= 32
                    key = ((key ^ code) * PRIME) & MASK
                    end += 1
                value = end
                while value < size and is_blank(codes[value]):
                    value += 1
                if value < size and codes[value] == 61:
                    value += 1
                    while value < size and is_blank(codes[value]):
                        value += 1
                    if value < size and (codes[value] == 34 or codes[value] == 39):
                        end = found(codes, value + 1, codes[value])
                        value += 1
                        after = end + 1 if end < size else size
                    else:
                        end = value
                        while end < size and not is_blank(codes[end]) and codes[end] != 62:
                            end += 1
                        after = end
                else:
                    value = end
                    after = end
                if skipping:
                    pass
                elif key == HREF or key == SRC:
                    if (key == HREF) == (what != FRAME) and href < 0:
                        href = value
                        href_end = end
                elif key == REL:
                    if rel < 0:
                        rel = value
                        rel_end = end
                elif key == HIDDEN:
                    hidden = True
                elif key == ARIA_HIDDEN and end - value == 4:
                    hidden = hidden or (
                        (codes[value] | 32) == 116
                        and (codes[value + 1] | 32) == 114
                        and (codes[value + 2] | 32) == 117
                        and (codes[value + 3] | 32) == 101
                    )
                end = after
            at = end + 1

            top = 0
            if skipping:
                pass
            elif hidden or what == SKIP:
                if not action & VOID:
                    skipping = True
                    top = SKIP
            elif what == BLOCK:
                gap = True
                content_gap = True
                top = BLOCK
            elif what == ANCHOR or what == FRAME:
                if 0 <= href < href_end and codes[href] != 35:
                    if anchor == anchors.shape[0]:
                        cut = True
                    else:
                        value = href
                        # Up to the fragment; a number sign may also be that of a reference, and
                        # white space at the end of an href would be stripped.
                        while value < href_end and (
                            codes[value] != 35 or codes[value - 1] == 38 or codes[value - 1] <= 32
                        ):
                            value += 1
                        anchors[anchor, 0] = cython.cast(cython.int, href)
                        anchors[anchor, 1] = cython.cast(cython.int, value)
                        anchors[anchor, 2] = cython.cast(cython.int, characters_so_far)
                        anchors[anchor, 3] = cython.cast(cython.int, characters_so_far)
                        anchors[anchor, 4] = cython.cast(cython.int, rel)
                        anchors[anchor, 5] = cython.cast(cython.int, rel_end)
                        anchors[anchor, 6] = cython.cast(cython.int, length)
                        top = OPENED + anchor
                        anchor += 1
            elif what == CHROME:
                if apart < 0:
                    for apart in range(length):
                        content[apart] = text[apart]
                    apart = length
                chrome += 1
                gap = True
                content_gap = True
                top = CHROME
            elif what == NOTE or what == TITLE or what == ROOT:
                if note < notes.shape[0]:
                    notes[note, 0] = cython.cast(cython.int, start)
                    notes[note, 1] = cython.cast(cython.int, end)
                    note += 1
                if what == TITLE:
                    skipping = True
                    top = SKIP
                elif what == ROOT:
                    gap = True
                    content_gap = True
                    top = BLOCK
            elif what == SCRIPT:
                scripts += 1
                skipping = True
                top = SKIP
            if not (action & VOID or closed):
                stack[depth] = top
                depth += 1
                if action & RAW:
                    end = end_tag(codes, at, start, stop, action & LAST != 0, what == SCRIPT)
                    if skipping:
                        at = end
                    else:
                        literal = end
        for top in range(anchor):  # an anchor begins at its first visible character
            if anchors[top, 2] < anchors[top, 3] and text[anchors[top, 6]] == 32:
                anchors[top, 2] += 1
    return length, apart, anchor, note, scripts, cut
