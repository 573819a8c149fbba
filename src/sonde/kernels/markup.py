"""One pass over HTML in UTF-8: how much of it is safe to parse, and what a parsed page says.

`reach` looks at HTML as it came. `scan` looks at HTML that a parser has put in order and written
out again: names in lower case, every element closed, values in double quotes, and ``<``, ``>``,
``&`` and ``"`` as entities wherever they are not markup. So a ``>`` always ends a tag, and all that
is left to do is to keep a stack.

What an element does is looked up by the hash of its name (`elements` fills the table). Two names
with one hash would be taken for each other; none of HTML's are.
"""

from __future__ import annotations

import cython
import numpy as np

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

SLOTS = cython.declare(cython.int, 512)
FIRST = cython.declare(cython.ulonglong, 0xCBF29CE484222325)
PRIME = cython.declare(cython.ulonglong, 0x100000001B3)
MASK = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)

_ELEMENTS = (
    (1, "template svg object audio video canvas datalist"),
    (1 | 16 | 128, "embed"),
    (1 | 32, "style noscript iframe noframes noembed"),
    (2, "address article blockquote body button center details dialog dir div dl fieldset"),
    (2, "figcaption figure form h1 h2 h3 h4 h5 h6 hgroup legend main menu ol pre section select"),
    (2, "summary table textarea ul caption"),
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


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def hashed(
    codes: cython.const[cython.uchar][::1], start: cython.longlong, stop: cython.longlong
) -> cython.ulonglong:
    digest: cython.ulonglong = FIRST
    at: cython.longlong
    for at in range(start, stop):
        digest = ((digest ^ codes[at]) * PRIME) & MASK
    return digest


def hash_of(name):
    """The hash of a name in bytes."""
    return hashed(name, 0, len(name))


HREF = cython.declare(cython.ulonglong, hash_of(b"href"))
SRC = cython.declare(cython.ulonglong, hash_of(b"src"))
REL = cython.declare(cython.ulonglong, hash_of(b"rel"))
HIDDEN = cython.declare(cython.ulonglong, hash_of(b"hidden"))
ARIA_HIDDEN = cython.declare(cython.ulonglong, hash_of(b"aria-hidden"))


def elements():
    """The table of elements: hashes of names, and what each does, 0 where a place is free."""
    keys = np.zeros(SLOTS, dtype=np.uint64)
    actions = np.zeros(SLOTS, dtype=np.intc)
    for action, names in _ELEMENTS:
        for name in names.split():
            key = hash_of(name.encode())
            slot = key >> 32 & SLOTS - 1
            while actions[slot]:
                slot = slot + 1 & SLOTS - 1
            keys[slot] = key
            actions[slot] = action
    return keys, actions


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def looked_up(
    key: cython.ulonglong,
    keys: cython.const[cython.ulonglong][::1],
    actions: cython.const[cython.int][::1],
) -> cython.int:
    slot: cython.longlong = cython.cast(cython.longlong, key >> 32) & (SLOTS - 1)
    while actions[slot]:
        if keys[slot] == key:
            return actions[slot]
        slot = (slot + 1) & (SLOTS - 1)
    return 0


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
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def is_letter(code: cython.uint) -> cython.bint:
    return 97 <= code <= 122 or 65 <= code <= 90


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def parts(code: cython.uint) -> cython.bint:
    """Whether it stands between attributes: HTML's white space, and the slash."""
    return code == 32 or code == 9 or code == 10 or code == 12 or code == 13 or code == 47


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def found(
    codes: cython.const[cython.uchar][::1], at: cython.longlong, code: cython.uint
) -> cython.longlong:
    """Where a code point stands next; the end where it does not."""
    size: cython.longlong = codes.shape[0]
    while at < size and codes[at] != code:
        at += 1
    return at


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def end_tag(
    codes: cython.const[cython.uchar][::1],
    at: cython.longlong,
    start: cython.longlong,
    stop: cython.longlong,
    last: cython.bint,
) -> cython.longlong:
    """Where the next (or the last) end tag of the name at `start` stands; the end for none."""
    size: cython.longlong = codes.shape[0]
    width: cython.longlong = stop - start
    place: cython.longlong = size
    letter: cython.longlong
    while at + 2 + width <= size:
        if codes[at] == 60 and codes[at + 1] == 47:
            letter = 0
            while letter < width and (codes[at + 2 + letter] | 32) == (codes[start + letter] | 32):
                letter += 1
            if letter == width:
                place = at
                if not last:
                    return place
        at += 1
    return place


def reach(
    codes: cython.const[cython.uchar][::1],
    keys: cython.const[cython.ulonglong][::1],
    actions: cython.const[cython.int][::1],
    most_depth: cython.longlong,
    most_attributes: cython.longlong,
    most_pairs: cython.longlong,
):
    """How far HTML may be parsed before it nests deeper, or has more attributes, than allowed.

    Attributes are counted per tag, and, squared (a parser compares each with each), in all.
    """
    if not cython.compiled:
        codes, keys, actions = memoryview(codes), memoryview(keys), memoryview(actions)
    size: cython.longlong = codes.shape[0]
    at: cython.longlong = 0
    begin: cython.longlong
    start: cython.longlong
    depth: cython.longlong = 0
    pairs: cython.longlong = 0
    count: cython.longlong
    ends: cython.bint
    code: cython.uint
    key: cython.ulonglong
    action: cython.int
    with cython.nogil:
        while True:
            at = found(codes, at, 60)
            if at + 1 >= size:
                break
            begin = at
            at += 1
            ends = codes[at] == 47
            if ends:
                at += 1
            if at >= size or not is_letter(codes[at]):
                continue
            start = at
            key = FIRST
            while at < size and not parts(codes[at]) and codes[at] != 62:
                code = codes[at]
                if 65 <= code <= 90:
                    code |= 32
                key = ((key ^ code) * PRIME) & MASK
                at += 1
            action = looked_up(key, keys, actions)
            count = 0
            key = cython.cast(cython.ulonglong, at)  # where the name ends
            while at < size and codes[at] != 62:
                if parts(codes[at]):
                    at += 1
                    continue
                count += 1
                at += 1  # a name has one character at least, and that may be anything
                while at < size and not parts(codes[at]) and codes[at] != 62 and codes[at] != 61:
                    at += 1
                while at < size and parts(codes[at]) and codes[at] != 47:
                    at += 1
                if at < size and codes[at] == 61:
                    at += 1
                    while at < size and parts(codes[at]) and codes[at] != 47:
                        at += 1
                    if at < size and (codes[at] == 34 or codes[at] == 39):
                        at = found(codes, at + 1, codes[at]) + 1
                    else:
                        while at < size and codes[at] != 62 and codes[at] > 32:
                            at += 1
            pairs += count * count
            if count > most_attributes or pairs > most_pairs:
                size = begin
                break
            if action & FLAT:
                continue
            if ends:
                if depth > 0:
                    depth -= 1
                continue
            depth += 1
            if depth > most_depth:
                size = begin
                break
            if action & RAW:
                at = end_tag(codes, at, start, cython.cast(cython.longlong, key), False)
    return size


def scan(
    codes: cython.const[cython.uchar][::1],
    keys: cython.const[cython.ulonglong][::1],
    actions: cython.const[cython.int][::1],
    text: cython.uchar[::1],
    content: cython.uchar[::1],
    stack: cython.int[::1],
    anchors: cython.int[:, ::1],
    notes: cython.int[::1],
):
    """Read a page.

    `text` gets all visible text, white space collapsed; `content` the same without navigation.
    A row of `anchors` gets the place of an href in `codes` (from, to), that of its anchor in
    characters of the text, that of its rel in `codes`, and where in `text` the anchor begins.
    `notes` gets the places of the tags that say something of the page itself. `text`, `content`
    and `stack` must have room for as many as `codes` has.

    Gives the length of `text`, that of `content` or -1 where it is the same, the number of
    anchors, that of notes, that of scripts, and whether there were more anchors than room.
    """
    if not cython.compiled:
        codes, keys, actions = memoryview(codes), memoryview(keys), memoryview(actions)
        text, content, stack = memoryview(text), memoryview(content), memoryview(stack)
        anchors, notes = memoryview(anchors), memoryview(notes)
    size: cython.longlong = codes.shape[0]
    at: cython.longlong = 0
    start: cython.longlong
    stop: cython.longlong
    name: cython.longlong
    value: cython.longlong
    end: cython.longlong
    literal: cython.longlong = 0  # before this place nothing is markup
    length: cython.longlong = 0
    characters: cython.longlong = 0
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
    code: cython.uint
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
                width = 1
                if code == 38 and at >= literal and at + 1 < size:
                    code = codes[at + 1]
                    at += 4
                    if code == 97:  # &amp;
                        code = 38
                        at += 1
                    elif code == 108:
                        code = 60
                    elif code == 103:
                        code = 62
                    else:
                        code = 34 if code == 113 else 32  # &quot; &nbsp;
                        at += 2
                    if code == 32:
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
                        characters += 1
                text[length] = cython.cast(cython.uchar, code)
                for byte in range(1, width):
                    text[length + byte] = codes[start + byte]
                length += width
                characters += 1
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

            if code == 47:
                stop = found(codes, start, 62)
                at = stop + 1
                if looked_up(hashed(codes, start + 1, stop), keys, actions) & VOID or depth == 0:
                    continue
                depth -= 1
                top = stack[depth]
                if top >= OPENED:
                    anchors[top - OPENED, 3] = cython.cast(cython.int, characters)
                elif top == SKIP:
                    skipping = False
                elif top == BLOCK or top == CHROME:
                    gap = True
                    content_gap = True
                    if top == CHROME:
                        chrome -= 1
                continue

            stop = start
            while stop < size and codes[stop] != 32 and codes[stop] != 62:
                stop += 1
            action = looked_up(hashed(codes, start, stop), keys, actions)
            what = action & ACTION
            hidden = False
            href = href_end = rel = rel_end = 0
            end = stop
            while end < size and codes[end] != 62:
                name = end + 1
                key = FIRST
                value = name
                while value < size and (
                    value == name or (codes[value] != 61 and codes[value] != 32)
                ):
                    if codes[value] == 62:
                        break
                    key = ((key ^ codes[value]) * PRIME) & MASK
                    value += 1
                end = value
                if value + 1 < size and codes[value] == 61 and codes[value + 1] == 34:
                    value += 2
                    end = found(codes, value, 34)
                if skipping:
                    pass
                elif key == HREF or key == SRC:
                    if (key == HREF) == (what != FRAME):
                        href = value
                        href_end = end
                elif key == REL:
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
                if end < size and codes[end] == 34:
                    end += 1
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
                if href < href_end and codes[href] != 35:
                    if anchor == anchors.shape[0]:
                        cut = True
                    else:
                        value = href
                        while value < href_end and codes[value] != 35:
                            value += 1
                        anchors[anchor, 0] = cython.cast(cython.int, href)
                        anchors[anchor, 1] = cython.cast(cython.int, value)
                        anchors[anchor, 2] = cython.cast(cython.int, characters)
                        anchors[anchor, 3] = cython.cast(cython.int, characters)
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
                    notes[note] = cython.cast(cython.int, start)
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
            if not action & VOID:
                stack[depth] = top
                depth += 1
                if action & RAW:
                    end = end_tag(codes, at, start, stop, action & LAST != 0)
                    if skipping:
                        at = end
                    else:
                        literal = end
        for top in range(anchor):  # an anchor begins at its first visible character
            if anchors[top, 2] < anchors[top, 3] and text[anchors[top, 6]] == 32:
                anchors[top, 2] += 1
    return length, apart, anchor, note, scripts, cut
