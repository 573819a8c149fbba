"""Wikitext stripped of its markup, in place.

Text is UTF-8; nothing that is done here makes it longer. Each pass does what one substitution by a
regular expression would, which is named in it; their order matters, since what one of them takes
out may bring together what another one looks for. A pass looks for the one or two bytes with which
its pattern begins, and moves what lies between them in one go.

Marks that stand for links (see ``wikimarks``) go last, together with superfluous white space: what
remains is the text, and the places of the links in it, counted in characters.
"""

import cython
import numpy as np
from cython.cimports.sonde.kernels import byte
from cython.cimports.sonde.kernels.text.utf8 import (
    find,
    follows,
    move,
    past_spaces,
    space_at,
    width_at,
    word_at,
)
from cython.cimports.sonde.kernels.text.wikimarks import BEGIN, DIGITS, END

if not cython.compiled:
    MOST_NAME = 41  # characters of a parameter's name
    NAMES = 24
    BLOCK_KEYS = [0] * NAMES


def key_of(name):
    """A number for each name of up to ten small letters and digits."""
    key = 0
    for character in name:
        key = key * 37 + ("abcdefghijklmnopqrstuvwxyz0123456789".index(character) + 1)
    return key


_BLOCKS = (
    "br p div li ul ol dl dd dt td th tr table hr h1 h2 h3 h4 h5 h6 pre center blockquote gallery"
).split()
for _number in range(NAMES):
    BLOCK_KEYS[_number] = key_of(_BLOCKS[_number])


def strip(store: bytearray, end: cython.Py_ssize_t, braces: cython.bint):
    """The text's length without templates' names, tags, and the markup of lines and letters.

    ``braces`` says whether there are, or were, templates and tables in it.
    """
    if not 0 <= end <= len(store):
        raise ValueError(f"no text of {end} bytes in {len(store)}")
    codes: cython.p_uchar = store
    if braces:
        end = without_templates(codes, end)
        end = without_parameters(codes, end)
    if find(codes, byte.LESS, 0, end) < end:
        end = without_tags(codes, end, True)
        end = without_tags(codes, end, False)
    end = without_headings(codes, end)
    end = without_line_starts(codes, end)
    end = without_quotes(codes, end)
    end = without_magic(codes, end)
    without_pipes(codes, end)
    return end


def without_templates(codes, end):
    r"""``\{\{[^{}|\n]*`` and ``\}\}`` to a space each."""
    at: cython.Py_ssize_t = 0
    kept: cython.Py_ssize_t = 0
    opened: cython.Py_ssize_t = -1
    closed: cython.Py_ssize_t = -1
    place: cython.Py_ssize_t
    while at < end:
        if opened < at:
            opened = find(codes, byte.OPEN_BRACE, at, end)
        if closed < at:
            closed = find(codes, byte.CLOSE_BRACE, at, end)
        place = min(opened, closed)
        move(codes, kept, at, place - at)
        kept += place - at
        at = place
        if at >= end:
            break
        if at + 1 < end and codes[at + 1] == codes[at]:
            at += 2
            if place == opened:
                while at < end and not (
                    codes[at] == byte.OPEN_BRACE
                    or codes[at] == byte.CLOSE_BRACE
                    or codes[at] == byte.PIPE
                    or codes[at] == byte.NEWLINE
                ):
                    at += 1
            codes[kept] = byte.SPACE
        else:
            codes[kept] = codes[at]
            at += 1
        kept += 1
    return kept


def parameter_end(codes, at, end):
    """Where the parameter's name, equals sign and URL end that begin here; -1 if none do."""
    width: cython.int
    size: cython.int = 0
    at = past_spaces(codes, at, end)
    if at >= end or not word_at(codes, at):
        return -1
    while at < end and size < MOST_NAME:
        width = word_at(codes, at)
        if width == 0:
            if codes[at] == byte.SPACE or codes[at] == byte.DOT or codes[at] == byte.HYPHEN:
                width = 1
            else:
                break
        at += width
        size += 1
    if at >= end or codes[at] != byte.EQUALS:
        return -1
    at += 1
    while at < end and (codes[at] == byte.SPACE or codes[at] == byte.TAB):
        at += 1
    if follows(codes, at, end, b"http://") or follows(codes, at, end, b"https://"):
        while at < end and not (
            codes[at] == byte.PIPE
            or codes[at] == byte.OPEN_BRACE
            or codes[at] == byte.CLOSE_BRACE
            or space_at(codes, at)
        ):
            at += width_at(codes, at)
    return at


def without_parameters(codes, end):
    r"""``\|\s*\w[\w .-]{0,40}=[ \t]*(?:https?://[^\s|{}]*)?`` to a space."""
    at: cython.Py_ssize_t = 0
    kept: cython.Py_ssize_t = 0
    place: cython.Py_ssize_t
    ahead: cython.Py_ssize_t
    while at < end:
        place = find(codes, byte.PIPE, at, end)
        move(codes, kept, at, place - at)
        kept += place - at
        at = place + 1
        if place >= end:
            break
        ahead = parameter_end(codes, at, end)
        codes[kept] = byte.PIPE
        if ahead >= 0:
            codes[kept] = byte.SPACE
            at = ahead
        kept += 1
    return kept


def without_tags(codes, end, blocks):
    r"""``</?NAME\b[^<>]*>`` of blocks to a space, or ``</?[a-zA-Z][^<>]*>`` to nothing."""
    at: cython.Py_ssize_t = 0
    kept: cython.Py_ssize_t = 0
    place: cython.Py_ssize_t
    ahead: cython.Py_ssize_t
    while at < end:
        place = find(codes, byte.LESS, at, end)
        move(codes, kept, at, place - at)
        kept += place - at
        at = place
        if at >= end:
            break
        ahead = at + 1
        if ahead < end and codes[ahead] == byte.SLASH:
            ahead += 1
        if ahead < end and (
            is_block(codes, ahead, end) if blocks else byte.is_letter(codes[ahead])
        ):
            while ahead < end and codes[ahead] != byte.LESS and codes[ahead] != byte.GREATER:
                ahead += 1
            if ahead < end and codes[ahead] == byte.GREATER:
                at = ahead + 1
                if blocks:
                    codes[kept] = byte.SPACE
                    kept += 1
                continue
        codes[kept] = byte.LESS
        kept += 1
        at += 1
    return kept


def is_block(codes, at, end):
    """Whether the word that begins here is the name of a block's tag, in any case."""
    key: cython.longlong = 0
    size: cython.int = 0
    code: cython.uint
    i: cython.int
    while at < end and word_at(codes, at):
        code = codes[at]
        if byte.is_letter(code):
            key = key * 37 + cython.cast(cython.longlong, (code | byte.SMALL) - byte.SMALL_A + 1)
        elif byte.is_digit(code):
            key = key * 37 + cython.cast(cython.longlong, code - byte.ZERO + 27)
        else:
            return False
        size += 1
        if size > 10:
            return False
        at += 1
    for i in range(NAMES):
        if key == BLOCK_KEYS[i]:
            return size > 0
    return False


def without_headings(codes, end):
    r"""``\n=++([^\n]*+)`` to a line end and the group, without blanks and then ``=`` at its end."""
    at: cython.Py_ssize_t = 0
    kept: cython.Py_ssize_t = 0
    place: cython.Py_ssize_t
    begun: cython.Py_ssize_t
    while at < end:
        place = find(codes, byte.EQUALS, at, end)
        while place < end and (place == 0 or codes[place - 1] != byte.NEWLINE):
            place = find(codes, byte.EQUALS, place + 1, end)
        move(codes, kept, at, place - at)
        kept += place - at
        at = place
        if at >= end:
            break
        while at < end and codes[at] == byte.EQUALS:
            at += 1
        begun = kept
        place = find(codes, byte.NEWLINE, at, end)
        move(codes, kept, at, place - at)
        kept += place - at
        at = place
        while kept > begun and (codes[kept - 1] == byte.SPACE or codes[kept - 1] == byte.TAB):
            kept -= 1
        while kept > begun and codes[kept - 1] == byte.EQUALS:
            kept -= 1
    return kept


def without_line_starts(codes, end):
    r"""``\n(?:[*#:;]+|----+|!|(?:File|Image):[^|\n]*)`` to a line end."""
    at: cython.Py_ssize_t = 0
    kept: cython.Py_ssize_t = 0
    place: cython.Py_ssize_t
    while at < end:
        place = find(codes, byte.NEWLINE, at, end)
        move(codes, kept, at, place - at)
        kept += place - at
        at = place + 1
        if place >= end:
            break
        codes[kept] = byte.NEWLINE
        kept += 1
        if at >= end:
            break
        if is_list(codes[at]):
            while at < end and is_list(codes[at]):
                at += 1
        elif codes[at] == byte.EXCLAMATION:
            at += 1
        elif codes[at] == byte.HYPHEN and follows(codes, at, end, b"----"):
            while at < end and codes[at] == byte.HYPHEN:
                at += 1
        elif follows(codes, at, end, b"File:") or follows(codes, at, end, b"Image:"):
            while at < end and codes[at] != byte.PIPE and codes[at] != byte.NEWLINE:
                at += 1
    return kept


def is_list(code):
    return (
        code == byte.ASTERISK
        or code == byte.NUMBER_SIGN
        or code == byte.COLON
        or code == byte.SEMICOLON
    )


def without_quotes(codes, end):
    """``''+`` to nothing."""
    at: cython.Py_ssize_t = 0
    kept: cython.Py_ssize_t = 0
    place: cython.Py_ssize_t
    while at < end:
        place = find(codes, byte.APOSTROPHE, at, end)
        while place + 1 < end and codes[place + 1] != byte.APOSTROPHE:
            place = find(codes, byte.APOSTROPHE, place + 1, end)
        if place + 1 >= end:
            place = end
        move(codes, kept, at, place - at)
        kept += place - at
        at = place
        while at < end and codes[at] == byte.APOSTROPHE:
            at += 1
    return kept


def without_magic(codes, end):
    r"""``__[A-Z]+__`` to nothing."""
    at: cython.Py_ssize_t = 0
    kept: cython.Py_ssize_t = 0
    place: cython.Py_ssize_t
    ahead: cython.Py_ssize_t
    while at < end:
        place = find(codes, byte.UNDERSCORE, at, end)
        move(codes, kept, at, place - at)
        kept += place - at
        at = place
        if at >= end:
            break
        if at + 1 < end and codes[at + 1] == byte.UNDERSCORE:
            ahead = at + 2
            while ahead < end and byte.CAPITAL_A <= codes[ahead] <= byte.CAPITAL_Z:
                ahead += 1
            if (
                ahead > at + 2
                and ahead + 1 < end
                and codes[ahead] == byte.UNDERSCORE
                and codes[ahead + 1] == byte.UNDERSCORE
            ):
                at = ahead + 2
                continue
        codes[kept] = byte.UNDERSCORE
        kept += 1
        at += 1
    return kept


def without_pipes(codes, end):
    r"""``\|`` to a space."""
    at: cython.Py_ssize_t = find(codes, byte.PIPE, 0, end)
    while at < end:
        codes[at] = byte.SPACE
        at = find(codes, byte.PIPE, at + 1, end)


def settle(store: bytearray, end: cython.Py_ssize_t, targets: list):
    """White space to single spaces, marks to places. The text must have no marks but those of
    `targets`.

    The length of the text in bytes, and the links in the order in which they begin: their target,
    and where they start and end, in characters.
    """
    if not 0 <= end <= len(store):
        raise ValueError(f"no text of {end} bytes in {len(store)}")
    codes: cython.p_uchar = store
    count: cython.Py_ssize_t = len(targets)
    room = np.empty((count, 4), np.intc)
    table: cython.int[:, ::1] = room  # number, start, end, and whether a blank comes first
    at: cython.Py_ssize_t = 0
    ahead: cython.Py_ssize_t
    kept: cython.Py_ssize_t = 0
    chars: cython.int = 0
    links: cython.int = 0
    fresh: cython.int = 0  # links before this one have had their first character
    last: cython.int = -1  # the innermost link that is open; its end chains those around it
    number: cython.int
    other: cython.int
    i: cython.int
    begun: cython.bint = False
    apart: cython.bint = False
    code: cython.uint
    width: cython.int
    while at < end:
        code = codes[at]
        width = 1
        if code >= 0x80:
            width = width_at(codes, at)
            if at + width > end:
                raise ValueError("a character of UTF-8 is cut short")
        if (code <= byte.SPACE or code >= 0x80) and space_at(codes, at):
            apart = begun
            at += width
            continue
        begun = True
        if apart:
            if kept > 0 and codes[kept - 1] != byte.SPACE:
                codes[kept] = byte.SPACE
                kept += 1
                while fresh < links:
                    table[fresh, 3] = 1
                    fresh += 1
                chars += 1
            apart = False
        if code == END:
            at += 1
            if last >= 0:
                other = table[last, 2]
                table[last, 2] = chars
                last = -2 - other
            continue
        if code == BEGIN:
            number = 0
            if links == count or at + DIGITS >= end:
                raise ValueError("the text has a mark that no link has left")
            for i in range(1, DIGITS + 1):
                number = 10 * number + cython.cast(cython.int, codes[at + i]) - byte.ZERO
            if not 0 <= number < count:
                raise ValueError("the text has a mark that no link has left")
            table[links, 0] = number
            table[links, 1] = chars
            table[links, 2] = -2 - last
            table[links, 3] = 0
            last = links
            links += 1
            at += DIGITS + 1
            continue
        fresh = links
        if code < 0x80:
            ahead = at + 1
            while ahead < end and byte.SPACE < codes[ahead] < 0x80:
                ahead += 1
            width = cython.cast(cython.int, ahead - at)
            chars += width
        else:
            chars += 1
        if width < 16:
            for i in range(width):
                codes[kept + i] = codes[at + i]
        else:
            move(codes, kept, at, width)
        kept += width
        at += width
    while last >= 0:  # never closed
        other = table[last, 2]
        table[last, 2] = chars
        last = -2 - other
    found: list = []
    for other in range(links):
        if table[other, 3] and table[other, 1] < table[other, 2]:
            table[other, 1] += 1
        found.append((targets[table[other, 0]], table[other, 1], table[other, 2]))
    return kept, found
