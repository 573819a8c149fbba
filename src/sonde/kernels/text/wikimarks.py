"""Wikitext in which what is not text has become a mark: comments, elements, footnotes, links.

The text is UTF-8 in a buffer that begins and ends with a line end. A mark is a control character
and eight digits: ``\\x01`` for what was set aside, ``\\x02`` for the beginning of a link that
ends with ``\\x03``. Nothing else in the text may be one of these characters.
"""

import cython
from cython.cimports.sonde.kernels import byte
from cython.cimports.sonde.kernels.text.utf8 import (
    before_spaces,
    copy,
    find,
    follows,
    move,
    past_spaces,
    space_at,
    word_at,
)

if not cython.compiled:
    ASIDE = 1
    BEGIN = 2
    END = 3
    DIGITS = 8
    DEEPEST = 4  # links within captions within captions

# Elements whose content is no wikitext, and footnotes. The first three show nothing.
PAIRED = [
    b"math", b"timeline", b"score", b"nowiki", b"pre", b"source", b"syntaxhighlight", b"ref",
]  # fmt: skip
SHOWN = 3
REF = 7


def marked(store: bytearray, end: cython.Py_ssize_t, kind_of, caption_of):
    """The text with marks, its length, the targets of its links, and what was set aside.

    ``kind_of`` a target is "file", "category" or anything else; ``caption_of`` a file's label is
    what is shown of it, never more than that has.
    """
    if not 0 <= end <= len(store):
        raise ValueError(f"no text of {end} bytes in {len(store)}")
    codes: cython.p_uchar = store
    targets: list = []
    verbatim: list = []
    links: cython.Py_ssize_t = 0
    at: cython.Py_ssize_t
    if find(codes, byte.LESS, 0, end) < end:
        end = without_comments(codes, end)
        if has_paired(codes, end):
            aside: Aside = Aside()
            other: bytearray = bytearray(end + 2)
            size: cython.Py_ssize_t = aside.taken(codes, 0, end, other, 0)
            verbatim = aside.verbatim
            store = other
            if aside.notes:
                del store[size:]
                store += b"\n" + b"\n".join(aside.notes) + b"\n"
                size = len(store)
            codes = store
            end = size
    at = find(codes, byte.OPEN_BRACKET, 0, end)
    if at >= end:
        return store, end, targets, verbatim
    while at < end:
        if at + 1 < end and codes[at + 1] == byte.OPEN_BRACKET:
            links += 1
        at = find(codes, byte.OPEN_BRACKET, at + 1, end)
    if links:
        room: cython.Py_ssize_t = end + (DIGITS + 4) * links
        turn: cython.int
        for turn in range(DEEPEST):
            count: cython.Py_ssize_t = len(targets)
            larger: bytearray = bytearray(room)
            size = mark_round(codes, end, larger, targets, kind_of, caption_of)
            store = larger
            codes = store
            end = size
            if len(targets) == count or not has_links(codes, end):
                break
    return store, without_externals(codes, end), targets, verbatim


@cython.cfunc
def has_paired(codes: cython.p_uchar, end: cython.Py_ssize_t) -> cython.bint:
    at: cython.Py_ssize_t = find(codes, byte.LESS, 0, end)
    while at < end:
        if paired_name(codes, at + 1, end) >= 0:
            return True
        at = find(codes, byte.LESS, at + 1, end)
    return False


@cython.cfunc
def has_links(codes: cython.p_uchar, end: cython.Py_ssize_t) -> cython.bint:
    at: cython.Py_ssize_t = find(codes, byte.OPEN_BRACKET, 0, end)
    while at + 1 < end:
        if codes[at + 1] == byte.OPEN_BRACKET:
            return True
        at = find(codes, byte.OPEN_BRACKET, at + 1, end)
    return False


def without_comments(codes, end):
    """``<!--.*?(?:-->|\\Z)`` to nothing."""
    at: cython.Py_ssize_t = 0
    kept: cython.Py_ssize_t = 0
    less: cython.Py_ssize_t
    while at < end:
        less = find(codes, byte.LESS, at, end)
        while less < end and not follows(codes, less, end, b"<!--"):
            less = find(codes, byte.LESS, less + 1, end)
        move(codes, kept, at, less - at)
        kept += less - at
        at = less
        if at < end:
            at = find(codes, byte.GREATER, at + 4, end)
            while at < end and not (
                codes[at - 1] == byte.HYPHEN and codes[at - 2] == byte.HYPHEN and at - 2 >= less + 4
            ):
                at = find(codes, byte.GREATER, at + 1, end)
            at += 1
    return kept


def put_mark(out, to, mark, number):
    i: cython.int
    out[to] = mark
    for i in range(DIGITS):
        out[to + DIGITS - i] = byte.ZERO + number % 10
        number //= 10
    return to + DIGITS + 1


def paired_name(codes, at, end):
    """The number of the element whose tag's name, after a slash or not, begins here, or -1."""
    name: bytes
    i: cython.Py_ssize_t
    number: cython.int
    size: cython.Py_ssize_t
    if at < end and codes[at] == byte.SLASH:
        at += 1
    for number in range(8):
        name = PAIRED[number]
        size = len(name)
        if at + size > end:
            continue
        i = 0
        while i < size and codes[at + i] | byte.SMALL == name[i]:
            i += 1
        if i == size and not (at + size < end and word_at(codes, at + size)):
            return number
    return -1


def tag_end(codes, at, end):
    """The place after the ``>`` that ends the tag at this place, or -1 if there is none."""
    less: cython.Py_ssize_t = find(codes, byte.LESS, at + 1, end)
    more: cython.Py_ssize_t = find(codes, byte.GREATER, at + 1, less)
    return more + 1 if more < less else -1


class Aside:
    """Elements and footnotes as they are taken out of a text. Each tag is looked at once: a page
    full of tags that nothing closes takes no longer."""

    def __init__(self):
        self.verbatim = []
        self.notes = []

    def taken(self, codes, begin, end, out, to):
        """Write the text without them; gives the place after it."""
        places: list = []
        last_end: list = [-1] * 8
        at: cython.Py_ssize_t = find(codes, byte.LESS, begin, end)
        after: cython.Py_ssize_t
        number: cython.int
        while at < end:
            number = paired_name(codes, at + 1, end)
            after = tag_end(codes, at, end) if number >= 0 else -1
            if after >= 0:
                if codes[at + 1] == byte.SLASH:
                    last_end[number] = len(places)
                places.append((at, after, number))
                at = find(codes, byte.LESS, after, end)
            else:
                at = find(codes, byte.LESS, at + 1, end)
        kept: cython.Py_ssize_t = begin
        opened: cython.int = -1
        inner: cython.Py_ssize_t = 0
        place: cython.Py_ssize_t
        for place in range(len(places)):
            at, after, number = places[place]
            if opened < 0:
                if (
                    codes[at + 1] == byte.SLASH
                    or codes[after - 2] == byte.SLASH
                    or last_end[number] < place
                ):
                    continue  # left for the removal of tags
                opened = number
                inner = after
                copy(out, to, codes, kept, at - kept)
                to += at - kept
            elif codes[at + 1] == byte.SLASH and number == opened:
                kept = after
                opened = -1
                if number == REF:
                    self.note(codes, inner, at)
                elif number < SHOWN:
                    out[to] = byte.SPACE
                    to += 1
                else:
                    to = put_mark(out, to, ASIDE, len(self.verbatim))
                    self.verbatim.append(bytes(codes[inner:at]))
        copy(out, to, codes, kept, end - kept)
        return to + end - kept

    def note(self, codes, begin, end):
        """What is in a footnote, which may have elements of its own."""
        if find(codes, byte.LESS, begin, end) >= end:
            self.notes.append(bytes(codes[begin:end]))
            return
        out: bytearray = bytearray(end - begin)
        size: cython.Py_ssize_t = self.taken(codes, begin, end, out, 0)
        self.notes.append(bytes(out[:size]))


def link_end(codes, at, end):
    """Where the brackets that close the link at this place begin, or -1 if it is no link."""
    stop: cython.Py_ssize_t = at + 2
    named: cython.bint = True
    code: cython.uint
    while stop < end:
        code = codes[stop]
        if code == byte.OPEN_BRACKET:
            return -1
        if code == byte.CLOSE_BRACKET:
            return stop if stop + 1 < end and codes[stop + 1] == byte.CLOSE_BRACKET else -1
        if code == byte.PIPE:
            named = False
        elif named and (code == byte.NEWLINE or code == BEGIN or code == END):
            return -1
        stop += 1
    return -1


def mark_round(codes, end, out, targets, kind_of, caption_of):
    """Each link that has none within to a mark, its label, and an end mark."""
    at: cython.Py_ssize_t = 0
    to: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    bar: cython.Py_ssize_t
    shown: cython.Py_ssize_t
    last: cython.Py_ssize_t
    after: cython.Py_ssize_t
    shows: cython.int
    while at < end:
        start = find(codes, byte.OPEN_BRACKET, at, end)
        stop = -1
        while start < end:
            if start + 1 < end and codes[start + 1] == byte.OPEN_BRACKET:
                stop = link_end(codes, start, end)
                if stop >= 0:
                    break
            start = find(codes, byte.OPEN_BRACKET, start + 1, end)
        copy(out, to, codes, at, start - at)
        to += start - at
        if stop < 0:
            break
        bar = find(codes, byte.PIPE, start + 2, stop)
        after = stop + 2
        while after < end and byte.SMALL_A <= codes[after] <= byte.SMALL_Z:
            after += 1
        target = bytes(codes[start + 2 : bar])
        shows = 0
        if find(codes, byte.COLON, start + 2, bar) < bar:
            kind = kind_of(target)
            if kind == "category":
                shows = 1
            elif kind == "file":
                shows = 2
                out[to] = byte.SPACE
                to += 1
        to = put_mark(out, to, BEGIN, len(targets))
        targets.append(target)
        if shows == 0:
            shown = start + 2
            last = bar
            if stop > bar + 1:
                shown = bar + 1
                last = stop
            elif stop == bar + 1:  # the pipe trick
                shown = start + 2
                last = find(codes, byte.COLON, shown, bar)
                while last < bar:
                    shown = last + 1
                    last = find(codes, byte.COLON, shown, bar)
                last = find(codes, byte.PARENTHESIS, shown, bar)
            shown = past_spaces(codes, shown, last)
            last = before_spaces(codes, shown, last)
            if stop == bar and shown < last and codes[shown] == byte.COLON:
                shown += 1
            copy(out, to, codes, shown, last - shown)
            to += last - shown
            copy(out, to, codes, stop + 2, after - stop - 2)
            to += after - stop - 2
            out[to] = END
            to += 1
        else:
            if shows == 2:
                caption: bytes = caption_of(bytes(codes[bar:stop]))
                if len(caption) > stop - bar:
                    raise ValueError("a caption is longer than the label that it is made of")
                for shown in range(len(caption)):
                    out[to] = caption[shown]
                    to += 1
            out[to] = END
            out[to + 1] = byte.SPACE
            copy(out, to + 2, codes, stop + 2, after - stop - 2)
            to += after - stop
        at = after
    return to


def external_label(codes, at, end):
    """Where the label of the external link at this place begins, or -1 if it is none."""
    at += 1
    if follows(codes, at, end, b"http"):
        at += 4
        if at < end and codes[at] == byte.SMALL_S:
            at += 1
        if at >= end or codes[at] != byte.COLON:
            return -1
        at += 1
    elif follows(codes, at, end, b"ftp:"):
        at += 4
    if not follows(codes, at, end, b"//"):
        return -1
    code: cython.uint
    while at < end:
        code = codes[at]
        if (
            code == byte.OPEN_BRACKET
            or code == byte.CLOSE_BRACKET
            or code == byte.LESS
            or code == byte.GREATER
        ):
            break
        if (code <= byte.SPACE or code >= 0x80) and space_at(codes, at):
            break
        at += 1
        while at < end and codes[at] & 0xC0 == 0x80:
            at += 1
    return at


def without_externals(codes, end):
    r"""``\[(?:https?:|ftp:)?//[^\s\[\]<>]*+([^\[\]\n]*+)\]`` to the group."""
    at: cython.Py_ssize_t = 0
    kept: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t
    label: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    while at < end:
        start = find(codes, byte.OPEN_BRACKET, at, end)
        move(codes, kept, at, start - at)
        kept += start - at
        at = start
        if at >= end:
            break
        label = external_label(codes, at, end)
        stop = label
        if label >= 0:
            while stop < end and not (
                codes[stop] == byte.OPEN_BRACKET
                or codes[stop] == byte.CLOSE_BRACKET
                or codes[stop] == byte.NEWLINE
            ):
                stop += 1
        if label >= 0 and stop < end and codes[stop] == byte.CLOSE_BRACKET:
            move(codes, kept, label, stop - label)
            kept += stop - label
            at = stop + 1
        else:
            codes[kept] = byte.OPEN_BRACKET
            kept += 1
            at += 1
    return kept
