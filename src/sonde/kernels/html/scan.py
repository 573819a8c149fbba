"""What a page says, in one pass over its HTML in UTF-8.

`scan` reads HTML that is in order: a page that is so by itself (see ``wellformed``), or what a
parser has written out after putting it in order. Every element is closed in its turn, a ``>``
outside of quotes ends a tag, and all that is left to do is to keep a stack. What an element does is
looked up by its name, in any case.
"""

from __future__ import annotations

import cython
from cython.cimports.sonde.kernels import byte
from cython.cimports.sonde.kernels.html import tags
from cython.cimports.sonde.kernels.html.tags import Names

from sonde.kernels.html.tags import hash_of

if not cython.compiled:
    from collections import namedtuple

    OPENED = 256  # on the stack: this and the number of the anchor

    # What is said of a piece of the text, and of an element.
    LINK = 1  # in a link
    NAVIGATION = 2  # in what is navigation by its name or role
    ASIDE = 4  # in an aside that is no article
    SECTION = 8  # in a section: a header or footer there is not the page's
    MAIN = 16
    HEADING = 32
    BEGINS = 64  # a block begins with the piece
    NAMED = 128  # an element that has a class or a role

    # Of a name the hash in small letters, and where it ends; of an attribute the hash of its name,
    # from where to where its value is, and what comes after it; of a start tag what it says.
    Name = namedtuple("Name", "key stop")
    Attribute = namedtuple("Attribute", "key value end after")
    Tag = namedtuple("Tag", "end closed hidden href href_end rel rel_end kind ident role")

HREF = cython.declare(cython.ulonglong, hash_of(b"href"))
SRC = cython.declare(cython.ulonglong, hash_of(b"src"))
REL = cython.declare(cython.ulonglong, hash_of(b"rel"))
HIDDEN = cython.declare(cython.ulonglong, hash_of(b"hidden"))
ARIA_HIDDEN = cython.declare(cython.ulonglong, hash_of(b"aria-hidden"))
CLASS = cython.declare(cython.ulonglong, hash_of(b"class"))
ID = cython.declare(cython.ulonglong, hash_of(b"id"))
ROLE = cython.declare(cython.ulonglong, hash_of(b"role"))
HTML = cython.declare(cython.ulonglong, hash_of(b"html"))
BODY = cython.declare(cython.ulonglong, hash_of(b"body"))
NAV = cython.declare(cython.ulonglong, hash_of(b"nav"))
ASIDES = cython.declare(cython.ulonglong, hash_of(b"aside"))
MAINS = cython.declare(cython.ulonglong, hash_of(b"main"))
ARTICLE = cython.declare(cython.ulonglong, hash_of(b"article"))
SECTIONS = cython.declare(cython.ulonglong, hash_of(b"section"))
ROLES = Names(
    {
        role: number
        for number, roles in (
            (1, "navigation banner contentinfo search menu menubar"),
            (2, "main"),
        )
        for role in roles.split()
    }
)
"""Roles that say what a part of a page is for: 1 for navigation, 2 for the main part."""


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
        return byte.is_space(code)
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
        byte.is_space(point)
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
@cython.nogil
@cython.exceptval(check=False)
def reference_end(codes: cython.const[cython.uchar][::1], at: cython.longlong) -> cython.longlong:
    """The place of the semicolon that ends the reference at an ampersand; -1 for none."""
    place: cython.longlong = at + 1
    if place < codes.shape[0] and codes[place] == byte.NUMBER_SIGN:
        place += 1
    while place < codes.shape[0] and place < at + 40 and byte.is_alphanumeric(codes[place]):
        place += 1
    if place < codes.shape[0] and codes[place] == byte.SEMICOLON and place > at + 2:
        return place
    return -1


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
    key: cython.ulonglong = byte.FNV_START
    point: cython.uint = 0
    code: cython.uint
    place: cython.longlong = at + 1
    if codes[place] != byte.NUMBER_SIGN:
        while place < stop:
            key = byte.hashed(key, codes[place])
            place += 1
        return cython.cast(cython.uint, characters.number(key))
    place += 1
    if (codes[place] | byte.SMALL) == byte.SMALL_X:
        place += 1
        while place < stop and point < 0x110000:
            code = codes[place]
            point = point * 16 + byte.digit(code)
            place += 1
    else:
        while place < stop and point < 0x110000:
            point = point * 10 + codes[place] - byte.ZERO
            place += 1
    return point if point < 0x110000 else 0


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
    if at + width >= codes.shape[0]:
        return False
    return byte.same_name(codes, at, start, width) and byte.ends_name(codes[at + width])


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
        if codes[at] == byte.LESS:
            if codes[at + 1] == byte.SLASH and names(codes, at + 2, start, width):
                if hidden < 2:
                    place = at
                    if not last:
                        return place
                else:
                    hidden = 1
            elif script and hidden == 1 and names(codes, at + 1, start, width):
                hidden = 2
            elif script and hidden == 0 and at + 3 < size and codes[at + 1] == byte.EXCLAMATION:
                hidden = codes[at + 2] == byte.HYPHEN and codes[at + 3] == byte.HYPHEN
        elif byte.ends_comment(codes, at):
            hidden = 0
        at += 1
    return place


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def after_declaration(
    codes: cython.const[cython.uchar][::1], start: cython.longlong
) -> cython.longlong:
    """What comes after a comment, a document type or an instruction, of which this is the second
    character."""
    size: cython.longlong = codes.shape[0]
    at: cython.longlong = start + 3
    if not (at <= size and codes[start + 1] == byte.HYPHEN and codes[start + 2] == byte.HYPHEN):
        return byte.found(codes, start, byte.GREATER) + 1
    while at < size and not byte.ends_comment(codes, at):
        at += 1
    return at + 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def name_at(
    codes: cython.const[cython.uchar][::1], start: cython.longlong, assigned: cython.bint
) -> Name:
    """The name that begins here; that of an attribute, which may be `assigned`, also ends at an
    equals sign."""
    size: cython.longlong = codes.shape[0]
    stop: cython.longlong = start
    key: cython.ulonglong = byte.FNV_START
    code: cython.uint
    while stop < size:
        code = codes[stop]
        if code <= byte.CAPITAL_Z:  # no small letter
            if byte.ends_name(code) or (assigned and code == byte.EQUALS and stop > start):
                break
            if code >= byte.CAPITAL_A:
                code |= byte.SMALL
        key = byte.hashed(key, code)
        stop += 1
    return Name(key, stop)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def attribute_at(codes: cython.const[cython.uchar][::1], start: cython.longlong) -> Attribute:
    """The attribute that begins here."""
    size: cython.longlong = codes.shape[0]
    name: Name = name_at(codes, start, True)
    end: cython.longlong = name.stop
    value: cython.longlong = end
    while value < size and byte.is_blank(codes[value]):
        value += 1
    if value >= size or codes[value] != byte.EQUALS:
        return Attribute(name.key, end, end, end)
    value += 1
    while value < size and byte.is_blank(codes[value]):
        value += 1
    if value < size and (codes[value] == byte.QUOTE or codes[value] == byte.APOSTROPHE):
        end = byte.found(codes, value + 1, codes[value])
        return Attribute(name.key, value + 1, end, end + 1 if end < size else size)
    end = value
    while end < size and not byte.is_blank(codes[end]) and codes[end] != byte.GREATER:
        end += 1
    return Attribute(name.key, value, end, end)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def is_true(codes: cython.const[cython.uchar][::1], attribute: Attribute) -> cython.bint:
    """Whether the value of an attribute is "true"."""
    at: cython.longlong = attribute.value
    return (
        attribute.end - at == 4
        and (codes[at] | byte.SMALL) == byte.SMALL_T
        and (codes[at + 1] | byte.SMALL) == byte.SMALL_R
        and (codes[at + 2] | byte.SMALL) == byte.SMALL_U
        and (codes[at + 3] | byte.SMALL) == byte.SMALL_E
    )


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def fragment_of(
    codes: cython.const[cython.uchar][::1], href: cython.longlong, end: cython.longlong
) -> cython.longlong:
    """Where an href's fragment begins, or the href ends. A number sign may also be that of a
    reference, and white space at the end of an href would be stripped."""
    while href < end and (
        codes[href] != byte.NUMBER_SIGN
        or codes[href - 1] == byte.AMPERSAND
        or codes[href - 1] <= byte.SPACE
    ):
        href += 1
    return href


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def value_hash(
    codes: cython.const[cython.uchar][::1],
    attribute: Attribute,
    key: cython.ulonglong,
    digits: cython.bint,
) -> cython.ulonglong:
    """The hash of an attribute's value, behind what has the hash `key`, with or without digits."""
    at: cython.longlong
    key = byte.hashed(key, attribute.key)
    for at in range(attribute.value, attribute.end):
        if digits or not byte.is_digit(codes[at]):
            key = byte.hashed(key, codes[at])
    return key


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def word_hash(codes: cython.const[cython.uchar][::1], attribute: Attribute) -> cython.ulonglong:
    """The hash of the first word of an attribute's value, in small letters."""
    key: cython.ulonglong = byte.FNV_START
    code: cython.uint
    at: cython.longlong = attribute.value
    while at < attribute.end and not byte.is_blank(codes[at]):
        code = codes[at]
        key = byte.hashed(key, code | byte.SMALL if byte.is_letter(code) else code)
        at += 1
    return key


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def start_tag(
    codes: cython.const[cython.uchar][::1],
    end: cython.longlong,
    named: cython.ulonglong,
    frame: cython.bint,
    block: cython.bint,
    skipping: cython.bint,
    roles: Names,
) -> Tag:
    """The start tag whose name ends here, and has this hash: its attributes are read, unless it is
    skipped, and its class and id if it is that of a block."""
    size: cython.longlong = codes.shape[0]
    attribute: Attribute
    closed: cython.bint = False
    hidden: cython.bint = False
    href: cython.longlong = -1
    href_end: cython.longlong = 0
    rel: cython.longlong = -1
    rel_end: cython.longlong = 0
    role: cython.int = 0
    kind: cython.ulonglong = named
    ident: cython.ulonglong = 0
    while end < size and codes[end] != byte.GREATER:
        if byte.is_blank(codes[end]):
            end += 1
            continue
        if codes[end] == byte.SLASH:
            closed = end + 1 < size and codes[end + 1] == byte.GREATER
            end += 1
            continue
        attribute = attribute_at(codes, end)
        end = attribute.after
        if skipping:
            pass
        elif attribute.key == HREF or attribute.key == SRC:
            if (attribute.key == SRC) == frame and href < 0:
                href = attribute.value
                href_end = attribute.end
        elif attribute.key == REL:
            if rel < 0:
                rel = attribute.value
                rel_end = attribute.end
        elif attribute.key == HIDDEN:
            hidden = True
        elif attribute.key == ARIA_HIDDEN:
            hidden = hidden or is_true(codes, attribute)
        elif named == BODY or named == HTML:
            pass
        elif attribute.key == CLASS:
            if block:
                kind = value_hash(codes, attribute, kind, False)
        elif attribute.key == ID:
            if block:
                ident = value_hash(codes, attribute, byte.FNV_START, True)
        elif attribute.key == ROLE:
            kind = value_hash(codes, attribute, kind, True)
            role = roles.number(word_hash(codes, attribute))
    return Tag(end, closed, hidden, href, href_end, rel, rel_end, kind, ident, role)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def marked(
    codes: cython.const[cython.uchar][::1],
    start: cython.longlong,
    name: Name,
    what: cython.int,
    role: cython.int,
    mark: cython.int,
) -> cython.int:
    """What is said of an element of this name and role in one of which `mark` is said."""
    level: cython.uint
    if what == tags.CHROME:
        if name.key == NAV:
            mark |= NAVIGATION | SECTION
        elif name.key == ASIDES:
            mark |= ASIDE | SECTION
        elif not mark & SECTION:  # a header or a footer, and that of the page
            mark |= NAVIGATION
    elif what == tags.BLOCK:
        if name.key == MAINS:
            mark = (mark | MAIN | SECTION) & ~ASIDE
        elif name.key == ARTICLE:
            mark = (mark | SECTION) & ~ASIDE
        elif name.key == SECTIONS:
            mark |= SECTION
        elif name.stop - start == 2 and (codes[start] | byte.SMALL) == byte.SMALL_H:
            level = codes[start + 1] - byte.ZERO
            if 1 <= level <= 6:
                mark |= HEADING
    if role == 1:
        mark |= NAVIGATION
    elif role == 2:
        mark |= MAIN
    return mark


def scan(
    codes: cython.const[cython.uchar][::1],
    elements: Names,
    characters: Names,
    text: cython.uchar[::1],
    stack: cython.int[:, ::1],
    anchors: cython.int[:, ::1],
    notes: cython.int[:, ::1],
    pieces: cython.int[:, ::1],
    nodes: cython.ulonglong[:, ::1],
    roles: Names = ROLES,
):
    """Read a page. `elements` are what ``tags.ELEMENTS`` says of names, `characters` the code
    points that references name.

    `text` gets all visible text, white space collapsed.
    A row of `anchors` gets the place of an href in `codes` (from, to), that of its anchor in
    characters of the text, that of its rel in `codes`, and where in `text` the anchor begins.
    `notes` gets the places (from, to) of the tags that say something of the page itself. `text` and
    `stack` must have room for as many as `codes` has.

    The text falls into pieces at the boundaries of blocks and of links. A row of `pieces` gets
    where in `text` a piece begins, what is said of it (``LINK`` and so on), and the number of the
    block that it stands in. A row of `nodes` gets of a block the number of the one around it, both
    from 1 (0 for none), hashes of its name with its class and role, and of its id (0 for none), and
    what is said of it. Where there is no room for more, pieces and elements run on.

    Gives the length of `text`, the number of anchors, that of notes, that of scripts, whether there
    were more anchors than room, and the numbers of pieces and of nodes.
    """
    if not cython.compiled:
        codes = memoryview(codes)
        text, stack = memoryview(text), memoryview(stack)
        anchors, notes = memoryview(anchors), memoryview(notes)
        pieces, nodes = memoryview(pieces), memoryview(nodes)
    size: cython.longlong = codes.shape[0]
    if text.shape[0] < size or stack.shape[0] < size:
        raise ValueError(f"{size} bytes of HTML need as much room for their text and their stack")
    if anchors.shape[1] < 7 or notes.shape[1] < 2 or stack.shape[1] < 3:
        raise ValueError("an anchor takes 7 numbers, a note 2, an open element 3")
    if pieces.shape[1] < 3 or nodes.shape[1] < 4:
        raise ValueError("a piece takes 3 numbers, an element 4")
    at: cython.longlong = 0
    start: cython.longlong
    stop: cython.longlong
    end: cython.longlong
    literal: cython.longlong = 0  # before this place nothing is markup
    length: cython.longlong = 0
    characters_so_far: cython.longlong = 0
    width: cython.longlong = 0
    place: cython.longlong
    gap: cython.bint = False  # white space is owed before the next character
    skipping: cython.bint = False
    depth: cython.longlong = 0
    anchor: cython.int = 0
    note: cython.int = 0
    scripts: cython.int = 0
    cut: cython.bint = False
    ends: cython.bint
    code: cython.uint
    point: cython.uint
    name: Name
    tag: Tag
    action: cython.int
    what: cython.int
    top: cython.int
    piece: cython.longlong = 0
    node: cython.longlong = 0  # the number of the element around
    known: cython.longlong = 0
    mark: cython.int = 0
    begins: cython.bint = True  # a block begins with the next character
    shifts: cython.bint = False  # a piece does
    inner: cython.int
    with cython.nogil:
        while at < size:
            code = codes[at]
            if code != byte.LESS or at < literal:
                if skipping:
                    at = byte.found(codes, at, byte.LESS)
                    continue
                start = at
                point = 0
                if code == byte.AMPERSAND and at >= literal:
                    stop = reference_end(codes, at)
                    if stop > 0:
                        point = point_of(codes, at, stop, characters)
                if point:
                    at = stop + 1
                    if is_space_point(point):
                        gap = True
                        continue
                else:
                    width = width_of(code)
                    at += width
                    if is_space(codes, start):
                        gap = True
                        continue
                    if at > size:
                        break
                if gap:
                    gap = False
                    if length > 0:
                        text[length] = byte.SPACE
                        length += 1
                        characters_so_far += 1
                if begins or shifts:
                    if piece < pieces.shape[0]:
                        pieces[piece, 0] = cython.cast(cython.int, length)
                        pieces[piece, 1] = mark | (BEGINS if begins else 0)
                        pieces[piece, 2] = cython.cast(cython.int, node)
                        piece += 1
                    begins = shifts = False
                characters_so_far += 1
                if point:
                    width = put(point, text, length)
                else:
                    for place in range(width):
                        text[length + place] = codes[start + place]
                    while at < size and byte.is_visible(codes[at]) and codes[at] != byte.LESS:
                        if codes[at] == byte.AMPERSAND:
                            break
                        text[length + width] = codes[at]  # the rest of a word, mostly
                        width += 1
                        at += 1
                        characters_so_far += 1
                length += width
                continue

            start = at + 1
            code = codes[start] if start < size else 0
            if code == byte.EXCLAMATION or code == byte.QUESTION:
                at = after_declaration(codes, start)
                continue
            ends = code == byte.SLASH
            if ends:
                start += 1
            name = name_at(codes, start, False)
            action = elements.number(name.key)
            if ends:
                at = byte.found(codes, name.stop, byte.GREATER) + 1
                if action & tags.VOID or depth == 0:
                    continue
                depth -= 1
                top = stack[depth, 0]
                shifts = shifts or mark != stack[depth, 1]
                mark = stack[depth, 1]
                node = stack[depth, 2]
                if top >= OPENED:
                    anchors[top - OPENED, 3] = cython.cast(cython.int, characters_so_far)
                elif top == tags.SKIP:
                    skipping = False
                elif top == tags.BLOCK:
                    gap = begins = True
                continue

            what = action & tags.ACTION
            tag = start_tag(
                codes,
                name.stop,
                name.key,
                what == tags.FRAME,
                what == tags.BLOCK or what == tags.CHROME,
                skipping,
                roles,
            )
            at = tag.end + 1

            top = 0
            inner = mark
            if not skipping:
                inner = marked(codes, start, name, what, tag.role, mark)
            if skipping:
                pass
            elif tag.hidden or what == tags.SKIP:
                if not action & tags.VOID:
                    skipping = True
                    top = tags.SKIP
            elif what == tags.BLOCK or what == tags.CHROME:
                gap = begins = True
                top = tags.BLOCK
            elif what == tags.ANCHOR or what == tags.FRAME:
                if 0 <= tag.href < tag.href_end:
                    inner |= LINK
                if 0 <= tag.href < tag.href_end and codes[tag.href] != byte.NUMBER_SIGN:
                    if anchor == anchors.shape[0]:
                        cut = True
                    else:
                        end = fragment_of(codes, tag.href, tag.href_end)
                        anchors[anchor, 0] = cython.cast(cython.int, tag.href)
                        anchors[anchor, 1] = cython.cast(cython.int, end)
                        anchors[anchor, 2] = cython.cast(cython.int, characters_so_far)
                        anchors[anchor, 3] = cython.cast(cython.int, characters_so_far)
                        anchors[anchor, 4] = cython.cast(cython.int, tag.rel)
                        anchors[anchor, 5] = cython.cast(cython.int, tag.rel_end)
                        anchors[anchor, 6] = cython.cast(cython.int, length)
                        top = OPENED + anchor
                        anchor += 1
            elif what == tags.NOTE or what == tags.TITLE or what == tags.ROOT:
                if note < notes.shape[0]:
                    notes[note, 0] = cython.cast(cython.int, start)
                    notes[note, 1] = cython.cast(cython.int, tag.end)
                    note += 1
                if what == tags.TITLE:
                    skipping = True
                    top = tags.SKIP
                elif what == tags.ROOT:
                    gap = begins = True
                    top = tags.BLOCK
            elif what == tags.SCRIPT:
                scripts += 1
                skipping = True
                top = tags.SKIP
            if not (action & tags.VOID or tag.closed):
                stack[depth, 0] = top
                stack[depth, 1] = mark
                stack[depth, 2] = cython.cast(cython.int, node)
                depth += 1
                shifts = shifts or mark != inner
                mark = inner
                if top == tags.BLOCK and known < nodes.shape[0]:
                    nodes[known, 0] = cython.cast(cython.ulonglong, node)
                    nodes[known, 1] = tag.kind
                    nodes[known, 2] = tag.ident
                    nodes[known, 3] = cython.cast(cython.ulonglong, mark)
                    if tag.kind != name.key:
                        nodes[known, 3] |= NAMED
                    known += 1
                    node = known
                if action & tags.RAW:
                    end = end_tag(
                        codes,
                        at,
                        start,
                        name.stop,
                        action & tags.LAST != 0,
                        what == tags.SCRIPT,
                    )
                    if skipping:
                        at = end
                    else:
                        literal = end
        for top in range(anchor):  # an anchor begins at its first visible character
            if anchors[top, 2] < anchors[top, 3] and text[anchors[top, 6]] == byte.SPACE:
                anchors[top, 2] += 1
    return length, anchor, note, scripts, cut, piece, known
